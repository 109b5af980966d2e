import {sql} from 'kysely'
import type {Db} from './database.ts'
import {policyUsedSince} from './policies.ts'
import {retainedSince} from './retention-start.ts'
import {saturatedSum} from './saturated.ts'

export interface EntityUsageScope {
  readonly entity: 'key' | 'token' | 'workspace' | 'provider' | 'integration'
  /** Of an integration and a token `<its id>/<workspace id>`. */
  readonly id: string
  readonly workspace_id: string
}

export interface LedgerUsage {
  readonly tokens: bigint
  readonly cost_nanousd: bigint
}

/** `usageSince` of any scope; of an entity of a policy what that counts, which has both names. */
export async function usedSince(
  db: Db,
  {
    entity,
    id,
    workspace_id,
  }: {readonly entity: EntityUsageScope['entity'] | 'policy'; readonly id: string; readonly workspace_id: string},
  since_at: string,
): Promise<LedgerUsage> {
  if (entity !== 'policy') return usageSince(db, {entity, id, workspace_id}, since_at)
  const slash = id.indexOf('/')
  const used = await policyUsedSince(db, id.slice(0, slash), id.slice(slash + 1), since_at)
  return {tokens: used, cost_nanousd: used}
}

const HOUR_MS = 3_600_000

/**
 * The usage of a scope's calls that were admitted at or after `since_at` (ISO 8601 UTC): the hours that are wholly
 * after it from the hourly sums, the rest of its own hour from the entries, and so the hours whose sums are deleted.
 * Exact; covers all that is flushed.
 */
export async function usageSince(db: Db, scope: EntityUsageScope, since_at: string): Promise<LedgerUsage> {
  const kept_ms = Date.parse(await retainedSince(db, 'hours'))
  const since_ms = Date.parse(since_at)
  const next_hour_ms = Math.ceil(Math.max(since_ms, kept_ms || 0) / HOUR_MS) * HOUR_MS
  const slugs = await slugsOf(db, scope)
  if (slugs === 'ambiguous') return entriesBetween(db, scope, since_at, null)
  const hours = await hoursFrom(db, scope, slugs, new Date(next_hour_ms).toISOString().slice(0, 13))
  if (next_hour_ms === since_ms) return hours
  const entries = await entriesBetween(db, scope, since_at, new Date(next_hour_ms).toISOString())
  return {tokens: hours.tokens + entries.tokens, cost_nanousd: hours.cost_nanousd + entries.cost_nanousd}
}

/**
 * The slugs that the hourly sums know the scope by; null where they know it by its id. A slug is free again once its
 * provider is archived: where another integration of the workspace has, or had, one of them, only the entries tell the
 * two apart.
 */
async function slugsOf(
  db: Db,
  {entity, id, workspace_id}: EntityUsageScope,
): Promise<readonly string[] | null | 'ambiguous'> {
  if (entity === 'key' || entity === 'token' || entity === 'workspace') return null
  const providers = db.selectFrom('providers').where('workspace_id', '=', workspace_id)
  if (entity === 'provider') {
    const rows = await providers.select('slug').where('id', '=', id).execute()
    return rows.map(row => row.slug)
  }
  const rows = await providers.select(['slug', 'integration_id']).execute()
  const own = new Set(rows.filter(row => row.integration_id === bareId(id)).map(row => row.slug))
  return rows.some(row => row.integration_id !== bareId(id) && own.has(row.slug)) ? 'ambiguous' : [...own]
}

/** `hour` begins with what `from_hour` says (`2026-01-02T03`), whatever follows. */
async function hoursFrom(
  db: Db,
  {entity, id, workspace_id}: EntityUsageScope,
  slugs: readonly string[] | null,
  from_hour: string,
): Promise<LedgerUsage> {
  if (slugs?.length === 0) return NOTHING
  let query = db.selectFrom('traffic.usage_hourly').where('hour', '>=', from_hour)
  if (entity === 'key' || entity === 'token') query = query.where('api_key_id', '=', bareId(id))
  else query = query.where('workspace_id', '=', workspace_id)
  if (slugs) query = query.where('provider_slug', 'in', slugs)
  return exactly(await query.select(SUMS).executeTakeFirstOrThrow())
}

/** By workspace first: that is how the entries are indexed. */
async function entriesBetween(
  db: Db,
  {entity, id, workspace_id}: EntityUsageScope,
  from_at: string,
  before_at: string | null,
): Promise<LedgerUsage> {
  let query = db
    .selectFrom('traffic.ledger_entries')
    .where('workspace_id', '=', workspace_id)
    .where('admitted_at', '>=', from_at)
  if (before_at !== null) query = query.where('admitted_at', '<', before_at)
  if (entity === 'key' || entity === 'token') query = query.where('api_key_id', '=', bareId(id))
  if (entity === 'provider') query = query.where('provider_id', '=', id)
  if (entity === 'integration') query = query.where('integration_id', '=', bareId(id))
  return exactly(await query.select(SUMS).executeTakeFirstOrThrow())
}

const NOTHING: LedgerUsage = {tokens: 0n, cost_nanousd: 0n}

/** Sums travel as text: one may be beyond 2^53. */
const SUMS = [
  saturatedSum(sql`prompt_tokens`).as('prompt_tokens'),
  saturatedSum(sql`completion_tokens`).as('completion_tokens'),
  saturatedSum(sql`cost_nanousd`).as('cost_nanousd'),
] as const

function exactly({
  prompt_tokens,
  completion_tokens,
  cost_nanousd,
}: Readonly<Record<'prompt_tokens' | 'completion_tokens' | 'cost_nanousd', string>>): LedgerUsage {
  return {tokens: BigInt(prompt_tokens) + BigInt(completion_tokens), cost_nanousd: BigInt(cost_nanousd)}
}

/** Without the workspace. */
const bareId = (id: string) => id.split('/', 1)[0]!
