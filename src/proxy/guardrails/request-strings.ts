import {isUtf8} from 'node:buffer'
import {Refusal} from '../../base/errors.ts'
import {findingKeyFault} from '../../base/json-keys.ts'
import {MAX_JSON_DEPTH} from '../../base/json-shape.ts'
import {type FormSpan, formParts} from '../../base/multipart.ts'
import {type BytesView, readingBytes} from '../../guardrails/bytes-view.ts'
import {unreadIn} from '../../guardrails/event-texts.ts'
import type {JsonValue} from '../../guardrails/json.ts'
import {readingJson} from '../../guardrails/json-text.ts'
import {judgedBytes, queryText, type Region} from '../../guardrails/regions.ts'
import {DEEPEST} from '../../guardrails/strings.ts'
import {isGuarded} from '../../guardrails/texts.ts'
import {inTimeSlices, type SlicedWork} from '../../guardrails/time-slices.ts'
import {type View, viewOf} from '../../guardrails/view.ts'
import type {Json} from '../../providers/translation.ts'
import {applyParams} from '../../routing/params.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Side} from '../../schema/guardrails.ts'
import type {Call} from '../call/call.ts'
import {type JsonBody, LONG_BODY_BYTES, textOf, wholeOf} from '../inbound/body.ts'
import type {Target} from '../targets/target.ts'
import {JSON_TYPE} from '../upstream/translate.ts'

/** A body as far as guardrails can read it. */
export interface ReadableBody {
  readonly view: BytesView | null
  /** The unreadable parts: names of parts of a form, `body` for all of it. */
  readonly unread: readonly string[]
}

/** The name for the whole body. */
export const WHOLE_BODY = 'body'
const UNREAD: ReadableBody = {view: null, unread: [WHOLE_BODY]}

/** A request as its checks see it. */
export interface RequestRead {
  readonly view: View | null
  readonly unread: readonly string[]
}

export const NOTHING_READ: RequestRead = {view: null, unread: []}
/** A form that comes with a file whose rows are judged by themselves: as far as it has come, closed. */
export interface FormOfRows {
  readonly bytes: Buffer
  /** The parts that hold rows. */
  readonly parts: ReadonlySet<string>
}

interface Of {
  readonly endpoint: EndpointName
  readonly side: Side
}

/**
 * The strings of a request whose dialect is not known: of JSON, of the fields of a form, or one text. A body that is
 * labelled JSON or a form and is none is refused (400), for a lenient provider may find strings in it that were not
 * judged.
 */
