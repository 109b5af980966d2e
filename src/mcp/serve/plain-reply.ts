import type {ClientResponse} from '../../base/ingress/response.ts'
import type {ReplyFields, ReplyTarget} from './client-reply.ts'

type Heard = 'close' | 'drain'

const NOTHING = Buffer.alloc(0)
/** So much leaves with its head in one piece. */
const ONE_PIECE_BYTES = 8 << 10

/** The reply to a plain request, which has one listener of each event. */
export class PlainReply implements ReplyTarget {
  readonly #response: ClientResponse
  readonly #listeners: Record<Heard, (() => void)[]> = {close: [], drain: []}

  constructor(response: ClientResponse) {
    this.#response = response
    for (const event of ['close', 'drain'] as const)
      response.on(event, () => {
        for (const listener of [...this.#listeners[event]]) listener()
      })
  }

  get writableFinished(): boolean {
    return this.#response.writableFinished
  }

  get writableNeedDrain(): boolean {
    return this.#response.socket?.writableNeedDrain ?? false
  }

  get writableLength(): number {
    return this.#response.socket?.writableLength ?? 0
  }

  on(event: Heard | 'error', listener: () => void): void {
    // errors of its socket are heard where the connection is read
    if (event !== 'error') this.#listeners[event].push(listener)
  }

  once(event: 'close', listener: () => void): void {
    this.on(event, listener)
  }

  off(event: Heard, listener: () => void): void {
    this.#listeners[event] = this.#listeners[event].filter(each => each !== listener)
  }

  writeHead(status: number, fields: ReplyFields): void {
    const headers: string[] = []
    for (const name in fields) headers.push(name, fields[name]!)
    this.#response.writeHead(status, headers)
  }

  write(text: string): void {
    this.#response.write(Buffer.from(text))
  }

  end(body: Buffer = NOTHING): void {
    if (body.length > ONE_PIECE_BYTES) this.#response.end(body, 'utf8')
    else this.#response.end(body.toString('latin1'), 'latin1')
  }

  destroy(): void {
    this.#response.destroy()
  }
}
