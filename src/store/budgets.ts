import type {Db} from './database.ts'
import {globalAccess} from './providers.ts'

/** An entity that has budgets, as its row holds them. */
export interface BudgetedRow {
  readonly entity: 'key' | 'workspace' | 'provider' | 'integration'
  /** Of an integration, which is limited per workspace, both ids. */
  readonly id: string
  readonly name: string
  readonly organisation_id: string
  readonly workspace_id: string
  readonly usage_limits: string | null
  readonly last_reset_at: string | null
  /** Of a key and a provider, which are shown as exhausted; null for what is not. */
  readonly status: 'active' | 'exhausted' | null
  /** JSON array of addresses; null when there are none. */
  readonly alert_emails: string | null
}

/** Everything that has a budget, or is shown as having used one up. Archived and expired ones have no say any more. */
export async function budgeted(db: Db): Promise<readonly BudgetedRow[]> {
  return [...(await keys(db)), ...(await workspaces(db)), ...(await providers(db)), ...(await integrations(db))]
}

const OPEN = ['active', 'exhausted'] as const

async function keys(db: Db): Promise<BudgetedRow[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select([
      'id',
      'name',
      'organisation_id',
      'workspace_id',
      'usage_limits',
      'last_reset_at',
      'status',
      'alert_emails',
    ])
    .where('status', 'in', OPEN)
    .where(e => e.or([e('usage_limits', 'is not', null), e('status', '=', 'exhausted')]))
    .execute()
  return rows.map(row => ({...row, entity: 'key', workspace_id: row.workspace_id ?? '', status: opened(row.status)}))
}

async function workspaces(db: Db): Promise<BudgetedRow[]> {
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'name', 'organisation_id', 'usage_limits'])
    .where('status', '=', 'active')
    .where('usage_limits', 'is not', null)
    .execute()
  return rows.map(row => ({...row, ...BARE, entity: 'workspace', workspace_id: row.id, last_reset_at: null}))
}

async function providers(db: Db): Promise<BudgetedRow[]> {
  const rows = await db
    .selectFrom('providers')
    .select(['id', 'slug as name', 'organisation_id', 'workspace_id', 'usage_limits', 'last_reset_at', 'status'])
    .where('status', 'in', OPEN)
    .where(e => e.or([e('usage_limits', 'is not', null), e('status', '=', 'exhausted')]))
    .execute()
  return rows.map(row => ({...row, entity: 'provider', alert_emails: null, status: opened(row.status)}))
}

/**
 * Each integration in each workspace that has a provider of it, with the limits of its own there, else those of all (as
 * calls find them).
 */
async function integrations(db: Db): Promise<BudgetedRow[]> {
  const rows = await db
    .selectFrom('providers as p')
    .innerJoin('integrations as i', 'i.id', 'p.integration_id')
    .leftJoin('integration_workspaces as iw', join =>
      join.onRef('iw.integration_id', '=', 'p.integration_id').onRef('iw.workspace_id', '=', 'p.workspace_id'),
    )
    .select(['i.id', 'i.slug as name', 'p.organisation_id', 'p.workspace_id', 'i.global_workspace_access'])
    .select(['iw.enabled', 'iw.usage_limits', 'iw.last_reset_at'])
    .distinct()
    .where('p.status', '<>', 'archived')
    .where('i.status', '=', 'active')
    .where(e => e.or([e('iw.usage_limits', 'is not', null), e('i.global_workspace_access', 'is not', null)]))
    .execute()
  return rows.flatMap(({global_workspace_access, enabled, ...row}) => {
    const usage_limits = enabled === null ? globalAccess(global_workspace_access).usage_limits : row.usage_limits
    return usage_limits === null
      ? []
      : [{...row, ...BARE, entity: 'integration' as const, id: `${row.id}/${row.workspace_id}`, usage_limits}]
  })
}

const BARE = {status: null, alert_emails: null} as const

function opened(status: string): 'active' | 'exhausted' {
  return status === 'exhausted' ? 'exhausted' : 'active'
}

/** Shows a key or a provider as `status`, unless it is something else than `active` or `exhausted` by now. */
export async function showStatus(
  db: Db,
  {entity, id}: Pick<BudgetedRow, 'entity' | 'id'>,
  status: 'active' | 'exhausted',
  now: string,
) {
  const table = entity === 'key' ? 'api_keys' : 'providers'
  await db
    .updateTable(table)
    .set({status, last_updated_at: now})
    .where('id', '=', id)
    .where('status', '=', status === 'active' ? 'exhausted' : 'active')
    .execute()
}

/** A key or a provider whose time is over. */
export interface Expired
  extends Pick<BudgetedRow, 'id' | 'name' | 'organisation_id' | 'workspace_id' | 'alert_emails'> {
  readonly entity: 'key' | 'provider'
  readonly expires_at: string
}

/** Keys and providers past their expiry that are not shown as expired yet. */
export async function expiring(db: Db, now: string): Promise<readonly Expired[]> {
  const past = {status: OPEN, now}
  const of_keys = await db
    .selectFrom('api_keys')
    .select(['id', 'name', 'organisation_id', 'workspace_id', 'alert_emails', 'expires_at'])
    .where('status', 'in', past.status)
    .where('expires_at', '<=', now)
    .execute()
  const of_providers = await db
    .selectFrom('providers')
    .select(['id', 'slug as name', 'organisation_id', 'workspace_id', 'expires_at'])
    .where('status', 'in', past.status)
    .where('expires_at', '<=', now)
    .execute()
  return [
    ...of_keys.map(row => ({
      ...row,
      entity: 'key' as const,
      workspace_id: row.workspace_id ?? '',
      expires_at: row.expires_at ?? now,
    })),
    ...of_providers.map(row => ({
      ...row,
      entity: 'provider' as const,
      alert_emails: null,
      expires_at: row.expires_at ?? now,
    })),
  ]
}

/** Marks one as expired, if it still is; false when another process was faster or gave it more time. */
export async function expire(db: Db, {entity, id}: Pick<Expired, 'entity' | 'id'>, now: string): Promise<boolean> {
  const table = entity === 'key' ? 'api_keys' : 'providers'
  const {numUpdatedRows} = await db
    .updateTable(table)
    .set({status: 'expired', last_updated_at: now})
    .where('id', '=', id)
    .where('status', 'in', OPEN)
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return numUpdatedRows > 0
}
