import {encodingOf} from '../../base/content-encoding.ts'
import {Refusal} from '../../base/errors.ts'
import {hasOwnShape} from '../../providers/messages/index.ts'
import {ANSWER} from '../../providers/reported-failure.ts'
import type {VendorFraming} from '../../providers/vendor-operations/operation.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Call} from '../call/call.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {GuardedStream} from '../guardrails/stream.ts'
import {member} from '../inbound/body.ts'
import {openStream, type ProviderStream, type Stream, TELLS_END} from '../upstream/stream.ts'
import {TranslatedStream} from '../upstream/translated-stream.ts'
import {isEventStream, VendorStream, vendorFraming} from '../upstream/vendor-stream.ts'
import type {AttemptParts} from './attempt-owner.ts'
import {holdsLinks, ownAddresses} from './reply-links.ts'
import {estimateOf} from './unreported-usage.ts'

/** Buffered of a response before routing decides, and read of one that did not pass (core rule 20). */
export const MAX_BUFFERED_BYTES = 64 * 1024

/** The head of a provider's response, and how its body is to be read. */
export interface OpenResponse {
  /** 0: none has come. */
  readonly status: number
  readonly headers: Record<string, string>
  readonly encoding: string | null
  /** As its header says; null: there is none. */
  readonly content_length: number | null
  /** Null: it is no stream. */
  readonly stream: Stream | null
  /** The same as its provider sends it. */
  readonly source: ProviderStream | null
  /** The same, where guardrails check the response. */
  readonly guarded: GuardedStream | null
  /** The fault of a response that is no stream when one was requested, by its first bytes; null: it has none. */
  readonly checkStart: ((first: Buffer | null) => Refusal | null) | null
  /** A whole response that passes as it came, and may report a failure in spite of its status. */
  readonly may_report_failure: boolean
  /** A whole response is read, and rewritten before it is sent. */
  readonly is_rewritten: boolean
  /** Why it cannot be read at all. */
  readonly fault: Refusal | null
}

export const NO_RESPONSE: OpenResponse = {
  status: 0,
  headers: {},
  encoding: null,
  content_length: null,
  stream: null,
  source: null,
  guarded: null,
  checkStart: null,
  may_report_failure: false,
  is_rewritten: false,
  fault: null,
}

/** Called with the bytes that leave a guarded stream. */
interface SentListener {
  onSent(bytes: Buffer): void
}

/** Each header as one text. The object is this call's own. */
function joinedHeaders(headers: Record<string, string | string[]>): Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== 'string') headers[name] = String(headers[name])
  return headers as Record<string, string>
}

/** The head of a response as it came. */
export interface ResponseHead {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  /** Its first bytes are those of an event stream, whatever its label says. */
  readonly is_event_stream: boolean
}

/** Says of a response that began how its bytes are to be read. */
export function openResponse(
  parts: AttemptParts,
  {status, headers: raw_headers, is_event_stream}: ResponseHead,
  listener: SentListener,
): OpenResponse {
  const {call, request, services} = parts
  const headers = joinedHeaders(raw_headers)
  ownAddresses(headers, parts)
  const encoding = encodingOf(headers['content-encoding'])
  const content_length = headers['content-length'] === undefined ? null : Number(headers['content-length'])
  const {translating, is_metered} = request
  const {guardrails, endpoint} = call
  const is_good = status < 300
  guardrails?.begin()
  const framing = is_event_stream ? 'sse' : framingOf(call, headers, is_good, content_length)
  const is_stream = translating
    ? is_good && translating.context.is_stream && translating.translation.stream !== undefined
    : framing !== null
  if (!is_stream) {
    const is_read = is_good
      ? guardrails?.readsAnswer(headers['content-type'], content_length)
      : guardrails?.judges_errors
    const is_rewritten =
      translating !== null ||
      (is_read ?? false) ||
      (is_good ? holdsLinks(parts, headers) || (call.is_shaped && hasOwnShape(endpoint)) : call.is_shaped)
    const was_requested =
      is_good && !translating && 'stream' in call.body && call.body.stream && TELLS_END.has(endpoint)
    const checkStart = was_requested
      ? (first: Buffer | null) => notAStream(first, headers, request.provider.slug)
      : null
    return {
      status,
      headers,
      encoding,
      content_length,
      stream: null,
      source: null,
      guarded: null,
      checkStart,
      may_report_failure: status === 200 && !is_rewritten && mayReportFailure(endpoint, headers),
      is_rewritten,
      fault: null,
    }
  }
  const source = translating
    ? new TranslatedStream(endpoint, translating, {
        encoding,
        estimate: estimateOf(parts),
        onFault: fault =>
          services.log.error(
            {fault, trace_id: call.trace.trace_id, provider: request.provider.slug},
            'a stream could not be read',
          ),
      })
    : streamOf(call, framing!, encoding, () =>
        openStream(endpoint, {
          provider: request.provider.slug,
          is_good,
          encoding,
          is_metered: is_metered && is_good,
          choices: is_good ? choicesOf(parts) : 0,
        }),
      )
  const guarded =
    guardrails && is_good && (translating !== null || framing === 'sse')
      ? guardedStream(guardrails, source, call, status, listener)
      : null
  const fault = guarded && encoding && !translating ? guardrails!.unreadable(ENCODED) : null
  const stream = guarded ?? source
  return {
    status,
    headers,
    encoding,
    content_length,
    stream,
    source,
    guarded,
    checkStart: null,
    may_report_failure: false,
    is_rewritten: false,
    fault,
  }
}

