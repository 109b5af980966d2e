import {SURE} from './classes.ts'
import {type Cue, cue, NUMBER_OF_THINGS, readCues} from './cues.ts'
import * as rules from './id-rules.ts'
import {type DigitRun, runs} from './numbers.ts'
import {type Detector, isWordAt, PAUSE, type PiiFinding, type ScannedText} from './scanned-text.ts'

interface NumberId {
  readonly kind: string
  readonly length: number
  holds(id: string): boolean
  readonly cue: Cue
  /** Ways to write it that need no word beside them; in any other way, a word must tell. */
  readonly shapes: readonly string[]
}

/** Ids of digits alone. Where one in ten numbers passes the check, a bare number needs a word beside it. */
const NUMBERS: readonly NumberId[] = [
  {
    ...{kind: 'us_ssn', length: 9, holds: rules.isSsn, shapes: ['3-2-4']},
    cue: cue(
      'ssn|ss#|ss number|social sec|social\\b|socialsec|social_sec|tax ?payer|tax id|itin|w-?2\\b|i-9|seguro social',
    ),
  },
  {
    ...{kind: 'de_steuer_id', length: 11, holds: rules.isSteuerId, shapes: ['11', '2-3-3-3']},
    cue: cue('steuer|idnr|id-nr|identifikationsn|tin\\b|tax id|taxid|finanzamt'),
  },
  {
    ...{kind: 'nl_bsn', length: 9, holds: rules.isBsn, shapes: ['4-2-3']},
    cue: cue('bsn|burgerservice|burger service|sofi|persoonsnummer|citizen service'),
  },
  {
    ...{kind: 'br_cpf', length: 11, holds: rules.isCpf, shapes: ['11', '3-3-3-2', '9-2']},
    cue: cue('cpf|cadastro de pessoa|contribuinte|titular|cliente'),
  },
  {
    ...{kind: 'in_aadhaar', length: 12, holds: rules.isAadhaar, shapes: ['4-4-4']},
    cue: cue('aadh?aa?r|adh?aar|adhar|uidai|uid\\b|e-?kyc', 'आधार|ஆதார்|ఆధార్|আধার|આધાર'),
  },
  {
    ...{kind: 'ca_sin', length: 9, holds: rules.isSin, shapes: ['3-3-3']},
    cue: cue('sin\\b|sin_|sin#|social ins|socialins|social_ins|nas\\b|assurance sociale|assurance-sociale|t4\\b'),
  },
]

const LENGTHS = new Set(NUMBERS.map(({length}) => length))

/** National ids: each by its own rule and check digits, and by words where the rule alone tells little. */
export const nationalIds: Detector = function* (page) {
  for (const run of runs(page, {lengths: LENGTHS, groups: 6})) yield run && numbered(page, run)
  yield* lettered(page)
}

function numbered(page: ScannedText, run: DigitRun): PiiFinding | undefined {
  // `+` begins a phone number.
  if (page.text[run.start - 1] === '+') return undefined
  const digits = run.digits()
  page.work.spend(digits.length)
  for (const {kind, length, holds, cue: yes, shapes} of NUMBERS) {
    if (digits.length !== length || !holds(digits)) continue
    const finding = readCues(page, run.start, run.end, {yes, no: NUMBER_OF_THINGS, before: 80, after: 40})
    if (finding === 'no' || (finding === 'unsaid' && !shapes.includes(run.shape))) continue
    // Nine digits without a word are too much: dashes must part them as everybody parts them.
    if (length === 9 && finding === 'unsaid' && /\d \d/.test(page.text.slice(run.start, run.end))) continue
    const certainty = finding === 'unsaid' && length === 9 ? SURE.cued : kind === 'us_ssn' ? SURE.likely : SURE.proven
    return {class: 'national_id', kind, start: run.start, end: run.end, certainty}
  }
  return undefined
}

interface LetteredId {
  readonly kind: string
  /** `A` a letter, `9` a digit, `*` either; signs between them are left out. */
  readonly form: string
  holds(id: string): boolean
  readonly cue: Cue
  /** Letters before the first digit, so that it is found from there. */
  readonly letters: number
  readonly certainty: number
}

