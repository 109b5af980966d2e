import {Dispatcher, errors} from 'undici'
import {LocalExchange, type LocalResponse} from '../../base/local-exchange.ts'
import {type Echo, echo, type Moment, refusal} from './echo.ts'

const MAX_BODY_BYTES = 16 * 1024 * 1024

/** An undici dispatcher that answers every call itself (`echo`) and opens no socket. */
export class EchoDispatcher extends Dispatcher {
  readonly #moment: () => Moment
  readonly #live = new Set<LocalExchange>()
  #is_closed = false

  constructor(moment: () => Moment) {
    super()
    this.#moment = moment
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const exchange = new LocalExchange(handler, () => this.#live.delete(exchange))
    this.#live.add(exchange)
    if (this.#is_closed) exchange.abort(new errors.ClientClosedError())
    else {
      const moment = this.#moment()
      void exchange.run(() => answerTo(options, moment))
    }
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

async function answerTo(options: Dispatcher.DispatchOptions, moment: Moment): Promise<LocalResponse> {
  const body = await readBody(options.body)
  const path = options.path.split('?', 1)[0]!
  const answer: Echo = body ? echo({method: options.method, path, body}, moment) : TOO_LARGE
  const texts = 'events' in answer ? answer.events : [JSON.stringify(answer.json)]
  const headers: Record<string, string> =
    'events' in answer
      ? {'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache'}
      : {'content-type': 'application/json', 'content-length': String(Buffer.byteLength(texts[0]!))}
  return {status: answer.status, headers, chunks: texts.map(text => Buffer.from(text))}
}

const TOO_LARGE = refusal(413, `The body is larger than the ${MAX_BODY_BYTES} bytes the demo provider takes.`, null)

/** The request's body as bytes; null when it is too large. */
async function readBody(
  body: Dispatcher.DispatchOptions['body'] | AsyncIterable<Uint8Array | string>,
): Promise<Buffer | null> {
  if (body === null || body === undefined) return Buffer.alloc(0)
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const bytes = Buffer.from(body as Uint8Array)
    return bytes.length > MAX_BODY_BYTES ? null : bytes
  }
  if (!(Symbol.asyncIterator in body)) return Buffer.alloc(0)
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Uint8Array | string>) {
    const bytes = Buffer.from(part as Uint8Array)
    size += bytes.length
    if (size > MAX_BODY_BYTES) return null
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}
