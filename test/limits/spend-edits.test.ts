import {cpSync, mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {budgetClaim} from '../../src/limits/budget.ts'
import {readUsageLimits} from '../../src/schema/limits.ts'
import {policyEntityId} from '../../src/schema/policy-entities.ts'
import {backUp} from '../../src/store/backup.ts'
import type {Store} from '../../src/store/database.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {openTarget} from '../../src/store/flush/index.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {usedSince} from '../../src/store/usage.ts'
import {retainLogs} from '../../src/workers/retain-logs.ts'
import {startAdmin} from '../support/admin.ts'
import {callAt, openFlush} from '../support/flushed.ts'
import {targetOf} from '../support/records.ts'
import {KINDS} from '../support/stores.ts'

const START = Date.parse('2028-02-09T09:30:00.000Z') // a leap year
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const USERS = ['ann', 'bob'] as const
const KEYS = ['blue', 'green'] as const

type Period = {readonly periodic_reset: 'weekly' | 'monthly' | null; readonly periodic_reset_days?: number | null}
type Step =
  | {readonly do: 'wait'; readonly hours: number}
  | {
      readonly do: 'spend'
      readonly key: 0 | 1
      readonly user: 0 | 1
      readonly cost_nanousd: number
      readonly tokens: number
    }
  | {
      readonly do: 'edit a key' | 'edit the workspace'
      readonly key: 0 | 1
      readonly period: Period
      readonly credit_limit: number
    }
  | {readonly do: 'edit the policy'; readonly period: 'weekly' | 'monthly' | null; readonly credit_limit: number}
  | {readonly do: 'reset a key' | 'reset an entity'; readonly key: 0 | 1}
  | {readonly do: 'group anew'}
  | {readonly do: 'retain'; readonly days: number}

const one = fc.constantFrom(0 as const, 1 as const)
const credit_limit = fc.integer({min: 1, max: 20})
const policy_period = fc.constantFrom('weekly' as const, 'monthly' as const, null)
const period: fc.Arbitrary<Period> = fc.oneof(
  policy_period.map(periodic_reset => ({periodic_reset, periodic_reset_days: null})),
  fc.integer({min: 1, max: 40}).map(periodic_reset_days => ({periodic_reset: null, periodic_reset_days})),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  {weight: 4, arbitrary: fc.record({do: fc.constant('wait' as const), hours: fc.integer({min: 1, max: 400})})},
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('spend' as const),
      key: one,
      user: one,
      cost_nanousd: fc.nat(3_000_000_000),
      tokens: fc.nat(1000),
    }),
  },
  fc.record({
    do: fc.constantFrom('edit a key' as const, 'edit the workspace' as const),
    key: one,
    period,
    credit_limit,
  }),
  fc.record({do: fc.constant('edit the policy' as const), period: policy_period, credit_limit}),
  fc.record({do: fc.constantFrom('reset a key' as const, 'reset an entity' as const), key: one}),
  fc.record({do: fc.constant('group anew' as const)}),
  fc.record({do: fc.constant('retain' as const), days: fc.integer({min: 1, max: 60})}),
)

interface Spend {
  readonly key: number
  readonly user: number
  readonly at_ms: number
  readonly cost_nanousd: number
  readonly tokens: number
}

/** What a budget is, as the test knows it. */
interface Known {
  period: Period
  readonly set_ms: number
  reset_ms: number
}

/** The start of what counts, by the words of the page of limits alone. */
function sinceOf({period, set_ms, reset_ms}: Known, week_begins: 0 | 1, now_ms: number): number {
  const now = new Date(now_ms)
  const today_ms = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
  const floor = Math.max(set_ms, reset_ms)
  if (period.periodic_reset === 'monthly') return Math.max(floor, Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
  if (period.periodic_reset === 'weekly')
    return Math.max(floor, today_ms - ((now.getUTCDay() - week_begins + 7) % 7) * DAY_MS)
  if (!period.periodic_reset_days) return floor
  let begins_ms = Math.floor(set_ms / DAY_MS) * DAY_MS
  while (begins_ms + period.periodic_reset_days * DAY_MS <= now_ms) begins_ms += period.periodic_reset_days * DAY_MS
  return Math.max(floor, begins_ms)
}

test.each(KINDS)(
  'on %s, no edit, no reset, no retention and no restored backup changes what anybody spent; a budget counts what was spent in its period',
  async kind => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, {minLength: 8, maxLength: 24}), steps => run(kind, steps)),
      {numRuns: kind === 'sqlite' ? 8 : 4},
    )
  },
  240_000,
)

