import {describe, expect, test} from 'vitest'
import {fakeGateway, ONE_WORKSPACE, RESEARCH, run, TWO_WORKSPACES, WORKSPACE} from './support.ts'

const EXPORT = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11'

describe('analytics', () => {
  test('cost is drawn in bars of dollars, a line a day', async () => {
    const {transport, requests} = fakeGateway({
      'GET /analytics/graphs/cost': {
        summary: {total: 300, avg: 0.5},
        data_points: [
          {timestamp: '2026-03-03T00:00:00.000Z', total: 200, avg: 1},
          {timestamp: '2026-03-04T00:00:00.000Z', total: 100, avg: 0.25},
          {timestamp: '2026-03-05T00:00:00.000Z', total: 0, avg: 0},
        ],
        object: 'analytics-graph',
      },
    })
    const said = await run(['analytics', 'cost', '--since', '2d', '--filter', 'ai_model=gpt-5'], {
      transport,
      terminal: 29,
    })
    expect(said).toEqual({
      code: 0,
      stdout: ['2026-03-03  $2.00  ██████████', '2026-03-04  $1.00  █████', '2026-03-05  $0.00', ''].join('\n'),
      stderr: 'total $3.00, avg $0.005\n',
    })
    const url = new URL(requests.at(-1)!.path, 'http://gateway')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      time_of_generation_min: '2026-03-02T05:06:07.000Z',
      time_of_generation_max: '2026-03-04T05:06:07.000Z',
      ai_model: 'gpt-5',
    })
  })

  test('groups are a table of the columns that are asked for', async () => {
    const row = {model: 'gpt-5', requests: 3, cost: 12.5, total_tokens: 10, object: 'analytics-group'}
    const {transport, requests} = fakeGateway({'GET /analytics/groups/model': {object: 'list', total: 1, data: [row]}})
    const said = await run(['analytics', 'by', 'model', '--columns', 'cost,total_tokens'], {transport})
    expect(said.stdout).toBe('MODEL  REQUESTS  COST $  TOTAL TOKENS\ngpt-5         3   0.125            10\n')
    expect(requests.at(-1)!.path).toContain('columns=cost%2Ctotal_tokens')
  })

  test('minutes without a call have no latency', async () => {
    const point = (minute: string, avg: number) => ({timestamp: `2026-03-04T05:0${minute}:00.000Z`, avg})
    const {transport} = fakeGateway({
      'GET /analytics/graphs/latency': {
        summary: {avg: 12.5, p50: 12, p90: 13, p99: 13},
        data_points: [point('1', 0), point('2', 12.5)],
        object: 'analytics-graph',
      },
    })
    const {stdout} = await run(['analytics', 'latency'], {transport})
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/05:01 +-$/),
      expect.stringMatching(/05:02 +12\.5 ms +█+$/),
    ])
  })

  test('keys have their names beside their ids', async () => {
    const row = {api_key: EXPORT, name: 'Reporting', requests: 3, cost: 12.5, object: 'analytics-group'}
    const {transport} = fakeGateway({'GET /analytics/groups/api_key': {object: 'list', total: 1, data: [row]}})
    const said = await run(['analytics', 'by', 'api_key', '--columns', 'cost'], {transport})
    expect(said.stdout.split('\n')[1]).toBe(`${EXPORT}  Reporting         3   0.125`)
  })

  test('a date that a range ends with is sent as it is', async () => {
    const {transport, requests} = fakeGateway({
      'GET /analytics/graphs/requests': {summary: {total: 0}, data_points: [], object: 'analytics-graph'},
    })
    await run(['analytics', 'requests', '--since', '2026-03-04', '--until', '2026-03-04'], {transport})
    const url = new URL(requests.at(-1)!.path, 'http://gateway')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      time_of_generation_min: '2026-03-04T00:00:00.000Z',
      time_of_generation_max: '2026-03-04',
    })
  })
})

