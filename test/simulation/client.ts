import {FastRequest} from '../../src/base/ingress/request.ts'
import type {ClientResponse} from '../../src/base/ingress/response.ts'
import type {Chance} from './chance.ts'
import type {VirtualClock} from './clock.ts'

/** How a client's answer ended: whole, or without its end. */
export type AnswerEnd = 'whole' | 'cut' | 'left'

/** The answer to one client, in memory. It finds out what a real socket would not take. */
export class VirtualClient implements ClientResponse {
  readonly request: FastRequest
  readonly socket = null
  status = 0
  headers: Readonly<Record<string, string>> = {}
  end_of_answer: AnswerEnd | null = null
  headersSent = false
  /** What a server may not do, and did. */
  readonly faults: string[] = []
  readonly #clock: VirtualClock
  readonly #chance: Chance
  /** How often its socket is full, and whether a full one is emptied again. */
  readonly #full_part: number
  readonly #empties: boolean
  readonly #parts: Buffer[] = []
  #onClose: () => void = () => undefined
  #onDrain: () => void = () => undefined

  constructor(
    {path, headers, body}: {path: string; headers: Readonly<Record<string, string>>; body: Buffer},
    clock: VirtualClock,
    chance: Chance,
  ) {
    this.#clock = clock
    this.#chance = chance
    this.#full_part = chance.is(0.2) ? 0.5 : 0
    this.#empties = chance.is(0.8)
    this.request = new FastRequest('POST', path, {
      headers: {...headers, 'content-length': String(body.length)},
      body_bytes: body.length,
    })
    if (chance.is(0.8)) this.request.take(body)
    else this.#sendSlowly(body)
  }

  /** Its body comes in two pieces, or its second one never. */
  #sendSlowly(body: Buffer) {
    const cut = this.#chance.between(1, body.length - 1)
    this.#clock.after(this.#chance.between(0, 30), () => this.request.take(body.subarray(0, cut)))
    if (this.#chance.is(0.9))
      this.#clock.after(this.#chance.between(31, 3_000), () => this.request.take(body.subarray(cut)))
    else this.#clock.after(this.#chance.between(31, 9_000), () => this.leave())
  }

  get body(): Buffer {
    return Buffer.concat(this.#parts)
  }

  get writableFinished(): boolean {
    return this.end_of_answer === 'whole'
  }

  on(event: 'error' | 'close' | 'drain', listener: () => void): void {
    if (event === 'close') this.#onClose = listener
    if (event === 'drain') this.#onDrain = listener
  }

  writeHead(status: number, headers: string[]): void {
    this.#mayWrite('a head')
    if (this.headersSent) this.faults.push('a second head was written')
    this.headersSent = true
    this.status = status
    const pairs: Record<string, string> = {}
    for (let at = 0; at < headers.length; at += 2) pairs[headers[at]!] = headers[at + 1]!
    this.headers = pairs
  }

  flushHeaders(): void {
    this.#mayWrite('a head')
  }

  write(chunk: Buffer): boolean {
    this.#mayWrite('bytes')
    if (!this.headersSent) this.faults.push('bytes were written before the head')
    this.#parts.push(Buffer.from(chunk))
    if (!this.#chance.is(this.#full_part)) return true
    if (this.#empties) this.#clock.after(this.#chance.between(1, 2_000), () => this.end_of_answer ?? this.#onDrain())
    return false
  }

  end(last: Buffer | string, encoding: 'latin1' | 'utf8'): void {
    this.#mayWrite('the last bytes')
    this.#parts.push(typeof last === 'string' ? Buffer.from(last, encoding) : Buffer.from(last))
    this.#over('whole')
  }

  destroy(): void {
    if (!this.end_of_answer) this.#over('cut')
  }

  /** The client closes its connection. */
  leave(): void {
    if (this.end_of_answer) return
    this.end_of_answer = 'left'
    this.request.lost()
    this.#onClose()
  }

  #over(how: AnswerEnd) {
    this.end_of_answer = how
    this.#clock.soon(() => this.#onClose())
  }

  #mayWrite(what: string) {
    if (this.end_of_answer && this.end_of_answer !== 'left') this.faults.push(`${what} came after the end`)
  }
}
