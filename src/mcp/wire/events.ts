import {dataLines, SseFramer} from '../../base/sse.ts'
import {McpFault} from './faults.ts'

/** Server-sent events (WHATWG HTML, 9.2) as MCP uses them: one JSON-RPC message each. */

/** One event. A comment is none. */
export interface McpEvent {
  /** Its own id; null where it has none. */
  readonly id: string | null
  /** `message` where the event has no name. */
  readonly event: string
  /** Its lines joined by LF; '' for none: an event that carries an id or a pause alone. */
  readonly data: string
  readonly retry_ms: number | null
}

/** An event may have so many bytes. */
export const MAX_MCP_EVENT_BYTES = 16 * 1024 * 1024
/** Any line but `data` may have so many: a result is one line of data. */
const MAX_LINE_BYTES = 1024 * 1024
const LINE_END = /\r\n|\n|\r/
const DIGITS = /^\d{1,9}$/

/**
 * Reads a stream of events, however it is cut. Throws `result_too_large` when an event is longer than the bound; the
 * stream is of no use then. An event that the end of the stream cuts off is none.
 */
export class McpEventReader {
  readonly #framer: SseFramer
  readonly #most_bytes: number
  #events: McpEvent[] = []
  #is_too_large = false

  constructor(most_bytes = MAX_MCP_EVENT_BYTES) {
    this.#most_bytes = most_bytes
    this.#framer = new SseFramer(raw => this.#take(raw), most_bytes)
  }

  /** True when nothing is open: the stream may end here. */
  get is_whole(): boolean {
    return this.#framer.open_start < 0
  }

  /** The events that end in this chunk. */
  push(chunk: Buffer): readonly McpEvent[] {
    this.#events = []
    this.#framer.push(chunk)
    if (this.#is_too_large || this.#framer.is_opaque) throw new McpFault('result_too_large', {limit: this.#most_bytes})
    return this.#events
  }

  #take(raw: Buffer | null) {
    if (raw === null) {
      this.#is_too_large = true
      return
    }
    const event = readEvent(raw)
    if (event === 'long') this.#is_too_large = true
    else if (event) this.#events.push(event)
  }
}

function readEvent(raw: Buffer): McpEvent | null | 'long' {
  let id: string | null = null
  let event = ''
  let data: string | null = null
  let retry_ms: number | null = null
  let has_field = false
  for (const line of raw.toString('utf8').split(LINE_END)) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    if (name !== 'data' && line.length > MAX_LINE_BYTES) return 'long'
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') data = data === null ? value : `${data}\n${value}`
    else if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && DIGITS.test(value)) retry_ms = Number(value)
    else continue
    has_field = true
  }
  return has_field ? {id, event: event === '' ? 'message' : event, data: data ?? '', retry_ms} : null
}

/** A comment that keeps a stream from being taken for a dead one. */
export const KEEP_ALIVE = ':\n\n'

/** An event as it is written. An id is ours: it has no line ends. */
export function eventText(data: string, id?: string | null, retry_ms?: number | null): string {
  const head = id == null ? '' : `id: ${id}\n`
  const pause = retry_ms == null ? '' : `retry: ${retry_ms}\n`
  return `event: message\n${head}${pause}${dataLines(data)}\n`
}
