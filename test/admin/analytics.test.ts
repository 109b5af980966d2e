import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {emptyUsage} from '../../src/schema/usage.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {type CallSeed, callAt, openFlush} from '../support/flushed.ts'
import {KINDS} from '../support/stores.ts'

const DAY = 'time_of_generation_min=2026-03-03T00:00:00Z&time_of_generation_max=2026-03-04T23:59:59.999Z'
const WEEK = 'time_of_generation_min=2026-03-01T00:00:00Z&time_of_generation_max=2026-03-07T23:59:59.999Z'
const HOURS = 'time_of_generation_min=2026-03-04T05:00:30Z&time_of_generation_max=2026-03-04T06:30:00Z'
const GRAPHS = OPERATIONS.filter(({tag, path}) => tag === 'Analytics > Graphs' || path === '/analytics/summary/cache')
const GROUPS = OPERATIONS.filter(({tag}) => tag === 'Analytics > Groups')

const usage = (input: number, output: number) => ({
  ...emptyUsage(),
  input_uncached_tokens: input,
  output_text_tokens: output,
})

describe.each(KINDS)('analytics on %s', kind => {
  let admin: Admin
  let flush: Awaited<ReturnType<typeof openFlush>>
  let config: {id: string; slug: string}
  let traces: string[]
  beforeAll(async () => {
    admin = await startAdmin({kind})
    flush = await openFlush({store: admin.store, options: admin.options})
    config = (await admin.asWorkspace('POST', '/v1/configs', {name: 'Mine', config: {provider: 'openai'}})).body.data
    const here = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id, api_key_id: 'key-1'}
    const call = (seed: CallSeed) =>
      callAt({...here, model: 'm-1', cost_nanousd: 10_000_000, usage: usage(30, 10), ...seed})
    const user = (name: string) => ({_user: name, team: 'blue'})
    const calls = [
      call({at: '2026-03-04T05:00:00.000Z', log: {last_byte_ms: 100, metadata: user('ann')}}),
      call({
        at: '2026-03-04T05:10:00.000Z',
        log: {last_byte_ms: 200, metadata: user('ann'), retry_count: 2, cache_status: 'MISS'},
      }),
      call({
        at: '2026-03-04T05:10:30.000Z',
        api_key_id: 'key-2',
        model: 'm-2',
        provider: 'anthropic',
        provider_slug: 'claude',
        outcome: 'failed',
        cost_nanousd: 0,
        config_id: config.id,
        log: {response_status: 429, last_byte_ms: 50, metadata: user('bob')},
      }),
      call({
        at: '2026-03-04T06:20:00.000Z',
        attempt: 0,
        cost_nanousd: 0,
        usage: {},
        log: {cache_status: 'HIT', last_byte_ms: 2, metadata: {}},
      }),
      call({
        at: '2026-03-05T06:20:00.000Z',
        log: {
          ...{last_byte_ms: 400, mode: 'fallback', option_path: 'config.targets[1]', metadata: {}},
          prompt: {slug: 'pp-hello', id: 'prompt-1', version: 2, version_id: 'version-2'},
        },
      }),
    ]
    traces = calls.map(({trace_id}) => trace_id)
    const other = await admin.foreign()
    const foreign = {organisation_id: other.organisation_id, workspace_id: other.workspace.id}
    await flush.apply(...calls, call({at: '2026-03-04T05:00:00.000Z', ...foreign}))
    await admin.asWorkspace('POST', '/v1/feedback', [
      {trace_id: traces[0], value: 5},
      {trace_id: traces[0], value: -5, weight: 0.5},
      {trace_id: traces[2], value: 1},
    ])
  })
  afterAll(async () => {
    await flush?.close()
    await admin?.close()
  })

  const graph = async (name: string, query = WEEK, as = admin.asWorkspace) => {
    const {status, body} = await as('GET', `/v1/analytics/${name}?${query}`)
    expect([name, status]).toEqual([name, 200])
    return body
  }
  const filled = (points: {total?: number; avg?: number; rate?: number}[]) =>
    points.filter(({total, avg, rate}) => total || avg || rate)

  test('count calls by day, hour and minute, empty ones too', async () => {
    const week = await graph('graphs/requests')
    expect([week.summary, week.object, week.data_points.length]).toEqual([{total: 5}, 'analytics-graph', 7])
    expect(filled(week.data_points)).toEqual([
      {timestamp: '2026-03-04T00:00:00.000Z', total: 4},
      {timestamp: '2026-03-05T00:00:00.000Z', total: 1},
    ])
    const days = await graph('graphs/requests', DAY)
    expect(days.data_points.length).toBe(48)
    expect(filled(days.data_points)).toEqual([
      {timestamp: '2026-03-04T05:00:00.000Z', total: 3},
      {timestamp: '2026-03-04T06:00:00.000Z', total: 1},
    ])
    const minutes = await graph('graphs/requests', HOURS)
    expect([minutes.summary.total, minutes.data_points.length]).toEqual([3, 91])
    expect(filled(minutes.data_points)).toEqual([
      {timestamp: '2026-03-04T05:10:00.000Z', total: 2},
      {timestamp: '2026-03-04T06:20:00.000Z', total: 1},
    ])
  })

  test('say cost in cents, tokens, latency', async () => {
    expect((await graph('graphs/cost')).summary).toEqual({total: 3, avg: 0.6})
    expect(filled((await graph('graphs/cost')).data_points)[0]).toEqual({
      timestamp: '2026-03-04T00:00:00.000Z',
      total: 2,
      avg: 0.5,
    })
    expect((await graph('graphs/tokens')).summary).toEqual({total: 160, avg: 32})
    const {summary} = await graph('graphs/latency')
    expect(summary.avg).toBe((100 + 200 + 50 + 2 + 400) / 5)
    for (const [name, exact] of [
      ['p50', 100],
      ['p90', 400],
      ['p99', 400],
    ] as const)
      expect(Math.abs(summary[name] / exact - 1), name).toBeLessThan(0.055)
  })

  test('tell of errors, rescues and the cache', async () => {
    expect((await graph('graphs/errors')).summary).toEqual({total: 1})
    expect((await graph('graphs/errors/rate')).summary).toEqual({rate: 20})
    const stacks = await graph('graphs/errors/stacks')
    expect([stacks.summary, stacks.data_points[3]]).toEqual([
      {total: 1},
      {timestamp: '2026-03-04T00:00:00.000Z', stats: [{response_status_code: 429, count: 1}]},
    ])
    expect(await graph('graphs/errors/status-codes')).toEqual({
      summary: {total_errors: 1, unique_error_codes: 1},
      data_points: [{status_code: 429, count: 1}],
      object: 'analytics-graph',
    })
    const rescued = await graph('graphs/requests/rescued')
    expect([rescued.summary, rescued.data_points[3], rescued.data_points[4]]).toEqual([
      {retry: 1, fallback: 1},
      {timestamp: '2026-03-04T00:00:00.000Z', retry: [{retry_success_count: 2, count: 1}], fallback: 0},
      {timestamp: '2026-03-05T00:00:00.000Z', retry: [], fallback: 1},
    ])
    const cache = await graph('graphs/cache/hit-rate')
    expect([cache.summary, cache.data_points[3]]).toEqual([
      {total: 1, rate: 20},
      {
        timestamp: '2026-03-04T00:00:00.000Z',
        simple_hits: 1,
        semantic_hits: 0,
        rate: 25,
        cumulative_simple_cache_savings: 1,
        cumulative_semantic_cache_savings: 0,
      },
    ])
    expect(filled((await graph('graphs/cache/latency')).data_points)).toEqual([
      {timestamp: '2026-03-04T00:00:00.000Z', avg: 2},
    ])
    expect(await graph('summary/cache')).toEqual({
      summary: {hits: 1, avg_latency: 2, total_requests: 5, cache_speedup: 100},
      object: 'analytics-summary',
    })
  })

  test('tell of users and feedback', async () => {
    expect((await graph('graphs/users')).summary).toEqual({total: 2})
    expect((await graph('graphs/users/requests')).summary).toEqual({total: 3, unique: 2, avg: 1.5})
    expect((await graph('graphs/feedbacks')).summary).toEqual({total: 3})
    expect((await graph('graphs/feedbacks/scores')).data_points).toEqual([
      {score: -5, total: 1},
      {score: 1, total: 1},
      {score: 5, total: 1},
    ])
    expect((await graph('graphs/feedbacks/weighted')).summary).toEqual({avg: 1.167})
    expect((await graph('graphs/feedbacks/ai-models')).data_points).toEqual([
      {ai_model: 'm-1', total: 2, avg_weighted_feedback: 1.25},
      {ai_model: 'm-2', total: 1, avg_weighted_feedback: 1},
    ])
    expect((await graph('graphs/feedbacks', `${WEEK}&ai_org_model=anthropic__m-2`)).summary).toEqual({total: 1})
    expect((await graph('graphs/requests', `${WEEK}&prompt_slug=p`)).summary).toEqual({total: 0})
    expect((await graph('graphs/requests', `${WEEK}&prompt_slug=pp-hello`)).summary).toEqual({total: 1})
    expect((await graph('graphs/latency', `${WEEK}&prompt_slug=pp-hello`)).summary.avg).toBe(400)
    expect((await graph('graphs/requests', `${WEEK}&weighted_feedback_min=1.2`)).summary).toEqual({total: 1})
    expect((await graph('graphs/requests', `${WEEK}&weighted_feedback_max=1.2`)).summary).toEqual({total: 1})
  })

  test('group calls, with the columns that are asked for', async () => {
    const names = async (group: string, query = '') =>
      (await graph(`groups/${group}`, `${WEEK}${query}`)).data.map((row: Record<string, unknown>) => [
        row[group],
        row.requests,
      ])
    expect(await names('model')).toEqual([
      ['m-1', 4],
      ['m-2', 1],
    ])
    expect(await names('ai_service')).toEqual([
      ['openai', 4],
      ['anthropic', 1],
    ])
    expect(await names('status_code')).toEqual([
      [200, 4],
      [429, 1],
    ])
    expect(await names('api_key')).toEqual([
      ['key-1', 4],
      ['key-2', 1],
    ])
    expect(await names('config')).toEqual([
      [null, 4],
      [config.slug, 1],
    ])
    expect(await names('workspace')).toEqual([[admin.workspace_slug, 5]])
    expect(await names('provider')).toEqual([
      ['main-provider', 4],
      ['claude', 1],
    ])
    expect(await names('prompt')).toEqual([
      [null, 4],
      ['pp-hello', 1],
    ])
    const seen = (await graph('groups/prompt', `${WEEK}&columns=first_seen,p95_latency`)).data[1]
    expect([seen.first_seen, Math.abs(seen.p95_latency / 400 - 1) < 0.055]).toEqual(['2026-03-05T06:20:00.000Z', true])
    expect(await names('model', '&page_size=1&current_page=1')).toEqual([['m-2', 1]])
    const columns =
      'cost,total_tokens,avg_tokens,avg_input_tokens,avg_output_tokens,avg_latency,p95_latency,p99_latency,success_rate,error_count,cache_hit_rate,last_seen,first_seen'
    const {data, total, object} = await graph('groups/model', `${WEEK}&columns=${columns}`)
    expect([total, object, Object.keys(data[0])]).toEqual([
      2,
      'list',
      ['model', 'requests', ...columns.split(','), 'object'],
    ])
    expect(data[0]).toEqual({
      model: 'm-1',
      requests: 4,
      cost: 3,
      total_tokens: 120,
      avg_tokens: 30,
      avg_input_tokens: 22.5,
      avg_output_tokens: 7.5,
      avg_latency: 175.5,
      p95_latency: expect.any(Number),
      p99_latency: expect.any(Number),
      success_rate: 100,
      error_count: 0,
      cache_hit_rate: 25,
      last_seen: '2026-03-05T06:20:00.000Z',
      first_seen: '2026-03-04T05:00:00.000Z',
      object: 'analytics-group',
    })
    expect(Object.keys((await graph('groups/model')).data[0])).toEqual(['model', 'requests', 'object'])
    expect((await admin.asWorkspace('GET', `/v1/logs/groups/model?${WEEK}`)).body).toEqual(await graph('groups/model'))
  })

  test('name keys, configs and workspaces beside their ids and slugs', async () => {
    const rows = async (group: string, query = '') =>
      (await graph(`groups/${group}`, `${WEEK}${query}`)).data.map((row: Record<string, unknown>) => [
        row[group],
        row.name,
      ])
    expect(await rows('api_key')).toEqual([
      ['key-1', null],
      ['key-2', null],
    ])
    const {id} = await admin.seedKey(admin, {name: 'Reporting'})
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    await flush.apply(callAt({...place, at: '2026-02-04T00:00:00.000Z', api_key_id: id}))
    const path = '/v1/logs/groups/api_key?time_of_generation_min=2026-02-04&time_of_generation_max=2026-02-04'
    expect((await admin.asWorkspace('GET', path)).body.data).toEqual([
      {api_key: id, name: 'Reporting', requests: 1, object: 'analytics-group'},
    ])
    expect(await rows('config')).toEqual([
      [null, null],
      [config.slug, 'Mine'],
    ])
    expect(await rows('config', '&page_size=1&current_page=1')).toEqual([[config.slug, 'Mine']])
    const workspace = await admin.asAdmin('GET', `/v1/admin/workspaces/${admin.workspace_slug}`)
    expect(await rows('workspace')).toEqual([[admin.workspace_slug, workspace.body.name]])
  })

  test('take dates, which are counted whole', async () => {
    const total = async (from: string, to: string) =>
      (await graph('graphs/requests', `time_of_generation_min=${from}&time_of_generation_max=${to}`)).summary.total
    expect(await total('2026-03-04', '2026-03-04')).toBe(4)
    expect(await total('2026-03-05', '2026-03-05')).toBe(1)
    expect(await total('2026-03-04', '2026-03-05')).toBe(5)
    const path = '/v1/logs?time_of_generation_min=2026-03-05&time_of_generation_max=2026-03-05'
    expect((await admin.asWorkspace('GET', path)).body.data).toHaveLength(1)
  })

  test('group users, models and metadata', async () => {
    expect((await graph('groups/users')).data).toEqual([
      {user: 'ann', requests: 2, cost: 2, object: 'analytics-group'},
      {user: 'bob', requests: 1, cost: 0, object: 'analytics-group'},
    ])
    expect((await graph('groups/ai-models')).data[1]).toEqual({ai_model: 'm-2', requests: 1, object: 'analytics-group'})
    expect(await graph('groups/metadata/team')).toEqual({
      object: 'list',
      total: 1,
      data: [
        {
          metadata_value: 'blue',
          requests: 3,
          cost: 2,
          avg_tokens: 40,
          avg_weighted_feedback: 1.125,
          requests_with_feedback: 2,
          last_seen: '2026-03-04T05:10:30.000Z',
          object: 'analytics-group',
        },
      ],
    })
    expect((await graph(`groups/metadata/${encodeURIComponent('no "such')}`)).data).toEqual([])
  })

  test('say the same from sums and from rows, whatever the filter', async () => {
    const filters = [
      '',
      '&status_code=200',
      '&ai_model=m-1',
      '&ai_org_model=openai__m-1,anthropic__m-2',
      '&api_key_ids=key-2',
      '&virtual_keys=claude',
      `&configs=${config.slug}`,
      `&workspace_slug=${admin.workspace_slug}`,
    ]
    const times = [WEEK, DAY, 'time_of_generation_min=2026-03-04T05:05:00Z&time_of_generation_max=2026-03-05T06:20:00Z']
    const questions = times.flatMap(time =>
      filters.flatMap(filter => [
        ...GRAPHS.map(({path}) => `${path}?${time}${filter}`),
        ...['model', 'status_code', 'config', 'workspace'].map(
          name =>
            `/analytics/groups/${name}?${time}${filter}&columns=cost,total_tokens,avg_latency,p95_latency,error_count,cache_hit_rate,last_seen`,
        ),
      ]),
    )
    const ask = async () => {
      const said = new Map<string, unknown>()
      for (const question of questions) said.set(question, (await admin.asAdmin('GET', `/v1${question}`)).body)
      return said
    }
    const from = (value: string) =>
      admin.store.db.updateTable('traffic.meta').set({value}).where('key', '=', 'log_hourly_from').execute()
    const sums = await ask()
    await from('9999')
    const rows = await ask()
    await from('')
    for (const question of questions) expect([question, sums.get(question)]).toEqual([question, rows.get(question)])
  })

  test('need their times, refuse what they do not know, and the wrong way round', async () => {
    for (const {path} of [...GRAPHS, ...GROUPS, OPERATIONS.find(({id}) => id === 'logs.groups')!]) {
      const at = `/v1${path.replace(':metadataKey', 'team').replace(':groupBy', 'model')}`
      for (const query of [
        'time_of_generation_min=2026-03-04T00:00:00Z',
        'time_of_generation_max=2026-03-04T00:00:00Z',
        `${WEEK}&colour=red`,
        `${WEEK}&cost_min=-1`,
        `${WEEK}&weighted_feedback_min=11`,
        'time_of_generation_min=2026-03-05T00:00:00Z&time_of_generation_max=2026-03-04T00:00:00Z',
        'time_of_generation_min=1990-03-05T00:00:00Z&time_of_generation_max=2026-03-04T00:00:00Z',
      ]) {
        const {status, body} = await admin.asWorkspace('GET', `${at}?${query}`)
        expect([path, query, status, body.data?.errorCode]).toEqual([path, query, 400, 'AB01'])
      }
      expect((await admin.asWorkspace('GET', `${at}?${WEEK}&workspace_slug=elsewhere`)).status).toBe(404)
    }
    for (const bad of ['groups/colour?', 'groups/model?columns=colour&'])
      expect((await admin.asWorkspace('GET', `/v1/analytics/${bad}${WEEK}`)).status).toBe(400)
  })

  test('need the scope', async () => {
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const none = await admin.seedKey(place, {scopes: ['completions.write']})
    const lists = await admin.seedKey(place, {scopes: ['logs.list']})
    for (const {path} of [...GRAPHS, ...GROUPS]) {
      const {status, body} = await admin.send(none.key, 'GET', `/v1${path.replace(/:\w+/, 'model')}?${WEEK}`)
      expect([path, status, body]).toEqual([
        path,
        403,
        refusal(
          'AB03',
          'You do not have enough permissions to execute this request: it needs the scope analytics.view.',
        ),
      ])
    }
    expect((await admin.send(lists.key, 'GET', `/v1/logs/groups/model?${WEEK}`)).status).toBe(200)
  })

  test('show archived workspaces to callers of the organisation', async () => {
    const old = await admin.seedWorkspace(admin.organisation_id, {slug: 'old', status: 'archived'})
    await flush.apply(
      callAt({at: '2026-03-06T00:00:00.000Z', organisation_id: admin.organisation_id, workspace_id: old.id}),
    )
    expect((await graph('graphs/requests', `${WEEK}&workspace_slug=old`, admin.asAdmin)).summary).toEqual({total: 1})
    expect((await graph('graphs/requests', WEEK, admin.asAdmin)).summary).toEqual({total: 6})
    expect((await graph('graphs/requests')).summary).toEqual({total: 5})
    expect((await admin.asWorkspace('GET', `/v1/analytics/graphs/requests?${WEEK}&workspace_slug=old`)).status).toBe(
      404,
    )
  })
})
