import {isObject, parsed} from '../../base/json-object.ts'
import {JsonSkim} from '../../base/json-skim.ts'
import {linesOf} from '../../base/lines.ts'
import {MAX_ROW_BYTES} from '../jobs/rows.ts'
import type {UpstreamReply} from '../operation.ts'
import type {Json} from '../translation.ts'
import {UnreadableResultsFault} from './dialect.ts'

/** No vendor takes a batch of more requests than some hundred thousand. */
const MAX_RESULTS_BYTES = 2 ** 31

type Seen = {bytes: number}

/** The rows of a file of JSON lines, one at a time; undefined for a line that is no JSON. */
export async function* rowsIn(reply: Pick<UpstreamReply, 'body' | 'headers'>, seen: Seen): AsyncGenerator<unknown> {
  checkPlain(reply)
  for await (const {bytes} of linesOf(counted(reply.body, seen), MAX_ROW_BYTES)) yield parsed(bytes.toString())
}

/** The object in a reply of any length, without what is long in it. */
export async function objectIn(reply: UpstreamReply, seen: Seen): Promise<Json> {
  checkPlain(reply)
  const skim = new JsonSkim()
  for await (const chunk of counted(reply.body, seen)) skim.push(Buffer.from(chunk))
  const bytes = skim.bytes()
  if (!bytes) throw new UnreadableResultsFault('the reply is too long, or has no end')
  const value = parsed(bytes.toString())
  if (!isObject(value)) throw new UnreadableResultsFault('the reply is no JSON object')
  return value
}

export async function* listedRows(rows: readonly unknown[]): AsyncGenerator<unknown> {
  yield* rows
}

async function* counted(source: AsyncIterable<Uint8Array>, seen: Seen): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    seen.bytes += chunk.length
    if (seen.bytes > MAX_RESULTS_BYTES)
      throw new UnreadableResultsFault(`the results are longer than ${MAX_RESULTS_BYTES} bytes`)
    yield chunk
  }
}

/** The request was for plain bytes alone. */
function checkPlain({headers}: Pick<UpstreamReply, 'headers'>) {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new UnreadableResultsFault('the reply is encoded, though it was asked for as it is')
}
