import {awsSignature} from '../auth/aws.ts'
import {s3Place} from '../base-urls/aws.ts'
import {storeFault} from '../jobs/xml.ts'
import type {ProviderOperations} from '../operation.ts'
import {batches} from './batches.ts'
import {fault} from './errors.ts'
import {fileOperations} from './files.ts'
import {tuning} from './tuning.ts'

/** Files in S3, batches and fine-tuning of Amazon Bedrock. */
export const bedrockOperations: ProviderOperations = {
  endpoints: {...fileOperations, ...batches, ...tuning},
  sides: {s3: {says: 'https://s3.{aws_region}.amazonaws.com', place: s3Place, login: awsSignature('s3', true)}},
  fault: (status, body, context) => storeFault(status, body, context) ?? fault(status, body, context),
}
