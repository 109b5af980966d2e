import {SURE} from './classes.ts'
import {cue, eitherOf, isIn, NUMBER_OF_THINGS, readCues} from './cues.ts'
import {type Detector, isWordAt, PAUSE, type PiiFinding, type ScannedText} from './scanned-text.ts'

const PHONE = cue(
  [
    'phone|ph\\b|mob\\b|tlf|tfno|tfn|puh\\b|homephone|workphone|telno|tel\\b|tel\\.|tel:|tel_|telephone|mobile|cell|call\\b|call |text me|texted|text |sms|whatsapp|signal\\b|ring |dial|fax|hotline|landline|reach|contact|callback|voicemail|msisdn|my number|his number|her number|our number|their number|your number',
    'telefon|handy|mobil|anruf|rufnummer|ruf |rufen|erreichbar|durchwahl|festnetz|rückruf',
    'tél|appel|joignable|joindre|portable|numéro de téléphone|rappel|fixe\\b',
    'teléfono|telefono|móvil|movil|celular|llám|llam|numero di telefono|cellulare|chiam|cell\\.',
    'telefoon|mobiel|gsm|bel |bellen|bereikbaar|telefone|telemóvel|telemovel|ligue|ligar|liga |ligação',
    'komórk|zadzwo|dzwoń|dzwoni|nr tel|ring\\b|ringa|mobilnummer|puhelin|soita|matkapuhelin|volej|zavolej|mobilní|telefon|cep tel|ara\\b|arayın|numara',
    'телефон|тел\\.|тел:|звон|позвон|мобильн|номер|τηλέφων|κινητό|טלפון|נייד|điện thoại|telepon|hp\\b',
  ].join('|'),
  '電話|携帯|お電話|电话|手机|致电|전화|휴대폰|연락처|هاتف|جوال|اتصل|الهاتف|फ़ोन|फोन|मोबाइल|โทร',
)
const OTHER = eitherOf(
  NUMBER_OF_THINGS,
  cue(
    'pin\\b|gpio|temperature|hours|open from|between|copyright|kundennr|customer n|account n|zip|postcode|plz|id\\b|score|size|price|amount|total|units|shipped|eur\\b|usd\\b|year|page|uuid|token',
    '€',
  ),
)

/**
 * ITU-T E.164 country codes: one digit, two digits; any other code that begins with 2, 3, 4, 5, 6, 8 or 9 has three.
 */
const ONE_DIGIT = new Set(['1', '7'])
const TWO_DIGITS = new Set(
  '20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98'.split(
    ' ',
  ),
)
const THREE_DIGITS =
  /^(?:21[12368]|22\d|23\d|24\d|25[0-8]|26\d|29[0-17-9]|35\d|37\d|38[0-35-79]|42[013]|50\d|59\d|67[0-9]|68\d|69[0-2]|80[08]|85[02356]|87[08]|88[0-368]|96\d|97[0-79]|99[2-68])/

const MIN_DIGITS = 7
const MAX_DIGITS = 15
const MAX_GAP = 3

/**
 * Numbers to call or text: international ones by themselves, national ones where a word marks them, North American ones
 * unless a word denies it.
 */
export const phones: Detector = function* (page) {
  const {text, groups} = page
  let before: PiiFinding | undefined
  let count = 0
  for (let first = 0; first < groups.length; ) {
    let last = first
    while (last + 2 < groups.length && isJoint(text, groups[last + 1]!, groups[last + 2]!)) last += 2
    page.work.spend(last - first + 2)
    const span = judge(page, first, last, before)
    before = span ?? before
    if (span || ++count % PAUSE === 0) yield span
    first = last + 2
  }
}

/** Characters that may be between two groups of one number; a line break, or a `+` that begins another, may not. */
function isJoint(text: string, from: number, to: number): boolean {
  if (to - from > MAX_GAP) return false
  for (let at = from; at < to; at++) if (!' -./()\t'.includes(text[at]!)) return false
  return true
}

