import {createHash} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {isIP} from 'node:net'
import {describe, expect, test} from 'vitest'

/**
 * The labelled set of personal data and secrets, held to its own README: this page judges the set, never a detector.
 * The checks below are written from the public rules, apart from any code the gateway has for the same purpose.
 */

type Span = {readonly class: string; readonly start: number; readonly end: number; readonly kind?: string}
type Decoy = Span & {readonly why: 'checksum' | 'rule' | 'shape' | 'context' | 'placeholder'}
type Line = {
  readonly id: string
  readonly split: string
  readonly text: string
  readonly spans: Span[]
  readonly decoys?: Decoy[]
}

const file = new URL('../fixtures/pii/labelled.jsonl', import.meta.url)
const lines = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => JSON.parse(line) as Line)
const labels = lines.flatMap(({id, text, spans}) =>
  spans.map(span => ({id, ...span, said: text.slice(span.start, span.end)})),
)
const lookAlikes = lines.flatMap(({id, text, decoys = []}) =>
  decoys.map(decoy => ({id, ...decoy, said: text.slice(decoy.start, decoy.end)})),
)
const negatives = lines.filter(line => line.spans.length === 0)
const splits = ['tuning', 'held_out']

/** Card ranges by brand (ISO/IEC 7812 prefixes and the lengths each brand issues). */
const BRANDS: Record<string, RegExp> = {
  visa: /^4(\d{12}|\d{15}|\d{18})$/,
  mastercard: /^(5[1-5]\d{14}|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12})$/,
  amex: /^3[47]\d{13}$/,
  discover: /^(6011|64[4-9]\d|65\d\d)\d{12}$/,
  diners: /^(36\d{12}|30[0-5]\d{11,13}|3[89]\d{12,14})$/,
  jcb: /^35(2[89]|[3-8]\d)\d{12}$/,
  unionpay: /^62\d{14,17}$/,
  maestro: /^(50|5[6-9]|67)\d{10,17}$/,
}

/** IBAN length by country (ISO 13616 registry). */
const IBAN_LENGTHS: Record<string, number> = Object.fromEntries(
  'AE23 AT20 BE16 CH21 CZ24 DE22 DK18 ES24 FI18 FR27 GB22 GR27 IE22 IT27 LU20 NL18 NO15 PL28 PT25 SA24 SE24 SK24 TR26'
    .split(' ')
    .map(word => [word.slice(0, 2), Number(word.slice(2))]),
)

/** Numbers kept for films and manuals: North America 555-01xx, Ofcom, BNetzA, ARCEP, ACMA and PTS, as bare digits. */
const INVENTED_PHONES = [
  /^1?[2-9]\d\d55501\d\d$/,
  /^(44|0)(7700900\d{3}|2079460\d{3}|1(13|31|61)4960\d{3}|1632960\d{3}|8081570\d{3})$/,
  /^(49|0)(3023125\d{3}|6990009\d{3}|8999998\d{3}|17139200\d\d)$/,
  /^(33|0)(19900\d{4}|63998\d{4})$/,
  /^(61|0)(491570\d{3}|25550\d{4})$/,
  /^(46|0)7017406\d\d$/,
]

/** Shape of a key by the issuer whose prefix it carries. */
const API_KEYS: Record<string, RegExp> = {
  openai: /^sk-(proj-)?[\w-]{40,}$/,
  anthropic: /^sk-ant-api03-[\w-]{93}AA$/,
  github: /^(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})$/,
  aws: /^(AKIA|ASIA)[A-Z2-7]{16}$/,
  slack: /^xox[bp](-\d{10,13}){2,3}-[A-Za-z0-9]{24,32}$/,
  google: /^AIza[\w-]{35}$/,
  stripe: /^[sr]k_(live|test)_[A-Za-z0-9]{24,}$/,
  gitlab: /^glpat-[\w-]{20}$/,
  sendgrid: /^SG\.[\w-]{22}\.[\w-]{43}$/,
  npm: /^npm_[A-Za-z0-9]{36}$/,
  huggingface: /^hf_[A-Za-z]{34}$/,
  groq: /^gsk_[A-Za-z0-9]{52}$/,
  digitalocean: /^dop_v1_[0-9a-f]{64}$/,
  shopify: /^shpat_[0-9a-f]{32}$/,
  telegram: /^\d{8,10}:AA[\w-]{33}$/,
  jwt: /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/,
  private_key:
    /^-----BEGIN ((RSA|EC|OPENSSH|ENCRYPTED) )?PRIVATE KEY-----(\n|\\n)[A-Za-z0-9+/=\n\\]+-----END ((RSA|EC|OPENSSH|ENCRYPTED) )?PRIVATE KEY-----$/,
}

