import {cleaned} from '../../base/stored-text.ts'
import {MAX_VALUE_BYTES, textWithin} from '../spans/bounded.ts'
import {MAX_ATTRIBUTES, type SpanAttributes, type SpanValue} from './received.ts'

/** The room that one span, or one source, has: what does not fit is left out and counted. */
export class SpanBudget {
  #left: number
  dropped = 0
  is_cut = false

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** A text as stores take it, cut at 64 KB. */
  text(text: string): string {
    const bounded = textWithin(text, MAX_VALUE_BYTES)
    if (bounded !== text) this.is_cut = true
    return cleaned(bounded)
  }

  /** Takes the room of a value; false where there is no more. */
  take(bytes: number): boolean {
    if (bytes > this.#left) {
      this.dropped++
      return false
    }
    this.#left -= bytes
    return true
  }
}

/** Gathers attributes within a budget. Of one name that comes twice the first counts. */
export class BoundedAttributes {
  readonly #budget: SpanBudget
  readonly #of = new Map<string, SpanValue>()

  constructor(budget: SpanBudget) {
    this.#budget = budget
  }

  get all(): SpanAttributes {
    return this.#of
  }

  /** True where no further one is kept: their values need not be read. */
  get isFull(): boolean {
    return this.#of.size >= MAX_ATTRIBUTES
  }

  /** Counts one that is not read. */
  pass(): void {
    this.#budget.dropped++
  }

  /** An attribute without a value is none. */
  add(name: string, value: SpanValue | undefined): void {
    if (value === undefined || name === '' || this.#of.has(name)) return
    if (this.isFull) return this.pass()
    const key = cleaned(textWithin(name, MAX_NAME_BYTES))
    const bounded = this.#bounded(value)
    if (this.#budget.take(key.length + weightOf(bounded))) this.#of.set(key, bounded)
  }

  /** A list or an object that is too long is kept as the beginning of its JSON. */
  #bounded(value: SpanValue): SpanValue {
    if (typeof value === 'string') return this.#budget.text(value)
    if (typeof value !== 'object' || value === null) return value
    const json = JSON.stringify(value)
    if (json.length <= MAX_VALUE_BYTES / 3 || Buffer.byteLength(json) <= MAX_VALUE_BYTES) return value
    return this.#budget.text(json)
  }
}

const MAX_NAME_BYTES = 256

function weightOf(value: SpanValue): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : JSON.stringify(value).length
}
