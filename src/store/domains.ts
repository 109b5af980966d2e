import type {Db} from './database.ts'
import type {DomainsTable} from './tables/directories.ts'

/** Those of an organisation by name, or of all. */
export function listDomains(db: Db, organisation_id?: string): Promise<DomainsTable[]> {
  const all = db.selectFrom('domains').selectAll().orderBy('domain')
  return (organisation_id === undefined ? all : all.where('organisation_id', '=', organisation_id)).execute()
}

/** The domain of the organisation whose id or name is `named`. */
export function findDomain(db: Db, organisation_id: string, named: string): Promise<DomainsTable | undefined> {
  return db
    .selectFrom('domains')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where(e => e.or([e('id', '=', named), e('domain', '=', named)]))
    .executeTakeFirst()
}

/** True where any organisation has verified it. */
export async function isVerified(db: Db, domain: string): Promise<boolean> {
  const rows = db.selectFrom('domains').select('id').where('domain', '=', domain).where('status', '=', 'verified')
  return (await rows.executeTakeFirst()) !== undefined
}

/** True where another row has it: its own may have become verified since it was read. */
export async function isVerifiedElsewhere(db: Db, {id, domain}: Pick<DomainsTable, 'id' | 'domain'>): Promise<boolean> {
  const rows = db.selectFrom('domains').select('id').where('domain', '=', domain).where('status', '=', 'verified')
  return (await rows.where('id', '<>', id).executeTakeFirst()) !== undefined
}

export async function countPending(db: Db, organisation_id: string): Promise<number> {
  const {n} = await db
    .selectFrom('domains')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow()
  return Number(n)
}

export async function insertDomain(db: Db, row: DomainsTable) {
  await db.insertInto('domains').values(row).execute()
}

export async function updateDomain(db: Db, id: string, change: Partial<DomainsTable>) {
  await db.updateTable('domains').set(change).where('id', '=', id).execute()
}

const LOOK_EVERY_MS = 7 * 86_400_000

/** When a record that was found at `now` is to be looked for again. */
export function nextLookAt(now: string): string {
  return new Date(Date.parse(now) + LOOK_EVERY_MS).toISOString()
}

/** Notes that a domain is proven. Throws as a taken row does where another organisation has verified it. */
export async function verifyDomain(
  db: Db,
  {id, verified_at}: Pick<DomainsTable, 'id' | 'verified_at'>,
  {proof, now}: {proof: NonNullable<DomainsTable['proof']>; now: string},
) {
  await updateDomain(db, id, {
    ...{status: 'verified', proof, verified_at: verified_at ?? now},
    ...{mail_code_hash: null, mail_code_ends_at: null, mail_tries: null},
    ...(proof === 'dns' && {looked_at: now, look_due_at: nextLookAt(now), lost_at: null}),
  })
}

export async function deleteDomain(db: Db, id: string) {
  await db.deleteFrom('domains').where('id', '=', id).execute()
}

/** True where the domain, or one above it that lets what is below count, is a verified one of the organisation. */
export async function coversDomain(db: Db, organisation_id: string, domain: string): Promise<boolean> {
  const labels = domain.split('.')
  const above = labels.slice(1).map((_, at) => labels.slice(at + 1).join('.'))
  const rows = await db
    .selectFrom('domains')
    .select(['domain', 'allow_subdomains'])
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'verified')
    .where('domain', 'in', [domain, ...above])
    .execute()
  return rows.some(row => row.domain === domain || row.allow_subdomains === 1)
}

/** The organisations that have verified the domain, or one above it that lets what is below count. */
export async function organisationsOfDomain(db: Db, domain: string): Promise<readonly string[]> {
  const labels = domain.split('.')
  const above = labels.slice(1).map((_, at) => labels.slice(at + 1).join('.'))
  const rows = await db
    .selectFrom('domains')
    .select(['organisation_id', 'domain', 'allow_subdomains'])
    .where('status', '=', 'verified')
    .where('domain', 'in', [domain, ...above])
    .execute()
  const covering = rows.filter(row => row.domain === domain || row.allow_subdomains === 1)
  return [...new Set(covering.map(({organisation_id}) => organisation_id))]
}

/** Counts one try of the code that was sent; false where there is none that can be tried. */
export async function takeMailTry(db: Db, id: string, {now, most}: {now: string; most: number}): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('domains')
    .set(e => ({mail_tries: e('mail_tries', '+', 1)}))
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('mail_code_hash', 'is not', null)
    .where('mail_code_ends_at', '>', now)
    .where('mail_tries', '<', most)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Those whose record is to be looked for again, the longest waiting first. */
export function domainsToLookAt(db: Db, now: string, most: number): Promise<DomainsTable[]> {
  return db
    .selectFrom('domains')
    .selectAll()
    .where('status', '=', 'verified')
    .where('look_due_at', '<=', now)
    .orderBy('look_due_at')
    .orderBy('id')
    .limit(most)
    .execute()
}

/** Keeps the outcome of a look at what is still as it was looked at; false where it is not. */
export async function noteDomainLook(
  db: Db,
  {id, code}: Pick<DomainsTable, 'id' | 'code'>,
  change: Pick<DomainsTable, 'look_due_at'> & Partial<Pick<DomainsTable, 'looked_at' | 'lost_at'>>,
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('domains')
    .set(change)
    .where('id', '=', id)
    .where('code', '=', code)
    .where('status', '=', 'verified')
    .where('look_due_at', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** How many verified domains have lost the record that proved them, of all organisations. */
export async function countLostDomains(db: Db): Promise<number> {
  const {n} = await db
    .selectFrom('domains')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('status', '=', 'verified')
    .where('lost_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}
