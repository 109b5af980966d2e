import {Needles} from './needles.ts'

/** A shorter text is a word that an answer may say, and no secret. */
const MIN_LENGTH = 8
const STAR = 0x2a
/** So much of a secret may leave before it is seen that it is one. */
const MAX_SEEN = 3

/**
 * Texts that may not come back, in the forms in which they may: as they are, percent-encoded, with the escapes of JSON,
 * within base64. Each is replaced by as many asterisks, so that lengths stay what a header says, and JSON stays JSON.
 */
export class SecretMask {
  /** One form a byte (latin1), the longest first. */
  readonly #forms: readonly string[]
  readonly #needles: readonly Buffer[]
  /** The forms without those that hold another: a text without these has none. */
  readonly #least: readonly string[]
  readonly #search: Needles
  /** A shorter text holds none of them. */
  readonly shortest: number

  private constructor(forms: readonly string[]) {
    this.#forms = forms
    this.#least = forms.filter(form => !forms.some(other => other !== form && form.includes(other)))
    this.#search = new Needles(this.#least.map(form => Buffer.from(form, 'latin1')))
    this.#needles = forms.map(form => Buffer.from(form, 'latin1'))
    this.shortest = Math.min(...this.#least.map(({length}) => length))
  }

  /** Null where none of `secrets` is long enough to be one. */
  static of(secrets: Iterable<string>): SecretMask | null {
    const forms = new Set([...secrets].filter(secret => secret.length >= MIN_LENGTH).flatMap(formsOf))
    return forms.size === 0 ? null : new SecretMask([...forms].toSorted((one, other) => other.length - one.length))
  }

  /** `text` without them; the same text where there are none. */
  text(text: string): string {
    if (!this.#least.some(form => text.includes(form))) return text
    return this.#forms.reduce((left, form) => left.replaceAll(form, '*'.repeat(form.length)), text)
  }

  /** True when `bytes` has any of them. */
  isIn(bytes: Buffer): boolean {
    return this.#search.isIn(bytes)
  }

  /** True when the name of a header, which has no capitals, has any of them. */
  isInName(name: string): boolean {
    return name.length >= this.shortest && this.#least.some(form => name.includes(form.toLowerCase()))
  }

  /** The same of bytes; the same bytes where there are none. */
  bytes(bytes: Buffer): Buffer {
    if (!this.#search.isIn(bytes)) return bytes
    let masked: Buffer | null = null
    for (const needle of this.#needles) {
      for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) {
        masked ??= Buffer.from(bytes)
        masked.fill(STAR, at, at + needle.length)
      }
    }
    return masked ?? bytes
  }

  /** A mask of bytes that come in chunks. */
  filter(): MaskFilter {
    return new MaskFilter(this, this.#needles)
  }
}

/** Masks what is cut over chunks too: the beginning of a secret waits for its end. */
export class MaskFilter {
  readonly #mask: SecretMask
  readonly #needles: readonly Buffer[]
  readonly #longest: number
  /** The last bytes that left, in which a secret may have begun. */
  #left: Buffer = NOTHING
  #held: Buffer = NOTHING

  constructor(mask: SecretMask, needles: readonly Buffer[]) {
    this.#mask = mask
    this.#needles = needles
    this.#longest = needles.reduce((most, {length}) => Math.max(most, length), 0)
  }

  /** The bytes that may be sent of all that came. */
  push(chunk: Buffer): Buffer {
    const known = this.#left.length
    const all = known + this.#held.length === 0 ? chunk : Buffer.concat([this.#left, this.#held, chunk])
    const open = this.#openEnd(all)
    // A few bytes of a beginning leave, for it is mostly none; the rest waits.
    const end = Math.max(known, open > MAX_SEEN ? all.length - open + MAX_SEEN : all.length)
    return this.#release(all, known, end)
  }

  /** The bytes that still waited for an end. */
  end(): Buffer {
    const known = this.#left.length
    const all = Buffer.concat([this.#left, this.#held])
    return this.#release(all, known, all.length)
  }

  #release(all: Buffer, known: number, end: number): Buffer {
    const masked = this.#mask.bytes(all)
    this.#held = all.subarray(end)
    this.#left = all.subarray(Math.max(0, end - this.#longest + 1), end)
    return masked.subarray(known, end)
  }

  /** How many bytes at the end may be the beginning of a secret. */
  #openEnd(all: Buffer): number {
    let most = 0
    for (const needle of this.#needles) {
      const from = Math.max(0, all.length - needle.length + 1)
      for (let at = all.indexOf(needle[0]!, from); at >= 0; at = all.indexOf(needle[0]!, at + 1)) {
        const length = all.length - at
        if (length <= most) break
        if (all.compare(needle, 0, length, at) === 0) most = length
      }
    }
    return most
  }
}

const NOTHING = Buffer.alloc(0)

function formsOf(secret: string): readonly string[] {
  const plain = Buffer.from(secret).toString('latin1')
  const forms = [plain, percent(secret), JSON.stringify(secret).slice(1, -1), secret.replaceAll('/', '\\/')]
  return [...forms, ...base64Within(Buffer.from(secret))].filter(form => form.length >= MIN_LENGTH)
}

function percent(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret
}

/**
 * The base64 that any text with `bytes` in it has: three ways to be cut, without the characters that hold other bits
 * too.
 */
function base64Within(bytes: Buffer): readonly string[] {
  const ways = [0, 1, 2].map(before => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
    const bits = whole.length * 8
    return whole.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6))
  })
  return ways.flatMap(way => [way, way.replaceAll('+', '-').replaceAll('/', '_')])
}
