/** Numbers that follow from a seed (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to `most`, which is left out. */
  below(most: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most)
  }

  chance(share: number): boolean {
    return this.below(1000) < share * 1000
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  many<T>(count: number, make: (at: number) => T): T[] {
    return Array.from({length: count}, (_, at) => make(at))
  }

  text(pieces = 1 + this.below(30)): string {
    const kind = this.of(KINDS)
    return this.many(pieces, () => (this.chance(0.1) ? this.of(KINDS) : kind)(this)).join('')
  }
}

const WORDS =
  'the of a gateway counts every token that it may cost because nobody Says otherwise JSON value strictly unforeseeable'.split(
    ' ',
  )
const letters = (from: string) => (random: Random) =>
  random.many(1 + random.below(16), () => random.of([...from])).join('')
/** What prompts are made of. */
const KINDS: readonly ((random: Random) => string)[] = [
  random => `${random.of(WORDS)} `,
  random => `${random.of(WORDS)} `,
  random => `${random.of(WORDS)}${random.of([', ', '. ', "'s ", '\n'])}`,
  letters('0123456789abcdef'),
  letters('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
  random => `${random.below(1e9)},${random.below(1000) / 7},"${random.of(WORDS)}"\n`,
  letters('0123456789'),
  letters('汉字是世界上最古老的文字龘靐かなカナ한글'),
  letters('абвгдежзийклмнопрстуфхцчшщъыьэюя '),
  letters('🙂👩‍👧🇨🇭❤️'),
  letters(' \n\t\r'),
  letters('\u0000\u0001\u001f\u007f\u00a0\u200b'),
  letters('{}[]()<>=+-*/\\|&^%$#@!~`\'";:,.?_'),
  random =>
    `const ${random.of(WORDS)}_${random.below(99)} = (${random.of(WORDS)}) => {\n  return ${random.below(9)}\n}\n`,
]
