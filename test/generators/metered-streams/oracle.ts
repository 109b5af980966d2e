import {type Case, IMPOSSIBLE, MORE} from './cases.ts'
import type {Entry, Seen, Sent} from './house.ts'

/** No call uses more of anything. */
const MOST = 1e12
const isCount = (value: number | undefined): value is number => value !== undefined && value >= 0 && value <= MOST

/** What is wrong with the entries of a case; null: nothing. */
export function wrongInLedger(one: Case, seen: Seen, sent: Sent, entries: readonly Entry[]): string | null {
  if (sent.hits !== 1) return `the provider heard it ${sent.hits} times`
  if (entries.length !== 1) return `it has ${entries.length} entries`
  const [{prompt_tokens: input, completion_tokens: output, usage_source: source, cost_nanousd}] = entries as readonly [
    Entry,
  ]
  const tell = (wrong: string) =>
    `${wrong}: ${source} ${input} + ${output}, billed ${one.bill.input} + ${one.bill.output}, reported ${JSON.stringify(sent.reports)}, ${seenBytes(one, seen)} bytes of text seen`
  for (const value of [input, output, cost_nanousd])
    if (!Number.isSafeInteger(value) || value < 0) return tell('a count is none')
  if (input > MOST || output > MOST) return tell('a count is absurd')
  const {end, report, way, bill, is_limited} = one
  if (way.is_asked && is_limited && end !== 'whole' && !sent.asked) return tell('usage was not requested')
  const least = Math.floor(seenBytes(one, seen) / 4)
  const is_complete = end === 'whole' || end === 'stream'
  const inputs = sent.reports.map(each => each.input).filter(isCount)
  const outputs = sent.reports.map(each => each.output).filter(isCount)
  const reported = {input: Math.max(-1, ...inputs), output: Math.max(-1, ...outputs)}
  const is_told = reported.input === bill.input && reported.output === bill.output
  const equals = (counts: {input: number; output: number}) =>
    input === counts.input &&
    (output === counts.output || (report === 'total above' && output === counts.output + MORE))
  if (source === 'provider') {
    if (is_complete ? !equals(bill) : !equals(bill) && !(equals(reported) && output >= least))
      return tell('it is booked as reported, and is not what is billed')
    return null
  }
  // an engine of the house is not charged for a prompt that it did not answer
  if (source === 'none' && way.is_local && one.last < 0 && input + output === 0) return null
  if (source !== 'partial' && source !== 'estimated') return tell('it is not charged')
  if (is_complete && is_told && report !== 'behind the end') return tell('it was reported, and is estimated')
  const reason = one.steps.findIndex(({place}) => place === 'reason')
  const is_read_on =
    end === 'client gone' && way.tells_after && is_limited && report === 'as documented' && one.last >= reason
  if (is_read_on && !equals(bill)) return tell('its usage was not waited for')
  if (
    inputs.length > 0 && !IMPOSSIBLE.has(report)
      ? input !== reported.input && end !== 'client gone'
      : input < 1 || input > sent.asked_bytes
  )
    return tell('the prompt is another')
  if (input < 1) return tell('the prompt is not charged')
  if (output < (end === 'whole' ? Math.floor(least / 2) : least)) return tell('text that was seen is not charged')
  if (end !== 'client gone' && output < reported.output) return tell('it is less than was reported')
  const whole = one.pieces.join('').length
  const most = Math.max(reported.output, bill.output) + (report === 'total above' ? MORE : 0)
  if (output > Math.max(most, end === 'whole' ? whole : Math.ceil(whole / 4) + one.pieces.length))
    return tell('it is more than could be')
  return null
}

/** How much of the answer's text a client saw. */
function seenBytes({pieces}: Case, {status, bytes}: Seen): number {
  if (status >= 300) return 0
  const text = bytes.toString('latin1')
  const inner = [...text.matchAll(/"bytes":"([\w+/=]+)"/g)]
    .map(([, each]) => Buffer.from(each!, 'base64').toString())
    .join('')
  return pieces.reduce(
    (sum, piece, at) => sum + (text.includes(`w${at}x`) || inner.includes(`w${at}x`) ? piece.length : 0),
    0,
  )
}

const NO_USAGE = ',"usage":null'

/** What is wrong with the bytes of an answer that passes as it comes; null: nothing. */
export function wrongInBytes(one: Case, seen: Seen, sent: Sent): string | null {
  const {way, end, options, is_limited} = one
  const bytes = Buffer.concat(sent.bytes)
  const is_hidden = end !== 'whole' && way.is_asked && is_limited && options !== 'include_usage true'
  const want = is_hidden ? Buffer.concat(sent.bytes.filter(each => !isUsageAlone(each)).map(withoutNull)) : bytes
  if (end === 'whole' || end === 'stream')
    return seen.bytes.equals(want) || isLate(one, seen, want)
      ? null
      : `the bytes are others: ${difference(seen.bytes.toString('latin1'), want.toString('latin1'))}`
  const length = Math.min(seen.bytes.length, want.length)
  // a fault of our own may come behind what the provider sent
  if (seen.status >= 300 || seen.bytes.subarray(0, length).equals(want.subarray(0, length))) return null
  return `the bytes are others: ${difference(seen.bytes.toString('latin1'), want.toString('latin1'))}`
}

/** What comes behind the end of a stream may be left out. */
function isLate({report, steps}: Case, {bytes}: Seen, want: Buffer): boolean {
  const end = steps.at(-1)!.bytes()
  return report === 'behind the end' && bytes.equals(want.subarray(0, want.lastIndexOf(end) + end.length))
}

function isUsageAlone(event: Buffer): boolean {
  return event.includes('"choices":[]') && event.includes('"usage":{')
}

function withoutNull(event: Buffer): Buffer {
  return Buffer.from(event.toString().replace(NO_USAGE, ''))
}

/** An answer in the words of its client, without what differs in every answer. */
export function comparable({status, type, bytes}: Seen): string {
  const text = bytes
    .toString('latin1')
    .replace(/"(created|created_at|completed_at)":[\d.]+/g, '"$1":0')
    .replace(/\b(chatcmpl|cmpl|resp|msg|rs|fc|item|call|gen)[-_][\w-]{8,}/g, '$1')
    .replace(/ms-\d+-\w/g, 'trace')
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'uuid')
  return `${status} ${type} ${text}`
}

export function difference(got: string, want: string): string {
  let at = 0
  while (at < got.length && got[at] === want[at]) at++
  const from = Math.max(0, at - 40)
  return `at ${at} ${JSON.stringify(got.slice(from, at + 160))}, wanted ${JSON.stringify(want.slice(from, at + 160))}`
}
