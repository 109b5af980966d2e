import {Readable} from 'node:stream'
import {Refusal} from '../../base/errors.ts'
import {isObject, parsed as jsonIn, parseJson, TooDeepFault} from '../../base/json-object.ts'
import {cameAs, writtenAsCame} from '../../providers/as-came.ts'
import {errorBody, usageIn} from '../../providers/chat.ts'
import {type DialectPair, translationFor} from '../../providers/clients.ts'
import {functionsToTools, hasFunctions, withFunctionCalls} from '../../providers/legacy-functions.ts'
import {withLimitMembers} from '../../providers/limit-members.ts'
import {plainFault} from '../../providers/openai/fault.ts'
import type {OutgoingHeaders, Provider} from '../../providers/provider.ts'
import {ReportedFault} from '../../providers/reported-failure.ts'
import {
  InvalidResponseFault,
  type Json,
  type Translated,
  type TranslatedResponse,
  type TranslationContext,
  UnsupportedInputFault,
} from '../../providers/translation.ts'
import {errorAsCame} from '../../providers/unified/fault.ts'
import {applyParams} from '../../routing/params.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Hop} from '../../schema/hops.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import type {Call} from '../call/call.ts'
import {type JsonBody, wholeOf} from '../inbound/body.ts'
import {asUntranslatable} from '../inbound/error-response.ts'
import type {Target} from '../targets/target.ts'
import {type DetachedFiles, detachInlineFiles} from './body/inline-files.ts'

/** A call in the provider's format, and the data for translating its answer back. */
export interface RequestTranslation extends DialectPair {
  readonly context: TranslationContext
  /** The client's request, the config's parameters applied; of another client's format, its translation to chat. */
  readonly chat_request: Json
  /** The client has the older words for tools, and reads calls in them. */
  readonly speaks_functions?: boolean
  readonly client_request: Json
  readonly request: Translated
  /** Restores the large files that were held out of `client_request`; null for none. */
  readonly held: DetachedFiles | null
}

/** The estimate for a call without reported usage: the client gets the one that is written of it. */
export interface UsageEstimate {
  /** Before the answer: the prompt alone. */
  prompt(): Usage
  /** At the end of a stream, of the text that came. */
  streamed(text: {readonly text_bytes: number; readonly text_pieces: number}): Usage
  /** Of a whole answer, as the provider sent it. */
  whole(answer: Buffer): Usage
}

/** A whole answer in the client's format. */
export interface TranslatedReply {
  readonly bytes: Buffer
  readonly content_type: string
  readonly usage: Usage | null
  readonly model: string | null
  readonly hops?: readonly Hop[] | null
  /** Of a 2xx answer that reports a failure: the status of that. */
  readonly status?: number
}

/** Clients read the answer to `stream: true` as events: whole JSON would be a picture that is paid for and lost. */
const PICTURES: ReadonlySet<EndpointName> = new Set(['imageGenerate', 'imageEdit', 'imageVariation'])

/** Null where the body passes as it is. Refuses (400) what the provider has no words for. */
export function translateRequest(
  call: Call,
  target: Target,
  provider: Provider,
  model: string | null,
): RequestTranslation | null {
  const {endpoint, body, is_passthrough} = call
  const words = is_passthrough || body.kind !== 'json' ? null : translationFor(provider, endpoint)
  if (!words) return null
  const {client, translation} = words
  // Formats that echo a request, and code that reads its members, must see the files themselves.
  const held =
    endpoint === 'chatComplete' && !(body as JsonBody).whole ? detachInlineFiles((body as JsonBody).bytes) : null
  const fields = applyParams(held?.json ?? wholeOf(body as JsonBody), target.params)
  const context: TranslationContext = {
    provider: provider.slug,
    model: model ?? '',
    is_stream: fields.stream === true,
    strict: isStrict(call, target) && !client,
    options: target.options,
    call_id: call.id,
    created_s: Math.floor(call.at_ms / 1000),
    report: adaptation => adapted(call, adaptation),
  }
  try {
    if (context.is_stream && PICTURES.has(endpoint) && !translation.stream)
      throw new UnsupportedInputFault('stream', 'the provider streams no pictures; leave it out')
    const speaks_functions = endpoint === 'chatComplete' && hasFunctions(fields)
    const chat_request = client
      ? withLimitMembers(provider, client.toChat(fields, context))
      : speaks_functions
        ? functionsToTools(fields)
        : fields
    return {
      ...words,
      context,
      chat_request,
      speaks_functions,
      client_request: fields,
      request: translation.request(chat_request, context),
      held,
    }
  } catch (fault) {
    if (!(fault instanceof UnsupportedInputFault) && !(fault instanceof RangeError)) throw fault
    // Nothing leaves, adapted or not.
    call.adaptations = []
    throw asUntranslatable(fault, provider.slug)
  }
}

/** Of one request, in the header of its answer and in its row of the log. */
const MAX_ADAPTATIONS = 32

const MORE = 'and more'

/** Notes what the provider gets otherwise than the client wrote it. */
export function adapted(call: Call, adaptation: string) {
  const {adaptations} = call
  if (adaptations.length > MAX_ADAPTATIONS || adaptations.includes(adaptation)) return
  call.adaptations = [...adaptations, adaptations.length < MAX_ADAPTATIONS ? adaptation : MORE]
}

