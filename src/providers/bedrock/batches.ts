import {object} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {type Asked, type Errand, type Upstream, UpstreamFault} from '../errand.ts'
import {
  type BatchFacts,
  type BatchStatus,
  batchObject,
  known,
  metadataIn,
  needed,
  optionsFrom,
  seconds,
  textAt,
  whole,
} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {endpointOf, PATHS} from '../jobs/rows.ts'
import {contentOf, idOf, keyOf, type Place, placeIn, uriOf} from '../jobs/store.ts'
import {BadReply, type Json, Untranslatable} from '../translation.ts'
import {files} from './files.ts'
import {jobName, jobPath} from './jobs.ts'
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

/** OpenAI's batches ⇄ model invocation jobs (Bedrock API reference, Create-, Get-, List- and StopModelInvocationJob). */
export const batches: Partial<Record<EndpointName, Errand>> = {
  async createBatch(asked, upstream) {
    const {body, context} = asked
    const input = placeIn(needed(body, 'input_file_id', 'expected the id of a file'), files, asked, 'input_file_id')
    const endpoint = endpointOf(body.endpoint, 'endpoint')
    const modelId = context.model
    if (modelId === '') throw new Untranslatable('model', 'expected the id of a model: Amazon Bedrock runs one for all rows')
    const request = {
      jobName: jobName(textAt(body, 'job_name'), context),
      clientRequestToken: context.call_id,
      modelId,
      modelInvocationType: invocationOf(endpoint, modelId),
      roleArn: needed(body, 'role_arn', 'Amazon Bedrock needs the ARN of a service role that reads and writes the bucket'),
      inputDataConfig: {s3InputDataConfig: {s3Uri: uriOf('s3', input), s3InputFormat: 'JSONL'}},
      outputDataConfig: outputOf(asked, input),
      ...optionsFrom(body, ['modelInvocationType', 'timeoutDurationInHours', 'tags', 'vpcConfig']),
    }
    const {jobArn} = await (await upstream.ask({method: 'POST', path: '/model-invocation-job', body: request})).json()
    if (typeof jobArn !== 'string') throw new BadReply('expected a jobArn')
    return {
      json: batchObject({
        id: encodeURIComponent(jobArn),
        status: 'validating',
        endpoint: String(body.endpoint),
        input_file_id: idOf('s3', input),
        created_at: context.created_s,
        model: modelId,
        metadata: metadataIn(body),
      }),
    }
  },
  async retrieveBatch(asked, upstream) {
    const job = await jobOf(asked, upstream)
    return {json: batchObject({...batchOf(job), ...(await countedBy(job, asked, upstream))})}
  },
  async cancelBatch(asked, upstream) {
    ;(await upstream.ask({method: 'POST', path: `${jobPath('model-invocation-job', asked.id)}/stop`})).drop()
    const job = await jobOf(asked, upstream)
    const facts = batchOf(job)
    return {json: batchObject(ENDED.has(facts.status) ? facts : {...facts, status: 'cancelling'})}
  },
  listBatches: (asked, upstream) =>
    listed(asked, async (token, size) => {
      const next = token === null ? '' : `&nextToken=${encodeURIComponent(token)}`
      const path = `/model-invocation-jobs?maxResults=${size}&sortBy=CreationTime&sortOrder=Descending${next}`
      const said = await (await upstream.ask({method: 'GET', path})).json()
      const jobs = Array.isArray(said.invocationJobSummaries) ? said.invocationJobSummaries.map(object) : []
      return {items: jobs.map(job => batchObject(batchOf(job))), next: typeof said.nextToken === 'string' ? said.nextToken : null}
    }),
  async getBatchOutput(asked, upstream) {
    const job = await jobOf(asked, upstream)
    const written = outputPlace(job)
    if (!written) throw new Untranslatable('id', `the batch has no output: it is ${String(job.status)}`)
    const place = placeIn(idOf('s3', written), files, asked)
    const content = await s3Store(upstream, asked.context.options).read(place)
    return {content: contentOf(place, content, files, asked), content_type: 'application/octet-stream'}
  },
}

