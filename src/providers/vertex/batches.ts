import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {word} from '../gemini/read.ts'
import {batchOperations} from '../jobs/cloud.ts'
import {type BatchFacts, type BatchStatus, known, optionsFrom, seconds, textAt, whole} from '../jobs/objects.ts'
import {PATHS} from '../jobs/rows.ts'
import {idOf, keyOf, type ObjectUri, placeIn, uriOf} from '../jobs/store.ts'
import type {OperationInput, Upstream} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import {files} from './files.ts'
import {gcsStore} from './gcs.ts'
import {Jobs, modelOf, modelResource, numberOf} from './jobs.ts'

const STATUSES: Readonly<Record<string, BatchStatus>> = {
  JOB_STATE_QUEUED: 'validating',
  JOB_STATE_PENDING: 'validating',
  JOB_STATE_RUNNING: 'in_progress',
  JOB_STATE_SUCCEEDED: 'completed',
  JOB_STATE_PARTIALLY_SUCCEEDED: 'completed',
  JOB_STATE_FAILED: 'failed',
  JOB_STATE_CANCELLING: 'cancelling',
  JOB_STATE_CANCELLED: 'cancelled',
  JOB_STATE_EXPIRED: 'expired',
}
const KIND = 'batchPredictionJobs'
/** Gemini writes one file, others one for each part of the work. */
const OUTPUTS = /(?:^|\/)predictions?[^/]*\.jsonl$|(?:^|\/)prediction\.results-[^/]*$/
const MAX_OUTPUTS = 1000

/** OpenAI's batches ⇄ batch prediction jobs (Vertex AI API reference, projects.locations.batchPredictionJobs). */
export const batches = batchOperations({
  files,
  without_model: 'expected the name of a model: Vertex AI runs one for all rows',
  jobs: (input, upstream) => new Jobs(KIND, input, upstream),
  facts: batchOf,
  check(endpoint) {
    if (endpoint !== 'chatComplete')
      throw new UnsupportedInputFault('endpoint', 'Vertex AI runs batches of /v1/chat/completions alone here')
  },
  async create(request, upstream, input) {
    const {body, context} = request
    const job = await new Jobs(KIND, request, upstream).create({
      displayName: textAt(body, 'job_name') ?? `gateway-${context.call_id}`,
      model: modelResource(context.model),
      inputConfig: {instancesFormat: 'jsonl', gcsSource: {uris: [uriOf('gs', input)]}},
      outputConfig: {predictionsFormat: 'jsonl', gcsDestination: {outputUriPrefix: outputUri(request, input)}},
      ...optionsFrom(body, ['labels', 'modelParameters', 'encryptionSpec', 'serviceAccount']),
    })
    return batchOf(job)
  },
  output: outputPlace,
  state: job => word(job.state) ?? 'not done',
  read: async (place, _asked, upstream) => outputs(place, upstream),
})

/** All that was written to the job's folder, one file after another. */
export async function* outputs({bucket, key, model}: ObjectUri, upstream: Upstream): AsyncGenerator<Buffer> {
  const store = gcsStore(upstream)
  const folder = key.slice(0, key.lastIndexOf('/') + 1)
  const {items} = await store.list(bucket, folder, null, MAX_OUTPUTS)
  for (const item of items) if (OUTPUTS.test(item.key)) yield* await store.read({bucket, key: item.key, model})
}

function outputUri(input: OperationInput, {bucket}: ObjectUri): string {
  const {output_data_config: output_config} = input.body
  const named = word(output_config) ?? word(object(object(output_config).gcsDestination).outputUriPrefix)
  const uri = named ?? uriOf('gs', {bucket, key: keyOf('batch_output', input, 'output')})
  placeIn(`${uri.replace(/\/$/, '')}/output`, files, input, 'output_data_config')
  return uri
}

function batchOf(job: Json): BatchFacts {
  const id = numberOf(job.name)
  if (id === null) throw new InvalidResponseFault('expected the name of a job')
  const {uris} = object(object(job.inputConfig).gcsSource)
  const input = Array.isArray(uris) ? word(uris[0]) : null
  const place = outputPlace(job)
  const {successfulCount, failedCount, incompleteCount} = object(job.completionStats)
  const [completed, failed] = [whole(successfulCount), whole(failedCount)]
  return {
    id,
    status: known(STATUSES, job.state, 'in_progress'),
    endpoint: PATHS.chatComplete,
    input_file_id: input === null ? '' : uriPart(input),
    model: modelOf(job.model),
    created_at: seconds(job.createTime),
    in_progress_at: seconds(job.startTime),
    ended_at: seconds(job.endTime),
    output_file_id: place && idOf('gs', place),
    counts: {total: completed + failed + whole(incompleteCount), completed, failed},
    failure: word(object(job.error).message),
  }
}

export function outputPlace(job: Json): (ObjectUri & {readonly model: string}) | null {
  const folder = /^gs:\/\/([^/]+)\/(.+?)\/?$/.exec(word(object(job.outputInfo).gcsOutputDirectory) ?? '')
  return folder && {bucket: folder[1]!, key: `${folder[2]!}/predictions.jsonl`, model: modelOf(job.model)}
}
