import {isIP, isIPv4, isIPv6} from 'node:net'

const MAX_CHARS = 2048

/** Formats that are checked (draft 2020-12 §7.3). A text above 2048 characters has none of them. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': bounded(
    text =>
      /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,20})?([Zz]|[+-]\d\d:\d\d)$/.test(text) && isDay(text.slice(0, 10)),
  ),
  date: bounded(text => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text)),
  time: bounded(text => /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,20})?([Zz]|[+-]\d\d:\d\d)$/.test(text)),
  email: bounded(text => /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/.test(text)),
  hostname: bounded(
    text =>
      text.length <= 253 && text.split('.').every(label => /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)),
  ),
  ipv4: bounded(isIPv4),
  ipv6: bounded(text => isIPv6(text) && isIP(text) === 6),
  uri: bounded(text => URL.canParse(text)),
  uuid: bounded(text => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text)),
}

function bounded(holds: (text: string) => boolean): (text: string) => boolean {
  return text => text.length <= MAX_CHARS && holds(text)
}

function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}
