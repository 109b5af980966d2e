import {type Expression, type SqlBool, sql} from 'kysely'
import type {Tags} from '../schema/tags.ts'

/** Tags as a column keeps them: JSON, keys in order. */
export function keepTags(tags: Tags): string {
  return JSON.stringify(Object.fromEntries(Object.entries(tags).sort(([one], [other]) => (one < other ? -1 : 1))))
}

export function readTags(column: string): Tags {
  return JSON.parse(column) as Tags
}

/**
 * True for rows whose tags hold the pair. Written with `replace`, which both databases know and which minds case; a key
 * begins with a letter or digit, so that `,"key":"value"` cannot be part of another text.
 */
export function tagged(column: string, key: string, value: string): Expression<SqlBool> {
  const pair = `${JSON.stringify(key)}:${JSON.stringify(value)}`
  const tags = sql.ref(column)
  return sql<SqlBool>`(replace(${tags}, ${`{${pair}`}, '') <> ${tags} or replace(${tags}, ${`,${pair}`}, '') <> ${tags})`
}
