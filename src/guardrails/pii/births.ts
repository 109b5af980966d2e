import {SURE} from './classes.ts'
import {cue, isIn, lastOf} from './cues.ts'
import {datesOf} from './dates.ts'
import type {Detector, ScannedText} from './scanned-text.ts'

const BIRTH = cue(
  [
    'born(?![-\\p{L}])|birth|bday|b-day|dateofbirth|datenaissance|fechanac|datanasc|d\\/o\\/b|dob\\b|dob_|dobs\\b|d\\.o\\.b|date of birth|birthday',
    'geb\\b|geb\\.|geboren|geburt|gebürtig',
    'née? (?:à|le|en)|nés? le|née\\b|naissance|nacid|nació|nacimiento|fecha de nac|f\\. ?nac|nat[oa] (?:il|a|l)|nascit|data di nascita|nascid|nasceu|nascimento|data de nasc',
    'geboorte|geb\\.? ?datum|urodz|ur\\.|data urodzenia|född|födelse|født|fødsels|fødd|syntynyt|syntymä|s\\. ?aika|naroz|nar\\.|datum nar|doğum|doğdu|dogum|született|născut|naștere',
    'рожд|родил|д\\.р\\.|народж|γέννησ|γεννήθηκε|נולד|תאריך לידה|sinh ngày|lahir',
  ].join('|'),
  '生年月日|誕生日|生まれ|出生|生日|생년월일|출생|태어|ميلاد|المولود|مواليد|ولد|जन्म|เกิด',
)
const OTHER = cue(
  [
    'created|updated|modified|issued|expire|expir|valid|due|received|accession|opens?\\b|opened|appointment|visit|meeting|released?|published|start|since|until|by the|deadline|invoice|signed|dated|hired|joined|married|died|death|deceased|moved|graduat|registered|order|ship|deliver|last_|tour|event|delivery date|effective|renew',
    'gültig|rechnung|erstellt|vom\\b|ausgestellt|termin|seit\\b|gestorben|verstorben|heirat',
    'valable|expire|délivr|facture|courrier|émis|décédé|caduc|vence|expedid|emitid|fecha de (?:alta|emisión)|solicitud|scad|rilasciat|emess|validade|vencimento',
    'geldig|afgegeven|ważn|wydan|giltig|utfärd|platn|vydán|geçerli|действ|выдан|от\\b',
  ].join('|'),
  '発行|有効|期限|签发|有效|截止|발급|만료|صالح|انتهاء|जारी|वैध',
)

const BEFORE = 56
const AFTER = 20

/**
 * Full dates that the words beside them call a birth. One such word tells one date, and the next ones that `and` or a
 * comma joins to it.
 */
export const birthDates: Detector = function* (page) {
  let last: {readonly end: number; readonly is_birth: boolean} | undefined
  for (const date of datesOf(page)) {
    if (!date) {
      yield undefined
      continue
    }
    const {start, end} = date
    const is_birth = isBirth(page, start, end, last)
    yield is_birth ? {class: 'date_of_birth', kind: 'date', start, end, certainty: SURE.likely} : undefined
    last = {end, is_birth}
  }
}

function isBirth(
  page: ScannedText,
  start: number,
  end: number,
  last: {readonly end: number; readonly is_birth: boolean} | undefined,
): boolean {
  const {lower, work} = page
  const head = page.columns.headAt(start)
  if (head && isIn(BIRTH, head)) return true
  if (head && isIn(OTHER, head)) return false
  const from = Math.max(0, start - BEFORE, last?.end ?? 0)
  const before = sentence(lower.slice(from, start))
  work.spend(BEFORE + AFTER)
  if (
    last &&
    last.end === from &&
    last.is_birth &&
    /^[\s,;/&'"()]*(?:and|und|et|y|e|i|en|och|og|ja|ve|и)?[\s,;/&'"()]*$/.test(lower.slice(from, start))
  )
    return true
  const birth = lastOf(BIRTH, before)
  const other = lastOf(OTHER, before)
  if (birth && (!other || birth.end >= other.end)) return true
  if (other && !birth) return false
  const after = lower.slice(end, end + AFTER).split(/[.;\n,]/, 1)[0]!
  return !other && isIn(BEHIND, after)
}

/** Words that may follow the date of a birth. */
const BEHIND = cue(
  'geboren|born|dob\\b|d\\.o\\.b|is (?:my|his|her|their|the) (?:birth|dob|date of birth)|birth|doğumlu|tarihinde doğ|születésű|г\\.? ?р|года рождения|ist (?:mein|sein|ihr) geb|est (?:ma|sa) date de naiss|es mi fecha de nac',
  '生まれ|生$|出生|생|に生|が(?:誕生|生年)|को जन्म',
)

/**
 * The part of a text that belongs to the sentence and the line at its end. A short word before a full stop is an
 * abbreviation.
 */
function sentence(before: string): string {
  const stops = [...before.matchAll(/(\p{L}*)[.](?= )|[;?!](?= |$)/gu)].filter(
    ([, word]) => word === undefined || word.length > 4,
  )
  const stop = stops.at(-1)
  return before.slice(Math.max(stop ? stop.index + stop[0].length : 0, before.trimEnd().lastIndexOf('\n') + 1))
}
