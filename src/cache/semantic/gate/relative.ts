import {lexicon} from './lexicon.ts'
import {RELATIVE_PAIRS, RELATIVE_PARTS} from './tables/languages.ts'

const parts = RELATIVE_PARTS.split(/\s+/)
const [first, second] = RELATIVE_PAIRS.split('|').map(words => new Set(words.trim().split(/\s+/)))

/** Says that an answer ages within hours: the text speaks of today, of now, of the latest, of this week. */
export function isRelative(text: string): boolean {
  const folded = text.normalize('NFKC').toLowerCase()
  const {relative} = lexicon()
  let previous = ''
  for (const [word] of folded.matchAll(/[\p{L}\p{M}][\p{L}\p{M}'’-]*/gu)) {
    const bare = word.replaceAll('’', "'").replace(/'s$/, '')
    if (relative.has(bare)) return true
    if (second!.has(bare) && first!.has(previous)) return true
    previous = bare
  }
  return parts.some(part => folded.includes(part))
}
