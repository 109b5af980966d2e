import {FrameFault} from '../../base/aws-event-stream.ts'
import type {Refusal} from '../../base/errors.ts'
import {VendorObserver} from '../../providers/vendor-operations/observe.ts'
import type {VendorFraming} from '../../providers/vendor-operations/operation.ts'
import type {Hop} from '../../schema/hops.ts'
import type {Usage} from '../../schema/usage.ts'
import {type Tap, tap} from './decode.ts'
import {type Framer, framerOf} from './framer.ts'
import type {ProviderStream, Stream} from './stream.ts'

const NOTHING = Buffer.alloc(0)

/**
 * A stream in a vendor's own format, called by the vendor's own path. Its bytes pass unchanged; beside them its events
 * are read for usage. `inner` follows the same bytes as an event stream in OpenAI's or Anthropic's words, whose last
 * event is held; null for other framings, which have no event that ends them.
 */
export class VendorStream implements ProviderStream {
  readonly ends_on_fault = false
  readonly is_held = false
  readonly #inner: ProviderStream | null
  readonly #observer = new VendorObserver()
  readonly #framing: VendorFraming
  readonly #framer: Framer
  readonly #decoder: Tap | null
  /** Its bytes cannot be read, or are not what they say: they pass unread. */
  #is_unread = false

  constructor(framing: VendorFraming, encoding: string | null, inner: ProviderStream | null) {
    this.#inner = inner
    this.#framing = framing
    this.#framer = framerOf(framing, event => {
      if (typeof event !== 'string') this.#observer.event(event)
    })
    this.#decoder = encoding === null ? null : tap(encoding, plain => this.#read(() => this.#framer.push(plain)))
    this.#is_unread = encoding !== null && this.#decoder === null
  }

  take(chunk: Buffer, then: (send: Buffer, hold: Buffer | null) => void): void {
    const pass = () => (this.#inner ? this.#inner.take(chunk, then) : then(chunk, null))
    if (this.#decoder && !this.#is_unread) return this.#decoder.take(chunk, pass)
    this.#read(() => this.#framer.push(chunk))
    pass()
  }

  end(then: (rest: Buffer) => void): void {
    const done = () => {
      this.#read(() => this.#framer.end())
      if (this.#inner) this.#inner.end(then)
      else then(NOTHING)
    }
    if (this.#decoder && !this.#is_unread) this.#decoder.end(done)
    else done()
  }

  /**
   * Lines take an error as Ollama writes it; in other framings nothing of ours would be read, and the connection is
   * cut.
   */
  faultEvent(fault: Refusal): Buffer {
    if (this.#inner) return this.#inner.faultEvent(fault)
    return this.#framing === 'lines' ? Buffer.from(`${JSON.stringify({error: fault.message})}\n`) : NOTHING
  }

  close(): void {
    this.#decoder?.close()
    this.#inner?.close()
  }

  get usage(): Usage | null {
    return this.#observer.usage ?? this.#inner?.usage ?? null
  }

  get hops(): readonly Hop[] | null {
    return this.#observer.usage ? this.#observer.hops : (this.#inner?.hops ?? null)
  }

  get model(): string | null {
    return this.#observer.model ?? this.#inner?.model ?? null
  }

  get most_tokens(): number {
    return Math.max(this.#observer.most_tokens, this.#inner?.most_tokens ?? 0)
  }

  get text_bytes(): number {
    return Math.max(this.#observer.text_bytes, this.#inner?.text_bytes ?? 0)
  }

  get pieces(): number {
    return Math.max(this.#observer.pieces, this.#inner?.pieces ?? 0)
  }

  get open_bytes(): number {
    if (this.#is_unread) return 0
    if (this.#inner) return this.#inner.open_bytes
    return this.#decoder && this.#framer.open_bytes > 0 ? Number.POSITIVE_INFINITY : this.#framer.open_bytes
  }

  get background_id(): string | null {
    return this.#inner?.background_id ?? null
  }

  get failed(): Stream['failed'] {
    return this.#inner?.failed ?? this.#observer.failed
  }

  get has_begun(): boolean {
    return this.#inner ? this.#inner.has_begun : this.#is_unread || this.#observer.events > 0
  }

  get awaits_usage(): boolean {
    return this.usage === null && (this.#inner ?? this.#observer).awaits_usage
  }

  get is_unfinished(): boolean {
    return this.#observer.is_unfinished
  }

  get is_answering(): boolean {
    return this.has_begun
  }

  get events(): number {
    return Math.max(this.#observer.events, this.#inner?.events ?? 0)
  }

  get fault(): Refusal | null {
    return this.#inner?.fault ?? null
  }

  /** Throws nothing: in the event of a decoder it would not be caught. */
  #read(work: () => void) {
    if (this.#is_unread) return
    try {
      work()
    } catch (fault) {
      if (!(fault instanceof FrameFault)) throw fault
      this.#is_unread = true
    }
  }
}

const EVENT_STREAM = /^\s*text\/event-stream\b/i
const BY_TYPE: readonly (readonly [RegExp, VendorFraming])[] = [
  [EVENT_STREAM, 'sse'],
  [/^application\/vnd\.amazon\.eventstream\b/i, 'aws_event_stream'],
  [/^application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines|stream\+json)\b/i, 'lines'],
]

/** Media types have no case (RFC 9110, section 8.3.1). */
export function isEventStream(content_type: string): boolean {
  return content_type !== 'application/json' && EVENT_STREAM.test(content_type)
}

/** True for a type that says whether a reply is a stream, and which. Others say nothing of it. */
export function saysFraming(content_type: string): boolean {
  return IS_JSON.test(content_type) || BY_TYPE.some(([pattern]) => pattern.test(content_type))
}

const IS_JSON = /^application\/json\b/i

/**
 * How a reply to a vendor's own path streams; null where it is no stream. `declared` is what the operation says of its
 * own streams.
 */
export function vendorFraming(
  declared: VendorFraming | null,
  headers: Readonly<Record<string, string>>,
): VendorFraming | null {
  const type = headers['content-type'] ?? ''
  for (const [pattern, framing] of BY_TYPE) if (pattern.test(type)) return framing
  // A whole answer has a length, or says that it is JSON; that of an array is JSON as well.
  if (headers['content-length'] !== undefined) return null
  return declared === 'json_array' || !IS_JSON.test(type) ? declared : null
}
