import type {Insertable} from 'kysely'
import {onTestFinished} from 'vitest'
import {decodeRecord, encodeSettlement, openTarget} from '../../src/store/flush/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import type {ApiKeysTable} from '../../src/store/tables/identity.ts'
import {usageSince} from '../../src/store/usage.ts'
import {intent, settlement, targetOf} from './records.ts'
import {type StoreKind, type TestStore, testStore} from './stores.ts'

export const ORGANISATION = '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a01'
export const WORKSPACE = '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a02'
const AT = '2026-03-01T00:00:00.000Z'

/** A database with `spending`, closed when the test ends. */
export async function spendingOn(kind: StoreKind) {
  const database = await testStore(kind)
  const spent = await spending(database)
  onTestFinished(async () => {
    await spent.target.close()
    await database.close()
  })
  return {store: database.store, spent, database}
}

/** An organisation with a workspace, the way to make keys in it, and to spend on them what the ledger is to know. */
export async function spending(database: TestStore) {
  const {store} = database
  const stamps = {created_at: AT, last_updated_at: AT}
  await store.db
    .insertInto('organisations')
    .values({id: ORGANISATION, slug: 'org', name: 'Example', ...stamps})
    .execute()
  const workspace = {
    id: WORKSPACE,
    slug: 'ws-blue',
    organisation_id: ORGANISATION,
    name: 'blue',
    is_default: 1,
    status: 'active',
  } as const
  const nothing = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
  await store.db
    .insertInto('workspaces')
    .values({...workspace, ...nothing, ...stamps})
    .execute()
  const mark = await openMark(store, 'writer', 1)
  const target = await openTarget(targetOf(database), 'writer', 1)
  let position = mark.position
  let calls = 0
  return {
    target,
    /** Makes a key with a budget; `limit` as it is stored. */
    async key(id: string, limit: object | null, more: Partial<Insertable<ApiKeysTable>> = {}) {
      const usage_limits = limit && JSON.stringify([stored(limit)])
      const row = {
        id,
        organisation_id: ORGANISATION,
        workspace_id: WORKSPACE,
        name: id,
        key_hash: id,
        key_masked: id,
        usage_limits,
        ...stamps,
      }
      await store.db
        .insertInto('api_keys')
        .values({...row, ...KEY, ...more})
        .execute()
    },
    async setLimit(id: string, limit: object | null) {
      const usage_limits = limit && JSON.stringify([stored(limit)])
      await store.db.updateTable('api_keys').set({usage_limits}).where('id', '=', id).execute()
    },
    async spend(api_key_id: string, cost_usd: number, admitted_at: string, given: Parameters<typeof intent>[0] = {}) {
      const of = intent({
        call_id: `call-${++calls}`,
        organisation_id: ORGANISATION,
        workspace_id: WORKSPACE,
        api_key_id,
        admitted_at,
        ...given,
      })
      const said = settlement(of, {cost_nanousd: Math.round(cost_usd * 1e9), log: null})
      const from = {...mark, position}
      const to = {...mark, position: ++position}
      await target.apply({from, end: () => to, records: [decodeRecord(Buffer.from(encodeSettlement(said)))]})
    },
    usage: (scope: Parameters<typeof usageSince>[1], since_at: string) => usageSince(store.db, scope, since_at),
    statusOf: async (id: string) =>
      (await store.db.selectFrom('api_keys').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status,
  }
}

const KEY = {
  kind: 'workspace-service',
  user_id: null,
  description: null,
  scopes: '[]',
  rate_limits: null,
  defaults: null,
  alert_emails: null,
  status: 'active',
  creation_mode: 'api',
  expires_at: null,
  last_reset_at: null,
} as const

/** A limit as it is kept, with what is left unsaid. */
export const stored = (limit: object) => ({
  type: 'cost',
  credit_limit: 10,
  alert_threshold: null,
  periodic_reset: null,
  periodic_reset_days: null,
  next_usage_reset_at: null,
  enforcement: 'compatible',
  started_at: AT,
  ...limit,
})
