import vocabulary_file from './vocabulary.json' with {type: 'json'}

/**
 * The most tokens that a tokenizer makes of text inside JSON, by one pass over its bytes. What a byte pair encoding
 * ends with has no two neighbours that together are a token of its vocabulary. So the most pieces that obey this for
 * pairs are never fewer than its tokens, and the words that are tokens by themselves are one. `bin/vocabulary.ts` took
 * both from o200k_base and cl100k_base; of text that is not ASCII each byte counts as a token, the least that a
 * vocabulary of bytes knows.
 */
export function mostTokens(body: Buffer, start: number, end: number, digits_a_token: number): number {
  let tokens = 0
  /**
   * The current run of signs: the most pieces of it that end in a single sign, or in a longer piece, and of it without
   * its last sign.
   */
  let single = 0
  let longer = 0
  let before = 0
  let last = 0
  let at = start
  while (at < end) {
    const byte = body[at]!
    switch (KIND[byte]) {
      case LETTER: {
        let hash = 0
        const from = at
        do {
          hash = (Math.imul(hash, 31) + body[at]!) | 0
          at++
        } while (at < end && KIND[body[at]!] === LETTER)
        tokens += single > longer ? single : longer
        single = longer = 0
        const is_spaced = from > start && body[from - 1] === SPACE
        tokens +=
          is_spaced && isWord(body, from, at, hash) && !goesOn(body, at, end)
            ? 1
            : mostOfWord(body, from, at, is_spaced)
        continue
      }
      case SPACES: {
        const from = at
        do at++
        while (at < end && body[at] === SPACE)
        tokens += single > longer ? single : longer
        single = longer = 0
        const next = at < end ? KIND[body[at]!] : WIDE
        const spaces = at - from
        if (next === LETTER || next === SIGN) {
          tokens += mostOfSpaces(spaces - 1)
          if (next === LETTER) continue
          single = 1
          longer = NONE
          before = 0
          last = SPACE
        } else tokens += mostOfSpaces(spaces - 1) + 1
        continue
      }
      case DIGIT: {
        const from = at
        do at++
        while (at < end && KIND[body[at]!] === DIGIT)
        tokens += (single > longer ? single : longer) + Math.ceil((at - from) / digits_a_token)
        single = longer = 0
        continue
      }
      case SIGN: {
        let sign = byte
        at++
        if (byte === BACKSLASH) {
          sign = body[at] ?? SPACE
          at++
          if (KIND[sign] !== SIGN) {
            // a control sign, a line end, or any sign by its number
            tokens += single > longer ? single : longer
            single = longer = 0
            if (sign === LETTER_U) {
              tokens += bytesOf(Number.parseInt(body.toString('latin1', at, at + 4), 16))
              at += 4
            } else tokens++
            continue
          }
        }
        if (single === 0 && longer === 0) {
          single = 1
          longer = NONE
          before = 0
        } else {
          const best = single > longer ? single : longer
          single = (isPair(last, sign) ? longer : best) + 1
          if (before >= longer) longer = before + 1
          before = best
        }
        last = sign
        continue
      }
      default:
        tokens += (single > longer ? single : longer) + 1
        single = longer = 0
        at++
    }
  }
  return tokens + (single > longer ? single : longer)
}

/** The same of a text by itself. */
export function mostTokensOf(text: string): number {
  const json = Buffer.from(JSON.stringify(text))
  return mostTokens(json, 1, json.length - 1, 1)
}

const SPACE = 0x20
const BACKSLASH = 0x5c
const SLASH = 0x2f
const QUOTE = 0x27
const LETTER_U = 0x75
const NONE = -1e9

/** Kinds of bytes. A control sign, a line end and a byte that is not ASCII are a token each. */
const WIDE = 0
const LETTER = 1
const DIGIT = 2
const SPACES = 3
const SIGN = 4
const KIND = Uint8Array.from({length: 257}, (_, byte) => {
  if ((byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)) return LETTER
  if (byte >= 0x30 && byte <= 0x39) return DIGIT
  if (byte === SPACE) return SPACES
  return byte > SPACE && byte < 0x7f ? SIGN : WIDE
})

/** Runs of so many spaces are tokens, and all shorter ones: two neighbours are longer together. */
const SPACES_A_TOKEN = 16

function mostOfSpaces(count: number): number {
  return count <= 0 ? 0 : 2 * Math.floor(count / (SPACES_A_TOKEN + 1)) + 1
}

/** Of a word that may be any letters, with the space before it. */
function mostOfWord(body: Buffer, from: number, to: number, is_spaced: boolean): number {
  let last = is_spaced ? SPACE : body[from]!
  let single = 1
  let longer = NONE
  let before = 0
  for (let at = is_spaced ? from : from + 1; at < to; at++) {
    const letter = body[at]!
    const best = single > longer ? single : longer
    single = (isPair(last, letter) ? longer : best) + 1
    if (before >= longer) longer = before + 1
    before = best
    last = letter
  }
  return single > longer ? single : longer
}

function isPair(one: number, other: number): boolean {
  return PAIRS[(one << 7) | other] === 1
}

/**
 * Pairs that no tokenizer cuts between, and that are a token. Line ends take a slash with them, so that one may begin
 * again behind it.
 */
const PAIRS = (() => {
  const bits = Buffer.from(vocabulary_file.pairs, 'base64')
  return Uint8Array.from({length: 1 << 14}, (_, at) => (at >> 7 === SLASH ? 0 : (bits[at >> 3]! >> (at & 7)) & 1))
})()

/** True where a word does not end with its ASCII letters: some tokenizers cut it otherwise then. */
function goesOn(body: Buffer, at: number, end: number): boolean {
  if (at >= end) return false
  const next = body[at]!
  return next >= 0x80 || next === QUOTE || (next === BACKSLASH && body[at + 1] === LETTER_U)
}

/** How many bytes a UTF-16 unit is in UTF-8, one of a pair half of theirs. */
function bytesOf(unit: number): number {
  return unit >= 0x800 ? ((unit & 0xf800) === 0xd800 ? 2 : 3) : unit >= 0x80 ? 2 : 1
}

const WORDS = Buffer.from(`${vocabulary_file.words} `, 'latin1')
const MIN_LETTERS = 3
const MAX_LETTERS = 14
const SLOTS = 16_384
/** The index in `WORDS` at which a word begins, plus one, by its hash; 0 for none. */
const PLACES = placesOf()

function placesOf(): Uint16Array {
  const places = new Uint16Array(SLOTS)
  let from = 0
  let hash = 0
  for (let at = 0; at < WORDS.length; at++) {
    if (WORDS[at] !== SPACE) {
      hash = (Math.imul(hash, 31) + WORDS[at]!) | 0
      continue
    }
    let slot = slotOf(hash)
    while (places[slot] !== 0) slot = (slot + 1) % SLOTS
    places[slot] = from + 1
    from = at + 1
    hash = 0
  }
  return places
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 13)) & (SLOTS - 1)
}

function isWord(body: Buffer, from: number, to: number, hash: number): boolean {
  const letters = to - from
  if (letters < MIN_LETTERS || letters > MAX_LETTERS) return letters === 1
  for (let slot = slotOf(hash); PLACES[slot] !== 0; slot = (slot + 1) % SLOTS) {
    const place = PLACES[slot]! - 1
    if (WORDS[place + letters] !== SPACE) continue
    let at = 0
    while (at < letters && WORDS[place + at] === body[from + at]) at++
    if (at === letters) return true
  }
  return false
}
