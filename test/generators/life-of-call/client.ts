import {once} from 'node:events'
import {connect, type Socket} from 'node:net'

/** A client over a raw connection: it says when it goes, reads as it likes, and keeps what it was told. */
export class Client {
  readonly #socket: Socket
  #text = ''
  /** The connection has ended, by whomever. */
  closed = false

  constructor(origin: string, reads = true) {
    const {hostname, port} = new URL(origin)
    this.#socket = connect({host: hostname, port: Number(port), noDelay: true})
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => {
      this.closed = true
    })
    if (reads) this.read()
    else this.#socket.pause()
  }

  async connected(): Promise<void> {
    if (this.#socket.connecting) await once(this.#socket, 'connect')
  }

  send(text: string): void {
    this.#socket.write(text)
  }

  /** Sends this again and again, until the connection ends. */
  drip(text: string): void {
    const timer = setInterval(() => this.#socket.write(text), 50)
    this.#socket.once('close', () => clearInterval(timer))
  }

  /** Reads all that comes, from now on. */
  read(): void {
    if (this.#socket.listenerCount('data') > 0) return
    this.#socket.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text
    })
    this.#socket.resume()
  }

  /** Leaves at once. */
  leave(): void {
    this.#socket.resetAndDestroy()
  }

  get text(): string {
    return this.#text
  }

  /** Null where no answer has begun. */
  get status(): number | null {
    const said = /^HTTP\/1\.1 (\d{3}) /.exec(this.#text)
    return said && Number(said[1])
  }

  /** True once the answer is there to its end. */
  get is_whole(): boolean {
    const end = this.#text.indexOf('\r\n\r\n')
    if (end < 0) return false
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#text.slice(0, end))?.[1]
    return length === undefined ? this.#text.endsWith('\r\n0\r\n\r\n') : this.#text.length >= end + 4 + Number(length)
  }

  /** How the call ended for the client: with a status and a whole answer, cut off in it, without any, or not yet. */
  get end(): string {
    if (this.is_whole) return String(this.status)
    return this.closed ? (this.status === null ? 'closed' : `${this.status} cut`) : 'open'
  }
}
