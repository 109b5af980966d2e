import {apiKeys} from './api-keys.ts'
import {births} from './births.ts'
import {cards} from './cards.ts'
import {PII_CLASSES, type PiiClass, type PiiSpan} from './classes.ts'
import {cryptoAddresses} from './crypto-addresses.ts'
import {plainOf} from './digits.ts'
import {emails} from './email.ts'
import {ibans} from './iban.ts'
import {ips} from './ip.ts'
import {nationalIds} from './national-ids.ts'
import {settled} from './overlaps.ts'
import {type Detector, type Found, pageOf} from './page.ts'
import {phones} from './phone.ts'
import {secrets} from './secrets.ts'
import {type Work, work} from './work.ts'

const DETECTORS: Readonly<Record<PiiClass, Detector>> = {
  credit_card: cards,
  iban: ibans,
  national_id: nationalIds,
  email: emails,
  phone: phones,
  ip_address: ips,
  api_key: apiKeys,
  secret: secrets,
  date_of_birth: births,
  crypto_address: cryptoAddresses,
}

export interface ScanOptions {
  /** What to look for; everything by default. */
  readonly classes?: readonly PiiClass[]
  /** Counts what the scan looks at. */
  readonly work?: Work
}

/**
 * Personal data and secrets of a text, in order, none over another. All classes are looked for whatever is asked, so that asking for
 * fewer never makes a card a phone number. Time and memory grow with the text's length, whatever it holds.
 */
export function findPii(text: string, {classes = PII_CLASSES, work: counted = work()}: ScanOptions = {}): PiiSpan[] {
  const steps = scanning(text, counted)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value.filter(span => classes.includes(span.class))
  }
}

/** What is done between two pauses, a few milliseconds: units of `Work`, or steps of a detector. */
const UNITS_AT_ONCE = 100_000
const STEPS_AT_ONCE = 16

/** The same, giving way to others now and then, so that a long text keeps nobody waiting. */
export async function findPiiGently(text: string, options: ScanOptions & {readonly pause: () => Promise<void>}): Promise<PiiSpan[]> {
  const {classes = PII_CLASSES, work: counted = work(), pause} = options
  const steps = scanning(text, counted)
  for (let paused_at = 0, count = 1; ; count++) {
    const step = steps.next()
    if (step.done) return step.value.filter(span => classes.includes(span.class))
    if (step.value !== 'long' && counted.units - paused_at < UNITS_AT_ONCE && count % STEPS_AT_ONCE) continue
    paused_at = counted.units
    await pause()
  }
}

/** Says undefined after a step, `long` after one whose work grows with the text. */
function* scanning(text: string, counted: Work): Generator<'long' | undefined, PiiSpan[]> {
  const plain = plainOf(text)
  yield 'long'
  const page = pageOf(plain.text, counted)
  const found: Found[] = []
  yield 'long'
  for (const name of PII_CLASSES) {
    for (const span of DETECTORS[name](page)) {
      if (span) found.push(span)
      else yield undefined
    }
  }
  yield 'long'
  const kept = settled(found)
  yield 'long'
  return kept.map(span => ({...span, ...plain.original(span.start, span.end)}))
}
