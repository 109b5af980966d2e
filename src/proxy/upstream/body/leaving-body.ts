import type {IncomingMessage} from 'node:http'
import type {Readable} from 'node:stream'
import type {Edits} from '../../../base/json.ts'
import {purposePart} from '../../../providers/messages/index.ts'
import type {OutgoingHeaders} from '../../../providers/provider.ts'
import {applyParams} from '../../../routing/params.ts'
import type {Call} from '../../call/call.ts'
import {type JsonBody, rewritten, type StreamBody, wholeOf} from '../../inbound/body.ts'
import {messageOf} from '../../inbound/request.ts'
import type {Target} from '../../targets/target.ts'
import {writtenText} from '../translate.ts'
import type {Metering} from './metering.ts'

const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Null: there is none. */
export type LeavingBody = Buffer | Readable | null

/** The sent bytes of a body that is not serialised again: the client's, but for the changes of the target. */
export function bodyOf(
  {body, incoming}: Call,
  model: string | null,
  changed: Changes | null,
  {stream_options}: Metering,
): LeavingBody {
  if (body.kind === 'none' || WITHOUT_BODY.has(incoming.method)) return null
  if (body.kind === 'stream') return flowing(messageOf(incoming), body) as unknown as Readable
  if (!changed) return rewritten(body, model, null)
  const {edits} = changed
  return rewritten(
    body,
    changed.model,
    stream_options === null ? edits : new Map([...(edits ?? []), ['stream_options', stream_options]]),
  )
}

/** The replacements of members of a JSON body. */
export interface Changes {
  readonly model: string | null
  readonly edits: Edits | null
}

export function changesOf(body: JsonBody, target: Target, model: string | null): Changes {
  const {edits, params} = target
  if (!params.default_params && !params.drop_params) return {model, edits}
  if (params.drop_params?.some(path => /[.[]/.test(path))) return {model, edits: reshaped(body, target)}
  const all = new Map<string, string | undefined>()
  for (const [key, value] of Object.entries(params.default_params ?? {})) {
    if (key !== 'model' && !body.members.has(key)) all.set(key, JSON.stringify(value))
  }
  for (const [key, json] of edits ?? []) all.set(key, json)
  for (const path of params.drop_params ?? []) all.set(path, undefined)
  return {model: all.has('model') ? null : model, edits: all}
}

/** OpenAI's files have a purpose, which a form of Anthropic's clients lacks. */
export function withPurpose(body: LeavingBody, headers: OutgoingHeaders, call: Call): LeavingBody {
  if (!call.is_shaped || call.endpoint !== 'uploadFile' || headers['content-encoding'] !== undefined) return body
  const part = purposePart(headers['content-type'], call.incoming.own.values['file-purpose'])
  if (!part || !body) return body
  if (headers['content-length'] !== undefined)
    headers['content-length'] = String(Number(headers['content-length']) + part.length)
  return Buffer.isBuffer(body)
    ? Buffer.concat([part, body])
    : (behind(part, body as AsyncIterable<Buffer>) as unknown as Readable)
}

async function* behind(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

/**
 * A body as it comes. The request outlives what is read of it, as its connection is to carry the answer; what is left
 * of it flows away.
 */
async function* flowing(request: IncomingMessage, {judged, lead}: StreamBody): AsyncGenerator<Buffer> {
  try {
    if (judged) return yield* judged.chunks
    yield* lead
    yield* request.iterator({destroyOnReturn: false}) as AsyncIterable<Buffer>
  } finally {
    request.resume()
  }
}

/** A dropped member inside another is found in the parsed body; unchanged members keep their bytes. */
function reshaped(body: JsonBody, {params, provider}: Target): Edits {
  const before = wholeOf(body)
  const fields = applyParams(before, params)
  const changed = new Set([...Object.keys(before), ...Object.keys(fields)].filter(key => fields[key] !== before[key]))
  const edits = new Map<string, string | undefined>()
  for (const key of changed)
    edits.set(key, Object.hasOwn(fields, key) ? writtenText(fields[key], provider.slug) : undefined)
  edits.delete('model')
  return edits
}
