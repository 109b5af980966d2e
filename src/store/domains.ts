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

export async function insertDomain(db: Db, row: DomainsTable) {
  await db.insertInto('domains').values(row).execute()
}

export async function updateDomain(db: Db, id: string, change: Partial<DomainsTable>) {
  await db.updateTable('domains').set(change).where('id', '=', id).execute()
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
