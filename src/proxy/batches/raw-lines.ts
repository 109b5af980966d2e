const LF = 10
const CR = 13

/** A line as it came, its end with it. All lines in a row are the file, byte by byte. */
export interface RawLine {
  /** `long`: a piece of a line that is longer than is read. */
  readonly kind: 'row' | 'blank' | 'long'
  readonly raw: Buffer
  /** Counted from 1, empty lines too. */
  readonly number: number
  /** Of a row: the range of its text in `raw`, without a byte order mark and the line end. */
  readonly start: number
  readonly end: number
}

/** Tells lines apart, however they are cut into chunks. No more is held of them than one unfinished line. */
export class RawLines {
  readonly #most_bytes: number
  #open: Buffer[] = []
  #open_bytes = 0
  #number = 1
  #is_long = false

  constructor(most_bytes: number) {
    this.#most_bytes = most_bytes
  }

  /** Of the line that has begun and not ended. */
  get held_bytes(): number {
    return this.#open_bytes
  }

  push(chunk: Buffer): RawLine[] {
    const lines: RawLine[] = []
    let start = 0
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, start)) {
      this.#add(chunk.subarray(start, at + 1), lines)
      this.#close(lines)
      start = at + 1
    }
    if (start < chunk.length) this.#add(chunk.subarray(start), lines)
    return lines
  }

  /** The remaining lines: a last line may have no end. */
  end(): RawLine[] {
    const lines: RawLine[] = []
    if (this.#open_bytes > 0) this.#close(lines)
    return lines
  }

  #add(piece: Buffer, lines: RawLine[]) {
    this.#open.push(piece)
    this.#open_bytes += piece.length
    if (!this.#is_long && this.#open_bytes <= this.#most_bytes) return
    this.#is_long = true
    for (const raw of this.#open) lines.push({kind: 'long', raw, number: this.#number, start: 0, end: raw.length})
    this.#open = []
    this.#open_bytes = 0
  }

  #close(lines: RawLine[]) {
    if (!this.#is_long) {
      const raw = this.#open.length === 1 ? this.#open[0]! : Buffer.concat(this.#open)
      const start = this.#number === 1 && raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? 3 : 0
      let {length: end} = raw
      while (end > start && (raw[end - 1] === LF || raw[end - 1] === CR)) end--
      lines.push({kind: isBlank(raw, start, end) ? 'blank' : 'row', raw, number: this.#number, start, end})
    }
    this.#open = []
    this.#open_bytes = 0
    this.#is_long = false
    this.#number++
  }
}

function isBlank(raw: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!BLANKS.has(raw[at]!)) return false
  return true
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, CR])
