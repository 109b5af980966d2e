import {z} from 'zod'

const MAX_PAGE = 1_000_000

/** A whole number in a query, which is text. */
export function wholeInQuery(least: number, most: number) {
  return z.preprocess(
    text => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text),
    z.int().min(least).max(most),
  )
}

/**
 * The page of a list: `current_page` counts from 0 (decisions: envelopes and ids). To be spread into a query's schema.
 */
export function pageParams({usual = 100, most = 1000} = {}) {
  return {
    current_page: wholeInQuery(0, MAX_PAGE).default(0),
    page_size: wholeInQuery(1, most).default(usual),
  }
}

/** The page size of a list that is requested without a page: all of it (decisions: envelopes and ids). */
export const MAX_UNPAGED = 10_000
const PAGE = ['page', 'page_size', 'current_page', 'pageSize', 'currentPage']

/** The page that is meant where a query names none: all there is, up to so many rows. */
export function wholeUnlessPaged(query: unknown, given: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query
  if (typeof given === 'object' && given !== null && PAGE.some(name => Object.hasOwn(given, name))) return query
  for (const size of ['page_size', 'pageSize']) if (Object.hasOwn(query, size)) return {...query, [size]: MAX_UNPAGED}
  return query
}

export interface Page {
  readonly current_page: number
  readonly page_size: number
}

/** One page of rows, newest first, and how many there are in all. */
export interface Paged<Row> {
  readonly total: number
  readonly rows: readonly Row[]
}

/** The envelope of lists: `{object: "list", total, data}`. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.strictObject({object: z.literal('list'), total: z.int(), data: z.array(item)})
}

export function list<Row, View>({total, rows}: Paged<Row>, view: (row: Row) => View) {
  return {object: 'list' as const, total, data: rows.map(view)}
}

/** The given of writes that have nothing to say. */
export const Empty = z.strictObject({})
