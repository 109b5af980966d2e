import type {Db} from './database.ts'
import type {LastSignInsTable} from './tables/sign-in.ts'

/** Notes that an identity provider let a person in. An earlier time than the one that is kept changes nothing. */
export async function noteSignIn(db: Db, row: LastSignInsTable) {
  await db
    .insertInto('last_sign_ins')
    .values(row)
    .onConflict(conflict =>
      conflict.columns(['organisation_id', 'user_id']).doUpdateSet({at: row.at}).where('last_sign_ins.at', '<', row.at),
    )
    .execute()
}

/** ISO 8601 UTC; null for a person who never came in by a provider. */
export async function lastSignIn(db: Db, organisation_id: string, user_id: string): Promise<string | null> {
  return (await lastSignInsOf(db, organisation_id, [user_id])).get(user_id) ?? null
}

/** User → the last time that an identity provider let him in, of those who came in that way. */
export async function lastSignInsOf(
  db: Db,
  organisation_id: string,
  user_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (user_ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('last_sign_ins')
    .select(['user_id', 'at'])
    .where('organisation_id', '=', organisation_id)
    .where('user_id', 'in', [...user_ids])
    .execute()
  return new Map(rows.map(({user_id, at}) => [user_id, at]))
}