function outputOf(asked: Asked, input: Place): Json {
  const {output_data_config: said} = asked.body
  const config = typeof said === 'string' ? {s3Uri: said} : object(object(said).s3OutputDataConfig ?? said)
  const key = asked.context.options.amz_server_side_encryption_aws_kms_key_id
  const s3Uri = typeof config.s3Uri === 'string' ? config.s3Uri : uriOf('s3', {bucket: input.bucket, key: keyOf('batch_output', asked, '')})
  placeIn(`${s3Uri}output`, files, asked, 'output_data_config')
  return {s3OutputDataConfig: {...(key && {s3EncryptionKeyId: key}), ...config, s3Uri}}
}

async function jobOf({id}: Asked, {ask}: Upstream): Promise<Json> {
  return await (await ask({method: 'GET', path: jobPath('model-invocation-job', id)})).json()
}

function batchOf(job: Json): BatchFacts {
  const {jobArn, modelId, status, message} = job
  if (typeof jobArn !== 'string') throw new BadReply('expected a jobArn')
  const input = object(object(job.inputDataConfig).s3InputDataConfig).s3Uri
  const model = typeof modelId === 'string' ? modelId : ''
  const place = outputPlace(job)
  return {
    id: encodeURIComponent(jobArn),
    status: known(STATUSES, status, 'in_progress'),
    endpoint: PATHS[endpointOfJob(job.modelInvocationType, model)],
    input_file_id: typeof input === 'string' ? encodeURIComponent(input) : '',
    model,
    created_at: seconds(job.submitTime),
    ended_at: seconds(job.endTime),
    expires_at: seconds(job.jobExpirationTime),
    output_file_id: place && idOf('s3', place),
    failure: typeof message === 'string' && message !== '' && known(STATUSES, status, 'in_progress') === 'failed' ? message : null,
  }
}

/** `{output}/{job}/{input file}.out`, once there is one (Bedrock user guide, "View the results of a batch inference job"). */
function outputPlace(job: Json): (Place & {readonly model: string}) | null {
  const {jobArn, modelId, status} = job
  if (status !== 'Completed' && status !== 'PartiallyCompleted' && status !== 'Stopped' && status !== 'Expired') return null
  const input = object(object(job.inputDataConfig).s3InputDataConfig).s3Uri
  const output = object(object(job.outputDataConfig).s3OutputDataConfig).s3Uri
  const found = typeof output === 'string' ? /^s3:\/\/([^/]+)\/?(.*)$/.exec(output) : null
  if (!found || typeof input !== 'string' || typeof jobArn !== 'string') return null
  const folder = found[2] === '' || found[2]!.endsWith('/') ? found[2]! : `${found[2]!}/`
  const key = `${folder}${jobArn.split('/').at(-1)!}/${input.split('/').at(-1)!}.out`
  return {bucket: found[1]!, key, model: typeof modelId === 'string' ? modelId : ''}
}

/** What a batch that ended counted, in the manifest beside its output; nothing where it cannot be read. */
async function countedBy(job: Json, {context}: Asked, upstream: Upstream): Promise<Partial<BatchFacts>> {
  const place = outputPlace(job)
  if (!place) return {}
  try {
    const key = `${place.key.slice(0, place.key.lastIndexOf('/'))}/manifest.json.out`
    let text = ''
    for await (const piece of await s3Store(upstream, context.options).read({...place, key})) {
      text += piece.toString('utf8')
      if (text.length > MOST_MANIFEST) return {}
    }
    const said = object(JSON.parse(text))
    return {
      counts: {total: whole(said.totalRecordCount), completed: whole(said.successRecordCount), failed: whole(said.errorRecordCount)},
      tokens: {input: whole(said.inputTokenCount), output: whole(said.outputTokenCount)},
    }
  } catch (fault) {
    if (fault instanceof UpstreamFault || fault instanceof SyntaxError) return {}
    throw fault
  }
}

const MOST_MANIFEST = 64 << 10
