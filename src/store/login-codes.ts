import type {Db} from './database.ts'
import type {ProviderMarks} from './sessions.ts'
import type {LoginCodesTable} from './tables/sign-in.ts'

export async function insertLoginCode(db: Db, row: LoginCodesTable) {
  await db.insertInto('login_codes').values(row).execute()
}

export function findLoginCode(db: Db, code_hash: string): Promise<LoginCodesTable | undefined> {
  return db.selectFrom('login_codes').selectAll().where('code_hash', '=', code_hash).executeTakeFirst()
}

/** The one that waits for this code of a person. */
export function findByUserCode(db: Db, user_code_hash: string, now: string): Promise<LoginCodesTable | undefined> {
  return db
    .selectFrom('login_codes')
    .selectAll()
    .where('user_code_hash', '=', user_code_hash)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

export async function countOpenCodes(db: Db, client_ip: string, now: string): Promise<number> {
  const {n} = await db
    .selectFrom('login_codes')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('client_ip', '=', client_ip)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Changes a code that has this status; false where it has another by now. */
export async function moveLoginCode(
  db: Db,
  {id, status}: Pick<LoginCodesTable, 'id' | 'status'>,
  change: Partial<LoginCodesTable>,
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('login_codes')
    .set(change)
    .where('id', '=', id)
    .where('status', '=', status)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Takes back codes that a session of these marks confirmed and no command line fetched yet. */
export async function denyCodesAt(
  db: Db,
  organisation_id: string,
  {connection_id, idp_session, idp_subject}: ProviderMarks,
): Promise<void> {
  let query = db
    .updateTable('login_codes')
    .set({status: 'denied'})
    .where('organisation_id', '=', organisation_id)
    .where('connection_id', '=', connection_id)
    .where('status', '=', 'confirmed')
  if (idp_session !== null) query = query.where('idp_session', '=', idp_session)
  if (idp_subject !== null) query = query.where('idp_subject', '=', idp_subject)
  await query.execute()
}
