import {type StoreWords, storeOperations} from '../jobs/store.ts'
import {optionIn, optionNeeded} from '../options.ts'
import {batchInput, batchOutput, tuneInput} from './rows.ts'
import {s3Store} from './s3.ts'

/** Files of Bedrock are objects in S3, where its jobs read and write. */
export const files: StoreWords = {
  scheme: 's3',
  open: ({context}, upstream) => s3Store(upstream, context.options),
  bucket: ({context}) =>
    optionNeeded(
      context.options,
      'aws_s3_bucket',
      'names the bucket for files; say it as the header aws-s3-bucket or in the integration',
    ),
  key: ({context}) => optionIn(context.options, 'aws_s3_object_key'),
  rows: {batch: batchInput, tune: tuneInput},
  output: batchOutput,
}

export const fileOperations = storeOperations(files)
