import {type JsonObject, own} from '../json-member.ts'

const UNITS_S: Readonly<Record<string, number>> = {s: 1, m: 60, h: 3600, d: 86_400, w: 604_800}

/** `1d`, `12h`, `30m`, `45s`, or seconds alone; undefined for what is none of it. */
export function readAge(text: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,9})\s{0,3}([smhdw])?$/.exec(text.trim()) ?? []
  return digits === undefined ? undefined : Number(digits) * UNITS_S[unit]!
}

/** Why a token does not hold at `now_s`, or undefined (RFC 7519 §4.1). Times are seconds since the epoch. */
export function timeClaimError(
  payload: JsonObject,
  now_s: number,
  tolerance_s: number,
  most_age_s: number | null,
): string | undefined {
  const [expires, begins, made] = ['exp', 'nbf', 'iat'].map(name => own(payload, name))
  for (const [name, time] of Object.entries({exp: expires, nbf: begins, iat: made}))
    if (time !== undefined && (typeof time !== 'number' || !Number.isFinite(time))) return `Its ${name} is no time.`
  if (typeof expires === 'number' && expires <= now_s - tolerance_s) return 'It has expired.'
  if (typeof begins === 'number' && begins > now_s + tolerance_s) return 'It does not hold yet.'
  if (typeof made === 'number' && made > now_s + tolerance_s) return 'It says that it was made in the future.'
  if (most_age_s === null) return undefined
  if (typeof made !== 'number') return 'It does not say when it was made (iat).'
  return now_s - made - tolerance_s > most_age_s ? 'It is too old.' : undefined
}