function judge(
  page: ScannedText,
  first: number,
  from_last: number,
  before: PiiFinding | undefined,
): PiiFinding | undefined {
  const {text, groups} = page
  let start = groups[first]!
  if (text[start - 1] === '(') start--
  const is_international = text[start - 1] === '+' || (text[start] === '(' && text[start + 1] === '+')
  if (text[start - 1] === '+') start--
  if (text[start - 1] === '(' && text[start] === '+') start--
  if (isWordAt(text, start - 1) || (text[start - 1] === '.' && /\d/.test(text[start - 2] ?? ''))) return undefined
  const sizes: number[] = []
  let digits = ''
  let last = first
  for (let at = first; at <= from_last && digits.length < MAX_DIGITS + 1; at += 2) {
    const size = groups[at + 1]! - groups[at]!
    if (digits.length + size > MAX_DIGITS) {
      if (!is_international) return undefined
      break
    }
    if (is_international && digits[0] === '1' && digits.length === 11) break
    digits += text.slice(groups[at]!, groups[at + 1]!)
    sizes.push(size)
    last = at
  }
  const end = groups[last + 1]!
  if (digits.length < MIN_DIGITS || isTied(text, end)) return undefined
  const span = (certainty: number): PiiFinding => ({
    class: 'phone',
    kind: is_international ? 'international' : 'national',
    start,
    end,
    certainty,
  })
  const readFinding = () => {
    const heard = readCues(page, start, end, {yes: PHONE, no: OTHER, before: 48, after: 20})
    if (heard !== 'unsaid' || !before) return heard
    return isNext(page, before.end, start) ? 'yes' : heard
  }
  if (is_international) {
    if (!isWorldly(digits) || sizes.length > 8) return undefined
    return readFinding() === 'no' && digits.length < 10 ? undefined : span(SURE.likely)
  }
  const shape = sizes.join('-')
  if (isDate(shape, text.slice(start, end)) || /^\d+\.\d+\.\d+\.\d+$/.test(text.slice(start, end))) return undefined
  if (isNorthAmerican(digits, shape)) {
    const heard = readFinding()
    if (heard === 'yes') return span(SURE.likely)
    return heard === 'unsaid' &&
      (text[start] === '(' || text.slice(start, end).split('-').length === sizes.length) &&
      sizes.length > 1
      ? span(SURE.cued)
      : undefined
  }
  if (digits.length > 13 || (digits.startsWith('00') && !isWorldly(digits.slice(2)))) return undefined
  if (sizes.length > 6 || sizes.some(size => size > 4 && sizes.length > 3)) return undefined
  return readFinding() === 'yes' ? span(SURE.cued) : undefined
}

/** A letter, `-B`, `:30` or `,89` right behind: something else that begins with digits. */
function isTied(text: string, end: number): boolean {
  if (isWordAt(text, end)) return true
  return (
    '-:,._%'.includes(text[end] ?? ' ') &&
    isWordAt(text, end + 1) &&
    text[end + 1] !== undefined &&
    !(text[end] === ',' && !/\d/.test(text[end + 1]!)) &&
    !isField(text, end)
  )
}

/** A comma that parts fields of a row. */
function isField(text: string, end: number): boolean {
  return text[end] === ',' && !/^,\d{1,3}(?!\d)/.test(text.slice(end, end + 5))
}

function isWorldly(digits: string): boolean {
  if (digits.length < 8) return false
  if (ONE_DIGIT.has(digits[0]!)) return digits.length === 11
  return TWO_DIGITS.has(digits.slice(0, 2)) || THREE_DIGITS.test(digits)
}

/** Three, three, four, with or without the leading 1; area and exchange begin with 2 to 9 (NANPA). */
function isNorthAmerican(digits: string, shape: string): boolean {
  return /^1?[2-9]\d\d[2-9]\d{6}$/.test(digits) && /^(?:1-)?(?:3-3-4|3-7)$|^1?0$|^10$/.test(shape)
}

function isDate(shape: string, text: string): boolean {
  return /^(?:4-2-2|4-1-2|4-2-1|2-2-4|1-2-4|2-1-4|1-1-4|2-2-2)$/.test(shape) && /^\d+[-./]\d+[-./]\d+$/.test(text)
}

/** Named right after another number: `… or my mobile …`, `…, …`, `… and …`. */
function isNext(page: ScannedText, from: number, to: number): boolean {
  if (to - from > 16) return false
  const between = page.lower.slice(from, to)
  return (
    !isIn(OTHER, between) && /^[\s,;/]*(?:or|and|und|oder|et|ou|y|o|e|i|eller|og|och|en|of)?[\s,;/]*$/.test(between)
  )
}
