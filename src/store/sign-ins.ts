import type {Db} from './database.ts'
import type {SignInsTable} from './tables/sign-in.ts'

export async function insertSignIn(db: Db, row: SignInsTable) {
  await db.insertInto('sign_ins').values(row).execute()
}

export function findSignIn(db: Db, by: Partial<Pick<SignInsTable, 'state_hash' | 'request_id' | 'handle_hash'>>) {
  const [[column, value] = []] = Object.entries(by) as [keyof typeof by, string][]
  return db.selectFrom('sign_ins').selectAll().where(column!, '=', value!).executeTakeFirst()
}

/** How many of an address are open. */
export async function countOpenSignIns(db: Db, client_ip: string, {since, now}: {since: string; now: string}) {
  const {n} = await db
    .selectFrom('sign_ins')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('client_ip', '=', client_ip)
    .where('created_at', '>', since)
    .where('expires_at', '>', now)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Keeps what the first step of SAML verified; false where another answer was faster, or it is used. */
export async function keepResult(
  db: Db,
  id: string,
  result: Pick<SignInsTable, 'handle_hash' | 'result' | 'expires_at'>,
) {
  const {numUpdatedRows} = await db
    .updateTable('sign_ins')
    .set(result)
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where('handle_hash', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Uses a sign-in up; false where it was used before. What it kept secret goes with it. */
export async function useSignIn(db: Db, id: string, now: string): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('sign_ins')
    .set({used_at: now, secrets: null, result: null})
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** False where the assertion was seen before. */
export async function noteAssertion(db: Db, hash: string, expires_at: string): Promise<boolean> {
  const {numInsertedOrUpdatedRows} = await db
    .insertInto('seen_assertions')
    .values({hash, expires_at})
    .onConflict(conflict => conflict.column('hash').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function isAssertionSeen(db: Db, hash: string): Promise<boolean> {
  const row = await db.selectFrom('seen_assertions').select('hash').where('hash', '=', hash).executeTakeFirst()
  return row !== undefined
}

/** Removes what is over: sign-ins a day after their end, so that a late answer is known for one. */
export async function dropEndedSignIns(db: Db, now: string) {
  const day_before = new Date(Date.parse(now) - 86_400_000).toISOString()
  await db.deleteFrom('sign_ins').where('expires_at', '<', day_before).execute()
  await db.deleteFrom('seen_assertions').where('expires_at', '<', now).execute()
  await db.deleteFrom('sign_in_failures').where('expires_at', '<', now).execute()
  await db.deleteFrom('login_codes').where('expires_at', '<', day_before).execute()
}

/** Ends the open sign-ins of a person who leaves: those whose result waits, and codes that were confirmed. */
export async function endSignInsOf(db: Db, organisation_id: string, user_id: string, now: string) {
  await db
    .updateTable('login_codes')
    .set({status: 'denied'})
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .where('status', '=', 'confirmed')
    .execute()
  await db
    .updateTable('sign_ins')
    .set({used_at: now, secrets: null, result: null})
    .where('organisation_id', '=', organisation_id)
    .where('user_id', '=', user_id)
    .where('used_at', 'is', null)
    .execute()
}
