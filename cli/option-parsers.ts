import {RATE_UNITS} from '../src/schema/limits.ts'
import {isDate} from '../src/schema/times.ts'
import {usageFault} from './fault.ts'

const MINUTE_MS = 60_000
const UNITS_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 1440 * MINUTE_MS,
  w: 7 * 1440 * MINUTE_MS,
}
const MAX_MS = 100 * 366 * 1440 * MINUTE_MS

/** A moment in words: `90d`, `12h`, `2w`, `30m` from `now_ms` on, a date, or `never` (null). ISO 8601 UTC. */
export function readExpiry(text: string, now_ms: number): string | null {
  if (text === 'never') return null
  const [, count, unit] = /^(\d{1,9})([mhdw])$/.exec(text) ?? []
  const at_ms = count && unit ? now_ms + Number(count) * UNITS_MS[unit]! : momentIn(text, '--expires')
  if (Number.isNaN(at_ms))
    throw usageFault(`--expires ${text} is no time: expected 90d, 12h, 2w, 30m, a date such as 2030-12-31, or never.`)
  if (at_ms <= now_ms) throw usageFault(`--expires ${text} is not in the future.`)
  if (at_ms > now_ms + MAX_MS) throw usageFault(`--expires ${text} is more than 100 years away: use never.`)
  return new Date(at_ms).toISOString()
}

/** A moment that prices begin at: a date, which begins at midnight UTC, or a time with its zone. ISO 8601 UTC. */
export function readMoment(text: string, option: string): string {
  const at_ms = momentIn(text, option)
  if (Number.isNaN(at_ms))
    throw usageFault(`${option} ${text} is no time: expected a date such as 2030-12-31, or 2030-12-31T18:00:00Z.`)
  return new Date(at_ms).toISOString()
}

/** The beginning of a range of the past: so long ago, a date, or a time with its zone. ISO 8601 UTC. */
export function readSince(text: string, now_ms: number, option = '--since'): string {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? []
  const at_ms = count && unit ? now_ms - Number(count) * UNITS_MS[unit]! : momentIn(text, option)
  if (Number.isFinite(at_ms) && at_ms <= now_ms && at_ms >= 0) return new Date(at_ms).toISOString()
  throw usageFault(`${option} ${text} is no time in the past: expected 30m, 24h, 7d, 2w, or a date such as 2026-01-31.`)
}

/** The end of a range of the past, in the same words. A date stays one: the gateway counts its whole day in UTC. */
export function readUntil(text: string, now_ms: number): string {
  const at = readSince(text, now_ms, '--until')
  return isDate(text) ? text : at
}

/**
 * Epoch milliseconds of a date, which begins at midnight UTC, or of a time with its zone; NaN for any other words. A
 * time without a zone would be another moment on each machine: it is refused with what it could mean.
 */
function momentIn(text: string, option: string): number {
  if (isDate(text)) return Date.parse(`${text}T00:00:00Z`)
  const [, date = '', zone] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? []
  if (!isDate(date)) return Number.NaN
  if (zone === undefined)
    throw usageFault(`${option} ${text} has no time zone: write ${text}Z for UTC, or ${text}+02:00 for another zone.`)
  return Date.parse(text)
}

/** A length of time in words, in milliseconds: `30m`, `12h`, `90d`, `2w`. */
export function readDuration(text: string, option: string): number {
  const [, count, unit] = /^(\d{1,9})([mhdw])$/.exec(text) ?? []
  if (count && unit) return Number(count) * UNITS_MS[unit]!
  throw usageFault(`${option} ${text} is no length of time: expected 30m, 12h, 90d or 2w.`)
}

/** A rate in words: `60rpm`, `1000rph`, `5000rpd`. */
export function readRate(text: string, type: 'requests' | 'tokens', units: readonly string[] = RATE_UNITS) {
  const [, value, unit = ''] = /^(\d{1,15})([a-z]{3})$/.exec(text) ?? []
  if (value && units.includes(unit)) return {type, unit, value: Number(value)}
  throw usageFault(
    `${text} is not a rate: expected a number and rpm, rph or rpd (a minute, hour, day), for example 60rpm.`,
  )
}

/** How often a budget starts again: `weekly`, `monthly` or every so many days, `30d`. */
export function readReset(text: string): {periodic_reset: string} | {periodic_reset_days: number} {
  if (text === 'weekly' || text === 'monthly') return {periodic_reset: text}
  const [, days] = /^(\d{1,3})d$/.exec(text) ?? []
  if (days) return {periodic_reset_days: Number(days)}
  throw usageFault(`--reset ${text} is no period: expected weekly, monthly, or days such as 30d.`)
}

/** A number of an option, at least 0. */
export function readNumber(text: string, option: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(Number(text))) return Number(text)
  throw usageFault(
    /^-\d/.test(text)
      ? `${option} ${text} is below zero: expected a number from 0 on.`
      : `${option} ${text} is not a number.`,
  )
}

/** A whole number of an option within bounds. */
export function readWhole(text: string, option: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw usageFault(`${option} ${text} is not a whole number from ${least} to ${most}.`)
}

/** `name=value` words as an object; the value of `name=` is an empty text. */
export function readPairs(pairs: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map(pair => {
      const at = pair.indexOf('=')
      if (at <= 0) throw usageFault(`${option} takes name=value.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

/** A JSON text from `source`; what it holds is not echoed, for it may be secret. */
export function readJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw usageFault(`${source} is not JSON.`)
  }
}
