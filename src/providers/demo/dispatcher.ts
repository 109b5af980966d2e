import {Dispatcher, errors} from 'undici'
import {type Echo, echo, type Moment, refusal} from './echo.ts'

const MOST_BODY_BYTES = 16 * 1024 * 1024

/** An undici dispatcher that answers every call itself (`echo`) and opens no socket. */
export class EchoDispatcher extends Dispatcher {
  readonly #moment: () => Moment
  readonly #live = new Set<Exchange>()
  #is_closed = false

  constructor(moment: () => Moment) {
    super()
    this.#moment = moment
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const exchange = new Exchange(handler, () => this.#live.delete(exchange))
    this.#live.add(exchange)
    if (this.#is_closed) exchange.abort(new errors.ClientClosedError())
    else void exchange.run(options, this.#moment())
    return true
  }

  override close(): Promise<void>
  override close(callback: () => void): void
  override close(callback?: () => void): Promise<void> | void {
    this.#is_closed = true
    return callback ? queueMicrotask(callback) : Promise.resolve()
  }

  override destroy(error?: Error | null): Promise<void>
  override destroy(error: Error | null, callback: () => void): void
  override destroy(callback: () => void): void
  override destroy(first?: Error | null | (() => void), second?: () => void): Promise<void> | void {
    const error = first instanceof Error ? first : new errors.ClientDestroyedError()
    for (const exchange of this.#live) exchange.abort(error)
    const callback = typeof first === 'function' ? first : second
    return callback ? this.close(callback) : this.close()
  }
}

/** One call and its answer, told to `handler` as a network client would tell it. */
class Exchange implements Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler
  readonly #on_over: () => void
  #is_over = false
  #resumed: (() => void) | null = null
  aborted = false
  paused = false
  reason: Error | null = null

  constructor(handler: Dispatcher.DispatchHandler, on_over: () => void) {
    this.#handler = handler
    this.#on_over = on_over
  }

  async run(options: Dispatcher.DispatchOptions, moment: Moment): Promise<void> {
    try {
      this.#handler.onRequestStart?.(this, {})
      if (this.aborted) return
      const body = await readBody(options.body)
      const path = options.path.split('?', 1)[0]!
      const answer = body ? echo({method: options.method, path, body}, moment) : TOO_LARGE
      await this.#tell(answer)
    } catch (fault) {
      this.abort(fault as Error)
    }
  }

  abort(reason: Error): void {
    if (this.#is_over) return
    this.aborted = true
    this.reason = reason
    this.#end()
    this.resume()
    // Not at once: the handler may still be inside the call that led here.
    queueMicrotask(() => this.#handler.onResponseError?.(this, reason))
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
    this.#resumed?.()
    this.#resumed = null
  }

  async #tell(answer: Echo) {
    const chunks = 'events' in answer ? answer.events : [JSON.stringify(answer.json)]
    const headers: Record<string, string> =
      'events' in answer
        ? {'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache'}
        : {'content-type': 'application/json', 'content-length': String(Buffer.byteLength(chunks[0]!))}
    await this.#turn()
    if (this.aborted) return
    this.#handler.onResponseStart?.(this, answer.status, headers, answer.status === 200 ? 'OK' : 'Refused')
    for (const chunk of chunks) {
      await this.#turn()
      if (this.aborted) return
      this.#handler.onResponseData?.(this, Buffer.from(chunk))
    }
    await this.#turn()
    if (this.aborted) return
    this.#end()
    this.#handler.onResponseEnd?.(this, {})
  }

  /** The next turn of the loop, and no earlier than the handler wants more. */
  async #turn() {
    await new Promise(resolve => setImmediate(resolve))
    while (this.paused) {
      await new Promise<void>(resolve => {
        this.#resumed = resolve
      })
    }
  }

  #end() {
    this.#is_over = true
    this.#on_over()
  }
}

const TOO_LARGE = refusal(413, `The body is larger than the ${MOST_BODY_BYTES} bytes the demo provider takes.`, null)

/** The request's body as bytes; null when it is too large. */
async function readBody(body: Dispatcher.DispatchOptions['body'] | AsyncIterable<Uint8Array | string>): Promise<Buffer | null> {
  if (body === null || body === undefined) return Buffer.alloc(0)
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const bytes = Buffer.from(body as Uint8Array)
    return bytes.length > MOST_BODY_BYTES ? null : bytes
  }
  if (!(Symbol.asyncIterator in body)) return Buffer.alloc(0)
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Uint8Array | string>) {
    const bytes = Buffer.from(part as Uint8Array)
    size += bytes.length
    if (size > MOST_BODY_BYTES) return null
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}
