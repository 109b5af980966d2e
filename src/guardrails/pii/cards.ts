import {luhn} from './check-digits.ts'
import {SURE} from './classes.ts'
import {cue, NUMBER_OF_THINGS, readCues} from './cues.ts'
import {type DigitRun, runs} from './numbers.ts'
import type {Detector, ScannedText} from './scanned-text.ts'

/**
 * Brand, ranges of the first six digits, lengths. Sources: the brands' published issuer ranges (ISO/IEC 7812 major
 * industries 3 to 6).
 */
const BRANDS: readonly (readonly [
  brand: string,
  ranges: readonly (readonly [number, number])[],
  lengths: readonly number[],
])[] = [
  ['visa', [[400000, 499999]], [13, 16, 19]],
  [
    'mastercard',
    [
      [510000, 559999],
      [222100, 272099],
    ],
    [16],
  ],
  [
    'amex',
    [
      [340000, 349999],
      [370000, 379999],
    ],
    [15],
  ],
  [
    'discover',
    [
      [601100, 601199],
      [644000, 659999],
    ],
    [16, 17, 18, 19],
  ],
  [
    'diners',
    [
      [300000, 305999],
      [309500, 309599],
      [360000, 369999],
      [380000, 399999],
    ],
    [14, 15, 16, 17, 18, 19],
  ],
  ['jcb', [[352800, 358999]], [16, 17, 18, 19]],
  [
    'unionpay',
    [
      [620000, 629999],
      [810000, 817199],
    ],
    [16, 17, 18, 19],
  ],
  [
    'maestro',
    [
      [500000, 509999],
      [560000, 589999],
      [600000, 601099],
      [601200, 619999],
      [630000, 639999],
      [660000, 699999],
    ],
    [12, 13, 14, 15, 16, 17, 18, 19],
  ],
]

const CARD = cue(
  'card|visa|master|amex|american express|discover|diners|jcb|unionpay|maestro|credit|debit|pan\\b|pan_|payment|karte|kredit|carte|tarjeta|carta|cartão|cartao|kaart|karta|karty|kortti|kort\\b|kortnummer|kart\\b|kartı|карт',
  'カード|卡|카드|بطاقة|البطاقة|कार्ड',
)

/**
 * Payment cards: a brand's range and length, Luhn. Twelve and thirteen digits are too often something else, so a word
 * must tell.
 */
export const cards: Detector = function* (page) {
  for (const run of runs(page, {lengths: LENGTHS, groups: 19, is_wrapped: true})) {
    const brand = run && isGrouped(run.shape) ? judged(page, run) : undefined
    yield run && brand
      ? {class: 'credit_card', kind: brand, start: run.start, end: run.end, certainty: SURE.proven}
      : undefined
  }
}

/** The brand of what is a card's number. */
function judged(page: ScannedText, run: DigitRun): string | undefined {
  const digits = run.digits()
  page.work.spend(digits.length)
  const brand = brandOf(digits)
  if (!brand || !luhn(digits)) return undefined
  const finding = readCues(page, run.start, run.end, {yes: CARD, no: NUMBER_OF_THINGS, before: 48})
  return finding === 'no' || (finding === 'unsaid' && digits.length < 14) ? undefined : brand
}

const LENGTHS = new Set([12, 13, 14, 15, 16, 17, 18, 19])

/** Whole, in groups as people write them, or digit by digit. */
function isGrouped(shape: string): boolean {
  const sizes = shape.split('-').map(Number)
  if (sizes.length === 1) return true
  if (sizes.every(size => size === 1) || sizes.every(size => size === 2)) return true
  return sizes.length <= 6 && sizes[0]! >= 3 && sizes.every((size, at) => size >= 2 || at === sizes.length - 1)
}

function brandOf(digits: string): string | undefined {
  const first = Number(digits.slice(0, 6))
  const found = BRANDS.find(
    ([, ranges, lengths]) =>
      lengths.includes(digits.length) && ranges.some(([low, high]) => first >= low && first <= high),
  )
  return found?.[0]
}
