import type {IncomingHttpHeaders, IncomingMessage} from 'node:http'
import type {Refusal} from '../errors.ts'
import type {Coming} from './governed.ts'
import type {PlainHead} from './head.ts'

/** A request as the data plane takes it: node:http's, or a plain one. */
export type ClientRequest = IncomingMessage | FastRequest

/** The other end of its connection. */
interface Peer {
  readonly remoteAddress?: string | undefined
}

/** The address that a request came from; null where that is not known any more. */
export function remoteAddressOf(request: ClientRequest): string | null {
  return request instanceof FastRequest ? request.remote_address : (request.socket.remoteAddress ?? null)
}

/** A request that is plain: its body has a length, and is read whole or not at all. */
export class FastRequest implements Coming {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly #body_bytes: number
  #parts: Buffer[] = []
  #missing_bytes: number
  #waiting: {readonly resolve: (body: Buffer) => void; readonly reject: (fault: Error) => void} | undefined
  #fault: Error | undefined
  #is_dropped = false
  /** Someone reads it, who knows its caller. */
  is_known = false
  /** Called when someone begins to read it, who did not before it was too much to keep. */
  onRead: (() => void) | undefined
  readonly #peer: Peer | undefined

  constructor(method: string, url: string, {headers, body_bytes}: PlainHead, peer?: Peer) {
    this.method = method
    this.url = url
    this.headers = headers
    this.#body_bytes = body_bytes
    this.#missing_bytes = body_bytes
    this.#peer = peer
  }

  /** The address that it came from; null where that is not known any more. */
  get remote_address(): string | null {
    return this.#peer?.remoteAddress ?? null
  }

  /** All of its body has come. */
  get complete(): boolean {
    return this.#missing_bytes === 0
  }

  /** True when its bytes wait to be read. */
  get is_behind(): boolean {
    return !this.is_known && !this.#is_dropped
  }

  get came_bytes(): number {
    return this.#body_bytes - this.#missing_bytes
  }

  /**
   * The body, once; rejects when the client leaves before all of it has come, and with a refusal when it is given up.
   */
  body(): Buffer | Promise<Buffer> {
    if (this.complete) return this.#whole()
    if (this.#fault) return Promise.reject(this.#fault)
    this.is_known = true
    this.onRead?.()
    return new Promise((resolve, reject) => {
      this.#waiting = {resolve, reject}
    })
  }

  /** Takes what belongs to it from the front of `bytes`; gives the rest. */
  take(bytes: Buffer): Buffer | undefined {
    const own = bytes.length <= this.#missing_bytes ? bytes : bytes.subarray(0, this.#missing_bytes)
    if (!this.#is_dropped) this.#parts.push(own)
    this.#missing_bytes -= own.length
    if (this.complete) this.#waiting?.resolve(this.#whole())
    return own.length < bytes.length ? bytes.subarray(own.length) : undefined
  }

  /** It has no reader: bytes that still come of it are ignored. */
  drop(): void {
    this.#is_dropped = true
    this.#parts = []
    this.onRead?.()
  }

  lost(): void {
    this.#end(new Error('the client left'))
  }

  fail(refusal: Refusal): boolean {
    this.#end(refusal)
    return true
  }

  #end(fault: Error) {
    this.#fault ??= fault
    this.#waiting?.reject(this.#fault)
  }

  #whole(): Buffer {
    const parts = this.#parts
    this.#parts = []
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, this.#body_bytes)
  }
}
