import {SignInFault} from '../sign-in-fault.ts'

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,12})?)(Z|[+-]\d\d:\d\d)?$/
const DURATION =
  /^P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})(?:\.\d+)?S)?)?$/

/** Epoch milliseconds of an `xs:dateTime`, UTC where it names no zone; null for what is no time. */
export function timeOf(text: string): number | null {
  const match = TIME.exec(text.trim())
  const time_ms = match ? Date.parse(`${match[1]}${match[2] ?? 'Z'}`) : Number.NaN
  return Number.isNaN(time_ms) ? null : time_ms
}

/** Seconds of an `xs:duration`, with months of 30 days and years of 365; null for what is none. */
export function durationOf(text: string): number | null {
  const match = DURATION.exec(text.trim())
  if (!match || /(?:P|T)$/.test(text.trim())) return null
  const [years, months, days, hours, minutes, seconds] = match.slice(1).map(part => Number(part ?? 0))
  return (((years! * 365 + months! * 30 + days!) * 24 + hours!) * 60 + minutes!) * 60 + seconds!
}

export function isoOf(time_ms: number): string {
  return new Date(Math.min(time_ms, 8.64e15)).toISOString()
}

/** The clock of this machine, and how far those of others may be from it. */
export interface SkewedClock {
  readonly now_ms: number
  readonly skew_ms: number
}

/** Refuses with `document_time` a time that is over. `name` is the attribute, for the sentence. */
export function checkNotOver(time_ms: number, name: string, {now_ms, skew_ms}: SkewedClock): void {
  if (time_ms + skew_ms > now_ms) return
  throw new SignInFault('document_time', `${name} ${isoOf(time_ms)} is past; it is ${isoOf(now_ms)} here.`)
}

/** Refuses with `document_time` a time that is yet to come. */
export function checkBegun(time_ms: number, name: string, {now_ms, skew_ms}: SkewedClock): void {
  if (time_ms - skew_ms <= now_ms) return
  throw new SignInFault('document_time', `${name} ${isoOf(time_ms)} is to come; it is ${isoOf(now_ms)} here.`)
}
