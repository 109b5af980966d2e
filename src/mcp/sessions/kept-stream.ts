import {randomBytes} from 'node:crypto'
import {errorText, McpFault} from '../wire/faults.ts'

/** A connection of the client that takes the events of a stream. */
export interface EventTaker {
  event(text: string, id?: string): boolean
  close(): void
}

/** Events that wait to be resumed: so many bytes of one stream. */
const MOST_BYTES = 1024 * 1024
const EVENT_ID = /^([\w-]{22})\.(\d{1,9})$/

/** The stream and the place in it that `Last-Event-ID` names; null where it has another form. */
export function readEventId(text: string): {readonly stream_id: string; readonly after: number} | null {
  const found = EVENT_ID.exec(text)
  return found ? {stream_id: found[1]!, after: Number(found[2])} : null
}

/**
 * The stream of one call in a session, kept so that a client whose connection broke gets the rest on another. Its event
 * ids cannot be guessed, and name it alone.
 */
export class KeptStream {
  readonly #onNamed: (stream: KeptStream) => void
  #id: string | undefined
  readonly #events: {readonly number: number; readonly text: string; readonly has_id: boolean}[] = []
  #bytes = 0
  #last = 0
  /** Events up to this one were dropped for want of room. */
  #dropped = 0
  #is_over = false
  #taker: EventTaker | null = null

  /** `onNamed`: called when it gets its id, with its first event. Most calls are answered without one. */
  constructor(onNamed: (stream: KeptStream) => void) {
    this.#onNamed = onNamed
  }

  get id(): string {
    if (this.#id === undefined) {
      this.#id = randomBytes(16).toString('base64url')
      this.#onNamed(this)
    }
    return this.#id
  }

  /** False while nothing can come back to it. */
  get is_named(): boolean {
    return this.#id !== undefined
  }

  get is_over(): boolean {
    return this.#is_over
  }

  /** The next event: kept, and sent where there is a connection. */
  send(text: string): void {
    this.#taker?.event(text, this.#kept(text, true))
  }

  /** The last event. An error has no id: after it there is nothing to resume. */
  finish(text: string, is_error: boolean): void {
    this.#is_over = true
    const id = this.#kept(text, !is_error)
    this.#taker?.event(text, is_error ? undefined : id)
    this.#taker?.close()
    this.#taker = null
  }

  isTakenBy(taker: EventTaker): boolean {
    return this.#taker === taker
  }

  /** Events go to this connection from now on. */
  attach(taker: EventTaker): void {
    this.#taker = taker
  }

  /** Sends the events after number `after` to this connection. False where there are none any more. */
  resume(taker: EventTaker, after: number): boolean {
    const rest = this.#events.filter(({number}) => number > after)
    if (this.#is_over && rest.length === 0 && this.#dropped <= after) return false
    if (this.#dropped > after) {
      taker.event(errorText(null, new McpFault('stream_lost', {limit: MOST_BYTES})))
      taker.close()
      return true
    }
    for (const {number, text, has_id} of rest) taker.event(text, has_id ? `${this.id}.${number}` : undefined)
    if (this.#is_over) taker.close()
    else this.#taker = taker
    return true
  }

  #kept(text: string, has_id: boolean): string {
    this.#last++
    this.#events.push({number: this.#last, text, has_id})
    this.#bytes += Buffer.byteLength(text)
    while (this.#bytes > MOST_BYTES) {
      const [oldest] = this.#events.splice(0, 1)
      if (!oldest) break
      this.#bytes -= Buffer.byteLength(oldest.text)
      this.#dropped = oldest.number
    }
    return `${this.id}.${this.#last}`
  }
}
