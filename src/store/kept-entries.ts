import {type Expression, type SqlBool, sql} from 'kysely'
import type {KeptEntry, KeptFilter} from '../schema/cache.ts'
import {anyOf} from './rows.ts'

/** True for entries of the cache that match, in either table. */
export function matchesKept({workspace_ids, digest, model, namespace}: KeptFilter): Expression<SqlBool> {
  const parts = [
    sql`workspace_id in (${sql.join(anyOf(workspace_ids))})`,
    ...(digest === undefined ? [] : [sql`digest = ${digest}`]),
    ...(model === undefined ? [] : [sql`model = ${model}`]),
    ...(namespace === undefined ? [] : [sql`namespace = ${namespace}`]),
  ]
  return sql<SqlBool>`(${sql.join(parts, sql` and `)})`
}

/** A row with the numbers that PostgreSQL writes as texts. */
export function keptEntry(row: KeptEntry): KeptEntry {
  const {stored_at_ms, expires_at_ms, bytes} = row
  return {
    ...row,
    stored_at_ms: Number(stored_at_ms),
    expires_at_ms: Number(expires_at_ms),
    bytes: Number(bytes),
  }
}
