const graphemes = new Intl.Segmenter('en', {granularity: 'grapheme'})
/** East Asian wide and fullwidth (Unicode UAX #11) and what is drawn as a picture. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
const EMPTY = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u
/** Control characters, and those that turn the direction of what follows: neither belongs in a line of a terminal. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** `text` as one line that a terminal can be trusted with: names come from anybody. */
export function plain(text: string): string {
  return text
    .replace(/\s*\r?\n\s*/g, ' ')
    .replace(/\t/g, ' ')
    .replace(UNSAFE, '\ufffd')
}

/** Columns that `text` takes on a terminal. */
export function width(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let columns = 0
  for (const {segment} of graphemes.segment(text)) columns += columnsOf(segment)
  return columns
}

/** `text` in at most `columns` columns; what is cut off leaves an ellipsis. */
export function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text
  let kept = ''
  let used = 1
  for (const {segment} of graphemes.segment(text)) {
    used += columnsOf(segment)
    if (used > columns) break
    kept += segment
  }
  return `${kept}…`
}

export function pad(text: string, columns: number, side: 'left' | 'right' = 'right'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)))
  return side === 'right' ? text + space : space + text
}

function columnsOf(grapheme: string): number {
  if (EMPTY.test(grapheme)) return 0
  return WIDE.test(grapheme) ? 2 : 1
}

/** `text` as at most `most` lines of at most `columns` columns, broken between words; what is left over is cut off. */
export function wrapped(text: string, columns: number, most: number): string[] {
  const lines: string[] = []
  let line = ''
  const words = text.split(' ')
  for (const [at, word] of words.entries()) {
    const longer = line === '' ? word : `${line} ${word}`
    if (width(longer) <= columns || line === '') {
      line = longer
      continue
    }
    if (lines.length === most - 1) return [...lines, cut([line, ...words.slice(at)].join(' '), columns)]
    lines.push(cut(line, columns))
    line = word
  }
  return [...lines, cut(line, columns)]
}
