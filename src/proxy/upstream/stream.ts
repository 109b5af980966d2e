import {Refusal} from '../../base/errors.ts'
import {faultEvent} from '../../providers/openai/error.ts'
import {type MeterFilter, meterFilter} from '../../providers/openai/meter.ts'
import {observeStream, type StreamObserver} from '../../providers/openai/observe.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Hop} from '../../schema/hops.ts'
import type {Usage} from '../../schema/usage.ts'
import {type Tap, tap} from './decode.ts'

/**
 * An event stream that is passed through: the bytes that may leave at once, those that wait for the settlement, and its
 * reported facts.
 */
export interface Stream {
  /** `hold` is not null when the bytes so far would tell a client that the answer is whole. */
  take(chunk: Buffer, then: (send: Buffer, hold: Buffer | null) => void): void
  /** The stream ended; `rest` is what was still kept back. */
  end(then: (rest: Buffer) => void): void
  /** The error event for a stream that is cut off, on a boundary of its events. */
  faultEvent(fault: Refusal): Buffer
  close(): void
  readonly usage: Usage | null
  /** The parts of it that are charged by themselves; null where it is charged as a whole. */
  readonly hops: readonly Hop[] | null
  readonly model: string | null
  readonly text_bytes: number
  /** The most tokens of that text. */
  readonly most_tokens: number
  /** Pieces of the answer that came: of most providers, a token each. */
  readonly pieces: number
  /**
   * How many of the last bytes that left are of an event that is not whole yet, so that nothing of it is counted;
   * Infinity: unknown.
   */
  readonly open_bytes: number
  /** An error that the provider sent inside the stream. */
  readonly failed: {
    readonly type: string
    readonly code?: string | null
    readonly message: string
    readonly status?: number | null
  } | null
  /** True when the provider has decided something: an event came that is neither a comment nor a preamble. */
  readonly has_begun: boolean
  /** True when the provider has begun to answer, whether or not the client may see it yet. */
  readonly is_answering: boolean
  /** True while nothing may leave before a verdict on it: the head waits too. */
  readonly is_held: boolean
  /** The fault of a stream that ended: it was cut off, or ended with an error. Null also when that cannot be known. */
  readonly fault: Refusal | null
  /** True when an error inside the stream ends the answer, and leaves in our own words. */
  readonly ends_on_fault: boolean
}

const NOTHING = Buffer.alloc(0)

/** The counts of a stream that passes on what another one reads. */
export class CountedStream
  implements Pick<Stream, 'usage' | 'hops' | 'model' | 'text_bytes' | 'most_tokens' | 'pieces'>
{
  readonly #counts: Stream

  constructor(counts: Stream) {
    this.#counts = counts
  }

  get usage(): Usage | null {
    return this.#counts.usage
  }

  get hops(): readonly Hop[] | null {
    return this.#counts.hops
  }

  get model(): string | null {
    return this.#counts.model
  }

  get pieces(): number {
    return this.#counts.pieces
  }

  get most_tokens(): number {
    return this.#counts.most_tokens
  }

  get text_bytes(): number {
    return this.#counts.text_bytes
  }
}

/** Endpoints of which it is known how a whole answer ends. */
export const TELLS_END: ReadonlySet<EndpointName> = new Set([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
])

interface How {
  readonly provider: string
  readonly is_good: boolean
  readonly encoding: string | null
  /** True when the gateway requested usage in the stream: its event is taken out again. */
  readonly is_metered: boolean
  /** How many choices a client waits for, of a stream whose usage was requested; 0: none is to come. */
  readonly choices?: number
}

/** A stream as its provider sends it. */
export interface ProviderStream extends Stream {
  /** How many events came that are more than a sign of life. */
  readonly events: number
  /** All of the answer has come, and its usage is still to come. */
  readonly awaits_usage: boolean
  /** Its report is incomplete, although its end is no fault that a client sees. */
  readonly is_unfinished?: boolean
  /** The id of the response that is still being made when the stream is left; null for none. */
  readonly background_id?: string | null
}

/** Follows a stream of `endpoint`. An encoded one is decoded for our own reading alone; its bytes pass unchanged. */
export function openStream(endpoint: EndpointName, how: How): ProviderStream {
  return new ObservedStream(endpoint, how)
}

