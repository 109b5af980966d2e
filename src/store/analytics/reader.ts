import {type RawBuilder, sql} from 'kysely'
import type {Db, Store} from '../database.ts'
import {saturatedSum} from '../saturated.ts'

/** A database to read from, and its kind. */
export interface AnalyticsReader {
  readonly kind: Store['kind']
  readonly db: Db
}

/** A text of the metadata of a log row; null where it has no such member. */
export function fromMetadata(kind: AnalyticsReader['kind'], key: string): RawBuilder<string | null> {
  return kind === 'sqlite' ? sql`metadata ->> ${key}` : sql`metadata::json ->> ${key}::text`
}

/** The slug of the prompt that was called. */
export function promptIn(kind: AnalyticsReader['kind']): RawBuilder<string> {
  return kind === 'sqlite' ? sql`json_extract(detail, '$.prompt.slug')` : sql`(detail::json #>> '{prompt,slug}')`
}

/** The rows that went well, as `isSuccess` says. */
export const WENT_WELL = sql<boolean>`((status = 101 or status between 200 and 299) and outcome not in ('failed', 'timeout'))`

/** A sum that may be beyond 2^53 travels as text. */
export const summed = saturatedSum
