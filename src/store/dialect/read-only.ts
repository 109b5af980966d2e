import type Sqlite from 'better-sqlite3'
import {connect, type SqliteOptions} from './sqlite.ts'

const MOST_STATEMENTS = 100
const CACHE_KB = 32 * 1024
const MAPPED_BYTES = 2 ** 30

/** A connection that writes nothing, opened at the first statement; gives all rows of each. Statements are kept ready. */
export function openReadOnly(target: Omit<SqliteOptions, 'role'>): (sql: string, parameters: readonly unknown[]) => readonly unknown[] {
  let raw: Sqlite.Database | undefined
  const statements = new Map<string, Sqlite.Statement>()
  const ready = (sql: string) => {
    const known = statements.get(sql)
    if (known) return known
    raw ??= open(target)
    const made = raw.prepare(sql)
    if (statements.size >= MOST_STATEMENTS) statements.clear()
    statements.set(sql, made)
    return made
  }
  return (sql, parameters) => ready(sql).all(...parameters)
}

function open(target: Omit<SqliteOptions, 'role'>): Sqlite.Database {
  const raw = connect({...target, role: 'reader'})
  raw.pragma(`traffic.cache_size = -${CACHE_KB}`)
  raw.pragma(`traffic.mmap_size = ${MAPPED_BYTES}`)
  raw.pragma('temp_store = MEMORY') // groups are sorted there
  return raw
}