describe('a report names archived workspaces too', () => {
  const list = (...data: object[]) => ({object: 'list', total: data.length, data})
  const old = (slug: string) => ({...RESEARCH, id: EXPORT.replace('d11', slug.slice(-3)), slug, name: 'old'})
  const asked = async (name: string, archived: readonly object[], argv = ['usage', '--by', 'model']) => {
    const {transport, requests} = fakeGateway({
      ...TWO_WORKSPACES,
      'GET /admin/workspaces?page_size=1000&status=archived': list(...archived),
      'GET /admin/usage': {...list(), from: '2026-02-02T05:00:00.000Z'},
      'GET /logs': list(),
      'GET /traces': list(),
    })
    const said = await run([...argv, '--workspace', name], {transport})
    const {searchParams} = new URL(requests.at(-1)!.path, 'http://gateway')
    return {...said, workspace: searchParams.get('workspace_id')}
  }

  test.each([
    ['by name', 'old', ['usage', '--by', 'model']],
    ['by slug', 'ws-old-aaa', ['usage', '--by', 'model']],
    ['of the log', 'old', ['logs', 'list']],
    ['of traces', 'old', ['logs', 'traces']],
  ])('%s', async (_, name, argv) => {
    expect(await asked(name, [old('ws-old-aaa')], argv)).toMatchObject({code: 0, workspace: 'ws-old-aaa'})
  })

  test('after active ones of the same name, and never by guessing', async () => {
    expect(await asked('research', [{...old('ws-old-aaa'), name: 'research'}])).toMatchObject({
      ...{code: 0, workspace: RESEARCH.slug},
    })
    const two = await asked('old', [old('ws-old-aaa'), old('ws-old-bbb')])
    expect([two.code, two.stderr]).toEqual([2, expect.stringContaining('2 workspaces have the name old: give a slug.')])
    expect(await asked('elsewhere', [old('ws-old-aaa')])).toMatchObject({
      ...{code: 3, stderr: expect.stringContaining('No workspace is called elsewhere.')},
    })
  })
})

describe('exports', () => {
  test('are drafted, written, waited for and downloaded in one go', async () => {
    const row = {id: EXPORT, description: '', created_at: '2026-03-04T05:06:07.000Z'}
    const {transport, requests} = fakeGateway({
      ...ONE_WORKSPACE,
      'POST /logs/exports': {id: EXPORT, total: 2, object: 'export'},
      [`POST /logs/exports/${EXPORT}/start`]: {message: 'The export was started.', object: 'export'},
      [`GET /logs/exports/${EXPORT}`]: {...row, status: 'success'},
      [`GET /logs/exports/${EXPORT}/download`]: {
        signed_url: `https://elsewhere.example/v1/logs/exports/${EXPORT}/file?signature=x`,
      },
      [`GET /logs/exports/${EXPORT}/file`]: '{"id":1}\n{"id":2}\n',
    })
    const written: string[] = []
    const argv = [
      'logs',
      'export',
      'run',
      '--since',
      '1d',
      '--filter',
      'cost_min=1',
      'ai_model=m',
      '--fields',
      'id',
      '--out',
      'calls.jsonl',
    ]
    const said = await run(argv, {transport, onWritten: (path, text) => void written.push(path, text)})
    expect(said).toEqual({code: 0, stdout: '2 rows were written to calls.jsonl.\n', stderr: '2 rows are written.\n'})
    expect(written).toEqual(['calls.jsonl', '{"id":1}\n{"id":2}\n'])
    expect(requests.find(({path}) => path === '/v1/logs/exports')!.body).toEqual({
      filters: {time_of_generation_min: '2026-03-03T05:06:07.000Z', cost_min: 1, ai_model: 'm'},
      requested_data: ['id'],
      workspace_id: WORKSPACE.slug,
    })
  })
})

test('feedback is given in words', async () => {
  const {transport, requests} = fakeGateway({
    ...ONE_WORKSPACE,
    'POST /feedback': {status: 'success', message: '', feedback_ids: [EXPORT]},
  })
  const said = await run(['feedback', 'add', 't-1', '--value=-5', '--weight', '0.5', '--metadata', 'by=review'], {
    transport,
  })
  expect(said.stdout).toBe(`The feedback ${EXPORT} was kept.\n`)
  expect(requests.at(-1)!.body).toEqual({
    trace_id: 't-1',
    value: -5,
    weight: 0.5,
    metadata: {by: 'review'},
    workspace_id: WORKSPACE.slug,
  })
  expect((await run(['feedback', 'add', 't-1', '--value', 'good'], {transport})).code).toBe(2)
})