async function run(kind: (typeof KINDS)[number], steps: readonly Step[]) {
  const admin = await startAdmin({kind})
  const flush = await openFlush({store: admin.store, options: admin.options})
  const target = await openTarget(targetOf(admin), '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3f', 1)
  let now_ms = START
  const spends: Spend[] = []
  const clock = () => admin.at(new Date(now_ms).toISOString())
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await admin.asAdmin(method, `/v1${path}`, body)
    expect([reply.status, path, reply.text]).toEqual([200, path, reply.text])
    return reply.body
  }
  const dollars = (credit_limit: number, period: Period) => ({type: 'cost', credit_limit, ...period})
  const fresh = (): Known => ({period: {periodic_reset: null}, set_ms: now_ms, reset_ms: 0})
  try {
    clock()
    const budgets = [dollars(10, {periodic_reset: null}), {type: 'tokens', credit_limit: 1000}]
    const {id: workspace_id} = await ask('POST', '/admin/workspaces', {name: 'Spending', usage_limits: budgets})
    const keys: {id: string; known: Known}[] = []
    for (const name of KEYS) {
      const made = {name, workspace_id, scopes: ['logs.list'], usage_limits: dollars(10, {periodic_reset: null})}
      keys.push({id: (await ask('POST', '/api-keys/workspace/service', made)).id, known: fresh()})
    }
    const workspace = fresh()
    const grouped = async (group: string) => {
      const conditions = [{key: 'metadata._user', value: '*'}]
      const made = {workspace_id, conditions, group_by: [{key: group}], type: 'cost', credit_limit: 10}
      const resets = new Map<string, number>()
      return {id: (await ask('POST', '/policies/usage-limits', made)).id as string, group, known: fresh(), resets}
    }
    const policies = [await grouped('metadata._user')]

    const valueKeyOf = (group: string, spend: Pick<Spend, 'key' | 'user'>) =>
      group === 'api_key' ? `api_key:${keys[spend.key]!.id}` : `${group}:${USERS[spend.user]}`
    /** The counters of policies that a call claims, as it finds them. */
    const counterKeys = async (spend: Pick<Spend, 'key' | 'user'>) => {
      const claimed: string[] = []
      for (const {id, group, resets} of policies) {
        const {terms} = await admin.store.db
          .selectFrom('policies')
          .select('terms')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        const value_key = valueKeyOf(group, spend)
        const reset_ms = resets.get(value_key)
        const last_reset_at = reset_ms === undefined ? null : new Date(reset_ms).toISOString()
        const of = {
          entity: 'policy' as const,
          id: `${id}/${value_key}`,
          name: '',
          workspace_id,
          usage: terms,
          rates: null,
          last_reset_at,
        }
        claimed.push(budgetClaim(of, readUsageLimits(terms)[0]!, now_ms).key)
      }
      return claimed
    }

    const take = async (said: Step) => {
      if (said.do === 'wait') now_ms += said.hours * HOUR_MS
      if (said.do === 'spend') {
        const {do: _, ...spend} = said
        spends.push({...spend, at_ms: now_ms})
        const of = {organisation_id: admin.organisation_id, workspace_id, api_key_id: keys[spend.key]!.id}
        const counter_keys = await counterKeys(spend)
        const usage = {input_uncached_tokens: spend.tokens}
        const at = new Date(now_ms).toISOString()
        await flush.apply(callAt({...of, at, usage, cost_nanousd: spend.cost_nanousd, counter_keys}))
        now_ms += 1
      }
      if (said.do === 'edit a key') {
        await ask('PUT', `/api-keys/${keys[said.key]!.id}`, {usage_limits: dollars(said.credit_limit, said.period)})
        keys[said.key]!.known.period = said.period
      }
      if (said.do === 'edit the workspace') {
        const tokens = {type: 'tokens', credit_limit: said.credit_limit, ...said.period}
        await ask('PUT', `/admin/workspaces/${workspace_id}`, {
          usage_limits: [tokens, dollars(said.credit_limit, said.period)],
        })
        workspace.period = said.period
      }
      if (said.do === 'edit the policy') {
        const {id, known} = policies[0]!
        await ask('PUT', `/policies/usage-limits/${id}`, {credit_limit: said.credit_limit, periodic_reset: said.period})
        known.period = {periodic_reset: said.period}
      }
      if (said.do === 'reset a key') {
        await ask('PUT', `/api-keys/${keys[said.key]!.id}`, {reset_usage: true})
        keys[said.key]!.known.reset_ms = now_ms
      }
      if (said.do === 'reset an entity') {
        const {id, group, resets} = policies[0]!
        const value_key = valueKeyOf(group, {key: said.key, user: said.key})
        const path = `/v1/policies/usage-limits/${id}/entities/${policyEntityId(id, value_key)}/reset`
        if ((await admin.asAdmin('PUT', path, {})).status === 200) resets.set(value_key, now_ms)
      }
      if (said.do === 'group anew' && policies.length < 3)
        policies.push(await grouped(policies.length === 1 ? 'api_key' : 'metadata._user'))
      if (said.do === 'retain') {
        const days = {log_retention_days: said.days, log_body_retention_days: 1, metrics_retention_days: said.days}
        await retainLogs({target, now_ms, clock: () => 0, budget_ms: 1, rest: async () => {}, ...days})
      }
      clock()
    }

    const sum = (since_ms: number, what: 'cost_nanousd' | 'tokens', which: (spend: Spend) => boolean = () => true) =>
      spends.filter(spend => spend.at_ms >= since_ms && which(spend)).reduce((whole, spend) => whole + spend[what], 0)

    /** The ledger's sums, whatever was done, and what each budget says. */
    const check = async () => {
      const entries = await admin.store.db
        .selectFrom('traffic.ledger_entries')
        .select(e => ['api_key_id', e.fn.sum<number>('cost_nanousd').as('cost')])
        .where('workspace_id', '=', workspace_id)
        .groupBy('api_key_id')
        .execute()
      const spent = new Map(entries.map(({api_key_id, cost}) => [api_key_id, Number(cost)]))
      for (const [at, {id, known}] of keys.entries()) {
        const by_key = ({key}: Spend) => key === at
        expect(spent.get(id) ?? 0).toBe(sum(0, 'cost_nanousd', by_key))
        const {usage_limits} = await ask('GET', `/api-keys/${id}`)
        expect(usage_limits.current_usage).toBe(sum(sinceOf(known, 0, now_ms), 'cost_nanousd', by_key) / 1e9)
      }
      const since_ms = sinceOf(workspace, 0, now_ms)
      const said = (await ask('GET', `/admin/workspaces/${workspace_id}`)).usage_limits as {
        type: string
        current_usage: number
      }[]
      expect(said.find(({type}) => type === 'cost')!.current_usage).toBe(sum(since_ms, 'cost_nanousd') / 1e9)
      expect(said.find(({type}) => type === 'tokens')!.current_usage).toBe(sum(since_ms, 'tokens'))
      for (const {id, group, known, resets} of policies) {
        const {data} = await ask('GET', `/policies/usage-limits/${id}/entities`)
        for (const {value_key, current_usage} of data as {value_key: string; current_usage: number}[]) {
          const from_ms = sinceOf({...known, reset_ms: resets.get(value_key) ?? 0}, 1, now_ms)
          const of_entity = (spend: Spend) => valueKeyOf(group, spend) === value_key
          expect(current_usage).toBe(sum(from_ms, 'cost_nanousd', of_entity) / 1e9)
        }
      }
    }

    for (const each of steps) {
      await take(each)
      await check()
    }
    expect((await verifyLedger(admin.store)).breaks).toEqual([])
    const used = async ({db}: Store) =>
      Promise.all(
        keys.flatMap(({id, known}) =>
          [0, sinceOf(known, 0, now_ms)].map(since_ms =>
            usedSince(db, {entity: 'key', id, workspace_id}, new Date(since_ms).toISOString()),
          ),
        ),
      )
    if (kind === 'sqlite') expect(await inCopy(admin.folder, used)).toEqual(await used(admin.store))
  } finally {
    await target.close()
    await flush.close()
    await admin.close()
  }
}

/** What `read` says of a backup of the databases, put back elsewhere. */
async function inCopy<Said>(data_folder: string, read: (store: Store) => Promise<Said>): Promise<Said> {
  const folders = ['backups', 'restored'].map(name => mkdtempSync(join(tmpdir(), `gateway-${name}-`)))
  const [backups, restored] = folders as [string, string]
  try {
    const copy = await backUp({data_folder, backups, now: new Date(START), version: '0', binding: undefined})
    for (const name of readdirSync(copy).filter(each => each.endsWith('.db')))
      cpSync(join(copy, name), join(restored, name))
    const store = await openStore({kind: 'sqlite', folder: restored, role: 'server'})
    try {
      expect((await verifyLedger(store)).breaks).toEqual([])
      return await read(store)
    } finally {
      await store.close()
    }
  } finally {
    for (const folder of folders) rmSync(folder, {recursive: true, force: true})
  }
}
