import type {IncomingMessage} from 'node:http'
import {Refusal} from '../../base/errors.ts'
import {GIVEN_UP} from '../../base/ingress/govern.ts'
import {type ClientRequest, FastRequest} from '../../base/ingress/request.ts'
import {type Edits, edited, longValues, type Span, topLevel} from '../../base/json.ts'
import type {KeyFault} from '../../base/json-keys.ts'
import {MAX_JSON_DEPTH} from '../../base/json-shape.ts'
import {type FormSpan, formParts, withField} from '../../base/multipart.ts'
import {inTimeSlices} from '../../guardrails/time-slices.ts'
import type {Json} from '../../providers/translation.ts'
import type {Endpoint} from '../../schema/endpoints.ts'

/** The body of a call: read (JSON, a form, or what is neither), still on the wire, or none. */
export type Body = JsonBody | FormBody | OtherBody | StreamBody | {readonly kind: 'none'}

export interface JsonBody {
  readonly kind: 'json'
  readonly bytes: Buffer
  readonly members: ReadonlyMap<string, Span>
  readonly model: string | null
  readonly stream: boolean
  /** True when the client asks for usage in the stream itself. */
  readonly asks_usage: boolean
  /** The body's `user`, which fills the metadata's `_user`. */
  readonly user: string | null
  /** See `wholeOf`. */
  whole?: Json
  /** The keys that readers may take for different things, once they were looked for; null for none. */
  key_fault?: KeyFault | null
}

export interface FormBody {
  readonly kind: 'form'
  readonly bytes: Buffer
  /** Null where it is not well formed: the provider judges it. */
  readonly parts: readonly FormSpan[] | null
  readonly model_field: FormSpan | undefined
  readonly model: string | null
}

/** Read whole, and no JSON object: a list, or JSON line by line. */
export interface OtherBody {
  readonly kind: 'other'
  readonly bytes: Buffer
}

/** Still on the wire, but for what was taken of it to see what it is. */
export interface StreamBody {
  readonly kind: 'stream'
  /** Its first bytes, where they were taken. */
  lead: readonly Buffer[]
  /** The same, once something had to read it. */
  read: Body | null
  /** It cannot be read: it is too long, or no text. */
  is_unreadable: boolean
  /** The flow that leaves in its place: the same as far as it was judged; null: it flows as it comes. */
  judged: JudgedFlow | null
}

/** A body that is judged as it passes. */
export interface JudgedFlow {
  /** Ends with a fault where it may not leave. To be read once. */
  readonly chunks: AsyncIterable<Buffer>
  /** How many bytes longer it is than its sender promised. */
  readonly added_bytes: number
  /** A verdict is waited for now. */
  readonly is_waiting: boolean
}

export function streamBody(): StreamBody {
  return {kind: 'stream', lead: [], read: null, is_unreadable: false, judged: null}
}

/** A body as it is now: one that was to pass by may have been read. */
export function currentBody(body: Body): Body {
  return body.kind === 'stream' ? (body.read ?? body) : body
}

/** Members that decide the target and the cost of a call: each may come once (core rule 19). */
const POLICY: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
])
/** No member that decides something is longer. */
const MAX_MEMBER_BYTES = 1 << 20

const LARGE_BYTES = 1 << 20

/** Reads a request to its end; refuses one longer than `limit_mb`. */
export function readBytes(request: ClientRequest, limit_mb: number): Buffer | Promise<Buffer> {
  if (Number(request.headers['content-length']) > limit_mb * 2 ** 20) throw new Refusal('body.too_large', {limit_mb})
  if (!(request instanceof FastRequest)) return readMessage(request, limit_mb)
  const body = request.body()
  return body instanceof Promise
    ? body.catch(fault => Promise.reject(fault instanceof Refusal ? fault : new Refusal('client.gone')))
    : body
}

function readMessage(request: IncomingMessage, limit_mb: number): Promise<Buffer> {
  const most = limit_mb * 2 ** 20
  return new Promise((resolve, reject) => {
    // A large body goes to its place as it comes; kept in parts it would be there twice when they are joined.
    const said_length = Number(request.headers['content-length'])
    const whole = said_length >= LARGE_BYTES ? Buffer.allocUnsafeSlow(said_length) : null
    const parts: Buffer[] = []
    let length = 0
    request.on('data', (part: Buffer) => {
      if (whole) part.copy(whole, length)
      length += part.length
      if (length > most) {
        request.removeAllListeners('data')
        request.resume() // what comes is ignored, so that its client gets to read why
        reject(new Refusal('body.too_large', {limit_mb}))
      } else if (!whole) parts.push(part)
    })
    request.on('end', () => resolve(whole ?? (parts.length === 1 ? parts[0]! : Buffer.concat(parts, length))))
    request.on(GIVEN_UP, reject)
    request.on('error', () => reject(new Refusal('client.gone')))
    request.on('close', () => request.complete || reject(new Refusal('client.gone')))
  })
}

/**
 * The members of a JSON body that the gateway needs: an object, and no policy member twice. Of the rest the top level
 * alone is scanned, for parsing it would cost more than all else that a call costs; the provider reports faults deeper
 * down.
 */
