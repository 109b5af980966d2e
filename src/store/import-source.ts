import Sqlite from 'better-sqlite3'

/**
 * The rows of some tables of a SQLite file that another program wrote; a table that is not there has none. It is only
 * read.
 */
export function foreignTables(path: string, tables: readonly string[]): Record<string, Record<string, unknown>[]> {
  const file = new Sqlite(path, {readonly: true, fileMustExist: true})
  try {
    const known = new Set(file.prepare("select name from sqlite_master where type = 'table'").pluck().all())
    return Object.fromEntries(
      tables.map(name => [
        name,
        known.has(name) ? (file.prepare(`select * from "${name}"`).all() as Record<string, unknown>[]) : [],
      ]),
    )
  } finally {
    file.close()
  }
}
