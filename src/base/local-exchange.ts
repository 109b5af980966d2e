import type {Dispatcher} from 'undici'

/** An answer to be sent. */
export interface LocalResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly chunks: Iterable<Buffer> | AsyncIterable<Buffer>
}

/**
 * One call that this process answers itself, passed to `handler` as a network client would, and no faster than it
 * takes.
 */
export class LocalExchange implements Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler
  readonly #on_over: (reason: Error | null) => void
  #is_over = false
  #resumed: (() => void) | null = null
  aborted = false
  paused = false
  reason: Error | null = null

  /** `on_over` is called once, at the end or with what it was aborted with. */
  constructor(handler: Dispatcher.DispatchHandler, on_over: (reason: Error | null) => void) {
    this.#handler = handler
    this.#on_over = on_over
  }

  /** Begins, and tells what `answer` comes to; a fault of it ends the call. */
  async run(answer: () => Promise<LocalResponse>): Promise<void> {
    try {
      this.#handler.onRequestStart?.(this, {})
      if (this.aborted) return
      await this.#tell(await answer())
    } catch (fault) {
      this.abort(fault as Error)
    }
  }

  abort(reason: Error): void {
    if (this.#is_over) return
    this.aborted = true
    this.reason = reason
    this.#end(reason)
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

  async #tell({status, headers, chunks}: LocalResponse) {
    await this.#turn()
    if (this.aborted) return
    this.#handler.onResponseStart?.(this, status, headers, status < 300 ? 'OK' : 'Refused')
    for await (const chunk of chunks) {
      await this.#turn()
      if (this.aborted) return
      this.#handler.onResponseData?.(this, chunk)
    }
    await this.#turn()
    if (this.aborted) return
    this.#end(null)
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

  #end(reason: Error | null) {
    this.#is_over = true
    this.#on_over(reason)
  }
}
