import {isObject, list, object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import type {Json} from '../translation.ts'
import {type BatchDialect, UnreadableResultsFault, type VendorBatch} from './dialect.ts'
import {objectIn, rowsIn} from './read-rows.ts'
import {amount, idAfter} from './words.ts'

/** Message batches (platform.claude.com/docs, Message Batches API). */
export const anthropicBatches: BatchDialect = {
  batchesIn: reply => [reply, ...list(reply.data)].flatMap(batchIn),
  idIn: path => idAfter(path, '/messages/batches/'),
  pathOf,
  requestsIn: ({requests}) => list(requests).map(each => object(each).params),
  async resultsOf(id, {upstream, seen}) {
    const batch = await objectIn(await upstream.ask({method: 'GET', endpoint: 'proxy', path: pathOf(id)}), seen)
    if (batch.processing_status !== 'ended') throw new UnreadableResultsFault('the batch is shown as not ended')
    const reply = await upstream.ask({method: 'GET', endpoint: 'proxy', path: `${pathOf(id)}/results`})
    return {rows: rowsIn(reply, seen), model: null, succeeded: amount(object(batch.request_counts).succeeded)}
  },
  answerIn({result}) {
    const {type, message} = object(result)
    if (type === 'succeeded' && isObject(message)) return {reply: message}
    return FAILED.has(type) ? 'failed' : 'unread'
  },
}

const FAILED: ReadonlySet<unknown> = new Set(['errored', 'canceled', 'expired'])

function batchIn(batch: unknown): readonly VendorBatch[] {
  const {id, processing_status: status} = object(batch) as Json
  return typeof id === 'string' && typeof status === 'string' ? [{id, has_ended: status === 'ended'}] : []
}

function pathOf(id: string): string {
  return `/messages/batches/${uriPart(id)}`
}
