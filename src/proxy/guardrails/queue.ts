import {SseFramer} from '../../base/sse.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {isLast, type QueuedEvent, readEvents} from './stream-rewriter.ts'
import type {StreamText} from './stream-text.ts'

/** Events that wait for the first text: a start, a role, the place where text will come. */
export const MAX_PREAMBLE_EVENTS = 6

/** The most bytes of a stream that may be held while it is judged. */
const MAX_HELD_BYTES = 16 << 20
const NOTHING = Buffer.alloc(0)
const LINE_ENDS = /^[\r\n]+$/

/** The listener for a stream's bytes that cannot be held. */
interface Ears {
  /** It cannot be judged as it is. */
  onUnreadable(reason: string): void
  /** An event that is no JSON; true where it passes as it is. */
  onNoJson(): boolean
}

/**
 * The events of a stream that wait to be judged, in their order, with the bytes that they came in; `said` gets their
 * content.
 */
export class EventQueue {
  readonly #endpoint: EndpointName
  readonly #text: StreamText
  readonly #holds: boolean
  readonly #framer: SseFramer
  readonly #ears: Ears
  #events: QueuedEvent[] = []
  #raw: Buffer = NOTHING
  #raw_from = 0
  #held_bytes = 0
  /** The event came that ends the answer. */
  has_last = false
  /** The bytes that come now would tell a client that the answer is whole. */
  is_last = false

  /** `holds` false: it is followed alone, and nothing waits here. */
  constructor(endpoint: EndpointName, stream_text: StreamText, holds: boolean, ears: Ears) {
    this.#endpoint = endpoint
    this.#text = stream_text
    this.#holds = holds
    this.#ears = ears
    this.#framer = new SseFramer((raw, start, end) => this.#event(raw, start, end))
  }

  get events(): QueuedEvent[] {
    return this.#events
  }

  push(bytes: Buffer): void {
    this.#text.push(bytes)
    if (this.#holds) {
      this.#raw = this.#raw.length ? Buffer.concat([this.#raw, bytes]) : bytes
      this.#held_bytes += bytes.length
    }
    this.#framer.push(bytes)
    if (this.#held_bytes > MAX_HELD_BYTES) this.#ears.onUnreadable('it is too long to be held back and judged')
  }

  /** Nothing more comes, or the last event did, whose blank line may be missing: what has begun is taken for whole. */
  close(): void {
    this.#framer.end()
  }

  clear(): void {
    this.#events.length = 0
  }

  /** Events have left: the held bytes are counted again. */
  counted(): void {
    this.#held_bytes = this.#raw.length + this.#events.reduce((sum, {bytes}) => sum + bytes.length, 0)
  }

  /** Ends of lines behind the last event, which are part of none. */
  takeLineEnds(): readonly Buffer[] {
    if (this.#events.length > 0 || !LINE_ENDS.test(this.#raw.toString('latin1'))) return []
    const rest = this.#raw
    this.#cutRaw(rest.length)
    return [rest]
  }

  #event(raw: Buffer | null, start: number, end: number) {
    if (raw === null) return this.#ears.onUnreadable('an event is too long to be judged')
    if (this.#holds && this.#raw_from === 0 && start > 0) this.#queueLead(start)
    const bytes = this.#holds ? Buffer.from(this.#raw.subarray(0, end - this.#raw_from)) : raw
    if (this.#holds) this.#cutRaw(end - this.#raw_from)
    const read = readEvents(bytes)
    // Bytes behind the end are no part of the answer: they are not judged, and no text of them leaves.
    if (read === null && (this.has_last || !this.#ears.onNoJson())) return
    for (const each of read ?? [{bytes, event: null, name: null}]) {
      if (this.has_last && each.event && this.#text.says(each.event)) continue
      const deltas = each.event ? this.#text.add(each.event) : []
      if (this.#holds) this.#events.push({...each, deltas, is_last: this.is_last})
      if (isLast(this.#endpoint, each)) this.has_last = true
    }
  }

  /**
   * Bytes before the first event, a byte order mark or line ends, leave as they came: read with the event, they would
   * hide it.
   */
  #queueLead(length: number) {
    const bytes = Buffer.from(this.#raw.subarray(0, length))
    this.#events.push({bytes, event: null, name: null, deltas: [], is_last: false})
    this.#cutRaw(length)
  }

  #cutRaw(length: number) {
    this.#raw = this.#raw.subarray(length)
    this.#raw_from += length
  }
}
