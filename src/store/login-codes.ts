import type {Db} from './database.ts'
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

/** Ends what waits to be fetched by command lines that people of `of` allowed. */
export async function denyAllowedCodes(db: Db, organisation_id: string | null, of: AllowedBy): Promise<void> {
  let codes = db.updateTable('login_codes').set({status: 'denied'}).where('status', '=', 'confirmed')
  if (organisation_id !== null) codes = codes.where('organisation_id', '=', organisation_id)
  if ('user_id' in of) codes = codes.where('user_id', '=', of.user_id)
  if ('connection_id' in of) codes = codes.where('connection_id', '=', of.connection_id)
  if ('other_methods' in of)
    codes = codes.where(e => e.or([e('method', 'not in', [...of.other_methods]), e('method', 'is', null)]))
  await codes.execute()
}

/** By a person, by a connection through which they signed in, or in a way that is none of some. */
export type AllowedBy =
  | {readonly user_id: string}
  | {readonly connection_id: string}
  | {readonly other_methods: readonly string[]}

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

/** A sign-in as its provider names it, hashed: the session, the person, or the session of that person. */
export interface ProviderMarks {
  readonly connection_id: string
  readonly idp_session: string | null
  readonly idp_subject: string | null
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
