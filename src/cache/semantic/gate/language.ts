import {lexicon} from './lexicon.ts'
import {STOP_WORDS} from './tables/languages.ts'
import type {GateToken} from './token.ts'

export interface GateLanguage {
  /** The scripts and the language, as they are compared. */
  readonly name: string
  readonly is_english: boolean
}

const LANGUAGES = Object.keys(STOP_WORDS)
const SCRIPTS: readonly (readonly [name: string, first: number, last: number])[] = [
  ['latin', 0x41, 0x24f],
  ['latin', 0x1e00, 0x1eff],
  ['greek', 0x370, 0x3ff],
  ['cyrillic', 0x400, 0x52f],
  ['armenian', 0x530, 0x58f],
  ['hebrew', 0x590, 0x5ff],
  ['arabic', 0x600, 0x77f],
  ['indic', 0x900, 0xdff],
  ['thai', 0xe00, 0xeff],
  ['georgian', 0x10a0, 0x10ff],
  ['hangul', 0x1100, 0x11ff],
  ['kana', 0x3040, 0x30ff],
  ['han', 0x3400, 0x9fff],
  ['hangul', 0xac00, 0xd7af],
]

/** The language with most of its common words in the text. Without any, a text of Latin letters counts as English. */
export function languageOf(text: string, tokens: readonly GateToken[]): GateLanguage {
  const scripts = scriptsOf(text)
  const counts = new Array<number>(LANGUAGES.length).fill(0)
  const {votes} = lexicon()
  for (const token of tokens) {
    let bits = token.kind === 'word' ? (votes.get(token.text) ?? 0) : 0
    for (let at = 0; bits !== 0; at++, bits >>>= 1) if (bits & 1) counts[at]!++
  }
  const most = Math.max(...counts)
  const english = counts[0]!
  const only_latin = scripts === '' || scripts === 'latin'
  if (only_latin && english === most) return {name: scripts, is_english: true}
  return {name: `${scripts} ${LANGUAGES[counts.indexOf(most)]!}`, is_english: false}
}

function scriptsOf(text: string): string {
  const found = new Set<string>()
  let last: (typeof SCRIPTS)[number] | undefined
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x41 || (last !== undefined && code >= last[1] && code <= last[2])) continue
    if (code < 0x80 && !((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)) continue
    const script = SCRIPTS.find(([, first, end]) => code >= first && code <= end)
    if (script === undefined) continue
    last = script
    found.add(script[0])
  }
  return [...found].sort().join(' ')
}