export function* readStrings(
  of: Of,
  bytes: Buffer,
  content_type: string,
  most_bytes: number,
): SlicedWork<ReadableBody> {
  if (!isUtf8Said(content_type)) return UNREAD
  if (/^multipart\//i.test(content_type)) return yield* readParts(of, bytes, content_type, most_bytes)
  if (bytes.length > most_bytes) return UNREAD
  const is_json = /^[^;]*json/i.test(content_type)
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const json = yield* readingBytes(of, bytes, [{form: 'json', start, end: bytes.length, called: ''}], [])
  if (typeof json !== 'string') return {view: json, unread: []}
  if (json === 'deep') throw new Refusal('json.too_deep', {what: 'The request body', limit: MAX_JSON_DEPTH})
  if (json === 'many') return UNREAD
  if (is_json) throw new Refusal('body.not_json', {reason: 'it does not parse'})
  // Some clients call JSON so, and some servers take it: only what is no JSON is read as such a form.
  if (/^application\/x-www-form-urlencoded/i.test(content_type)) return yield* readQuery(of, bytes)
  if (!isUtf8(bytes)) return UNREAD
  return yield* viewOfAll(of, bytes, [{form: 'text', start: 0, end: bytes.length, called: ''}], [], [])
}

/**
 * The body of a request as its checks see it: in the words of its route, with what the config sets, or string by
 * string.
 */
export async function readBody(
  endpoint: EndpointName,
  call: Call,
  params: Target['params'],
  most_bytes: number,
): Promise<RequestRead> {
  const {body, incoming} = call
  if (body.kind === 'json' && isGuarded(endpoint, 'input')) {
    const is_long = body.bytes.length > most_bytes && (await inTimeSlices(judgedBytes(body.bytes))) > most_bytes
    if (is_long) return {view: null, unread: [WHOLE_BODY]}
    const whole = await parsedWhole(body)
    await readAlike(body)
    return {
      view: viewOf(endpoint, 'input', applyParams(whole, params) as JsonValue),
      unread: endpoint === 'realtime' ? unreadIn(whole as JsonValue) : [],
    }
  }
  if (!('bytes' in body)) return {view: null, unread: [WHOLE_BODY]}
  const type = body.kind === 'json' ? JSON_TYPE : (incoming.headers['content-type'] ?? '')
  return inTimeSlices(readStrings({endpoint, side: 'input'}, body.bytes, type, most_bytes))
}

/** The fields of a form; its rows are judged by themselves. */
export async function readForm(
  endpoint: EndpointName,
  {incoming}: Pick<Call, 'incoming'>,
  {bytes, parts}: FormOfRows,
  most_bytes: number,
): Promise<RequestRead> {
  const type = incoming.headers['content-type'] ?? ''
  const {view, unread} = await inTimeSlices(readStrings({endpoint, side: 'input'}, bytes, type, most_bytes))
  return {view, unread: unread.filter(name => !parts.has(name))}
}

/** The strings of an answer: of JSON, or one text. Any other answer is not judged. */
export function* readAnswer(of: Of, bytes: Buffer, most_bytes: number): SlicedWork<ReadableBody> {
  if (bytes.length > most_bytes) return UNREAD
  const json = yield* readingBytes(of, bytes, [{form: 'json', start: 0, end: bytes.length, called: ''}], [])
  if (typeof json !== 'string') return {view: json, unread: []}
  if (json === 'many' || !isUtf8(bytes)) return UNREAD
  return yield* viewOfAll(of, bytes, [{form: 'text', start: 0, end: bytes.length, called: ''}], [], [])
}

/** Other character sets hide what a text says; some servers go by them. */
function isUtf8Said(content_type: string): boolean {
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(content_type)?.[1]
  return charset === undefined || /^(?:utf-?8|(?:us-)?ascii|iso-8859-1|latin-?1|windows-1252)$/i.test(charset)
}

function* readParts(of: Of, bytes: Buffer, content_type: string, most_bytes: number): SlicedWork<ReadableBody> {
  const parts = formParts(bytes, content_type)
  if (!parts)
    throw new Refusal('body.invalid', {issues: 'The form is not well formed, so that guardrails cannot judge it.'})
  const names: string[] = []
  const unread: string[] = []
  const regions: Region[] = []
  for (const [at, part] of parts.entries()) {
    names.push(part.name, part.plain_name, part.file_name ?? '')
    if (isField(part, bytes)) regions.push(yield* fieldRegion(of, bytes, part))
    else unread.push(part.name || `part ${at + 1}`)
  }
  const length = regions.reduce((sum, {start, end}) => sum + end - start, 0)
  if (length > most_bytes) return UNREAD
  return yield* viewOfAll(of, bytes, regions, names, unread)
}

/** A part that is no file, and has no coding, is a text (RFC 7578, 4.4). */
function isField({file_name, is_coded, content_type, start, end}: FormSpan, bytes: Buffer): boolean {
  if (file_name !== null || is_coded || !isUtf8Said(content_type ?? '')) return false
  const is_text = content_type === null || /^(?:text\/|application\/(?:json|[^;]*\+json))/i.test(content_type)
  return is_text && isUtf8(bytes.subarray(start, end))
}

/** JSON in a field is read string by string, as it may be written with escapes. */
function* fieldRegion(
  of: Of,
  bytes: Buffer,
  {name, start, end}: Pick<FormSpan, 'name' | 'start' | 'end'>,
): SlicedWork<Region> {
  const json: Region = {form: 'json', start, end, called: name}
  if (/^\s*[{["]/.test(bytes.toString('latin1', start, Math.min(end, start + LONGEST_SPACE)))) {
    const read = yield* readingBytes(of, bytes, [json], [])
    if (typeof read !== 'string') return json
  }
  return {...json, form: 'text'}
}

const LONGEST_SPACE = 256

function* readQuery(of: Of, bytes: Buffer): SlicedWork<ReadableBody> {
  const names: string[] = []
  const regions: Region[] = []
  for (let start = 0; start < bytes.length; ) {
    if (regions.length % FIELDS_AT_ONCE === FIELDS_AT_ONCE - 1) yield
    const mark = bytes.indexOf(AND, start)
    const end = mark < 0 ? bytes.length : mark
    const equals = bytes.subarray(start, end).indexOf(EQUALS)
    const name = bytes.toString('utf8', start, equals < 0 ? end : start + equals)
    const called = queryText(name)
    names.push(called)
    if (equals >= 0) regions.push({form: 'query', start: start + equals + 1, end, called})
    start = end + 1
  }
  return yield* viewOfAll(of, bytes, regions, names, [])
}

const FIELDS_AT_ONCE = 512
const AND = 0x26
const EQUALS = 0x3d

function* viewOfAll(
  of: Of,
  bytes: Buffer,
  regions: readonly Region[],
  names: readonly string[],
  unread: readonly string[],
): SlicedWork<ReadableBody> {
  const view = yield* readingBytes(of, bytes, regions, names)
  return typeof view === 'string' ? UNREAD : {view, unread}
}

/** The body parsed; a long one with pauses. */
export async function parsedWhole(body: JsonBody): Promise<Json> {
  if (body.bytes.length > LONG_BODY_BYTES)
    body.whole ??= (await inTimeSlices(readingJson(textOf(body)))) as Json | undefined
  return wholeOf(body)
}

/**
 * Refuses a body that others may read as something else than what is judged: with the other value of a key, or with
 * what is too deep to be judged.
 */
export async function readAlike(body: JsonBody): Promise<void> {
  if (body.key_fault === undefined) body.key_fault = await inTimeSlices(findingKeyFault(body.bytes.toString(), DEEPEST))
  const fault = body.key_fault
  if (fault?.kind === 'repeated') throw new Refusal('body.repeated_key', {path: fault.path})
  if (fault)
    throw new Refusal('body.invalid', {issues: `The request body is nested too deep to be judged, at ${fault.path}.`})
}
