import type {Encoding, Vocabulary} from './vocabulary.ts'

const CONTRACTION = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])"
const SMALL = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
const LARGE = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const BEFORE = String.raw`[^\r\n\p{L}\p{N}]?`
/**
 * How a text is cut into pieces before pairs are merged: no token spans two of them (github.com/openai/tiktoken,
 * openai_public.py).
 */
const PIECES: Readonly<Record<Encoding, string>> = {
  o200k_base: [
    `${BEFORE}${LARGE}*${SMALL}+(?:${CONTRACTION})?`,
    `${BEFORE}${LARGE}+${SMALL}*(?:${CONTRACTION})?`,
    String.raw`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  ].join('|'),
  cl100k_base: [
    CONTRACTION,
    `${BEFORE}\\p{L}+`,
    String.raw`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s`,
  ].join('|'),
}

/** Behind the end of a piece so many signs may still belong to it. */
const LOOKAHEAD = 4
/** More that cannot be cut yet is counted as it is. */
const LONGEST_REST = 16_384
/** A longer piece is cut, and each cut held for at more tokens than it can save by being one. */
const LONGEST_PIECE_BYTES = 16_384
const CUT_TOKENS = 8
const TEXT_END = /\S\s*$/

/** Counts the tokens of a text that comes in parts, as its tokenizer does. */
export class PieceCounter {
  tokens = 0
  readonly #pairs: PairCounter
  readonly #pieces: RegExp
  #rest = ''

  constructor(vocabulary: Vocabulary, encoding: Encoding) {
    this.#pairs = new PairCounter(vocabulary)
    this.#pieces = new RegExp(PIECES[encoding], 'uy')
  }

  /** Takes a further part of the text. */
  add(part: string): void {
    const text = this.#rest + part
    // what ends before the last words cannot change any more
    const last = TEXT_END.exec(text.slice(-LONGEST_REST))
    const sure = last ? Math.max(0, text.length - last[0].length) - LOOKAHEAD : 0
    this.#rest = text.slice(this.#count(text, sure))
    if (this.#rest.length <= LONGEST_REST) return
    this.end()
    this.tokens += CUT_TOKENS
  }

  /** The text is whole: the next part begins another. */
  end(): void {
    const text = this.#rest
    this.#rest = ''
    this.#count(text, text.length)
  }

  /** Counts the pieces that end by `to`; where they end. */
  #count(text: string, to: number): number {
    const pieces = this.#pieces
    let from = 0
    while (from < to) {
      pieces.lastIndex = from
      if (!pieces.test(text) || pieces.lastIndex > to) break
      this.tokens += this.#pairs.count(text, from, pieces.lastIndex)
      from = pieces.lastIndex
    }
    return from
  }
}

const encoder = new TextEncoder()
/** A rank and a place in one number. */
const PLACES = LONGEST_PIECE_BYTES
const GONE = -1

/** Merges the pairs of a piece, the lowest rank first and of those the leftmost, and counts what is left. */
class PairCounter {
  readonly #vocabulary: Vocabulary
  readonly #bytes = new Uint8Array(LONGEST_PIECE_BYTES)
  readonly #next = new Int32Array(LONGEST_PIECE_BYTES + 1)
  readonly #before = new Int32Array(LONGEST_PIECE_BYTES + 1)
  /** The rank of a part together with the next; -1 where they are no token. */
  readonly #ranks = new Int32Array(LONGEST_PIECE_BYTES + 1)
  readonly #heap = new Float64Array(3 * LONGEST_PIECE_BYTES)
  #waiting = 0

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  count(text: string, from: number, to: number): number {
    let tokens = 0
    let at = from
    while (at < to) {
      // a sign is at most three bytes a unit
      let end = Math.min(to, at + Math.floor(LONGEST_PIECE_BYTES / 3))
      if (end < to && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
      if (at > from) tokens += CUT_TOKENS
      tokens += this.#merged(this.#encode(text, at, end))
      at = end
    }
    return tokens
  }

  #encode(text: string, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at)
      if (unit >= 0x80) return encoder.encodeInto(text.slice(from, to), this.#bytes).written
      this.#bytes[at - from] = unit
    }
    return to - from
  }

  #merged(length: number): number {
    const bytes = this.#bytes
    if (length < 2 || this.#vocabulary.rankOf(bytes, 0, length) >= 0) return 1
    const [next, before, ranks] = [this.#next, this.#before, this.#ranks]
    this.#waiting = 0
    for (let at = 0; at < length; at++) {
      next[at] = at + 1
      before[at] = at - 1
      this.#rate(at, at + 2, length)
    }
    let parts = length
    while (this.#waiting > 0) {
      const least = this.#take()
      const at = least % PLACES
      if (ranks[at] !== (least - at) / PLACES) continue
      const joined = next[at]!
      const end = next[joined]!
      next[at] = end
      if (end < length) before[end] = at
      ranks[joined] = GONE
      parts--
      this.#rate(at, end < length ? next[end]! : length + 1, length)
      const previous = before[at]!
      if (previous >= 0) this.#rate(previous, end, length)
    }
    return parts
  }

  /** Notes the rank of what is from `at` to `end`, a part and the next. */
  #rate(at: number, end: number, length: number) {
    const rank = end > length ? GONE : this.#vocabulary.rankOf(this.#bytes, at, end)
    this.#ranks[at] = rank
    if (rank >= 0) this.#put(rank * PLACES + at)
  }

  #put(value: number) {
    const heap = this.#heap
    let at = this.#waiting++
    while (at > 0) {
      const above = (at - 1) >> 1
      if (heap[above]! <= value) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = value
  }

  #take(): number {
    const heap = this.#heap
    const least = heap[0]!
    const value = heap[--this.#waiting]!
    let at = 0
    for (let below = 1; below < this.#waiting; below = 2 * at + 1) {
      if (below + 1 < this.#waiting && heap[below + 1]! < heap[below]!) below++
      if (heap[below]! >= value) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = value
    return least
  }
}
