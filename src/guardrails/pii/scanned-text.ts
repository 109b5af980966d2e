import type {PiiClass} from './classes.ts'
import {type Columns, columnsOf} from './columns.ts'
import type {CountedWork} from './work.ts'

/** A plain text taken apart once for all detectors. Positions are of the plain text. */
export interface ScannedText {
  readonly text: string
  /** The text in lower case, of the same length. */
  readonly lower: string
  /** Longest runs of 0-9: starts and ends by turns. */
  readonly groups: readonly number[]
  /** Longest runs of letters, digits, `_` and `-` of at least sixteen: starts and ends by turns. */
  readonly tokens: readonly number[]
  /**
   * Longest runs without spaces, quotes, brackets, and `,;|<>`, of ASCII only, at least twelve long or cut short in
   * quotes: starts and ends by turns.
   */
  readonly chunks: readonly number[]
  readonly columns: Columns
  readonly work: CountedWork
}

/** A find in a plain text. */
export interface PiiFinding {
  readonly class: PiiClass
  readonly kind: string
  readonly start: number
  readonly end: number
  readonly certainty: number
}

/**
 * Looks for one class, saying undefined now and then: a place to pause at. What it does is bounded by a multiple of the
 * text's length.
 */
export type Detector = (page: ScannedText) => Generator<PiiFinding | undefined>

/** Places looked at between two pauses, a power of two. */
export const PAUSE = 512

const TOKEN = 16
const CHUNK = 12

export const DIGIT = 1
export const LETTER = 2
const TOKEN_SIGN = 4
const CHUNK_SIGN = 8

/** The kinds of token that an ASCII code unit may be part of. */
const KINDS = new Uint8Array(128).map((_, code) => {
  const sign = String.fromCharCode(code)
  if (/[0-9]/.test(sign)) return DIGIT
  if (/[A-Za-z]/.test(sign)) return LETTER
  if (/[_-]/.test(sign)) return TOKEN_SIGN
  return code > 0x20 && code < 0x7f && !/["'`<>(){}[\],;|]/.test(sign) ? CHUNK_SIGN : 0
})

export function kindOf(code: number): number {
  return code < 128 ? KINDS[code]! : 0
}

export function pageOf(text: string, work: CountedWork): ScannedText {
  const groups: number[] = []
  const tokens: number[] = []
  const chunks: number[] = []
  let group = -1
  let token = -1
  let chunk = -1
  for (let at = 0; at <= text.length; at++) {
    const kind = at < text.length ? kindOf(text.charCodeAt(at)) : 0
    if (kind === DIGIT) {
      if (group < 0) group = at
    } else if (group >= 0) {
      groups.push(group, at)
      group = -1
    }
    if (kind !== 0 && kind !== CHUNK_SIGN) {
      if (token < 0) token = at
    } else if (token >= 0) {
      if (at - token >= TOKEN) tokens.push(token, at)
      token = -1
    }
    if (kind !== 0) {
      if (chunk < 0) chunk = at
    } else if (chunk >= 0) {
      if (at - chunk >= CHUNK || isCutQuote(text, chunk, at)) chunks.push(chunk, at)
      chunk = -1
    }
  }
  work.spend(text.length)
  return {text, lower: lowered(text), groups, tokens, chunks, columns: columnsOf(text, work), work}
}

/** A short run between a quote and a sign that is neither a quote nor a space: the value in the quotes continues. */
function isCutQuote(text: string, start: number, end: number): boolean {
  return end < text.length && '"\'`'.includes(text[start - 1] ?? ' ') && '<>(){}[],;|'.includes(text[end]!)
}

/** True for a letter of any script that writes its words apart, and for a digit: a value ends before any of these. */
export function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (Number.isNaN(code)) return false
  if (code < 128) return (KINDS[code]! & (DIGIT | LETTER)) !== 0
  return code >= 0xc0 && code < 0x2000 && code !== 0xd7 && code !== 0xf7 && /\p{L}/u.test(text.charAt(at))
}

export function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code > 47 && code < 58
}

/** `toLowerCase`, but for the few characters that it makes longer. */
function lowered(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text.replace(/[^\u0130]+/g, part => part.toLowerCase())
}
