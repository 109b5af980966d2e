import {isObject, list, object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {type BatchDialect, UnreadableResultsFault, type VendorBatch} from './dialect.ts'
import {listedRows, objectIn, rowsIn} from './read-rows.ts'
import {amount, idAfter, idOf} from './words.ts'

const ENDED: ReadonlySet<unknown> = new Set(['SUCCESS', 'FAILED', 'TIMEOUT_EXCEEDED', 'CANCELLED'])

/** Batch jobs of Mistral (docs.mistral.ai, API: batch), which run one model; an agent's rows name it. */
export const mistralBatches: BatchDialect = {
  batchesIn: reply => [reply, ...list(reply.data)].flatMap(batchIn),
  idIn: path => idAfter(path, '/batch/jobs/'),
  pathOf,
  requestsIn: ({requests}) => list(requests).map(each => object(each).body),
  async resultsOf(id, {upstream, seen}) {
    const job = await objectIn(await upstream.ask({method: 'GET', endpoint: 'proxy', path: pathOf(id)}), seen)
    const facts = {model: idOf(job.model), succeeded: amount(job.succeeded_requests)}
    const file = idOf(job.output_file)
    if (file === null) return {rows: listedRows(list(job.outputs)), ...facts}
    if (!/^[\w-]{1,128}$/.test(file)) throw new UnreadableResultsFault('the id of the output file is no id of a file')
    const reply = await upstream.ask({method: 'GET', endpoint: 'proxy', path: `/files/${file}/content`})
    return {rows: rowsIn(reply, seen), ...facts}
  },
  answerIn({response, error}) {
    const {status_code: status, body} = object(response)
    if (isObject(body) && (status === 200 || status === undefined)) return {reply: body}
    return isObject(error) || typeof error === 'string' || (typeof status === 'number' && status >= 400)
      ? 'failed'
      : 'unread'
  },
}

function batchIn(job: unknown): readonly VendorBatch[] {
  const {id, status} = object(job)
  const found = idOf(id)
  return found !== null && typeof status === 'string' ? [{id: found, has_ended: ENDED.has(status)}] : []
}

function pathOf(id: string): string {
  return `/batch/jobs/${uriPart(id)}`
}
