import {sql} from 'kysely'
import type {CallTarget} from '../schema/call-targets.ts'
import type {Page, Paged} from '../schema/paging.ts'
import {policyEntityId} from '../schema/policy-entities.ts'
import type {Db} from './database.ts'
import {containing, paged} from './rows.ts'
import {saturatedSum, saturatedTotal} from './saturated.ts'
import type {PoliciesTable} from './tables/policies.ts'

export async function insertPolicy(db: Db, row: PoliciesTable) {
  await db.insertInto('policies').values(row).execute()
}

export async function updatePolicy(db: Db, id: string, change: Partial<PoliciesTable>) {
  await db.updateTable('policies').set(change).where('id', '=', id).execute()
}

export interface PolicyReach {
  readonly kind: PoliciesTable['kind']
  readonly organisation_id: string
  readonly workspace_id?: string | undefined
}

/** The policy of this kind; undefined when there is none within reach, or it has another status. */
export function findPolicy(
  db: Db,
  {kind, organisation_id, workspace_id}: PolicyReach,
  id: string,
  status: PoliciesTable['status'],
): Promise<PoliciesTable | undefined> {
  let matching = db.selectFrom('policies').selectAll().where('id', '=', id).where('kind', '=', kind)
  matching = matching.where('organisation_id', '=', organisation_id).where('status', '=', status)
  if (workspace_id !== undefined) matching = matching.where('workspace_id', '=', workspace_id)
  return matching.executeTakeFirst()
}

export interface PolicyFilter extends PolicyReach {
  readonly status: PoliciesTable['status']
  readonly type?: PoliciesTable['type'] | undefined
  readonly unit?: PoliciesTable['unit'] | undefined
  readonly target?: CallTarget | undefined
}

