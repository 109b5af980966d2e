import type {Hop} from '../../schema/hops.ts'
import type {Usage} from '../../schema/usage.ts'
import type {Json, StreamEvent, StreamTranslator} from '../translation.ts'
import {answerWithNames} from './names.ts'

/** A stream whose calls have the client's names. */
export class NamedStream implements StreamTranslator {
  readonly #inner: StreamTranslator
  readonly #own: (name: string) => string

  constructor(inner: StreamTranslator, own: (name: string) => string) {
    this.#inner = inner
    this.#own = own
  }

  event(event: StreamEvent): readonly Json[] {
    return this.#named(this.#inner.event(event))
  }

  end(): readonly Json[] {
    return this.#named(this.#inner.end())
  }

  get finished(): boolean {
    return this.#inner.finished
  }

  get usage(): Usage | null {
    return this.#inner.usage
  }

  get hops(): readonly Hop[] | null {
    return this.#inner.hops ?? null
  }

  get model(): string | null {
    return this.#inner.model
  }

  get failed(): StreamTranslator['failed'] {
    return this.#inner.failed
  }

  get text_bytes(): number {
    return this.#inner.text_bytes
  }

  #named(chunks: readonly Json[]): readonly Json[] {
    return chunks.map(chunk => answerWithNames(chunk, this.#own))
  }
}
