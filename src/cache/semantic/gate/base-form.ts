import {lexicon, PAST} from './lexicon.ts'
import {slipOf} from './slips.ts'

/** The base of a word with the mark of its past, if it is known; else null. */
function knownBase(word: string): string | null {
  const {forms, vocabulary} = lexicon()
  const irregular = forms.get(word)
  if (irregular !== undefined) return irregular
  if (vocabulary.has(word)) return word
  if (word.length < 4) return null
  if (word.endsWith('s')) return firstKnown(pluralBases(word))
  if (word.endsWith('ed')) {
    const base = firstKnown(verbBases(word.slice(0, -2), word.endsWith('ied')))
    return base === null ? null : base + PAST
  }
  return word.endsWith('ing') ? firstKnown(verbBases(word.slice(0, -3), false)) : null
}

function pluralBases(word: string): string[] {
  if (word.endsWith('ies')) return [`${word.slice(0, -3)}y`, word.slice(0, -1)]
  return word.endsWith('es') ? [word.slice(0, -1), word.slice(0, -2)] : word.endsWith('ss') ? [] : [word.slice(0, -1)]
}

function verbBases(stem: string, is_y: boolean): string[] {
  if (is_y) return [`${stem.slice(0, -1)}y`, stem]
  const doubled = stem.length > 2 && stem.at(-1) === stem.at(-2)
  return doubled ? [stem.slice(0, -1), stem] : [`${stem}e`, stem]
}

function firstKnown(candidates: readonly string[]): string | null {
  const {vocabulary} = lexicon()
  return candidates.find(word => vocabulary.has(word)) ?? null
}

/**
 * The name of a word's group of synonyms, in its base form. A slip of the pen is put right where `may_slip`; a word
 * that is unknown is its own.
 */
export function headOf(word: string, may_slip: boolean): string {
  const base = knownBase(word) ?? spelled(word) ?? (may_slip ? corrected(word) : null) ?? word
  const {heads, units} = lexicon()
  const past = base.endsWith(PAST)
  const bare = past ? base.slice(0, -PAST.length) : base
  const unit = bare.length > 1 ? units.get(bare) : undefined
  const head = unit ?? heads.get(bare) ?? bare
  return past ? head + PAST : head
}

/** The American spelling of a British one, if that is known. */
function spelled(word: string): string | null {
  const other = word
    .replace(/is(e|es|ed|ing|ation|ations)$/, 'iz$1')
    .replace(/our(|s|ed|ing|ful|ite|able|ly|less|er)$/, 'or$1')
    .replace(/yse(|s|d)$/, 'yze$1')
    .replace(/^(p|an|h|leuk|arch|encyclop|c|f)ae/, '$1e')
  if (other === word) return null
  return knownBase(other) ?? (word.length > 5 ? other : null)
}

function corrected(word: string): string | null {
  const slip = slipOf(word)
  if (slip !== null) return knownBase(slip)
  for (const suffix of ['s', 'ed', 'ing']) {
    if (!word.endsWith(suffix)) continue
    const stem = word.slice(0, -suffix.length)
    const base = slipOf(stem) ?? (suffix === 's' ? null : slipOf(`${stem}e`))
    if (base !== null) return (knownBase(base) ?? base) + (suffix === 'ed' ? PAST : '')
  }
  return null
}
