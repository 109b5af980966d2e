import {readFileSync} from 'node:fs'
import {sql} from 'kysely'
import type {Store} from '../../src/store/database.ts'

/**
 * All that a database holds, as text: the bytes of its files on SQLite, whatever table or page they stand in, and the
 * rows of every table on PostgreSQL. Read it last: on SQLite it drops the locks of this process.
 */
export async function contentsOf({kind, db}: Store): Promise<string> {
  if (kind === 'sqlite') {
    const {rows} = await sql<{file: string}>`select file from pragma_database_list where file <> ''`.execute(db)
    return rows.flatMap(({file}) => ['', '-wal'].map(end => readFileSync(`${file}${end}`, 'latin1'))).join('\n')
  }
  const {rows} = await sql<{
    name: string
  }>`select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'traffic')`.execute(
    db,
  )
  const dumps = await Promise.all(
    rows.map(({name}) => sql<{row: string}>`select ${sql.raw('t')}::text as row from ${sql.raw(name)} t`.execute(db)),
  )
  return dumps.flatMap(dump => dump.rows.map(({row}) => row)).join('\n')
}
