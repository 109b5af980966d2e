import {seeded} from '../../src/base/seeded-random.ts'

/** What a seed decides. Two worlds of one seed make the same choices, in the same order. */
export class Chance {
  readonly #next: () => number

  constructor(seed: string) {
    this.#next = seeded(seed)
  }

  /** 0 to 1, without 1. */
  readonly part = (): number => this.#next()

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1))
  }

  /** True in `part` of all cases. */
  is(part: number): boolean {
    return this.#next() < part
  }

  one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#next() * of.length)]!
  }
}
