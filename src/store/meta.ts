import type {Db} from './database.ts'

/** The store's own value of `key`; undefined when it has none. */
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
