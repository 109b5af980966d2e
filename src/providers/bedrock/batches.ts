import {object, parseJson} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {batchOperations} from '../jobs/cloud.ts'
import {type BatchFacts, type BatchStatus, known, needed, optionsFrom, seconds, textAt, whole} from '../jobs/objects.ts'
import {PATHS} from '../jobs/rows.ts'
import {idOf, keyOf, type ObjectUri, placeIn, uriOf} from '../jobs/store.ts'
import {count} from '../openai/usage.ts'
import {type OperationInput, type Upstream, UpstreamFault} from '../operation.ts'
import type {Json} from '../translation.ts'
import {files} from './files.ts'
import {bedrockJobs, createdJob, idOfJob, type JobKind, jobName} from './jobs.ts'
import {endpointOfJob, invocationOf} from './rows.ts'
import {s3Store} from './s3.ts'

const STATUSES: Readonly<Record<string, BatchStatus>> = {
  Submitted: 'validating',
  Validating: 'validating',
  Scheduled: 'validating',
  InProgress: 'in_progress',
  Completed: 'completed',
  PartiallyCompleted: 'completed',
  Failed: 'failed',
  Stopping: 'cancelling',
  Stopped: 'cancelled',
  Expired: 'expired',
}
const ENDED: ReadonlySet<BatchStatus> = new Set(['completed', 'failed', 'cancelled', 'expired'])
const KIND: JobKind = {one: 'model-invocation-job', all: 'model-invocation-jobs', member: 'invocationJobSummaries'}

/**
 * OpenAI's batches ⇄ model invocation jobs (Bedrock API reference, Create-, Get-, List- and StopModelInvocationJob).
 */
export const batches = batchOperations({
  files,
  without_model: 'expected the id of a model: Amazon Bedrock runs one for all rows',
  jobs: (_input, upstream) => bedrockJobs(KIND, upstream),
  facts: batchOf,
  async create(operation_input, upstream, input, endpoint) {
    const {body, context} = operation_input
    const request = {
      jobName: jobName(textAt(body, 'job_name'), context),
      clientRequestToken: context.call_id,
      modelId: context.model,
      modelInvocationType: invocationOf(endpoint, context.model),
      roleArn: needed(
        body,
        'role_arn',
        'Amazon Bedrock needs the ARN of a service role that reads and writes the bucket',
      ),
      inputDataConfig: {s3InputDataConfig: {s3Uri: uriOf('s3', input), s3InputFormat: 'JSONL'}},
      outputDataConfig: outputOf(operation_input, input),
      ...optionsFrom(body, ['modelInvocationType', 'timeoutDurationInHours', 'tags', 'vpcConfig']),
    }
    return {
      id: await createdJob(KIND, request, upstream),
      status: 'validating',
      endpoint: String(body.endpoint),
      input_file_id: idOf('s3', input),
      created_at: context.created_s,
      model: context.model,
    }
  },
  output: outputPlace,
  state: job => String(job.status),
  read: (place, {context}, upstream) => s3Store(upstream, context.options).read(place),
  more: countedBy,
  stopped: facts => (ENDED.has(facts.status) ? facts : {...facts, status: 'cancelling'}),
})

function outputOf(operation_input: OperationInput, input: ObjectUri): Json {
  const {output_data_config: output_config} = operation_input.body
  const config =
    typeof output_config === 'string'
      ? {s3Uri: output_config}
      : object(object(output_config).s3OutputDataConfig ?? output_config)
  const key = operation_input.context.options.amz_server_side_encryption_aws_kms_key_id
  const s3Uri =
    typeof config.s3Uri === 'string'
      ? config.s3Uri
      : uriOf('s3', {bucket: input.bucket, key: keyOf('batch_output', operation_input, '')})
  placeIn(`${s3Uri}output`, files, operation_input, 'output_data_config')
  return {s3OutputDataConfig: {...(key && {s3EncryptionKeyId: key}), ...config, s3Uri}}
}

function batchOf(job: Json): BatchFacts {
  const {modelId, status, message} = job
  const id = idOfJob(job)
  const input = object(object(job.inputDataConfig).s3InputDataConfig).s3Uri
  const model = typeof modelId === 'string' ? modelId : ''
  const place = outputPlace(job)
  return {
    id,
    status: known(STATUSES, status, 'in_progress'),
    endpoint: PATHS[endpointOfJob(job.modelInvocationType, model)],
    input_file_id: typeof input === 'string' ? uriPart(input) : '',
    model,
    created_at: seconds(job.submitTime),
    ended_at: seconds(job.endTime),
    expires_at: seconds(job.jobExpirationTime),
    output_file_id: place && idOf('s3', place),
    failure:
      typeof message === 'string' && message !== '' && known(STATUSES, status, 'in_progress') === 'failed'
        ? message
        : null,
  }
}

/**
 * `{output}/{job}/{input file}.out`, once there is one (Bedrock user guide, "View the results of a batch inference
 * job").
 */
export function outputPlace(job: Json): (ObjectUri & {readonly model: string}) | null {
  const {jobArn, modelId, status} = job
  if (status !== 'Completed' && status !== 'PartiallyCompleted' && status !== 'Stopped' && status !== 'Expired')
    return null
  const input = object(object(job.inputDataConfig).s3InputDataConfig).s3Uri
  const output = object(object(job.outputDataConfig).s3OutputDataConfig).s3Uri
  const found = typeof output === 'string' ? /^s3:\/\/([^/]+)\/?(.*)$/.exec(output) : null
  if (!found || typeof input !== 'string' || typeof jobArn !== 'string') return null
  const folder = found[2] === '' || found[2]!.endsWith('/') ? found[2]! : `${found[2]!}/`
  const key = `${folder}${jobArn.split('/').at(-1)!}/${input.split('/').at(-1)!}.out`
  return {bucket: found[1]!, key, model: typeof modelId === 'string' ? modelId : ''}
}

/** The counts of a batch that ended, from the manifest beside its output; empty when it cannot be read. */
async function countedBy(job: Json, {context}: OperationInput, upstream: Upstream): Promise<Partial<BatchFacts>> {
  const place = outputPlace(job)
  if (!place) return {}
  try {
    const key = `${place.key.slice(0, place.key.lastIndexOf('/'))}/manifest.json.out`
    let text = ''
    for await (const piece of await s3Store(upstream, context.options).read({...place, key})) {
      text += piece.toString('utf8')
      if (text.length > MAX_MANIFEST) return {}
    }
    const manifest = object(parseJson(text))
    return {
      counts: {
        total: whole(manifest.totalRecordCount),
        completed: whole(manifest.successRecordCount),
        failed: whole(manifest.errorRecordCount),
      },
      tokens: tokensIn(manifest),
    }
  } catch (fault) {
    if (fault instanceof UpstreamFault || fault instanceof SyntaxError) return {}
    throw fault
  }
}

/** None where neither number can be one: the rows are counted then. */
function tokensIn({inputTokenCount, outputTokenCount}: Json): BatchFacts['tokens'] {
  const input = count(inputTokenCount)
  const output = count(outputTokenCount)
  return input === null && output === null ? null : {input: input ?? 0, output: output ?? 0}
}

const MAX_MANIFEST = 64 << 10
