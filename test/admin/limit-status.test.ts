import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {createLimits} from '../../src/limits/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {usedSince} from '../../src/store/usage.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {insertHour} from '../support/logs.ts'
import {KINDS} from '../support/stores.ts'

/** A Wednesday; weeks begin on the Sunday after it. */
const SET_AT = '2026-03-04T05:00:00.000Z'
const NEXT_WEEK = '2026-03-08T00:00:00.000Z'
const NANO = 1_000_000_000
const LIMIT = {type: 'cost', credit_limit: 10, periodic_reset: 'weekly'}

/** Something with a budget of 10 US dollars a week, as the administration shows it. */
interface Budgeted {
  /** What its row says of it; `status` where the reference gives it one. */
  shown(): Promise<{status?: string; usage_limits: object}>
  change(body: object): Promise<unknown>
  readonly spends: {readonly api_key_id?: string; readonly workspace_id?: string; readonly provider_slug?: string}
  readonly resets: boolean
}

describe.each(KINDS)('what replies say of budgets, on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
  })
  afterAll(() => admin.close())
  let made_rows = 0

  const get = async (path: string) => (await admin.asAdmin('GET', `/v1${path}`)).body
  const put = async (path: string, body: object) =>
    expect((await admin.asAdmin('PUT', `/v1${path}`, body)).status).toBe(200)
  const listed = async (path: string, name: string) =>
    (await get(path)).data.find((row: {name: string}) => row.name === name)

  async function key(): Promise<Budgeted> {
    const made = {
      name: `key ${++made_rows}`,
      workspace_id: admin.workspace_id,
      scopes: ['logs.list'],
      usage_limits: LIMIT,
    }
    const {id} = (await admin.asAdmin('POST', '/v1/api-keys/workspace/service', made)).body
    return {
      async shown() {
        const {status, usage_limits} = await get(`/api-keys/${id}`)
        expect(await listed('/api-keys?page_size=1000', made.name)).toMatchObject({status, usage_limits})
        return {status, usage_limits}
      },
      change: body => put(`/api-keys/${id}`, body),
      spends: {api_key_id: id},
      resets: true,
    }
  }

  async function provider(): Promise<Budgeted> {
    const made = {
      name: `p ${++made_rows}`,
      provider: 'openai',
      key: 'sk-1',
      workspace_id: admin.workspace_id,
      usage_limits: LIMIT,
    }
    const {slug} = (await admin.asAdmin('POST', '/v1/virtual-keys', made)).body.data
    const where = `?workspace_id=${admin.workspace_id}`
    return {
      async shown() {
        const {status, usage_limits} = await get(`/providers/${slug}${where}`)
        for (const row of [
          await get(`/virtual-keys/${slug}${where}`),
          await listed(`/virtual-keys${where}`, made.name),
        ])
          expect(row).toMatchObject({status, usage_limits})
        expect(await listed(`/providers${where}`, made.name)).toMatchObject({status, usage_limits})
        return {status, usage_limits}
      },
      change: body => put(`/providers/${slug}${where}`, body),
      spends: {workspace_id: admin.workspace_id, provider_slug: slug},
      resets: true,
    }
  }

  async function workspace(): Promise<Budgeted> {
    const made = {name: `ws ${++made_rows}`, usage_limits: LIMIT}
    const {id} = (await admin.asAdmin('POST', '/v1/admin/workspaces', made)).body
    return {
      async shown() {
        const [usage_limits] = (await get(`/admin/workspaces/${id}`)).usage_limits
        expect((await listed('/admin/workspaces', made.name)).usage_limits).toEqual([usage_limits])
        return {usage_limits}
      },
      change: body => put(`/admin/workspaces/${id}`, body),
      spends: {workspace_id: id},
      resets: false,
    }
  }

  async function integration(): Promise<Budgeted> {
    const made = {name: 'Shared', ai_provider_id: 'openai', key: 'sk-2'}
    const {slug} = (await admin.asAdmin('POST', '/v1/integrations', made)).body
    const other = await admin.seedWorkspace(admin.organisation_id)
    const path = `/integrations/${slug}/workspaces`
    const access = {id: admin.workspace_id, enabled: true, default_provider_slug: `i-${slug}`}
    const elsewhere = {id: other.id, enabled: true, usage_limits: [LIMIT]}
    await put(path, {workspaces: [{...access, usage_limits: [LIMIT]}, elsewhere]})
    return {
      async shown() {
        const {workspaces} = await get(path)
        const of = (id: string) => workspaces.find((row: {id: string}) => row.id === id).usage_limits[0]
        expect(of(other.id), 'spending is by workspace').toMatchObject({current_usage: 0, status: 'active'})
        return {usage_limits: of(admin.workspace_id)}
      },
      change: ({usage_limits, ...body}: {usage_limits?: object}) =>
        put(path, {workspaces: [{...access, ...(usage_limits && {usage_limits: [usage_limits]}), ...body}]}),
      spends: {workspace_id: admin.workspace_id, provider_slug: `i-${slug}`},
      resets: true,
    }
  }

  const spend = (of: Budgeted, cost_usd: number) =>
    insertHour(admin.store.db, {
      workspace_id: 'none',
      ...of.spends,
      hour: SET_AT,
      model: `${cost_usd}`,
      cost_nanousd: cost_usd * NANO,
    })

  const OF = {key, provider, workspace, integration}
  test.each(Object.keys(OF) as (keyof typeof OF)[])(
    'of a %s is what it used, and that it is used up, until a period, a reset or a raise',
    async entity => {
      admin.at(SET_AT)
      const of = await OF[entity]()
      const is = async (current_usage: number, status: string) => {
        const said = await of.shown()
        expect(said.usage_limits).toMatchObject({current_usage, status})
        if ('status' in said) expect(said.status).toBe(status)
      }
      await is(0, 'active')
      await spend(of, 2.25)
      await is(2.25, 'active')
      await spend(of, 7.75)
      await is(10, 'exhausted')
      await of.change({usage_limits: {...LIMIT, credit_limit: 12}})
      await is(10, 'active')
      await of.change({usage_limits: {...LIMIT, credit_limit: 9}})
      await is(10, 'exhausted')
      admin.at(NEXT_WEEK)
      await is(0, 'active')
      admin.at('2026-03-07T23:59:59.999Z')
      await is(10, 'exhausted')
      if (!of.resets) return
      await of.change({reset_usage: true})
      await is(0, 'active')
    },
  )

  test('is nothing where limits are switched off', async () => {
    admin.at(SET_AT)
    const of = await key()
    await spend(of, 20)
    expect((await of.shown()).status).toBe('exhausted')
    const {settings} = admin.services
    Object.assign(admin.services, {settings: {...settings, usage_limits_enabled: false}})
    expect(await of.shown()).toMatchObject({status: 'active', usage_limits: {current_usage: 0, status: 'active'}})
    Object.assign(admin.services, {settings})
  })

  test('is what calls are admitted by, where a gateway runs; the ledger speaks for counters that do not answer', async () => {
    admin.at(SET_AT)
    const of = await key()
    await spend(of, 3)
    const counters = createMemoryCounters()
    let is_silent = false
    const faults: unknown[] = []
    const limits = createLimits({
      counters: {
        ...counters,
        read: keys => (is_silent ? Promise.reject(new Error('silent')) : [...keys].map(() => BigInt(11 * NANO))),
      },
      usage: (scope, since_at) => usedSince(admin.store.db, scope, since_at),
      now: () => admin.services.now().getTime(),
      enabled: true,
      onFault: fault => void faults.push(fault),
    })
    Object.assign(admin.services, {limits})
    expect(await of.shown()).toMatchObject({status: 'exhausted', usage_limits: {current_usage: 11}})
    is_silent = true
    expect(await of.shown()).toMatchObject({status: 'active', usage_limits: {current_usage: 3}})
    expect(faults[0]).toMatchObject({message: 'silent'})
    Object.assign(admin.services, {limits: undefined})
  })
})