/** Shape and check digits by kind of national id; the rule of each is named in the README of the set. */
const NATIONAL_IDS: Record<string, (id: string) => boolean> = {
  us_ssn: id => /^(?!000|666|9)\d{3}(?!00)\d\d(?!0000)\d{4}$/.test(id),
  uk_nino: id => /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/.test(id),
  de_steuer_id: id => /^[1-9]\d{10}$/.test(id) && oneDigitRepeats(id.slice(0, 10)) && mod1110(id),
  fr_nir(id) {
    const body = id
      .slice(0, 13)
      .replace(/^(.{5})2A/, '$119')
      .replace(/^(.{5})2B/, '$118')
    return (
      /^[12]\d\d(0[1-9]|1[0-2])(\d\d|2[AB])\d{8}$/.test(id) && 97 - Number(BigInt(body) % 97n) === Number(id.slice(13))
    )
  },
  es_dni: id => /^\d{8}[A-Z]$/.test(id) && dniLetter(id.slice(0, 8)) === id[8],
  es_nie: id => /^[XYZ]\d{7}[A-Z]$/.test(id) && dniLetter('XYZ'.indexOf(id[0]!) + id.slice(1, 8)) === id[8],
  it_codice_fiscale: id =>
    /^[A-Z]{6}\d\d[ABCDEHLMPRST]\d\d[A-Z]\d{3}[A-Z]$/.test(id) && codiceLetter(id.slice(0, 15)) === id[15],
  nl_bsn: id => /^\d{9}$/.test(id) && sum(id, (digit, at) => digit * (at === 8 ? -1 : 9 - at)) % 11 === 0,
  br_cpf: id =>
    /^\d{11}$/.test(id) &&
    new Set(id).size > 1 &&
    cpfDigit(id.slice(0, 9)) === id[9] &&
    cpfDigit(id.slice(0, 10)) === id[10],
  in_aadhaar: id => /^[2-9]\d{11}$/.test(id) && verhoeff(id),
  ca_sin: id => /^\d{9}$/.test(id) && luhn(id),
}

/**
 * True when `said` is, taken by itself, a well-formed value of the class; `kind` narrows it where the class has kinds.
 */
