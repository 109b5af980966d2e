import {Refusal} from '../../base/errors.ts'
import type {Call} from '../call/call.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {GuardedStream} from '../guardrails/stream.ts'
import type {ProxyServices} from '../services.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'
import {openStream, type Source, type Stream, TELLS_END} from '../upstream/stream.ts'
import {TranslatedStream} from '../upstream/translated-stream.ts'

/** What is held of an answer before it is judged, and read of one that did not pass (core rule 20). */
export const MOST_HELD_BYTES = 64 * 1024
export const EVENT_STREAM = {'content-type': 'text/event-stream'}

/** How the reply to an attempt is to be read. */
export interface OpenReply {
  /** Null: it is no stream. */
  readonly stream: Stream | null
  /** The same as its provider sends it. */
  readonly source: Source | null
  /** The same, where its answer is judged. */
  readonly judged: GuardedStream | null
  /** What is wrong with an answer that is no stream where one was asked for, by its first bytes; null: it has none. */
  readonly begins: ((first: Buffer | null) => Refusal | null) | null
  /** A whole answer is read, and written anew before it leaves. */
  readonly rewrites: boolean
  /** Why it cannot be read at all. */
  readonly fault: Refusal | null
}

export const NOT_OPEN: OpenReply = {stream: null, source: null, judged: null, begins: null, rewrites: false, fault: null}

interface Begun {
  readonly call: Call
  readonly outgoing: UpstreamRequest
  readonly status: number
  readonly encoding: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Who is told of the bytes that leave a stream that is judged. */
interface Teller {
  sent(bytes: Buffer): void
}

/** The headers of a reply, which are this call's own, each as one text. */
export function inTexts(headers: Record<string, string | string[]>): Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== 'string') headers[name] = String(headers[name])
  return headers as Record<string, string>
}

/** Says of a reply that began how its bytes are to be read. */
export function openReply({call, outgoing, status, encoding, headers}: Begun, teller: Teller, log: ProxyServices['log']): OpenReply {
  const {translating, is_metered} = outgoing
  const {guardrails: guarded, endpoint} = call
  const is_good = status < 300
  guarded?.begin()
  const is_stream = translating
    ? is_good && translating.context.is_stream && translating.translation.stream !== undefined
    : (headers['content-type']?.startsWith('text/event-stream') ?? false)
  if (!is_stream) {
    const rewrites = translating !== null || (is_good && (guarded?.reads_answers ?? false))
    const was_asked = is_good && !translating && 'stream' in call.body && call.body.stream && TELLS_END.has(endpoint)
    const begins = was_asked ? (first: Buffer | null) => unlikeStream(first, headers, outgoing.provider.slug) : null
    return {...NOT_OPEN, begins, rewrites}
  }
  const stream = translating
    ? new TranslatedStream(endpoint, translating, encoding, fault =>
        log.error({fault, trace_id: call.incoming.trace.trace_id, provider: outgoing.provider.slug}, 'a stream could not be read'),
      )
    : openStream(endpoint, {
        provider: outgoing.provider.slug,
        is_good,
        encoding,
        is_metered: is_metered && is_good,
        counts_all: call.reservation !== null,
      })
  const judged = guarded && is_good ? judgedStream(guarded, stream, call, status, teller) : null
  const fault = judged && encoding && !translating ? guarded!.unreadable(ENCODED) : null
  return {...NOT_OPEN, stream: judged ?? stream, source: stream, judged, fault}
}

/** JSON may be what comes, an answer or an error, from engines that know no streams; a page or nothing at all is no answer. */
function unlikeStream(first: Buffer | null, headers: Begun['headers'], provider: string): Refusal | null {
  if (first === null) return new Refusal('upstream.bad_reply', {provider, reason: 'it is empty'})
  const is_page = /^text\/html\b/i.test(headers['content-type'] ?? '') || /^\s*</.test(first.toString('latin1', 0, 64))
  return is_page ? new Refusal('upstream.bad_reply', {provider, reason: 'it is a page of HTML'}) : null
}

/** The stream as its guardrails let it pass; null where they have nothing to do with it, so that its bytes go on as they are. */
function judgedStream(guarded: CallGuardrails, inner: Stream, {body}: Call, status: number, teller: Teller): GuardedStream | null {
  const tells = guarded.tells_in_streams && guarded.shown !== null
  if (!guarded.judges_answers && !guarded.restore && !tells) return null
  return new GuardedStream({
    inner,
    guarded,
    status,
    onSent: bytes => teller.sent(bytes),
    asks_usage: body.kind === 'json' && body.asks_usage,
  })
}

const ENCODED = 'it is encoded although plain text was asked for, so that guardrails cannot judge it'

/** What the client is told in place of a provider's status. */
export function shownStatus({guardrails: guarded}: Call, status: number): number {
  return guarded && status < 300 ? guarded.statusOf(status) : status
}
