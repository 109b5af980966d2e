import type {Db} from './database.ts'

/** The password of a user as PHC text; undefined where he has none. */
export async function passwordOf(db: Db, user_id: string): Promise<string | undefined> {
  const row = await db.selectFrom('user_passwords').select('phc').where('user_id', '=', user_id).executeTakeFirst()
  return row?.phc
}

export async function setPassword(db: Db, user_id: string, phc: string, created_at: string) {
  await db
    .insertInto('user_passwords')
    .values({user_id, phc, created_at})
    .onConflict(conflict => conflict.column('user_id').doUpdateSet({phc, created_at}))
    .execute()
}

/** False where there was none. */
export async function dropPassword(db: Db, user_id: string): Promise<boolean> {
  const {numDeletedRows} = await db.deleteFrom('user_passwords').where('user_id', '=', user_id).executeTakeFirst()
  return numDeletedRows === 1n
}

/** True where anybody has a password of this gateway. */
export async function hasPasswords(db: Db): Promise<boolean> {
  return (await db.selectFrom('user_passwords').select('user_id').limit(1).executeTakeFirst()) !== undefined
}
