import {atOnce, type SlicedWork} from '../time-slices.ts'
import {apiKeys} from './api-keys.ts'
import {birthDates} from './births.ts'
import {cards} from './cards.ts'
import {PII_CLASSES, type PiiClass, type PiiSpan} from './classes.ts'
import {cryptoAddresses} from './crypto-addresses.ts'
import {plainOf} from './digits.ts'
import {emails} from './email.ts'
import {ibans} from './iban.ts'
import {ips} from './ip.ts'
import {nationalIds} from './national-ids.ts'
import {settled} from './overlaps.ts'
import {phones} from './phone.ts'
import {type Detector, type PiiFinding, pageOf} from './scanned-text.ts'
import {secrets} from './secrets.ts'
import {type CountedWork as Counted, work} from './work.ts'

const DETECTORS: Readonly<Record<PiiClass, Detector>> = {
  credit_card: cards,
  iban: ibans,
  national_id: nationalIds,
  email: emails,
  phone: phones,
  ip_address: ips,
  api_key: apiKeys,
  secret: secrets,
  date_of_birth: birthDates,
  crypto_address: cryptoAddresses,
}

export interface ScanOptions {
  /** The classes to search; all by default. */
  readonly classes?: readonly PiiClass[]
  /** Counts what the scan looks at. */
  readonly work?: Counted
}

/**
 * Personal data and secrets of a text, in order, none over another. All classes are looked for whatever is requested,
 * so that asking for fewer never makes a card a phone number. Time and memory grow with the text's length, whatever it
 * holds.
 */
export function findPii(text: string, options: ScanOptions = {}): PiiSpan[] {
  return atOnce(findingPii(text, options))
}

/** The same with pauses, so that a long text delays no other call. */
export function* findingPii(
  text: string,
  {classes = PII_CLASSES, work: counted = work()}: ScanOptions = {},
): SlicedWork<PiiSpan[]> {
  return (yield* scanning(text, counted)).filter(span => classes.includes(span.class))
}

/** The same for a text that data has under the name `called`, which may tell what it is. */
export function* findingCalled(
  text: string,
  called: string,
  options: ScanOptions = {},
): SlicedWork<readonly PiiSpan[]> {
  if (isPlain(text)) return NONE
  if (!called) return yield* findingPii(text, options)
  const is_word = text.length <= LONGEST_WORD && !/[\s"\\]/.test(text)
  const before = is_word ? `"${called}": "` : `${called}: `
  const spans = yield* findingPii(is_word ? `${before}${text}"` : before + text, options)
  const last = text.length
  return spans.flatMap(span => {
    const start = Math.max(0, span.start - before.length)
    const end = Math.min(last, span.end - before.length)
    return end > start ? [{...span, start, end}] : []
  })
}

const NONE: readonly PiiSpan[] = []
const LONGEST_WORD = 256

/**
 * True for a text that can hold nothing of any class: too short, or ASCII without a digit, `@`, `::`, dashes in a row,
 * or a great letter behind a small one.
 */
function isPlain(text: string): boolean {
  return text.length < SHORTEST ? !text.includes('::') : text.length <= MAX_PLAIN && !NOT_PLAIN.test(text)
}

const SHORTEST = 6
const MAX_PLAIN = 512
const NOT_PLAIN = /[\d@\x80-\uffff]|::|--|[a-z][A-Z]/

function* scanning(text: string, counted: Counted): SlicedWork<PiiSpan[]> {
  const plain = plainOf(text)
  yield
  const page = pageOf(plain.text, counted)
  const found: PiiFinding[] = []
  yield
  for (const name of PII_CLASSES) {
    for (const span of DETECTORS[name](page)) {
      if (span) found.push(span)
      else yield
    }
  }
  yield
  const kept = settled(found)
  yield
  return kept.map(span => ({...span, ...plain.original(span.start, span.end)}))
}
