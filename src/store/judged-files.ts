import type {Db} from './database.ts'
import type {JudgedFilesTable} from './tables/judged-files.ts'

/** So many expired rows at most go with each that comes. */
const PRUNED_AT_ONCE = 100

/** Notes a file in place of what was known of it, and forgets some that were noted before `oldest_ms`. */
export async function keepJudgedFile(db: Db, row: JudgedFilesTable, oldest_ms: number): Promise<void> {
  const {digest, judged_at_ms} = row
  await db
    .insertInto('judged_files')
    .values(row)
    .onConflict(conflict => conflict.column('key').doUpdateSet({digest, judged_at_ms}))
    .execute()
  const expired = db
    .selectFrom('judged_files')
    .select('key')
    .where('judged_at_ms', '<', oldest_ms)
    .orderBy('judged_at_ms')
    .limit(PRUNED_AT_ONCE)
  await db.deleteFrom('judged_files').where('key', 'in', expired).execute()
}

/** The guardrails that a file passed since `oldest_ms`; undefined where none is known. */
export async function findJudgedFile(db: Db, key: string, oldest_ms: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('judged_files')
    .select('digest')
    .where('key', '=', key)
    .where('judged_at_ms', '>=', oldest_ms)
    .executeTakeFirst()
  return row?.digest
}