const WELL_FORMED: Record<string, (said: string, kind?: string) => boolean> = {
  credit_card(said, kind) {
    const digits = squeeze(said)
    const brand = Object.keys(BRANDS).find(name => BRANDS[name]!.test(digits))
    return brand !== undefined && (kind === undefined || kind === brand) && luhn(digits)
  },
  iban(said) {
    const code = squeeze(said)
    return /^[A-Z]{2}\d\d[A-Z0-9]+$/.test(code) && IBAN_LENGTHS[code.slice(0, 2)] === code.length && mod97(code) === 1
  },
  national_id: (said, kind) => kind !== undefined && NATIONAL_IDS[kind]!(squeeze(said)),
  email: said => /^[\p{L}\p{N}.+'%=_-]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u.test(plain(said)),
  phone(said) {
    const digits = plain(said).replace(/\D/g, '').length
    return /^\+?[\d\s()./‐–-]+$/.test(plain(said)) && digits >= 7 && digits <= 15
  },
  ip_address: said => isIP(plain(said)) !== 0,
  api_key: (said, kind) => kind !== undefined && API_KEYS[kind]!.test(plain(said)),
  secret: said => said.length >= 12 && !/\s/.test(said) && entropy(said) >= 3,
  date_of_birth: said => /\d/.test(plain(said)) && plain(said).replace(/\D/g, '').length >= 5,
  crypto_address: said => base58Check(said) || segwit(said),
}

describe('the lines', () => {
  test('are at least 440, each with an id, a text and nothing unknown', () => {
    expect(lines.length).toBeGreaterThanOrEqual(440)
    expect(new Set(lines.map(line => line.id)).size).toBe(lines.length)
    expect(new Set(lines.map(line => line.text)).size).toBe(lines.length)
    const members = ['id', 'split', 'text', 'spans', 'decoys']
    expect(lines.filter(line => Object.keys(line).some(member => !members.includes(member)))).toEqual([])
    expect(lines.filter(line => !line.text || (line.spans.length === 0 && !line.decoys?.length))).toEqual([])
  })

  test('are hard negatives in at least two of five', () => {
    expect(negatives.length / lines.length).toBeGreaterThanOrEqual(0.4)
    expect(new Set(negatives.flatMap(line => line.decoys!.map(decoy => decoy.class)))).toEqual(
      new Set(Object.keys(WELL_FORMED)),
    )
  })

  test('are half for tuning and half held out, with every class, id kind and look-alike class in both', () => {
    for (const split of splits) {
      const side = lines.filter(line => line.split === split)
      const spans = side.flatMap(line => line.spans)
      expect(side.length).toBe(lines.length / 2)
      expect(new Set(spans.map(span => span.class))).toEqual(new Set(Object.keys(WELL_FORMED)))
      expect(kinds(spans, 'national_id')).toEqual(new Set(Object.keys(NATIONAL_IDS)))
      expect(kinds(spans, 'credit_card')).toEqual(new Set(Object.keys(BRANDS)))
      expect(kinds(spans, 'api_key')).toEqual(new Set(Object.keys(API_KEYS)))
      expect(new Set(side.flatMap(line => line.decoys ?? []).map(decoy => decoy.class))).toEqual(
        new Set(Object.keys(WELL_FORMED)),
      )
    }
  })
})

describe('the spans', () => {
  test('lie in their text, in order, on whole characters, without overlap', () => {
    for (const {id, text, spans, decoys = []} of lines) {
      const marked = [...spans, ...decoys].sort((a, b) => a.start - b.start)
      expect(spans, id).toEqual(marked.filter(span => spans.includes(span)))
      marked.forEach((span, at) => {
        expect(span.start, id).toBeGreaterThanOrEqual(marked[at - 1]?.end ?? 0)
        expect(span.end, id).toBeGreaterThan(span.start)
        expect(span.end, id).toBeLessThanOrEqual(text.length)
        expect(text.slice(span.start, span.end).isWellFormed(), id).toBe(true)
      })
    }
  })

  test('say what they label: nothing but the value, well formed for its class and kind', () => {
    expect(
      labels.filter(({class: name, kind, said}) => said.trim() !== said || !WELL_FORMED[name]!(said, kind)),
    ).toEqual([])
  })

  test('end where the value ends: no letter, digit or sign of it stands outside', () => {
    const cut = lines.flatMap(({id, text, spans}) =>
      spans
        .map(span => ({id, ...span, before: text.charAt(span.start - 1), after: text.charAt(span.end)}))
        .filter(
          ({kind, before, after}) => (/[A-Za-z0-9+]/.test(before) && kind !== 'telegram') || /[A-Za-z0-9]/.test(after),
        ),
    )
    expect(cut).toEqual([])
  })

  test('are as many in each class as the README says', () => {
    const readme = readFileSync(new URL('README.md', file), 'utf8')
    const told = [...readme.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(row => [row[1], Number(row[2])])
    const counted = Object.keys(WELL_FORMED).map(name => [name, labels.filter(label => label.class === name).length])
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(counted))
  })

  test('use no address, host or number outside the ranges reserved for documentation', () => {
    const said = (name: string) => labels.filter(label => label.class === name).map(label => plain(label.said))
    const numbers = said('phone').map(number => number.replace(/\D/g, ''))
    expect(numbers.filter(number => !INVENTED_PHONES.some(range => range.test(number)))).toEqual([])
    const ranges = /^(192\.0\.2|198\.51\.100|203\.0\.113)\.|^2001:0?db8:|^::ffff:192\.0\.2\./i
    expect(said('ip_address').filter(address => !ranges.test(address))).toEqual([])
    expect(
      said('email').filter(address => !/(^|[@.])(example\.(com|net|org)|[a-z0-9-]+\.example)$/i.test(address)),
    ).toEqual([])
  })
})

describe('the look-alikes', () => {
  const checked = ['credit_card', 'iban', 'national_id', 'ip_address', 'crypto_address']

  test('that fail by checksum, rule or shape really fail', () => {
    const failing = lookAlikes.filter(
      ({class: name, why}) => ['checksum', 'rule'].includes(why) || (why === 'shape' && name !== 'secret'),
    )
    expect(failing.length).toBeGreaterThan(100)
    expect(
      failing.filter(({class: name, kind, said}) => name !== 'date_of_birth' && WELL_FORMED[name]!(said, kind)),
    ).toEqual([])
  })

  test('that are another thing by context would pass by themselves, so only the words around tell', () => {
    const inContext = lookAlikes.filter(({class: name, why}) => why === 'context' && checked.includes(name))
    expect(inContext.length).toBeGreaterThan(10)
    expect(inContext.filter(({class: name, kind, said}) => !WELL_FORMED[name]!(said, kind))).toEqual([])
  })

  test('of class, why and kind are known', () => {
    const whys = ['checksum', 'rule', 'shape', 'context', 'placeholder']
    expect(lookAlikes.filter(({class: name, why}) => !Object.hasOwn(WELL_FORMED, name) || !whys.includes(why))).toEqual(
      [],
    )
  })
})

test('nothing well formed is left unlabelled', () => {
  const rests = lines.map(({id, text, spans, decoys = []}) => {
    const marked = [...spans, ...decoys].sort((a, b) => b.start - a.start)
    return {id, rest: marked.reduce((rest, span) => `${rest.slice(0, span.start)}¦${rest.slice(span.end)}`, text)}
  })
  const found = rests.flatMap(({id, rest}) => [
    ...(rest.match(/\d[\d -]{10,}\d/g) ?? []).filter(run => WELL_FORMED.credit_card!(run)).map(run => [id, run]),
    ...(rest.match(/\b[A-Z]{2}\d\d[A-Z0-9 ]{11,}/g) ?? []).filter(run => WELL_FORMED.iban!(run)).map(run => [id, run]),
    ...(rest.match(/[\w.+-]+@[\w-]+\.[\w.-]+/g) ?? []).map(run => [id, run]),
    ...(rest.match(/\b\d{1,3}(\.\d{1,3}){3}\b/g) ?? []).map(run => [id, run]),
    ...(rest.match(/\b\d{3}-\d\d-\d{4}\b/g) ?? []).map(run => [id, run]),
    ...(rest.match(/\+\d[\d ().-]{8,}\d/g) ?? []).map(run => [id, run]),
    ...(rest.match(/\b(sk-|gh[pous]_|xox[bp]-|AIza|AKIA|eyJ)[\w.-]{12,}/g) ?? []).map(run => [id, run]),
    ...(rest.match(/\b[A-Za-z0-9+/_-]{32,}/g) ?? []).filter(run => entropy(run) > 4).map(run => [id, run]),
  ])
  expect(found).toEqual([])
})

function kinds(spans: readonly Span[], name: string) {
  return new Set(spans.filter(span => span.class === name).map(span => span.kind))
}

/** `said` with compatibility forms folded, format characters (zero width) dropped, and every script's digits as 0-9. */
function plain(said: string) {
  return said
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Nd}/gu, digit => String(digitValue(digit.codePointAt(0)!)))
}

