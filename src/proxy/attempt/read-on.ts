import type {After} from '../../base/delay.ts'

/** How long, and how far, an answer is read on for its usage. */
const MAX_MS = 2000
const MAX_BYTES = 64 * 1024
/** Of one provider's answers so many are read on at a time, or a tenth of all calls in progress if that is more. */
const LEAST_AT_ONCE = 10
const SHARE_AT_ONCE = 0.1

const reading = new Map<string, number>()

/**
 * Reads the end of an answer that no client waits for any more: all of it has come but its usage, which some dialects
 * report behind their last word. It is read for that, a little while and a few bytes.
 */
export class ReadOn {
  readonly #provider: string
  readonly #callOff: () => void
  #left_bytes = MAX_BYTES

  private constructor(provider: string, after: After, onOver: () => void) {
    this.#provider = provider
    this.#callOff = after(MAX_MS, onOver)
    reading.set(provider, (reading.get(provider) ?? 0) + 1)
  }

  /** Null where too many of the provider's answers are read on already. `onOver`: it took too long. */
  static begin(provider: string, calls: number, after: After, onOver: () => void): ReadOn | null {
    if ((reading.get(provider) ?? 0) >= Math.max(LEAST_AT_ONCE, calls * SHARE_AT_ONCE)) return null
    return new ReadOn(provider, after, onOver)
  }

  /** False where it is more than is read. */
  takes(chunk: Buffer): boolean {
    this.#left_bytes -= chunk.length
    return this.#left_bytes >= 0
  }

  end(): void {
    this.#callOff()
    const left = reading.get(this.#provider)! - 1
    if (left > 0) reading.set(this.#provider, left)
    else reading.delete(this.#provider)
  }
}
