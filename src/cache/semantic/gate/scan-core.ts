import {lexicon} from './lexicon.ts'
import {ABBREVIATIONS} from './tables/forms.ts'
import type {GateToken} from './token.ts'

/** A longer run is no number, date or word that the gate knows. */
const MAX_KNOWN = 64
const SCALES: ReadonlyMap<string, number> = new Map([
  ['k', 1e3],
  ['mn', 1e6],
  ['mio', 1e6],
  ['bn', 1e9],
])
const abbreviations = new Set(ABBREVIATIONS.split(/\s+/))
const WITH_DIGIT = /\d/
/** A small b behind a capital is a bit, a capital one a byte. */
const BITS = /^[KMGT]b$/
/** Of these the case of the first letter is a factor of a thousand and more. */
const CASED = /^(?:M(?:W|Wh|V|A|Pa|g|N|J)|m(?:W|Wh|Hz|Pa|B))$/
const LETTERS = /^[\p{L}\p{M}]+$/u

/** Tokens of a run of characters without the punctuation around it. True: a full stop behind it ends no sentence. */
export function addCore(core: string, first: boolean, tokens: GateToken[]): boolean {
  if (core.length > MAX_KNOWN) {
    tokens.push({kind: 'name', text: core})
    return false
  }
  if (core === '-' && isTerm(tokens.at(-1))) {
    tokens.push({kind: 'symbol', text: '-'})
    return false
  }
  if (LETTERS.test(core)) {
    addWord(core, first, tokens)
    return core.length === 1 || abbreviations.has(core.toLowerCase())
  }
  if (WITH_DIGIT.test(core) && addNumber(core, tokens)) return false
  if (/^[\p{L}\p{M}'&-]+$/u.test(core)) {
    addWords(core, first, tokens)
    return false
  }
  if (/^(?:\p{L}\.)+\p{L}$/u.test(core)) {
    const text = core.replaceAll('.', '').toLowerCase()
    if (text !== 'eg' && text !== 'ie') tokens.push({kind: 'word', text: text === 'us' ? 'usa' : text, capital: true})
    return true
  }
  addOther(core, first, tokens)
  return abbreviations.has(core.toLowerCase())
}

/** Behind these a hyphen is a minus. */
function isTerm(token: GateToken | undefined): boolean {
  return token?.kind === 'number' || token?.kind === 'unit'
}

function addWord(core: string, first: boolean, tokens: GateToken[]) {
  if ((BITS.test(core) || CASED.test(core)) && tokens.at(-1)?.kind === 'number') {
    tokens.push({kind: 'unit', text: unitOf(core)!})
    return
  }
  const capital = !first && /^\p{Lu}/u.test(core)
  // inner capitals of a name in code (`userId`) are part of it; those of a brand (`JavaScript`, `iPhone`) are not
  const is_camel = /^[a-z]{2,}[A-Z]/.test(core) || /^[a-z][A-Z][a-z]+[A-Z]/.test(core)
  if (is_camel && !/^(?:mac|web|tv|watch)OS$/.test(core)) tokens.push({kind: 'name', text: core})
  else {
    const folded = core.toLowerCase()
    const is_name = NOT_PRONOUNS.has(core) || (capital && (HOMONYMS.has(folded) || core === 'A'))
    tokens.push({kind: 'word', text: is_name ? core : folded, capital})
  }
}

/** Short names that would be other words without their capitals. */
const NOT_PRONOUNS: ReadonlySet<string> = new Set(['US', 'IT', 'WHO', 'AIDS', 'OR', 'ME'])

/** Words that are a name with a capital, and another thing without. */
const HOMONYMS: ReadonlySet<string> = new Set(
  `polish turkey china mercury bath reading nice mobile rice bush apple windows java amazon shell gap target`.split(
    ' ',
  ),
)

/** Words with an apostrophe or a hyphen. */
function addWords(core: string, first: boolean, tokens: GateToken[]) {
  const text = core.toLowerCase()
  const {vocabulary, contractions, is_after} = lexicon()
  if (contractions.has(text) || (text.includes('-') && vocabulary.has(text))) {
    tokens.push({kind: 'word', text})
    return
  }
  if (!text.includes("'")) {
    for (const part of core.split(/[-&]/)) if (part !== '') addWord(part, first, tokens)
    return
  }
  const at = text.lastIndexOf("'")
  const head = core.slice(0, at)
  const tail = text.slice(at + 1)
  if (tail === 't' && text.endsWith("n't")) {
    tokens.push({kind: 'word', text: text.slice(0, -3)}, {kind: 'word', text: 'not'})
    return
  }
  for (const part of head.split(/[-&']/)) if (part !== '') addWord(part, first, tokens)
  const full = {re: 'are', ve: 'have', ll: 'will', d: 'would', m: 'am'}[tail]
  if (full !== undefined) tokens.push({kind: 'word', text: full})
  else if (tail === 's') tokens.push({kind: 'word', text: is_after.has(head.toLowerCase()) ? 'is' : "'s"})
  else if (tail !== '') tokens.push({kind: 'word', text: tail})
}

const NUMBER = /^([$€£¥₹])?([+-])?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?([a-z%°‰µ$€£¥₹]{0,12}(?:\/[a-z]{1,3})?)$/i

/** A number with its currency, unit, scale or ordinal ending; a time; a date. False: it is none of them. */
function addNumber(core: string, tokens: GateToken[]): boolean {
  const time = /^(\d{1,2})(?:[:.h](\d{2}))?(?::(\d{2}))? ?(am|pm)$|^(\d{1,2}):(\d{2})(?::(\d{2}))?$/i.exec(core)
  if (time !== null) {
    tokens.push({kind: 'date', text: timeOf(time)})
    return true
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(core)) {
    tokens.push({kind: 'date', text: core})
    return true
  }
  const range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?[a-z%]{0,3})$/i.exec(core)
  if (range !== null && addNumber(range[1]!, tokens)) {
    tokens.push({kind: 'symbol', text: '-'})
    return addNumber(range[2]!, tokens)
  }
  const parts = NUMBER.exec(core)
  if (parts === null) return false
  const [, currency, sign = '', whole, fraction = '', suffix = ''] = parts
  const digits = sign.replace('+', '') + whole!.replaceAll(',', '').replace(/^0+(?=[1-9])/, '')
  const ending = suffix.toLowerCase()
  if (/^(?:st|nd|rd|th)$/.test(ending) && fraction === '') {
    tokens.push({kind: 'ordinal', text: `#${digits}`})
    return true
  }
  const scale = SCALES.get(ending) ?? (currency !== undefined && ending === 'm' ? 1e6 : undefined)
  const unit = unitOf(suffix)
  if (ending !== '' && scale === undefined && unit === null) return false
  const measured = currency !== undefined || unit !== null || scale !== undefined
  const value = digits + (measured ? fraction.replace(/\.?0+$/, '') : fraction)
  tokens.push({kind: 'number', text: scale === undefined ? value : String(Number(value) * scale)})
  if (unit !== null && scale === undefined) tokens.push({kind: 'unit', text: unit})
  if (currency !== undefined) tokens.push({kind: 'unit', text: unitOf(currency)!})
  return true
}

/** The name of a unit that is written directly behind a number. */
function unitOf(suffix: string): string | null {
  if (suffix === '') return null
  if (BITS.test(suffix)) return `u:${suffix[0]!.toLowerCase()}bit`
  if (suffix === 'M' || CASED.test(suffix)) return `u:=${suffix}`
  return lexicon().units.get(suffix.toLowerCase()) ?? null
}

function timeOf([, h12, m12 = '00', s12, half, h24, m24, s24]: RegExpExecArray): string {
  const seconds = s12 ?? s24
  const hour = half === undefined ? Number(h24) : (Number(h12) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const minutes = half === undefined ? m24 : m12
  return `t${String(hour).padStart(2, '0')}:${minutes}${seconds === undefined ? '' : `:${seconds}`}`
}

/** Addresses, paths, versions and names in code as they are; signs between words one by one. */
function addOther(core: string, first: boolean, tokens: GateToken[]) {
  const folded = core.toLowerCase()
  const {contractions, units} = lexicon()
  if (contractions.has(folded)) tokens.push({kind: 'word', text: folded})
  else if (units.has(folded) && !/\p{L}/u.test(core[0]!)) tokens.push({kind: 'unit', text: units.get(folded)!})
  else if (/^\p{L}+\/\p{L}+$/u.test(core) && !/^km\/h$/i.test(core)) {
    const [one, other] = folded.split('/')
    tokens.push({kind: 'word', text: one!}, {kind: 'symbol', text: '/'}, {kind: 'word', text: other!})
  } else if (/[=+*<>^%|&!~(){}[\]×÷·√$]/.test(core) && !/^\p{L}+(?:\+\+|#)$/u.test(core) && !core.includes('://'))
    addFormula(core, first, tokens)
  // letters and digits fold (`GPT-4`); a name with other signs may tell capitals apart
  else tokens.push({kind: 'name', text: /^[\p{L}\p{N}+#-]+$/u.test(core) && !/^-/.test(core) ? folded : core})
}

function addFormula(core: string, first: boolean, tokens: GateToken[]) {
  for (const [part] of core.matchAll(/[\p{L}\p{M}\p{N}_.]+|[^\p{L}\p{M}\p{N}_.]/gu)) {
    if (!/[\p{L}\p{N}]/u.test(part)) tokens.push({kind: 'symbol', text: part})
    else if (WITH_DIGIT.test(part) && addNumber(part, tokens)) continue
    else if (part.length > 1 && LETTERS.test(part)) addWord(part, first, tokens)
    else tokens.push({kind: 'name', text: part})
  }
}
