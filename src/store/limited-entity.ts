import type {Db} from './database.ts'
import {anyOf} from './rows.ts'
import type {ApiKeyKind} from './tables/identity.ts'

/** An entity that has limits of its own, as its row holds them. */
export interface LimitedEntity {
  readonly entity: 'key' | 'workspace' | 'provider' | 'integration'
  /** Of an integration, which is limited per workspace, both ids. */
  readonly id: string
  readonly name: string
  readonly workspace_id: string
  readonly usage: string | null
  readonly rates: string | null
  readonly last_reset_at: string | null
}

/** The workspace of what has a limit; null when it is not there. A policy's usage is known by the policy alone. */
export async function workspaceOfLimited(
  db: Db,
  {entity, id}: {readonly entity: LimitedEntity['entity'] | 'token' | 'policy'; readonly id: string},
): Promise<string | null> {
  if (entity === 'workspace') return id
  if (entity === 'policy') return ''
  if (entity === 'integration' || entity === 'token') return id.slice(id.indexOf('/') + 1)
  const rows =
    entity === 'key'
      ? db.selectFrom('api_keys').select('workspace_id').where('id', '=', id)
      : db.selectFrom('providers').select('workspace_id').where('id', '=', id)
  return (await rows.executeTakeFirst())?.workspace_id ?? null
}

/** Keys that a caller sees: of these kinds, of this user alone where one is named, and one besides by its id. */
export interface KeysInSight {
  readonly kinds: readonly ApiKeyKind[]
  readonly user_id: string | undefined
  readonly key_id: string | undefined
}

/** Everything in a workspace that has limits: itself, its keys that are in sight, integrations and providers. */
export async function limitedIn(
  db: Db,
  workspace_id: string,
  {kinds, user_id, key_id = ''}: KeysInSight,
): Promise<LimitedEntity[]> {
  const workspace = await db
    .selectFrom('workspaces')
    .select(['id', 'name', 'usage_limits', 'rate_limits'])
    .where('id', '=', workspace_id)
    .executeTakeFirst()
  const keys = await db
    .selectFrom('api_keys')
    .select(['id', 'name', 'usage_limits', 'rate_limits', 'last_reset_at'])
    .where('workspace_id', '=', workspace_id)
    .where('status', '<>', 'archived')
    .where(e => {
      const of_kinds = e('kind', 'in', anyOf(kinds))
      return e.or([
        e('id', '=', key_id),
        user_id === undefined ? of_kinds : e.and([of_kinds, e('user_id', '=', user_id)]),
      ])
    })
    .orderBy('created_at')
    .execute()
  const integrations = await db
    .selectFrom('integration_workspaces as iw')
    .innerJoin('integrations as i', 'i.id', 'iw.integration_id')
    .select(['i.id', 'i.slug as name', 'iw.usage_limits', 'iw.rate_limits', 'iw.last_reset_at'])
    .where('iw.workspace_id', '=', workspace_id)
    .where('i.status', '=', 'active')
    .orderBy('i.created_at')
    .execute()
  const providers = await db
    .selectFrom('providers')
    .select(['id', 'slug as name', 'usage_limits', 'rate_limits', 'last_reset_at'])
    .where('workspace_id', '=', workspace_id)
    .where('status', '<>', 'archived')
    .orderBy('created_at')
    .execute()
  const all = [
    ...(workspace ? [{...workspace, last_reset_at: null, entity: 'workspace' as const}] : []),
    ...keys.map(row => ({...row, entity: 'key' as const})),
    ...integrations.map(row => ({...row, id: `${row.id}/${workspace_id}`, entity: 'integration' as const})),
    ...providers.map(row => ({...row, entity: 'provider' as const})),
  ]
  return all
    .filter(({usage_limits, rate_limits}) => usage_limits !== null || rate_limits !== null)
    .map(({usage_limits: usage, rate_limits: rates, entity, id, name, last_reset_at}) => {
      return {entity, id, name, workspace_id, usage, rates, last_reset_at}
    })
}
