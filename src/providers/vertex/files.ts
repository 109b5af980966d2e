import {type StoreWords, storeOperations} from '../jobs/store.ts'
import {optionNeeded} from '../options.ts'
import {gcsStore} from './gcs.ts'
import {batchInput, batchOutput, tuneInput} from './rows.ts'

const WHY = 'names the bucket for files; say it as the header vertex-storage-bucket-name or in the integration'

/** Files of Vertex AI are objects in Cloud Storage, where its jobs read and write. */
export const files: StoreWords = {
  scheme: 'gs',
  open: (_asked, upstream) => gcsStore(upstream),
  bucket: ({context}) => optionNeeded(context.options, 'vertex_storage_bucket_name', WHY),
  rows: {batch: batchInput, tune: tuneInput},
  output: batchOutput,
}

export const fileOperations = storeOperations(files)
