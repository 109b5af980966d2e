import {sql} from 'kysely'
import type {Store} from '../../../src/store/database.ts'

/** Every row of every table but those named, as text; to see that nothing was written. */
export async function rowsOf({kind, db}: Store): Promise<string> {
  const names =
    kind === 'sqlite'
      ? sql<{
          name: string
        }>`select 'main.' || name as name from main.sqlite_master where type = 'table' and name not like 'sqlite_%'
          union all select 'traffic.' || name from traffic.sqlite_master where type = 'table' and name not like 'sqlite_%'`
      : sql<{
          name: string
        }>`select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'traffic')`
  const {rows} = await names.execute(db)
  const tables = rows.map(({name}) => name).toSorted()
  const dumps = await Promise.all(
    tables.map(async name => [name, (await sql`select * from ${sql.raw(name)}`.execute(db)).rows] as const),
  )
  return JSON.stringify(dumps.map(([name, found]) => [name, found.map(row => JSON.stringify(row)).toSorted()]))
}
