import {isObject, list, object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import type {Json} from '../translation.ts'
import {type BatchDialect, UnreadableResultsFault, type VendorBatch} from './dialect.ts'
import {listedRows, objectIn, rowsIn} from './read-rows.ts'
import {amount, idAfter, idOf} from './words.ts'

/** States of a batch that runs no more, without the words before them (ai.google.dev/api/batch-api, State). */
const ENDED = /^(?:BATCH|JOB)_STATE_(?:SUCCEEDED|FAILED|CANCELLED|EXPIRED)$/

/**
 * Batches of the Gemini API (ai.google.dev/api/batch-api): operations, whose response holds the replies, or names their
 * file.
 */
export const geminiBatches: BatchDialect = {
  batchesIn: reply => [reply, ...list(reply.operations)].flatMap(batchIn),
  idIn: path => idAfter(path, '/batches/'),
  pathOf,
  requestsIn({batch}) {
    const {inputConfig, input_config} = object(batch)
    const {requests} = object(inputConfig ?? input_config)
    return list(object(requests).requests).map(each => object(each).request)
  },
  async resultsOf(id, {upstream, seen}) {
    const operation = await objectIn(await upstream.ask({method: 'GET', path: pathOf(id)}), seen)
    const batch = object(operation.metadata)
    const outputs = [object(operation.response), object(batch.output)]
    const facts = {
      model: idOf(batch.model)?.replace(/^models\//, '') ?? null,
      succeeded: amount(object(batch.batchStats).successfulRequestCount),
    }
    for (const output of outputs) {
      const rows = inlined(output)
      if (rows) return {rows: listedRows(rows), ...facts}
    }
    const file = outputs.map(({responsesFile}) => idOf(responsesFile)).find(name => name !== null)
    if (file === undefined) return {rows: listedRows([]), ...facts}
    const name = file.replace(/^files\//, '')
    if (!/^[\w-]{1,128}$/.test(name))
      throw new UnreadableResultsFault('the name of the results’ file is no name of a file')
    const reply = await upstream.ask({method: 'GET', path: `/download/v1beta/files/${name}:download?alt=media`})
    return {rows: rowsIn(reply, seen), ...facts}
  },
  answerIn({response, error}) {
    if (isObject(response)) return {reply: response}
    return isObject(error) ? 'failed' : 'unread'
  },
}

function batchIn(operation: unknown): readonly VendorBatch[] {
  const {name, done, metadata} = object(operation) as Json
  const id = idOf(name)?.match(/^batches\/([\w-]+)$/)?.[1]
  const {state} = object(metadata)
  return id === undefined ? [] : [{id, has_ended: done === true || (typeof state === 'string' && ENDED.test(state))}]
}

/** Of batches of vectors the member has a name of its own. */
function inlined({inlinedResponses, inlinedEmbedContentResponses}: Json): readonly unknown[] | null {
  const member = inlinedResponses ?? inlinedEmbedContentResponses
  const rows = isObject(member) ? member.inlinedResponses : member
  return Array.isArray(rows) ? rows : null
}

function pathOf(id: string): string {
  return `/v1beta/batches/${uriPart(id)}`
}
