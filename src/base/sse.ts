import {ByteOrderMark} from './byte-order-mark.ts'
import {BoundedCarry} from './chunk-buffer.ts'

/** An event may be this long; a longer one passes unread. */
export const MAX_EVENT_BYTES = 1024 * 1024

/**
 * Called with each event: its bytes (null when it is longer than the bound) and its range in the stream. The bytes run
 * from the first line to the blank line that ends the event and are good during the call only. Of a CRLF that ends an
 * event the LF is no part, since it may come much later; it belongs to no event.
 */
export type OnEvent = (raw: Buffer | null, start: number, end: number) => void

const LF = 10
const CR = 13
const LINE_END = /\r\n|\r|\n/g

/** `text` as the data of an event, each of its lines ended. */
export function dataLines(text: string): string {
  return text.includes('\n') || text.includes('\r')
    ? `data: ${text.replace(LINE_END, '\ndata: ')}\n`
    : `data: ${text}\n`
}

/**
 * Cuts a stream of server-sent events (WHATWG HTML, 9.2) into its events, however the stream is cut into chunks. Lines
 * end with LF, CRLF or CR, in any mixture. Events within one chunk are slices of it; of one that spans chunks its bytes
 * are kept, up to `most_bytes`.
 */
export class SseFramer {
  readonly #on_event: OnEvent
  readonly #carry: BoundedCarry
  readonly #bom = new ByteOrderMark()
  /** The offset of the next chunk in the stream. */
  #offset = 0
  /** The offset at which the open event began; -1 between events. */
  #start = -1
  #line_is_empty = true
  #after_cr = false

  constructor(on_event: OnEvent, most_bytes = MAX_EVENT_BYTES) {
    this.#on_event = on_event
    this.#carry = new BoundedCarry(most_bytes)
  }

  /** Bytes of the stream taken so far. */
  get offset(): number {
    return this.#offset
  }

  /** The offset at which the incomplete event begins; -1 between events. */
  get open_start(): number {
    return this.#start
  }

  /**
   * How many of the bytes so far are of the event that has begun and not ended; Infinity where it is longer than the
   * bound.
   */
  get open_bytes(): number {
    if (this.#carry.is_opaque) return Number.POSITIVE_INFINITY
    return this.#start < 0 ? 0 : this.#offset - this.#start
  }

  /** True when the open event is longer than the bound, so that nothing of it is kept. */
  get is_opaque(): boolean {
    return this.#carry.is_opaque
  }

  /** The open event as far as it goes, when it stops at the end of a line; else null. Good until the next call. */
  get whole_lines(): Buffer | null {
    return this.#start >= 0 && this.#line_is_empty ? this.#carry.bytes : null
  }

  push(chunk: Buffer): void {
    let at = this.#bom.is_past ? 0 : this.#bom.skip(chunk)
    let from = this.#start < 0 ? -1 : at
    if (this.#after_cr && at < chunk.length) {
      this.#after_cr = false
      if (chunk[at] === LF) at++
    }
    const may_have_cr = chunk.indexOf(CR, at) >= 0
    while (at < chunk.length) {
      const stop = may_have_cr ? lineEnd(chunk, at) : chunk.indexOf(LF, at)
      const is_blank = stop === at && this.#line_is_empty
      if (from < 0 && !is_blank) {
        from = at
        this.#start = this.#offset + at
      }
      if (stop < 0) {
        this.#line_is_empty = false
        break
      }
      this.#line_is_empty = true
      at = stop + 1
      if (is_blank && from >= 0) {
        this.#close(this.#carry.take(chunk, from, at), this.#offset + at)
        from = -1
      }
      if (chunk[stop] !== CR) continue
      if (at === chunk.length) this.#after_cr = true
      else if (chunk[at] === LF) at++
    }
    if (from >= 0) this.#carry.keep(chunk, from, chunk.length)
    this.#offset += chunk.length
  }

  /** The stream is over: an event without its blank line counts too. */
  end(): void {
    if (this.#start >= 0) this.#close(this.#carry.bytes, this.#offset)
  }

  #close(raw: Buffer | null, end: number) {
    const start = this.#start
    this.#start = -1
    this.#carry.clear()
    this.#line_is_empty = true
    this.#on_event(raw, start, end)
    this.#carry.shrink()
  }
}

/** The fields of an event that we read. `data` is empty for a comment, a `retry`, an `id`. */
export interface SseFields {
  readonly event: string | null
  /** The lines of its data, without their field name. */
  readonly data: readonly string[]
}

/** Reads the bytes of one event, as `OnEvent` is given them. */
export function readFields(raw: Buffer): SseFields {
  let event: string | null = null
  const data: string[] = []
  for (const line of raw.toString('utf8').split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    if (name !== 'data' && name !== 'event') continue
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') data.push(value)
    else event = value
  }
  return {event, data}
}

function lineEnd(chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at]
    if (byte === LF || byte === CR) return at
  }
  return -1
}
