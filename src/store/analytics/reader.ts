import {type RawBuilder, sql} from 'kysely'
import type {Db, Store} from '../database.ts'

/** A database to read from, and its kind. */
export interface Reader {
  readonly kind: Store['kind']
  readonly db: Db
}

/** A member of the detail of a log row, as text. */
export function fromDetail(kind: Reader['kind'], member: 'last_byte_ms' | 'cache_status'): RawBuilder<string> {
  return kind === 'sqlite' ? sql`detail ->> ${sql.lit(member)}` : sql`detail::json ->> ${sql.lit(member)}`
}

/** A text of the metadata of a log row; null where it has no such member. */
export function fromMetadata(kind: Reader['kind'], key: string): RawBuilder<string | null> {
  return kind === 'sqlite' ? sql`metadata ->> ${key}` : sql`metadata::json ->> ${key}::text`
}

/** Milliseconds until the last byte. */
export function durationIn(kind: Reader['kind']): RawBuilder<number> {
  return kind === 'sqlite'
    ? sql`coalesce(duration_ms, cast(round(${fromDetail(kind, 'last_byte_ms')}) as integer))`
    : sql`coalesce(duration_ms, round((${fromDetail(kind, 'last_byte_ms')})::numeric)::bigint)`
}

export function cacheStatusIn(kind: Reader['kind']): RawBuilder<string> {
  return sql`coalesce(cache_status, ${fromDetail(kind, 'cache_status')})`
}

/** The slug of the prompt that was called. */
export function promptIn(kind: Reader['kind']): RawBuilder<string> {
  return kind === 'sqlite' ? sql`json_extract(detail, '$.prompt.slug')` : sql`(detail::json #>> '{prompt,slug}')`
}

/** The rows that went well, as `isSuccess` says. */
export const WENT_WELL = sql<boolean>`((status = 101 or status between 200 and 299) and outcome not in ('failed', 'timeout'))`

/** A sum that may be beyond 2^53 travels as text. */
export const summed = (value: RawBuilder<unknown>) => sql<string>`cast(coalesce(sum(${value}), 0) as text)`