class ObservedStream implements ProviderStream {
  readonly ends_on_fault = false
  readonly is_held = false
  readonly #endpoint: EndpointName
  readonly #provider: string
  /** True when it can be known whether it ended where it should. */
  readonly #tells_end: boolean
  readonly #observer: StreamObserver
  readonly #filter: MeterFilter | null
  readonly #decoder: Tap | null
  readonly #is_opaque: boolean
  /** The bytes so far tell that the answer is whole; of an encoded stream. */
  #ends = false
  /** Chunks of a stream that cannot be read. */
  #pieces = 0

  constructor(endpoint: EndpointName, {provider, is_good, encoding, is_metered, choices = 0}: How) {
    const is_encoded = encoding !== null
    this.#endpoint = endpoint
    this.#provider = provider
    this.#observer = observeStream(endpoint, choices)
    this.#filter = is_metered ? meterFilter() : null
    this.#decoder = is_encoded ? tap(encoding, plain => this.#seen(plain)) : null
    this.#is_opaque = is_encoded && this.#decoder === null
    this.#tells_end = is_good && !this.#is_opaque && TELLS_END.has(endpoint)
  }

  take(chunk: Buffer, then: (send: Buffer, hold: Buffer | null) => void): void {
    if (this.#decoder) return this.#decoder.take(chunk, () => this.#tapped(chunk, then))
    if (this.#is_opaque) return this.#tapped(chunk, then)
    const from = this.#observer.take(chunk)
    if (this.#filter) {
      const kept = this.#filter.take(chunk)
      return from < 0 ? then(kept, null) : then(NOTHING, Buffer.concat([kept, this.#filter.end()]))
    }
    if (from < 0) then(chunk, null)
    else then(chunk.subarray(0, from), chunk.subarray(from))
  }

  end(then: (rest: Buffer) => void): void {
    const done = () => {
      this.#observer.end()
      then(this.#filter?.end() ?? NOTHING)
    }
    if (this.#decoder) this.#decoder.end(done)
    else done()
  }

  faultEvent(fault: Refusal): Buffer {
    return faultEvent(this.#endpoint, {message: fault.message, type: fault.codes.type}, this.#observer)
  }

  close(): void {
    this.#decoder?.close()
  }

  get usage(): Usage | null {
    return this.#observer.usage
  }

  get hops(): readonly Hop[] | null {
    return this.#observer.hops
  }

  get model(): string | null {
    return this.#observer.model
  }

  get most_tokens(): number {
    return this.#observer.most_tokens
  }

  get text_bytes(): number {
    return this.#observer.text_bytes
  }

  get pieces(): number {
    return this.#observer.pieces
  }

  get open_bytes(): number {
    if (this.#filter || this.#is_unread) return 0
    return this.#decoder && this.#observer.is_mid_event ? Number.POSITIVE_INFINITY : this.#observer.open_bytes
  }

  get background_id(): string | null {
    return this.#observer.background_id
  }

  get failed(): Stream['failed'] {
    return this.#observer.failed
  }

  get has_begun(): boolean {
    const {first_event} = this.#observer
    return this.#is_unread || first_event === 'event' || first_event === 'error'
  }

  get is_answering(): boolean {
    return this.has_begun
  }

  get events(): number {
    return this.#observer.events + this.#pieces
  }

  get awaits_usage(): boolean {
    return this.#observer.awaits_usage
  }

  get fault(): Refusal | null {
    return this.#tells_end && !this.#is_unread && this.#observer.is_cut
      ? new Refusal('upstream.cut', {provider: this.#provider})
      : null
  }

  /** True when its bytes pass unread: whether its end came is not known. */
  get #is_unread(): boolean {
    return this.#is_opaque || (this.#decoder?.is_broken ?? false)
  }

  /** An encoded chunk is passed on, once its content was seen as far as it can be. */
  #tapped(chunk: Buffer, then: (send: Buffer, hold: Buffer | null) => void) {
    if (this.#is_unread) this.#pieces++
    if (this.#ends) then(NOTHING, chunk)
    else then(chunk, null)
  }

  #seen(plain: Buffer) {
    if (this.#observer.take(plain) >= 0) this.#ends = true
  }
}

/** The HTTP status that an error inside a stream stands for (core rule 20). */
export function statusOf({type, code, status}: NonNullable<Stream['failed']>): number {
  if (typeof status === 'number') return status
  if (code && /^[45]\d\d$/.test(code)) return Number(code)
  const words = `${type} ${code ?? ''}`
  if (/overload/i.test(words)) return 529
  if (/rate.?limit|too.?many/i.test(words)) return 429
  return 500
}