/**
 * How many choices a stream of completions has, whose usage was requested and comes behind them; 0: it is not known, or
 * no usage was requested.
 */
function choicesOf({call: {body, endpoint}, request, target}: AttemptParts): number {
  if (body.kind !== 'json' || !(request.is_metered || body.asks_usage)) return 0
  // Several prompts have choices each.
  if (
    endpoint !== 'chatComplete' &&
    (endpoint !== 'complete' || typeof member(body.bytes, body.members, 'prompt') !== 'string')
  )
    return 0
  const n = target.params.override_params?.n ?? member(body.bytes, body.members, 'n') ?? 1
  return Number.isSafeInteger(n) ? (n as number) : 0
}

/**
 * How a reply that is not translated streams; null where it is no stream. Errors come whole, but for those in an event
 * stream.
 */
function framingOf(
  {is_passthrough, operation, guardrails}: Call,
  headers: OpenResponse['headers'],
  is_good: boolean,
  content_length: number | null,
): VendorFraming | null {
  if (!is_good && guardrails?.judges_errors) return null
  if (isEventStream(headers['content-type'] ?? '')) return 'sse'
  const framing = is_passthrough && is_good ? vendorFraming(operation?.operation.framing ?? null, headers) : null
  // Guardrails read a response whole, unless it is an event stream.
  return framing !== null && guardrails?.readsAnswer(headers['content-type'], content_length) ? null : framing
}

/**
 * A stream in words of a vendor's own is followed for its usage; one in OpenAI's or Anthropic's words as on the unified
 * routes.
 */
function streamOf(
  {endpoint}: Call,
  framing: VendorFraming,
  encoding: string | null,
  open: () => ProviderStream,
): ProviderStream {
  if (framing === 'sse') return endpoint === 'proxy' ? new VendorStream(framing, encoding, open()) : open()
  return new VendorStream(framing, encoding, null)
}

/** Of other endpoints it is not known what an answer holds when it is good. */
function mayReportFailure(endpoint: EndpointName, headers: OpenResponse['headers']): boolean {
  return ANSWER[endpoint] !== undefined && /\bjson\b/i.test(headers['content-type'] ?? '')
}

/**
 * JSON may be what comes, an answer or an error, from engines that know no streams; a page or nothing at all is no
 * answer.
 */
function notAStream(first: Buffer | null, headers: OpenResponse['headers'], provider: string): Refusal | null {
  if (first === null) return new Refusal('upstream.bad_reply', {provider, reason: 'it is empty'})
  const is_page = /^text\/html\b/i.test(headers['content-type'] ?? '') || /^\s*</.test(first.toString('latin1', 0, 64))
  return is_page ? new Refusal('upstream.bad_reply', {provider, reason: 'it is a page of HTML'}) : null
}

/**
 * The stream as its guardrails let it pass; null when they have nothing to do with it, so that its bytes pass
 * unchanged.
 */
function guardedStream(
  guardrails: CallGuardrails,
  inner: Stream,
  {body}: Call,
  status: number,
  listener: SentListener,
): GuardedStream | null {
  const shows_results = guardrails.tells_in_streams && guardrails.shown !== null
  if (!guardrails.judges_answers && !guardrails.restore && !shows_results) return null
  return new GuardedStream({
    inner,
    guarded: guardrails,
    status,
    onSent: bytes => listener.onSent(bytes),
    asks_usage: body.kind === 'json' && body.asks_usage,
  })
}

const ENCODED = 'it is encoded although plain text was asked for, so that guardrails cannot judge it'

/** The status for the client in place of a provider's. */
export function clientStatus({guardrails}: Call, status: number): number {
  return guardrails && status < 300 ? guardrails.statusOf(status) : status
}
