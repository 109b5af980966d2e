import type {Db} from './database.ts'

/** What the store says of itself under `key`; undefined when it says nothing. */
export async function readMeta(db: Db, key: string): Promise<string | undefined> {
  return (await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst())?.value
}

export async function writeMeta(db: Db, key: string, value: string) {
  await db
    .insertInto('meta')
    .values({key, value})
    .onConflict(conflict => conflict.column('key').doUpdateSet({value}))
    .execute()
}
