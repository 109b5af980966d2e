import {fault} from '../gemini/errors.ts'
import {storeFault} from '../jobs/xml.ts'
import type {ProviderOperations} from '../operation.ts'
import {batches} from './batches.ts'
import {fileOperations} from './files.ts'
import {GCS} from './gcs.ts'
import {tuning} from './tuning.ts'

/** Files in Cloud Storage, batches and tuning of Vertex AI. */
export const vertexOperations: ProviderOperations = {
  endpoints: {...fileOperations, ...batches, ...tuning},
  sides: {[GCS]: {says: 'https://storage.googleapis.com', place: () => 'https://storage.googleapis.com'}},
  fault: (status, body, context) => storeFault(status, body, context) ?? fault(status, body, context),
}
