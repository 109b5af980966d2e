import {lexicon} from './lexicon.ts'
import {scan} from './scan.ts'
import {withValues} from './values.ts'

/** Requests on how something is written: a capital, a comma or a space is the answer. */
const ON_WRITING =
  /\b(?:capitali[sz]\w*|(?:upper|lower|title|camel|snake)[ -]?case\w*|punctuat\w*|spelling|grammar\w*|proofread\w*|typos?|ascii|unicode|hyphen\w*|syllables?|letters|characters)\b/i
/** Work on a material letter by letter. */
const ON_LETTERS = /\b(?:correct|fix|edit|reverse|sort|count|parse|encode|decode|hash|escape)\b/i
/** Requests on words: another word for the same is another request. */
const ON_WORDS =
  /\b(?:say|says|said|saying|spell|spells|spelled|spelt|words?|synonyms?|antonyms?|plural|singular|pronounc\w*|conjugat\w*|translat\w*|means?|meaning|define|definition|rhymes?|acronym|abbreviation|phrase|rewrite|rephrase|paraphrase|sentences?|verbs?|nouns?|adjectives?|tense|called|etymology|reply|respond|print|output)\b/i
/** A material follows, which is no request. */
const MATERIAL = /:\s(?=\s{0,8}\S)/
const OPENING = /^\s{0,16}(?:(?:please|hello|hi|hey)\b[,!.]{0,2}\s{0,8}){1,4}/i
const CLOSING = /[\s,.!?]{1,8}(?:please|thanks|thank you)$/i
/** Behind a sentence: no part of any material. */
const THANKS = /[.!?]\s{1,8}(?:thanks|thank you)$/i
const MAX_CLOSING = 40

/**
 * The words that must be the same, because the text speaks of words or holds a material to work on. Null: its meaning
 * decides.
 */
export function wordingOf(form: string): string | null {
  const material = MATERIAL.exec(form)
  if (ON_WRITING.test(form) || (material !== null && ON_LETTERS.test(form))) return form.trim()
  if (ON_WORDS.test(form)) {
    const opened = form.replace(OPENING, '')
    return literal(without(material === null ? CLOSING : THANKS, opened))
  }
  return material === null ? null : literal(without(THANKS, form.slice(material.index + 1)))
}

function without(closings: RegExp, text: string): string {
  const bare = withoutEnd(text)
  const closing = closings.exec(bare.slice(-MAX_CLOSING))
  return closing === null ? bare : bare.slice(0, -closing[0].length)
}

/** Without the marks and spaces at its end. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\r\n.!?'.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** All words as they are and in their order, with short forms written out. */
function literal(text: string): string {
  const {is_after} = lexicon()
  return withValues(scan(withoutEnd(text)))
    .filter(({kind}) => kind !== 'break')
    .map(({kind, text}, at, all) =>
      text === "'s" && is_after.has(all[at - 1]?.text ?? '') ? 'word is' : `${kind} ${text}`,
    )
    .join('\n')
}
