/** A text as detectors read it, and the way back to the original text. */
export interface DigitText {
  /**
   * The text with zero-width characters dropped, digits of every script as 0-9, spaces as ' ', dashes as '-', and
   * compatibility forms that mean one ASCII character as that character. All else stays, code unit for code unit.
   */
  readonly text: string
  /** The range of the original text that the characters `start` to `end` of the plain text come from. */
  original(start: number, end: number): {readonly start: number; readonly end: number}
}

/** Reads a text plainly, in one pass. */
export function plainOf(text: string): DigitText {
  const first = text.search(/[^\x00-\x7f]/)
  return first < 0 ? {text, original: (start, end) => ({start, end})} : folded(text, first)
}

function folded(text: string, first: number): DigitText {
  /** Per code unit of the plain text: where its source begins, and how many code units that has. */
  const starts = new Uint32Array(text.length)
  const widths = new Uint8Array(text.length).fill(1)
  for (let at = 0; at < first; at++) starts[at] = at
  const parts: string[] = []
  let length = first
  let kept = 0
  for (let at = first; at < text.length; ) {
    const code = text.codePointAt(at)!
    const width = code > 0xffff ? 2 : 1
    const put = code < 0x80 ? undefined : fold(code)
    if (put === undefined) {
      for (let unit = 0; unit < width; unit++) starts[length++] = at + unit
    } else {
      parts.push(text.slice(kept, at), put)
      kept = at + width
      if (put) {
        starts[length] = at
        widths[length++] = width
      }
    }
    at += width
  }
  parts.push(text.slice(kept))
  return {
    text: parts.join(''),
    original: (start, end) => ({
      start: starts[start]!,
      end: end > start ? starts[end - 1]! + widths[end - 1]! : starts[start]!,
    }),
  }
}

/** The replacement of a character: '' drops it, undefined leaves it. */
function fold(code: number): string | undefined {
  if (isPlainLetter(code)) return undefined
  const known = FOLDS.get(code)
  if (known !== undefined) return known ?? undefined
  const put = folding(code)
  if (FOLDS.size < MAX_FOLDS) FOLDS.set(code, put ?? null)
  return put
}

/** Remembered folds; null leaves the character. */
const FOLDS = new Map<number, string | null>()
const MAX_FOLDS = 8192

/** Blocks of letters alone, by far the most of what is not ASCII. */
function isPlainLetter(code: number): boolean {
  return (
    (code >= 0xc0 && code < 0x250) ||
    (code >= 0x400 && code < 0x530) ||
    (code >= 0x3041 && code < 0xa000) ||
    (code >= 0xac00 && code < 0xd7a4)
  )
}

const DROPPED = /\p{Cf}|\p{Me}|[\u{fe00}-\u{fe0f}]|\u034f/u
const SPACE = /[\p{Zs}\u2028\u2029]/u
const DASH = /[\p{Pd}\u2212]/u
const DIGIT = /\p{Nd}/u

function folding(code: number): string | undefined {
  const character = String.fromCodePoint(code)
  if (DROPPED.test(character)) return ''
  if (SPACE.test(character)) return ' '
  if (DASH.test(character)) return '-'
  if (DIGIT.test(character)) return String(digitOf(code))
  const form = character.normalize('NFKC')
  return form.length === 1 && form.charCodeAt(0) < 0x80 ? form : undefined
}

/**
 * Unicode gives each script's decimal digits as one run of ten (The Unicode Standard, 4.6), so the distance to its
 * start is the value.
 */
function digitOf(code: number): number {
  // Mathematical digits (U+1D7CE to U+1D7FF) are five runs back to back.
  if (code >= 0x1d7ce && code <= 0x1d7ff) return (code - 0x1d7ce) % 10
  let start = code
  while (code - start < 9 && DIGIT.test(String.fromCodePoint(start - 1))) start--
  return code - start
}
