import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {claimJob, endJob} from '../../src/store/workers.ts'
import {run} from '../cli/support.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {insertHour} from '../support/logs.ts'
import {KINDS} from '../support/stores.ts'

const SINCE = 'since=2026-02-01T00:30:00Z'

describe.each(KINDS)('usage on %s', kind => {
  let admin: Admin
  let blue: string
  let red: {id: string; slug: string}
  beforeAll(async () => {
    admin = await startAdmin({kind})
    const {db} = admin.store
    red = await admin.seedWorkspace(admin.organisation_id, {slug: 'red', name: 'Red'})
    blue = (await admin.seedKey(admin, {name: 'blue', kind: 'workspace-user', user_id: 'user-1'})).id
    const here = {
      organisation_id: admin.organisation_id,
      workspace_id: admin.workspace_id,
      api_key_id: blue,
      provider_slug: 'main',
    }
    await insertHour(db, {...here, hour: '2026-01-31T23:00:00.000Z', cost_nanousd: 9})
    await insertHour(db, {
      ...here,
      hour: '2026-02-01T00:00:00.000Z',
      model: 'a',
      requests: 2,
      failures: 1,
      cost_nanousd: 1_500_000_000,
      prompt_tokens: 10,
      completion_tokens: 5,
    })
    await insertHour(db, {...here, hour: '2026-02-02T03:00:00.000Z', model: 'b', cost_nanousd: 2, unpriced: 1})
    await insertHour(db, {
      ...here,
      hour: '2026-03-01T00:00:00.000Z',
      model: 'a',
      requests: 1,
      cost_nanousd: Number.MAX_SAFE_INTEGER,
    })
    await insertHour(db, {
      ...here,
      hour: '2026-03-01T01:00:00.000Z',
      model: 'a',
      requests: 1,
      cost_nanousd: Number.MAX_SAFE_INTEGER,
    })
    await insertHour(db, {
      ...here,
      workspace_id: red.id,
      api_key_id: 'gone',
      provider_slug: '',
      hour: '2026-02-03T00:00:00.000Z',
      model: '',
      cost_nanousd: 3,
    })
    const other = await admin.foreign()
    await insertHour(db, {
      organisation_id: other.organisation_id,
      workspace_id: other.workspace.id,
      hour: '2026-02-01T00:00:00.000Z',
      cost_nanousd: 7,
    })
  })
  afterAll(() => admin.close())

  test('is summed by what is asked for, dearest first, from the hour on', async () => {
    const {body} = await admin.asAdmin('GET', `/v1/admin/usage?by=model&${SINCE}`)
    expect(body).toMatchObject({object: 'list', total: 3, from: '2026-02-01T00:00:00.000Z'})
    expect(body.data[0]).toEqual({
      model: 'a',
      requests: 4,
      failures: 1,
      unpriced: 0,
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      cost_usd: '18014400.009481982', // 1.5 and twice 2^53 - 1 nano-dollars
      object: 'usage-sum',
    })
    expect(body.data.slice(1).map(({model, cost_usd}: Record<string, string>) => [model, cost_usd])).toEqual([
      [null, '0.000000003'],
      ['b', '0.000000002'],
    ])
  })

  test('names keys, their users and workspaces, in several dimensions at once', async () => {
    const {body} = await admin.asAdmin('GET', `/v1/admin/usage?by=workspace,key,user,day&${SINCE}&until=2026-02-27`)
    expect(
      body.data.map(({workspace, key, user, day, requests}: Record<string, unknown>) => ({
        workspace,
        key,
        user,
        day,
        requests,
      })),
    ).toEqual([
      {
        workspace: {id: admin.workspace_id, name: expect.any(String)},
        key: {id: blue, name: 'blue'},
        user: {id: 'user-1', name: null},
        day: '2026-02-01',
        requests: 2,
      },
      {
        workspace: {id: red.id, name: 'Red'},
        key: {id: 'gone', name: null},
        user: {id: null, name: null},
        day: '2026-02-03',
        requests: 1,
      },
      {
        workspace: {id: admin.workspace_id, name: expect.any(String)},
        key: {id: blue, name: 'blue'},
        user: {id: 'user-1', name: null},
        day: '2026-02-02',
        requests: 1,
      },
    ])
    const months = (await admin.asAdmin('GET', `/v1/admin/usage?by=month,provider,kind&${SINCE}`)).body.data
    expect(months.map(({month, provider, kind}: Record<string, string>) => [month, provider, kind])).toEqual([
      ['2026-03', 'main', 'openai'],
      ['2026-02', 'main', 'openai'],
      ['2026-02', null, 'openai'],
    ])
  })

  test('names users, those who left too, and no one of another organisation', async () => {
    const {db} = admin.store
    const other = await admin.foreign()
    const at = '2026-02-01T00:00:00.000Z'
    const hour = '2026-02-20T00:00:00.000Z'
    const names = [
      ['Ada', 'Example'],
      ['Ada', null],
      [null, null],
      ['Foreign', null],
    ] as const
    for (const [index, [first_name, last_name]] of names.entries()) {
      const user_id = `named-${index}`
      const row = {created_at: at, last_updated_at: at}
      await db
        .insertInto('users')
        .values({id: user_id, email: `${user_id}@example.com`, first_name, last_name, ...row})
        .execute()
      const organisation_id = index === 3 ? other.organisation_id : admin.organisation_id
      const status = index === 1 ? 'archived' : 'active'
      await db
        .insertInto('organisation_users')
        .values({organisation_id, user_id, role: 'member', status, ...row})
        .execute()
      const {id} = await admin.seedKey(admin, {name: `of ${user_id}`, kind: 'workspace-user', user_id})
      const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id, api_key_id: id}
      await insertHour(db, {...place, hour, provider_slug: 'main', cost_nanousd: 100 - index})
    }
    const {body} = await admin.asAdmin('GET', '/v1/admin/usage?by=user&since=2026-02-20&until=2026-02-20')
    expect(body.data.map(({user}: Record<string, unknown>) => user)).toEqual([
      {id: 'named-0', name: 'Ada Example'},
      {id: 'named-1', name: 'Ada'},
      {id: 'named-2', name: 'named-2@example.com'},
      {id: 'named-3', name: null},
    ])
    await db.updateTable('users').set({last_name: null}).where('id', '=', 'named-0').execute()
    const around = {env: {GATEWAY_URL: admin.url, GATEWAY_API_KEY: admin.admin_key}}
    const argv = ['usage', '--by', 'user', '--since', '2026-02-20', '--until', '2026-02-20']
    const {stdout} = await run(argv, around)
    expect(stdout.split('\n').slice(1, 5)).toEqual([
      expect.stringMatching(/^Ada \(named-0\) /),
      expect.stringMatching(/^Ada \(named-1\) /),
      expect.stringMatching(/^named-2@example\.com /),
      expect.stringMatching(/^named-3 /),
    ])
    await db.deleteFrom('traffic.usage_hourly').where('hour', '=', hour).execute()
  })

  test('counts a date whole at both ends, and refuses a range without an hour', async () => {
    const hours = async (query: string) =>
      (await admin.asAdmin('GET', `/v1/admin/usage?by=hour&${query}`)).body.data.map(
        ({hour}: Record<string, string>) => hour,
      )
    expect(await hours('since=2026-02-02&until=2026-02-02')).toEqual(['2026-02-02T03:00:00.000Z'])
    expect(await hours('since=2026-02-01&until=2026-02-01')).toEqual(['2026-02-01T00:00:00.000Z'])
    expect(await hours('since=2026-02-02T05:00:00%2B02:00&until=2026-02-02T04:00:00Z')).toEqual([
      '2026-02-02T03:00:00.000Z',
    ])
    const refused = async (query: string) => {
      const {status, body} = await admin.asAdmin('GET', `/v1/admin/usage?by=hour&${query}`)
      return [status, body.data.message]
    }
    expect(await refused('since=2026-02-02&until=2026-02-01')).toEqual([400, expect.stringMatching(/until: .*later/)])
    for (const bad of ['2026-02-02T03:00', '2026-02-30', '02.02.2026'])
      expect(await refused(`since=${bad}`)).toEqual([
        400,
        expect.stringMatching(/since: must be a date such as .*time with its zone/),
      ])
  })

  test('is of the caller’s workspace, and of no other organisation', async () => {
    const total = async (path: string, as = admin.asAdmin) =>
      (await as('GET', `/v1/admin/usage?by=kind&${SINCE}${path}`)).body.data?.[0]?.requests
    expect(await total('')).toBe(6)
    expect(await total('&workspace_id=red')).toBe(1)
    expect(await total('', admin.asWorkspace)).toBe(5)
    expect((await admin.asWorkspace('GET', `/v1/admin/usage?by=kind&${SINCE}&workspace_id=red`)).status).toBe(404)
    const {key} = await admin.seedKey(admin, {scopes: ['completions.write']})
    expect((await admin.send(key, 'GET', `/v1/admin/usage?by=kind&${SINCE}`)).status).toBe(403)
  })

  test.each([
    'by=colour',
    'by=',
    'by=key,user,model,day,hour',
    'by=key',
    'by=key&since=yesterday',
    `by=key&${SINCE}&untl=1`,
  ])('%s is refused', async query => {
    expect((await admin.asAdmin('GET', `/v1/admin/usage?${query}`)).status).toBe(400)
  })

  test('is printed as a table, as CSV and as JSON', async () => {
    const said = async (...argv: string[]) => {
      const around = {env: {GATEWAY_URL: admin.url, GATEWAY_API_KEY: admin.admin_key}}
      return run(['usage', '--since', '2026-02-01', ...argv], around)
    }
    expect((await said('--by', 'key', '--until', '2026-02-10')).stdout.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^KEY +REQUESTS +FAILED +INPUT +OUTPUT +UNPRICED +COST \$$/),
      expect.stringMatching(/^blue +3 +1 +10 +5 +1 +1\.500000002$/),
    ])
    await admin.store.db.updateTable('api_keys').set({name: '=1+1, "blue"'}).where('id', '=', blue).execute()
    expect((await said('--by', 'key,model', '--until', '2026-02-01', '--csv')).stdout).toBe(
      `key_id,key,model,requests,failures,unpriced,prompt_tokens,completion_tokens,total_tokens,cost_usd\n${blue},"'=1+1, ""blue""",a,2,1,0,10,5,15,1.50\n`,
    )
    expect(JSON.parse((await said('--by', 'kind', '--json')).stdout)).toMatchObject({total: 1})
    expect(await said('--by', 'colour')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--by colour is not known: expected key, user,'),
    })
    expect(await said('--by', 'key', '--csv', '--json')).toMatchObject({code: 2})
  })
})

