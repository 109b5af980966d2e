import {sql} from 'kysely'
import type {UsageDimension} from '../schema/usage-dimensions.ts'
import type {Db} from './database.ts'
import {saturatedSum} from './saturated.ts'

export interface UsageSumsFilter {
  readonly organisation_id: string
  readonly workspace_id: string | undefined
  /** Only usage of these users' keys. */
  readonly user_ids?: readonly string[] | undefined
  /** Hours by their beginning: `from` is the first, `until` the first that does not count. */
  readonly from: string
  readonly until: string | undefined
}

/**
 * A sum by raw columns: ids and slugs as rows keep them, empty texts for what is unknown. Numbers are texts, exact
 * beyond 2^53.
 */
export type RawSum = Readonly<Record<UsageColumn | UsageSummed, string>>

type UsageColumn = 'api_key_id' | 'workspace_id' | 'provider_slug' | 'provider' | 'model' | 'time'
export type UsageSummed = (typeof SUMMED)[number]
export const SUMMED = [
  'requests',
  'failures',
  'unpriced',
  'prompt_tokens',
  'completion_tokens',
  'cost_nanousd',
] as const

/** The user of a key comes from the key: it belongs to one permanently. */
const COLUMNS: Readonly<Record<UsageDimension, UsageColumn>> = {
  key: 'api_key_id',
  user: 'api_key_id',
  workspace: 'workspace_id',
  provider: 'provider_slug',
  kind: 'provider',
  model: 'model',
  hour: 'time',
  day: 'time',
  month: 'time',
}
const TIME_CHARACTERS = {hour: 24, day: 10, month: 7} as const

/** Sums usage from the hourly sums, never from single entries. What is not summed by is an empty text. */
export async function usageSums(
  db: Db,
  by: readonly UsageDimension[],
  filter: UsageSumsFilter,
): Promise<readonly RawSum[]> {
  const wanted = new Set(by.map(dimension => COLUMNS[dimension]))
  const characters = Math.max(
    0,
    ...by.map(dimension => (dimension in TIME_CHARACTERS ? TIME_CHARACTERS[dimension as 'hour'] : 0)),
  )
  const time = sql<string>`substr(hour, 1, ${sql.lit(characters)})`
  const columns = [...wanted].map(column => (column === 'time' ? time : sql.ref<string>(column)))
  let query = db
    .selectFrom('traffic.usage_hourly')
    .select([...wanted].map((column, at) => columns[at]!.as(column)))
    .select(SUMMED.map(column => saturatedSum(sql.ref(column)).as(column)))
    .where('organisation_id', '=', filter.organisation_id)
    .where('hour', '>=', filter.from)
  if (filter.workspace_id !== undefined) query = query.where('workspace_id', '=', filter.workspace_id)
  if (filter.user_ids !== undefined)
    query = query.where(
      'api_key_id',
      'in',
      db.selectFrom('api_keys').select('id').where('user_id', 'in', filter.user_ids),
    )
  if (filter.until !== undefined) query = query.where('hour', '<', filter.until)
  const rows = await query.groupBy(columns).execute()
  const nothing = {api_key_id: '', workspace_id: '', provider_slug: '', provider: '', model: '', time: ''}
  return rows.map(row => ({...nothing, ...row}))
}

/** The names and users of keys, by id; deleted ones too. */
export async function keyNames(db: Db, organisation_id: string, ids: readonly string[]) {
  const found = new Map<string, {readonly name: string; readonly user_id: string | null}>()
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const rows = await db
      .selectFrom('api_keys')
      .select(['id', 'name', 'user_id'])
      .where('organisation_id', '=', organisation_id)
      .where('id', 'in', ids.slice(at, at + MAX_IDS))
      .execute()
    for (const {id, ...row} of rows) found.set(id, row)
  }
  return found
}

/** The names of users of an organisation, by id, those who left too: else their addresses. */
export async function userNames(
  db: Db,
  organisation_id: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const rows = await db
      .selectFrom('organisation_users')
      .innerJoin('users', 'users.id', 'organisation_users.user_id')
      .select(['users.id', 'first_name', 'last_name', 'email'])
      .where('organisation_users.organisation_id', '=', organisation_id)
      .where('users.id', 'in', ids.slice(at, at + MAX_IDS))
      .execute()
    for (const {id, first_name, last_name, email} of rows)
      names.set(id, [first_name, last_name].filter(Boolean).join(' ') || email)
  }
  return names
}

const MAX_IDS = 500

/** Names of all workspaces of an organisation, by id; archived ones too. */
export async function workspaceNames(db: Db, organisation_id: string): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'name'])
    .where('organisation_id', '=', organisation_id)
    .execute()
  return new Map(rows.map(({id, name}) => [id, name]))
}