/** True when answers keep to OpenAI's members and finish reasons: unless the node or the request says otherwise. */
export function isStrict({incoming}: Pick<Call, 'incoming'>, {strict}: Pick<Target, 'strict'>): boolean {
  const own = incoming.own.values
  return strict && own['strict-open-ai-compliance'] !== 'false' && own['strict-openai-compliance'] !== 'false'
}

/** Longer than this, what leaves in pieces is not joined. */
const MAX_JOINED_BYTES = 1 << 20

/** A body as it leaves; one in pieces says its length. */
export interface WrittenBody {
  readonly body: Buffer | Readable | null
  readonly headers: OutgoingHeaders
}

/**
 * Writes out what leaves. What is nested too deep to be written is the client's fault. `is_whole`: it is to be one
 * buffer, since it is signed or compared; otherwise a body with large files leaves in pieces.
 */
export function written(
  {request: {body}, context: {provider}, held}: RequestTranslation,
  is_whole: boolean,
): WrittenBody {
  if (body === null || Buffer.isBuffer(body)) return {body, headers: {}}
  const text = writtenText(body, provider)
  if (!held) return {body: Buffer.from(text), headers: {}}
  const pieces = held.restore(text)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (is_whole || length <= MAX_JOINED_BYTES) return {body: Buffer.concat(pieces, length), headers: {}}
  // of objects: a stream of bytes joins what it holds when it is read
  return {body: Readable.from(pieces), headers: {'content-length': String(length)}}
}

export function writtenText(json: unknown, provider: string): string {
  try {
    return JSON.stringify(json)
  } catch (cause) {
    throw new Refusal('body.untranslatable', {provider, reason: 'It is nested too deep.'}, {cause})
  }
}

/** A whole answer, good or not, in the client's format. */
export function translated(
  of: RequestTranslation,
  status: number,
  plain: Buffer,
  header_usage: Usage | null = null,
  estimate: UsageEstimate | null = null,
): TranslatedReply {
  if (status < 300) return translateReply(of, plain, header_usage, estimate)
  return {bytes: translateFault(of, status, plain), content_type: JSON_TYPE, usage: null, model: null}
}

/**
 * A whole 2xx answer in the client's format; throws `upstream.bad_reply` for one in another format than its provider
 * documents.
 */
function translateReply(
  of: RequestTranslation,
  plain: Buffer,
  header_usage: Usage | null,
  estimate: UsageEstimate | null,
): TranslatedReply {
  const {translation, client, context, chat_request, client_request, speaks_functions} = of
  try {
    const response = parsed(plain)
    const {body, model, hops, ...counted} = translation.reply(response, context, chat_request, header_usage)
    const usage = counted.usage ?? header_usage
    if (isBinary(body)) return {bytes: body.bytes, content_type: body.content_type, usage, model, hops}
    const counted_body = client && !usage && estimate ? {...body, usage: usageIn(estimate.whole(plain))} : body
    const answer = client
      ? client.fromChat(counted_body, context, client_request)
      : speaks_functions
        ? withFunctionCalls(body)
        : body
    return {
      bytes: answer === response ? plain : Buffer.from(writtenAsCame(answer)),
      content_type: JSON_TYPE,
      usage,
      model,
      hops,
    }
  } catch (cause) {
    if (cause instanceof ReportedFault) return failureReply(of, cause)
    if (
      !(cause instanceof InvalidResponseFault) &&
      !(cause instanceof RangeError) &&
      !(cause instanceof UnsupportedInputFault)
    )
      throw cause
    // The sentence has its own full stop, and some providers' words have one too.
    throw new Refusal(
      'upstream.bad_reply',
      {provider: context.provider, reason: cause.message.replace(/\.$/, '')},
      {cause},
    )
  }
}

/** The failure that a 2xx answer reports, with its status. It used what it reports, and else nothing. */
function failureReply({client, context, client_request}: RequestTranslation, reported: ReportedFault): TranslatedReply {
  const {status, fault, usage, model, has_choices} = reported
  const error =
    has_choices && client?.failed
      ? client.failed(fault, context, client_request, reported)
      : client
        ? client.error(status, fault)
        : errorBody(context, fault)
  return {
    bytes: Buffer.from(JSON.stringify(error)),
    content_type: JSON_TYPE,
    usage: usage ?? emptyUsage(),
    model,
    status,
  }
}

/** The error that a non-2xx answer tells, as the client's library reads it. */
function translateFault({dialect, client, context}: RequestTranslation, status: number, plain: Buffer): Buffer {
  if (client?.isOwnError?.(jsonIn(plain.toString()))) return plain
  const fault = dialect ? dialect.fault(status, plain, context) : plainFault(status, plain, context)
  if (client) return Buffer.from(JSON.stringify(client.error(status, fault)))
  return Buffer.from(
    dialect?.keeps_errors ? errorAsCame(plain, fault, context) : JSON.stringify(errorBody(context, fault)),
  )
}

export const JSON_TYPE = 'application/json'

function isBinary(body: TranslatedResponse['body']): body is Extract<TranslatedResponse['body'], {bytes: Buffer}> {
  return Buffer.isBuffer((body as {bytes?: unknown}).bytes)
}

/**
 * JSON, or the bytes where it is none: some answer with a picture. Throws `InvalidResponseFault` for what is nested too
 * deep.
 */
function parsed(plain: Buffer): unknown {
  const text = plain.toString()
  try {
    const json = parseJson(text)
    if (isObject(json)) cameAs(json, text)
    return json
  } catch (fault) {
    if (fault instanceof TooDeepFault) throw new InvalidResponseFault(fault.message)
    return plain
  }
}