/** Unicode gives each script's decimal digits as one run of ten, so the distance to the run's start is the value. */
function digitValue(code: number) {
  let start = code
  while (code - start < 9 && /\p{Nd}/u.test(String.fromCodePoint(start - 1))) start--
  return code - start
}

function squeeze(said: string) {
  return plain(said)
    .replace(/[\s._/·‐–-]/g, '')
    .toUpperCase()
}

function sum(digits: string, weigh: (digit: number, at: number) => number) {
  return [...digits].reduce((total, digit, at) => total + weigh(Number(digit), at), 0)
}

/** ISO/IEC 7812-1, annex B. */
function luhn(digits: string) {
  const odd = digits.length % 2
  return (
    /^\d+$/.test(digits) &&
    sum(digits, (digit, at) => (at % 2 === odd ? (digit * 2 > 9 ? digit * 2 - 9 : digit * 2) : digit)) % 10 === 0
  )
}

/** ISO 7064 MOD 97-10 as ISO 13616 applies it: four characters moved to the end, letters as 10 to 35. */
function mod97(code: string) {
  const number = (code.slice(4) + code.slice(0, 4)).replace(/[A-Z]/g, letter => String(letter.charCodeAt(0) - 55))
  return Number(BigInt(number) % 97n)
}

/** One digit stands two or three times among the first ten, the others at most once. */
function oneDigitRepeats(digits: string) {
  const repeated = [...new Set(digits)].map(digit => digits.split(digit).length - 1).filter(times => times > 1)
  return repeated.length === 1 && repeated[0]! <= 3
}

