import {isObject, list, object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {vertexParent} from '../base-urls/vertex.ts'
import {outputPlace as bedrockPlace} from '../bedrock/batches.ts'
import {s3Store} from '../bedrock/s3.ts'
import type {Json} from '../translation.ts'
import {outputs as vertexOutputs, outputPlace as vertexPlace} from '../vertex/batches.ts'
import {numberOf} from '../vertex/jobs.ts'
import {type BatchDialect, UnreadableResultsFault, type VendorBatch} from './dialect.ts'
import {listedRows, objectIn, rowsIn} from './read-rows.ts'
import {amount, idAfter, idOf, plainText} from './words.ts'

const PLAIN = {headers: {}}
const BEDROCK_ENDED: ReadonlySet<unknown> = new Set(['Completed', 'PartiallyCompleted', 'Failed', 'Stopped', 'Expired'])
const VERTEX_ENDED = /^JOB_STATE_(?:SUCCEEDED|PARTIALLY_SUCCEEDED|FAILED|CANCELLED|EXPIRED)$/
/** Nothing is written where a job failed before its first row. */
const NEVER_RAN: ReadonlySet<unknown> = new Set(['Failed', 'JOB_STATE_FAILED'])

/**
 * Model invocation jobs of Amazon Bedrock (Bedrock API reference). Their rows are in S3, which the integration may not
 * be let to read.
 */
export const bedrockBatches: BatchDialect = {
  batchesIn: reply => [reply, ...list(reply.invocationJobSummaries)].flatMap(jobOfBedrock),
  idIn(path) {
    const found = /\/model-invocation-job\/(.+?)(?:\/stop)?\/*$/.exec(path)?.[1]
    return found === undefined ? null : plainText(found)
  },
  pathOf: id => `/model-invocation-job/${uriPart(id)}`,
  requestsIn: () => [],
  async resultsOf(id, {upstream, options, seen}) {
    const job = await objectIn(await upstream.ask({method: 'GET', path: `/model-invocation-job/${uriPart(id)}`}), seen)
    const model = idOf(job.modelId)
    const place = bedrockPlace(job)
    if (!place) return {rows: none(job.status), model, succeeded: null}
    return {rows: rowsIn({...PLAIN, body: await s3Store(upstream, options).read(place)}, seen), model, succeeded: null}
  },
  answerIn({modelOutput, error}) {
    if (isObject(modelOutput)) return {reply: modelOutput}
    return isObject(error) ? 'failed' : 'unread'
  },
}

/**
 * Batch prediction jobs of Vertex AI (Vertex AI REST reference). Their rows are in a bucket, or a table that is not
 * read.
 */
export const vertexBatches: BatchDialect = {
  batchesIn: reply => [reply, ...list(reply.batchPredictionJobs)].flatMap(jobOfVertex),
  idIn: path => idAfter(path, '/batchPredictionJobs/'),
  pathOf: id => `/batches/${uriPart(id)}`,
  is_unified: true,
  requestsIn: () => [],
  async resultsOf(id, {upstream, options, seen}) {
    const path = `${vertexParent(options)}/batchPredictionJobs/${uriPart(id)}`
    const job = await objectIn(await upstream.ask({method: 'GET', path}), seen)
    const place = vertexPlace(job)
    const facts = {
      model: place?.model || idOf(job.model),
      succeeded: amount(object(job.completionStats).successfulCount),
    }
    if (place) return {rows: rowsIn({...PLAIN, body: vertexOutputs(place, upstream)}, seen), ...facts}
    if (idOf(object(job.outputInfo).bigqueryOutputTable) !== null)
      throw new UnreadableResultsFault('the results are in a table of BigQuery')
    return {rows: none(job.state), ...facts}
  },
  answerIn({response, prediction, status, error}) {
    const reply = object(response).body ?? response ?? prediction
    // Of a row that failed the response is empty, and the status says why.
    if (isObject(reply) && Object.keys(reply).length > 0) return {reply}
    return isObject(error) || (typeof status === 'string' && status !== '') ? 'failed' : 'unread'
  },
}

function none(state: unknown): AsyncIterable<unknown> {
  if (!NEVER_RAN.has(state)) throw new UnreadableResultsFault('the job does not say where its results are')
  return listedRows([])
}

function jobOfBedrock(job: unknown): readonly VendorBatch[] {
  const {jobArn, status} = object(job) as Json
  const id = idOf(jobArn)
  return id === null ? [] : [{id, has_ended: BEDROCK_ENDED.has(status)}]
}

function jobOfVertex(job: unknown): readonly VendorBatch[] {
  const {name, state} = object(job) as Json
  const id = /\/batchPredictionJobs\//.test(idOf(name) ?? '') ? numberOf(name) : null
  return id === null || id === '' ? [] : [{id, has_ended: typeof state === 'string' && VERTEX_ENDED.test(state)}]
}
