import {CertificateFault} from './fault.ts'
import type {Validity} from './make.ts'

export const DAY_MS = 86_400_000
/** Clocks of clients that are late by less than this take a new certificate at once. */
const EARLIER_MS = 3_600_000
/** No certificate is made before this: a machine without a battery for its clock begins in 1970. */
const LEAST_MS = Date.parse('2025-01-01T00:00:00Z')
const MOST_MS = Date.parse('9000-01-01T00:00:00Z')
/** Apple's systems refuse a server's certificate that is valid for more than 825 days (support.apple.com, 103769). */
export const MAX_SERVER_DAYS = 824
export const MAX_AUTHORITY_DAYS = 36_500

/** When an authority that is made now is valid; throws CertificateFault where the clock cannot be right. */
export function authorityValidity(now_ms: number, days: number): Validity {
  checkClock(now_ms)
  const second = Math.floor(now_ms / 1000) * 1000
  return {begins_ms: second - EARLIER_MS, ends_ms: second + days * DAY_MS}
}

/**
 * When a certificate that is made now is valid: within the time of its authority; throws CertificateFault where that
 * has ended, or has not begun by the clock.
 */
export function serverValidity(now_ms: number, days: number, authority: Validity): Validity {
  const {begins_ms, ends_ms} = authorityValidity(now_ms, days)
  checkBegun(now_ms, authority, 'The certificate authority')
  if (now_ms >= authority.ends_ms)
    throw new CertificateFault('lifetime', `The certificate authority ended on ${day(authority.ends_ms)}.`)
  return {begins_ms: Math.max(begins_ms, authority.begins_ms), ends_ms: Math.min(ends_ms, authority.ends_ms)}
}

/** Throws CertificateFault where the clock is before the beginning of what was made by the same clock. */
export function checkBegun(now_ms: number, {begins_ms}: Validity, subject: string): void {
  if (now_ms >= begins_ms) return
  throw new CertificateFault(
    'clock',
    `${subject} is valid from ${day(begins_ms)}, and the clock of this machine shows ${day(now_ms)}.`,
    'Set the clock, and try again.',
  )
}

/** The whole days that are left; negative after the end. */
export function daysLeft({ends_ms}: Validity, now_ms: number): number {
  return Math.floor((ends_ms - now_ms) / DAY_MS)
}

/** `active`, `expired`, or `not yet valid`. */
export function stateOf({begins_ms, ends_ms}: Validity, now_ms: number): 'active' | 'expired' | 'not yet valid' {
  if (now_ms < begins_ms) return 'not yet valid'
  return now_ms > ends_ms ? 'expired' : 'active'
}

function checkClock(now_ms: number) {
  if (now_ms >= LEAST_MS && now_ms < MOST_MS) return
  throw new CertificateFault(
    'clock',
    `The clock of this machine shows ${day(now_ms)}, which cannot be right.`,
    'Set the clock, and try again.',
  )
}

function day(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(0, 10) : 'no date'
}