describe('workers', () => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin()
    const now_ms = Date.parse('2026-03-04T05:06:00.000Z')
    const claim = {holder: 'host:1', now_ms, lease_ms: 60_000, every_ms: 60_000}
    const ended = {ended_at: '2026-03-04T05:06:01.000Z', duration_ms: 1000, due_at_ms: now_ms + 60_000}
    for (const [name, error] of [
      ['alerts', null],
      ['mail', 'connect ECONNREFUSED'],
    ] as const) {
      await claimJob(admin.store, {name, process: ''}, claim)
      await endJob(admin.store, {name, process: ''}, 'host:1', {...ended, error})
    }
    await claimJob(admin.store, {name: 'budgets', process: ''}, claim)
  })
  afterAll(() => admin.close())

  test('are listed with who does them, when, and what came of it', async () => {
    const {body} = await admin.asAdmin('GET', '/v1/admin/workers')
    expect(body.data).toEqual([
      {
        name: 'alerts',
        holder: 'host:1',
        status: 'waiting',
        last_run_at: '2026-03-04T05:06:00.000Z',
        duration_ms: 1000,
        next_run_at: '2026-03-04T05:07:00.000Z',
        runs: 1,
        failures: 0,
        last_error: null,
        object: 'worker',
      },
      expect.objectContaining({name: 'budgets', status: 'running', runs: 0}),
      expect.objectContaining({name: 'mail', status: 'failing', failures: 1, last_error: 'connect ECONNREFUSED'}),
    ])
    const {stdout} = await run(['workers'], {env: {GATEWAY_URL: admin.url, GATEWAY_API_KEY: admin.admin_key}})
    expect(stdout).toMatch(
      /^mail +failing +2026-03-04 05:06:00 +1000 +2026-03-04 05:07:00 +1 +1 +host:1 +connect ECONNREFUSED$/m,
    )
  })

  test('are for admin keys', async () => {
    expect(await admin.asWorkspace('GET', '/v1/admin/workers')).toMatchObject({status: 403, body: {success: false}})
  })
})
