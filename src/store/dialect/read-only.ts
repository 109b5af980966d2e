import type Sqlite from 'better-sqlite3'
import {connect, type SqliteOptions} from './sqlite.ts'

const MAX_STATEMENTS = 100
const CACHE_KB = 32 * 1024
const MAPPED_BYTES = 2 ** 30

export interface ReadOnly {
  /** All rows of a statement. */
  all(sql: string, parameters: readonly unknown[]): readonly unknown[]
  close(): void
}

/** A connection that writes nothing, opened at the first statement. Statements are kept ready. */
export function openReadOnly(target: Omit<SqliteOptions, 'role'>): ReadOnly {
  let raw: Sqlite.Database | undefined
  const statements = new Map<string, Sqlite.Statement>()
  const ready = (sql: string) => {
    const known = statements.get(sql)
    if (known) return known
    raw ??= open(target)
    const made = raw.prepare(sql)
    if (statements.size >= MAX_STATEMENTS) statements.clear()
    statements.set(sql, made)
    return made
  }
  return {all: (sql, parameters) => ready(sql).all(...parameters), close: () => raw?.close()}
}

function open(target: Omit<SqliteOptions, 'role'>): Sqlite.Database {
  const raw = connect({...target, role: 'reader'})
  raw.pragma(`traffic.cache_size = -${CACHE_KB}`)
  raw.pragma(`traffic.mmap_size = ${MAPPED_BYTES}`)
  raw.pragma('temp_store = MEMORY') // groups are sorted there
  return raw
}