/** Newest first. */
export async function listPolicies(db: Db, filter: PolicyFilter, page: Page): Promise<Paged<PoliciesTable>> {
  let matching = db.selectFrom('policies').where('kind', '=', filter.kind).where('status', '=', filter.status)
  matching = matching.where('organisation_id', '=', filter.organisation_id)
  if (filter.workspace_id !== undefined) matching = matching.where('workspace_id', '=', filter.workspace_id)
  if (filter.type) matching = matching.where('type', '=', filter.type)
  if (filter.unit) matching = matching.where('unit', '=', filter.unit)
  if (filter.target) matching = matching.where('target', '=', filter.target)
  return paged(matching.selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

/** All that calls of a workspace are held to, or those of one kind of calls, the oldest first. */
export function policiesForCalls(db: Db, workspace_id: string, target?: CallTarget): Promise<PoliciesTable[]> {
  let active = db
    .selectFrom('policies')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('status', '=', 'active')
  if (target) active = active.where('target', '=', target)
  return active.orderBy('created_at').orderBy('id').execute()
}

/** When entities of a workspace's policies were reset: policy → value key → time. */
export async function policyResets(
  db: Db,
  workspace_id: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const rows = await db
    .selectFrom('policy_resets')
    .innerJoin('policies', 'policies.id', 'policy_resets.policy_id')
    .select(['policy_resets.policy_id', 'policy_resets.value_key', 'policy_resets.reset_at'])
    .where('policies.workspace_id', '=', workspace_id)
    .execute()
  const resets = new Map<string, Map<string, string>>()
  for (const {policy_id, value_key, reset_at} of rows) {
    const known = resets.get(policy_id) ?? new Map<string, string>()
    resets.set(policy_id, known.set(value_key, reset_at))
  }
  return resets
}

export async function resetEntity(db: Db, policy_id: string, value_key: string, reset_at: string) {
  await db
    .insertInto('policy_resets')
    .values({policy_id, value_key, reset_at})
    .onConflict(conflict => conflict.columns(['policy_id', 'value_key']).doUpdateSet({reset_at}))
    .execute()
}

/** Slug → id of the configs of a workspace that are named so. */
export async function configIds(
  db: Db,
  workspace_id: string,
  slugs: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (slugs.length === 0) return new Map()
  const rows = await db.selectFrom('configs').select(['id', 'slug']).where('workspace_id', '=', workspace_id).execute()
  return new Map(rows.filter(({slug}) => slugs.includes(slug)).map(({id, slug}) => [slug, id]))
}

/**
 * The usage of an entity at or after `since_at`, in the unit that its policy counts. Exact; covers all that is flushed.
 */
export async function policyUsedSince(db: Db, policy_id: string, value_key: string, since_at: string): Promise<bigint> {
  const {used} = await db
    .selectFrom('traffic.policy_usage')
    .select(SUM)
    .where('policy_id', '=', policy_id)
    .where('entity_id', '=', policyEntityId(policy_id, value_key))
    .where('since_at', '>=', since_at)
    .executeTakeFirstOrThrow()
  return BigInt(used)
}

/** Sums travel as text: one may be beyond 2^53. */
const SUM = saturatedSum(sql`used`).as('used')

export interface EntityFilter {
  /** Budgets count since then; rates only in the window that began then. ISO 8601 UTC. */
  readonly since_at: string
  /** An entity that used so much, in what the policy counts, is exhausted. */
  readonly limit: bigint
  readonly status?: 'active' | 'exhausted' | undefined
  readonly search?: string | undefined
  readonly id?: string | undefined
}

export interface EntityUsage {
  readonly id: string
  readonly value_key: string
  readonly used: bigint
}

/** The entities that calls made under a policy, those that used most first. */
export async function policyEntities(
  db: Db,
  policy: Pick<PoliciesTable, 'id' | 'kind'>,
  filter: EntityFilter,
  page: Page,
): Promise<Paged<EntityUsage>> {
  const {entities, sum} = entitiesOf(db, policy, filter.since_at)
  let matching = entities
  if (filter.id !== undefined) matching = matching.where('u.entity_id', '=', filter.id)
  if (filter.search !== undefined)
    matching = matching.where(sql<boolean>`u.value_key like ${containing(filter.search)} escape '\\'`)
  if (filter.status === 'active') matching = matching.having(sql<boolean>`${sum} < ${filter.limit}`)
  if (filter.status === 'exhausted') matching = matching.having(sql<boolean>`${sum} >= ${filter.limit}`)
  const {n} = await db
    .selectFrom(matching.select('u.entity_id').as('entities'))
    .select(e => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const rows = await matching
    .select(['u.entity_id', 'u.value_key', sql<string>`cast(${sum} as text)`.as('used')])
    .orderBy(sum, 'desc')
    .orderBy('u.value_key')
    .limit(page.page_size)
    .offset(page.current_page * page.page_size)
    .execute()
  return {
    total: Number(n),
    rows: rows.map(({entity_id, value_key, used}) => ({id: entity_id, value_key, used: BigInt(used)})),
  }
}

/** An entity of a usage policy that is to be looked at for alerts. */
export interface PolicySpender {
  readonly value_key: string
  readonly used: bigint
  /** When its usage was last set to zero by hand; ISO 8601. */
  readonly reset_at: string | null
}

/**
 * The entities of a usage policy that used `least` or more since `since_at` (ISO 8601), and those with an alert before.
 */
export async function policySpenders(
  db: Db,
  policy_id: string,
  since_at: string,
  least: bigint,
): Promise<readonly PolicySpender[]> {
  const {entities, sum} = entitiesOf(db, {id: policy_id, kind: 'usage'}, since_at)
  const was_told = sql`exists (select 1 from alerts where entity = 'policy' and entity_id = ${`${policy_id}/`} || u.value_key)`
  const rows = await entities
    .having(sql<boolean>`${sum} >= ${least} or ${was_told}`)
    .select(e => ['u.value_key', sql<string>`cast(${sum} as text)`.as('used'), e.fn.max('r.reset_at').as('reset_at')])
    .orderBy('u.value_key')
    .execute()
  return rows.map(({value_key, used, reset_at}) => ({value_key, used: BigInt(used), reset_at}))
}

/** The usage policies that calls of any workspace are held to. */
export function usagePolicies(db: Db): Promise<PoliciesTable[]> {
  return db
    .selectFrom('policies')
    .innerJoin('workspaces', 'workspaces.id', 'policies.workspace_id')
    .selectAll('policies')
    .where('policies.kind', '=', 'usage')
    .where('policies.status', '=', 'active')
    .where('workspaces.status', '=', 'active')
    .orderBy('policies.created_at')
    .orderBy('policies.id')
    .execute()
}

/** Entities of a policy, grouped; and what one of them used since `since_at`, and since it was set to zero. */
function entitiesOf(db: Db, {id, kind}: Pick<PoliciesTable, 'id' | 'kind'>, since_at: string) {
  const table = kind === 'usage' ? ('traffic.policy_usage' as const) : ('traffic.policy_windows' as const)
  const counts = sql`u.since_at >= ${since_at} and (r.reset_at is null or u.since_at >= r.reset_at)`
  const entities = db
    .selectFrom(`${table} as u`)
    .leftJoin('policy_resets as r', join =>
      join.onRef('r.policy_id', '=', 'u.policy_id').onRef('r.value_key', '=', 'u.value_key'),
    )
    .where('u.policy_id', '=', id)
    .groupBy(['u.entity_id', 'u.value_key'])
  return {entities, sum: saturatedTotal(sql`case when ${counts} then u.used else 0 end`)}
}