/** ISO 7064 MOD 11,10 over the whole number, check digit last. */
function mod1110(digits: string) {
  const product = [...digits.slice(0, -1)].reduce((carry, digit) => (((Number(digit) + carry) % 10 || 10) * 2) % 11, 10)
  return (11 - product) % 10 === Number(digits.at(-1))
}

function dniLetter(number: string) {
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23]
}

/** Character values by odd place (counted from one); in even places a digit or letter counts as its ordinal. */
function codiceLetter(code: string) {
  const odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
  const total = [...code].reduce((carry, character, at) => {
    const ordinal = /\d/.test(character) ? Number(character) : character.charCodeAt(0) - 65
    return carry + (at % 2 === 0 ? odd[ordinal]! : ordinal)
  }, 0)
  return String.fromCharCode(65 + (total % 26))
}

function cpfDigit(digits: string) {
  return String(((sum(digits, (digit, at) => digit * (digits.length + 1 - at)) * 10) % 11) % 10)
}

/** Verhoeff's check over the dihedral group D5. */
function verhoeff(digits: string) {
  const multiply = (a: number, b: number) =>
    a < 5 ? (b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5) : b < 5 ? ((a - b + 5) % 5) + 5 : (a - b + 5) % 5
  const turn = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]
  const permute = (digit: number, times: number): number => (times === 0 ? digit : permute(turn[digit]!, times - 1))
  return [...digits].reverse().reduce((carry, digit, at) => multiply(carry, permute(Number(digit), at % 8)), 0) === 0
}

/** Shannon entropy in bits a character. */
function entropy(said: string) {
  const counts = [...new Set(said)].map(character => (said.split(character).length - 1) / said.length)
  return -counts.reduce((bits, share) => bits + share * Math.log2(share), 0)
}

function base58Check(address: string) {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  if (!/^[13][1-9A-HJ-NP-Za-km-z]{25,34}$/.test(address)) return false
  const number = [...address].reduce((carry, character) => carry * 58n + BigInt(alphabet.indexOf(character)), 0n)
  const bytes = Buffer.from(number.toString(16).padStart(50, '0'), 'hex')
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
  return (
    bytes.length === 25 &&
    sha256(sha256(bytes.subarray(0, 21)))
      .subarray(0, 4)
      .equals(bytes.subarray(21))
  )
}

/** BIP 173 (version 0) and BIP 350 (later versions). */
function segwit(address: string) {
  const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
  const match = /^(bc|tb)1([02-9ac-hj-np-z]{14,87})$/.exec(
    address === address.toUpperCase() ? address.toLowerCase() : address,
  )
  if (!match) return false
  const [, prefix, data] = match as unknown as [string, string, string]
  const codes = [...prefix].map(letter => letter.charCodeAt(0))
  const values = [
    ...codes.map(code => code >> 5),
    0,
    ...codes.map(code => code & 31),
    ...[...data].map(letter => alphabet.indexOf(letter)),
  ]
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
  const remainder = values.reduce((carry, value) => {
    const next = ((carry & 0x1ffffff) << 5) ^ value
    return generator.reduce((mixed, term, at) => ((carry >>> 25) & (1 << at) ? mixed ^ term : mixed), next)
  }, 1)
  return remainder === (data[0] === 'q' ? 1 : 0x2bc830a3)
}