/** Ids that have letters too. */
const LETTERED: readonly LetteredId[] = [
  {
    ...{kind: 'uk_nino', form: 'AA999999A', holds: rules.isNino, letters: 2, certainty: SURE.likely},
    cue: cue('nino|ni no|ni num|nat(?:ional)? ?ins|national_ins|nationalins|ni\\b|insurance n'),
  },
  {
    ...{kind: 'fr_nir', form: '999999*99999999', holds: rules.isNir, letters: 0, certainty: SURE.proven},
    cue: cue('nir\\b|sécu|secu|assur|insee|sécurité sociale|carte vitale|vitale'),
  },
  {
    ...{kind: 'es_dni', form: '99999999A', holds: rules.isDni, letters: 0, certainty: SURE.proven},
    cue: cue('dni|nif|documento|identidad'),
  },
  {
    ...{kind: 'es_nie', form: 'A9999999A', holds: rules.isNie, letters: 1, certainty: SURE.proven},
    cue: cue('nie\\b|nif|extranjero|documento|identidad'),
  },
  {
    ...{
      kind: 'it_codice_fiscale',
      form: 'AAAAAA**A**A***A',
      holds: rules.isCodiceFiscale,
      letters: 6,
      certainty: SURE.proven,
    },
    cue: cue('codice fiscale|cod\\. ?fisc|c\\. ?f\\.|cf\\b|codicefiscale|codice_fiscale|fiscal'),
  },
]

const MAX_GAP = 2

function* lettered(page: ScannedText): Generator<PiiFinding | undefined> {
  const {text, groups, work} = page
  for (let group = 0; group < groups.length; group += 2) {
    if (group % PAUSE === 0) yield undefined
    work.spend(LETTERED.length)
    for (const id of LETTERED) {
      if (id.letters === 0 && isOneOfMany(page, group)) continue
      const start = back(text, groups[group]!, id.letters)
      if (start === undefined || isWordAt(text, start - 1)) continue
      const read = forth(text, start, id.form)
      work.spend(id.form.length)
      if (!read || isWordAt(text, read.end) || !id.holds(read.id)) continue
      if (isJoined(text, start, read.end)) continue
      const finding = readCues(page, start, read.end, {yes: id.cue, no: NUMBER_OF_THINGS, before: 64, after: 24})
      if (finding === 'no') continue
      const is_lower = /[a-z]/.test(text.slice(start, read.end))
      if (finding === 'unsaid' && is_lower && id.kind !== 'it_codice_fiscale') continue
      yield {class: 'national_id', kind: id.kind, start, end: read.end, certainty: id.certainty}
      break
    }
  }
}

/** A group between groups as long as itself, one space before and behind it. */
function isOneOfMany({text, groups}: ScannedText, at: number): boolean {
  if (
    at < 2 ||
    at + 3 >= groups.length ||
    groups[at]! - groups[at - 1]! !== 1 ||
    groups[at + 2]! - groups[at + 1]! !== 1
  )
    return false
  const size = groups[at + 1]! - groups[at]!
  return size === groups[at - 1]! - groups[at - 2]! && text[groups[at]! - 1] === text[groups[at + 1]!]
}

/** So many letters before a position, a separator between two allowed; undefined where there are fewer. */
function back(text: string, at: number, letters: number): number | undefined {
  let start = at
  for (let seen = 0; seen < letters; seen++) {
    let before = start - 1
    if (isSeparator(text, before)) before--
    if (!/[A-Za-z]/.test(text[before] ?? '')) return undefined
    start = before
  }
  return start
}

/** Letters and digits of a form from a position, with few separators between two. */
function forth(text: string, start: number, form: string): {readonly id: string; readonly end: number} | undefined {
  let seen = 0
  let gap = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const is_digit = code > 47 && code < 58
    if (is_digit || (code > 64 && code < 91) || (code > 96 && code < 123)) {
      if (form[seen] !== '*' && is_digit !== (form[seen] === '9')) return undefined
      gap = 0
      if (++seen === form.length)
        return {
          id: text
            .slice(start, at + 1)
            .replace(/[^A-Za-z0-9]/g, '')
            .toUpperCase(),
          end: at + 1,
        }
    } else if (!isSeparator(text, at) || ++gap > MAX_GAP) return undefined
  }
  return undefined
}

function isSeparator(text: string, at: number): boolean {
  const sign = text[at]
  return sign === ' ' || sign === '-' || sign === '.' || sign === '/' || sign === '·' || sign === '_'
}

/** A part of something longer: a digit or letter joined to it by a dash, a dot or a slash. */
function isJoined(text: string, start: number, end: number): boolean {
  const tight = (sign: string | undefined) => sign === '-' || sign === '.' || sign === '/'
  return (
    (tight(text[start - 1]) && /[A-Za-z0-9]/.test(text[start - 2] ?? '')) ||
    (tight(text[end]) && /\d/.test(text[end + 1] ?? ''))
  )
}
