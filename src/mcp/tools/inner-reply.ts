import type {ReplyFields, ReplyTarget} from '../serve/client-reply.ts'

/** Takes the reply to an inner request, which is one piece of JSON: it asks for no stream. */
export class InnerReply implements ReplyTarget {
  readonly #done = Promise.withResolvers<string>()
  readonly #listeners: (() => void)[] = []
  #is_over = false
  readonly writableLength = 0
  readonly writableNeedDrain = false

  /** The body; empty where it came to none. */
  get body(): Promise<string> {
    return this.#done.promise
  }

  get writableFinished(): boolean {
    return this.#is_over
  }

  on(event: 'close' | 'error' | 'drain', listener: () => void): void {
    if (event === 'close') this.#listeners.push(listener)
  }

  once(event: 'close', listener: () => void): void {
    this.on(event, listener)
  }

  off(): void {}

  writeHead(_status: number, _headers: ReplyFields): void {}

  write(_text: string): void {}

  end(body?: Buffer): void {
    this.#is_over = true
    this.#finish(body?.toString('utf8') ?? '')
  }

  destroy(): void {
    this.#finish('')
  }

  /** The run is over: its client left. */
  leave(): void {
    if (!this.#is_over) this.#finish('')
  }

  #finish(body: string) {
    this.#done.resolve(body)
    for (const listener of this.#listeners.splice(0)) listener()
  }
}
