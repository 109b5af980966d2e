import {z} from 'zod'

/** A moment as clients give it: ISO 8601 with a zone; kept as UTC with milliseconds. */
export const Time = z.iso.datetime({offset: true}).transform(inUtc)

const DAY_MS = 86_400_000
const DATE = /^\d{4}-\d\d-\d\d$/
const EXPECTED =
  'must be a date such as 2026-01-31, which is that whole day in UTC, or a time with its zone such as ' +
  '2026-01-31T08:00:00Z or 2026-01-31T10:00:00+02:00'
const Moment = z.iso.datetime({offset: true, error: EXPECTED}).transform(inUtc)

/** The first moment of a range: a date begins with its day. */
export const FirstTime = dated(start => start)
/** The last moment of a range, included: a date ends with its day. */
export const LastTime = dated(start => new Date(Date.parse(start) + DAY_MS - 1).toISOString())
/** The end of a range, excluded: a date is included whole, so that the next day is the end. */
export const UntilTime = dated(start => new Date(Date.parse(start) + DAY_MS).toISOString())

function dated(momentOf: (start: string) => string) {
  return z
    .string()
    .meta({format: 'date-time'})
    .transform(text => (isDate(text) ? momentOf(`${text}T00:00:00.000Z`) : text))
    .pipe(Moment)
}

/** True for a day that the calendar has, without a time. */
export function isDate(text: string): boolean {
  return DATE.test(text) && z.iso.date().safeParse(text).success
}

function inUtc(text: string): string {
  return new Date(text).toISOString()
}