export function readJson(bytes: Buffer, endpoint: Endpoint | undefined, long?: ReadonlyMap<number, number>): JsonBody {
  const members = topLevel(bytes, POLICY, MAX_JSON_DEPTH, long)
  const model = member(bytes, members, 'model')
  const stream_options = member(bytes, members, 'stream_options')
  const user = member(bytes, members, 'user')
  if (model !== undefined && typeof model !== 'string') throw invalid('model must be a string')
  if (endpoint?.messages && !hasElements(bytes, members.get('messages')))
    throw invalid('messages must be an array of at least 1 message')
  return {
    kind: 'json',
    bytes,
    members,
    model: model ?? null,
    stream: member(bytes, members, 'stream') === true,
    asks_usage: (stream_options as {include_usage?: unknown} | null | undefined)?.include_usage === true,
    user: typeof user === 'string' ? user : null,
  }
}

/** The body parsed, once: for what a scan of the top level cannot tell. Refuses what is no JSON. */
export function wholeOf(body: JsonBody): Json {
  if (body.whole) return body.whole
  try {
    body.whole = JSON.parse(textOf(body)) as Json
    return body.whole
  } catch (cause) {
    throw new Refusal('body.not_json', {reason: 'it does not parse'}, {cause})
  }
}

/** Its text, without a byte order mark. */
export function textOf({bytes}: JsonBody): string {
  const text = bytes.toString()
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

const BYTE_ORDER_MARK = 0xfeff

/** A content type of JSON. */
export const isJson = (content_type: string) => /^[^;]*json/i.test(content_type)
/** A content type of a form. */
export const isForm = (content_type: string) => /^multipart\/form-data/i.test(content_type)
/** JSON of more than one value. */
const LINES = /^[^;]*(?:jsonl|ndjson|jsonlines|json-seq)/i

/**
 * True for a content type that is read; another is left on the wire. A body on a route of JSON is JSON (400): a
 * provider may read it as such whatever its label, and it would not have been judged.
 */
export function isRead(content_type: string, endpoint: Endpoint | undefined): boolean {
  if (endpoint?.body !== 'json') return isJson(content_type) || isForm(content_type)
  if (content_type && !isJson(content_type))
    throw new Refusal('body.content_type', {content_type: content_type.slice(0, 100), expected: 'application/json'})
  return true
}

/** The same of one that may be long: others have their turn while it is scanned. */
export async function readLongAs(bytes: Buffer, content_type: string, endpoint: Endpoint | undefined): Promise<Body> {
  if (isForm(content_type) || !beginsObject(bytes)) return readAs(bytes, content_type, endpoint)
  return readAs(bytes, content_type, endpoint, await inTimeSlices(longValues(bytes, MAX_JSON_DEPTH)))
}

/** A longer body of JSON is scanned with pauses. */
export const LONG_BODY_BYTES = 1 << 20

/**
 * A body of a content type that is read. To a path that the table does not know JSON may also be another than an
 * object.
 */
export function readAs(
  bytes: Buffer,
  content_type: string,
  endpoint: Endpoint | undefined,
  long?: ReadonlyMap<number, number>,
): Body {
  if (endpoint?.body !== 'json' && isForm(content_type)) return readForm(bytes, content_type)
  if (endpoint || (!LINES.test(content_type) && beginsObject(bytes))) return readJson(bytes, endpoint, long)
  return {kind: 'other', bytes}
}

function beginsObject(bytes: Buffer): boolean {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while (BLANKS.has(bytes[at]!)) at++
  return bytes[at] === OPEN_BRACE
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const OPEN_BRACE = 0x7b

/** A form, and the plain field that names its model: one, or providers could read another than we do. */
function readForm(bytes: Buffer, content_type: string): FormBody {
  const parts = formParts(bytes, content_type)
  const models = parts?.filter(({name, plain_name}) => name === 'model' || plain_name === 'model') ?? []
  if (models.length > 1) throw new Refusal('body.duplicate_key', {key: 'model'})
  const field = models.find(({file_name}) => file_name === null)
  return {
    kind: 'form',
    bytes,
    parts,
    model_field: field,
    model: field ? bytes.toString('utf8', field.start, field.end) : null,
  }
}

/**
 * The bytes of a read body with another model and other members set, added or left out; the same bytes when nothing
 * changes.
 */
export function rewritten(body: JsonBody | FormBody | OtherBody, model: string | null, edits: Edits | null): Buffer {
  if (body.kind === 'other') return body.bytes
  if (body.kind === 'form') {
    return body.model_field && model !== null && model !== body.model
      ? withField(body.bytes, body.model_field, model)
      : body.bytes
  }
  const all = new Map(edits ?? [])
  if (model !== null && model !== body.model) all.set('model', JSON.stringify(model))
  return all.size ? edited(body.bytes, body.members, all) : body.bytes
}

/** One member at the top, parsed; undefined for one that is not there, or is too long to decide anything. */
export function member(bytes: Buffer, members: ReadonlyMap<string, Span>, key: string): unknown {
  const span = members.get(key)
  if (!span || span.end - span.start > MAX_MEMBER_BYTES) return undefined
  try {
    return JSON.parse(bytes.toString('utf8', span.start, span.end))
  } catch (cause) {
    throw new Refusal('body.not_json', {reason: `${key} does not parse`}, {cause})
  }
}

/** True when the span is an array with elements. */
function hasElements(bytes: Buffer, span: Span | undefined): boolean {
  return (
    span !== undefined &&
    /^\[\s*[^\]\s]/.test(bytes.toString('latin1', span.start, Math.min(span.end, span.start + 64)))
  )
}

function invalid(issues: string): Refusal {
  return new Refusal('body.invalid', {issues: `${issues}.`})
}
