import type {PiiClass} from './classes.ts'
import type {Vault} from './redact.ts'
import type {Restorer} from './restore.ts'
import {findPii} from './scan.ts'

export interface RedactStreamOptions {
  readonly classes?: readonly PiiClass[]
  /** Code units kept back, so that a value or the word that tells it is seen whole before it is said; 256. */
  readonly hold_chars?: number
}

const HOLD_CHARS = 256
/** Code units already said that are read again: the words before a value. */
const BEFORE_CHARS = 256
/** A run without spaces, or a key block, is kept back whole up to this many code units. */
const LONGEST = 16_384
const FEWEST_MORE = 64

/**
 * Redacts a text that comes in pieces, with the placeholders of its call. Work grows with the text's length, whatever the pieces: what
 * is kept back is read again only when it has grown by a quarter.
 */
export function redactStream(vault: Vault, {classes, hold_chars = HOLD_CHARS}: RedactStreamOptions = {}): Restorer {
  let said = ''
  let held = ''
  let wake = hold_chars
  const speak = (is_last: boolean): string => {
    const text = said + held
    const spans = findPii(text, {classes}).filter(span => span.end > said.length)
    const cut = is_last ? text.length : cutOf(text, said.length, text.length - hold_chars, spans)
    const now = spans
      .filter(span => span.start < cut)
      .map(span => ({...span, start: Math.max(0, span.start - said.length), end: span.end - said.length}))
    const put = vault.redact(held.slice(0, cut - said.length), now)
    held = text.slice(cut)
    said = text.slice(Math.max(0, cut - BEFORE_CHARS), cut)
    wake = Math.max(hold_chars, held.length) + Math.max(FEWEST_MORE, held.length >> 2)
    return put
  }
  return {
    push(piece) {
      held += piece
      return held.length > wake ? speak(false) : ''
    },
    end() {
      const rest = held ? speak(true) : ''
      said = ''
      return rest
    },
  }
}

/** Where to stop saying: before a span, a word, or a key block that goes on behind `wanted`. */
function cutOf(text: string, from: number, wanted: number, spans: readonly {readonly start: number; readonly end: number}[]): number {
  if (wanted <= from) return from
  let cut = wanted
  const open = text.lastIndexOf('-----BEGIN ')
  if (open >= from && open < cut && text.length - open < LONGEST && text.indexOf('-----END ', open) < 0) cut = open
  const least = Math.max(from, cut - LONGEST)
  let word = cut
  while (word > least && !/\s/.test(text[word - 1]!)) word--
  if (word > least || word === from) cut = word
  const crossed = spans.find(span => span.start < cut && span.end > cut)
  if (crossed) cut = Math.max(from, crossed.start)
  const is_parting = cut > from && text.charCodeAt(cut) >= 0xdc00 && text.charCodeAt(cut) <= 0xdfff
  return is_parting ? cut - 1 : cut
}
