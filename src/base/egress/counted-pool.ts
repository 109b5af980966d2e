import {type Dispatcher, Pool} from 'undici'
import {EgressFault} from './faults.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

/** A pool that knows how many calls it has, and takes no more than it has sockets and places to wait for one. */
export class CountedPool extends Pool {
  /** Calls that were dispatched and have not come to their end: waiting, sent, or answering. */
  live = 0
  /** When it was last asked for, on its owner's own count. */
  used = 0
  readonly #most: number

  constructor(origin: string, options: Pool.Options & {readonly connections: number}, waiting: number) {
    super(origin, options)
    this.#most = options.connections + waiting
  }

  /** A call too many is told so as undici tells it of a closed pool: through `onResponseError`, without a controller. */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Handler): boolean {
    if (this.live >= this.#most) {
      const fault = new EgressFault('queue_full', 'too many calls wait for it')
      handler.onResponseError?.(null as unknown as Controller, fault)
      return false
    }
    return super.dispatch(options, new CountedHandler(this, handler))
  }
}

/** Passes everything on and counts the call out at its one end: the reply's, an error or an upgrade. */
class CountedHandler implements Handler {
  readonly #pool: CountedPool
  readonly #inner: Handler
  #live = true

  constructor(pool: CountedPool, inner: Handler) {
    this.#pool = pool
    this.#inner = inner
    pool.live++
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#inner.onRequestStart?.(controller, context)
  }

  onBodySent(chunk: Buffer): void {
    this.#inner.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#inner.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#inner.onResponseStarted?.()
  }

  onResponseStart(...reply: Parameters<NonNullable<Handler['onResponseStart']>>): void {
    this.#inner.onResponseStart?.(...reply)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#inner.onResponseData?.(controller, chunk)
  }

  onResponseEnd(...end: Parameters<NonNullable<Handler['onResponseEnd']>>): void {
    this.#leave()
    this.#inner.onResponseEnd?.(...end)
  }

  onRequestUpgrade(...upgrade: Parameters<NonNullable<Handler['onRequestUpgrade']>>): void {
    this.#leave()
    this.#inner.onRequestUpgrade?.(...upgrade)
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#leave()
    this.#inner.onResponseError?.(controller, error)
  }

  #leave(): void {
    if (!this.#live) return
    this.#live = false
    this.#pool.live--
  }
}
