import {describe, expect, test} from 'vitest'
// commands load it when they run, and that is no part of the time of a test
import '../../src/admin/registry.ts'
import {fakeGateway, ONE_WORKSPACE, refusal, run, WORKSPACE} from './support.ts'

const KEY = {
  ...{id: '4fe04ef3-4d1e-4c3b-9f0e-2b1f6a1c9d20', name: 'blue', key: 'gk-ma…once', type: 'workspace-service'},
  ...{status: 'active', expires_at: null, created_at: '2026-03-04T05:06:07.000Z', workspace_id: WORKSPACE.id},
  usage_limits: {type: 'cost', credit_limit: 25, current_usage: 2.5},
}
const OTHER = {...KEY, id: '4fe04ef3-aaaa-4c3b-9f0e-2b1f6a1c9d21', name: 'red', usage_limits: null}
const keys = (...data: object[]) => ({'GET /api-keys': {object: 'list', total: data.length, data}})
const queryOf = (path: string) => Object.fromEntries(new URL(path, 'http://gateway').searchParams)

describe('keys', () => {
  test('an id may be cut where no other begins so; a name goes first', async () => {
    const show = async (name: string, ...more: object[]) => {
      const {transport, requests} = fakeGateway({...keys(KEY, OTHER, ...more), [`GET /api-keys/${KEY.id}`]: KEY})
      return {...(await run(['keys', 'show', name], {transport})), path: requests.at(-1)?.path}
    }
    expect(await show('4fe04ef3-4d1e')).toMatchObject({code: 0, path: `/v1/api-keys/${KEY.id}`})
    expect(await show('4FE04EF3-4D')).toMatchObject({code: 0, path: `/v1/api-keys/${KEY.id}`})
    const ids = `${KEY.id}, ${OTHER.id}`
    const both = `gateway: 2 API keys have an id that begins with 4fe04ef3: give an id. They are: ${ids}.`
    expect(await show('4fe04ef3')).toMatchObject({code: 2, stderr: `${both}\n`})
    expect(await show('4fe04e')).toMatchObject({code: 3})
    const named = {...OTHER, id: KEY.id, name: '4fe04ef3-aaaa'}
    expect(await show('4fe04ef3-aaaa', named)).toMatchObject({code: 0, path: `/v1/api-keys/${KEY.id}`})
  })

  test('the list has the workspace, the budget and its use', async () => {
    const list = async (answers: object, terminal?: number) => {
      const {transport} = fakeGateway({...keys(KEY, OTHER), ...answers})
      return (await run(['keys', 'list'], {transport, ...(terminal && {terminal, env: {NO_COLOR: '1'}})})).stdout
    }
    const piped = (await list(ONE_WORKSPACE)).split('\n').map(line => line.split(/ {2,}/))
    expect(piped).toEqual([
      ['ID', 'NAME', 'WORKSPACE', 'KEY', 'TYPE', 'STATUS', 'BUDGET', 'USED', 'EXPIRES', 'CREATED'],
      [KEY.id, 'blue', WORKSPACE.slug, KEY.key, KEY.type, 'active', '$25.00', '$2.50', 'never', '2026-03-04 05:06'],
      [OTHER.id, 'red', WORKSPACE.slug, KEY.key, KEY.type, 'active', '-', '-', 'never', '2026-03-04 05:06'],
      [''],
    ])
    expect(await list(ONE_WORKSPACE, 80)).toBe(
      `ID             NAME  WORKSPACE        KEY         STATUS  BUDGET   USED  EXPIRES
4fe04ef3-4d1e  blue  ws-shared-1a2b…  gk-ma…once  active  $25.00  $2.50  never
4fe04ef3-aaaa  red   ws-shared-1a2b…  gk-ma…once  active       -      -  never
`,
    )
    const refused = await list({'GET /admin/workspaces': refusal(403, 'AB03', 'No.')})
    expect(refused).toContain(WORKSPACE.id)
  })

  test('a name that a key has already is warned of, and the id of the new one is shown', async () => {
    const made = {...KEY, id: 'ea80a8d4-4d1e-4c3b-9f0e-2b1f6a1c9d22', key: 'gk-new'}
    const create = (name: string, answers: object, ...more: string[]) => {
      const {transport} = fakeGateway({...ONE_WORKSPACE, 'POST /api-keys/workspace/service': made, ...answers})
      return run(['keys', 'create', name, ...more], {transport})
    }
    const note = `Note: another API key has the name blue too. Commands need the id of this one: ${made.id}\n`
    expect(await create('blue', keys(KEY))).toEqual({
      code: 0,
      stdout: 'gk-new\n',
      stderr: `Keep it now: it is not shown again.\n${note}`,
    })
    const alone = 'Keep it now: it is not shown again.\n'
    expect(await create('green', keys(KEY))).toMatchObject({code: 0, stderr: alone})
    expect(await create('blue', {'GET /api-keys': refusal(403, 'AB03', 'No.')})).toMatchObject({code: 0, stderr: alone})
    expect(await create('blue', keys(KEY), '--quiet')).toMatchObject({code: 0, stdout: 'gk-new\n', stderr: ''})
  })
})

test('providers are listed with the slugs of their integrations', async () => {
  const row = {slug: 'local', name: 'Local', ai_provider_id: 'ollama', status: 'active', created_at: null}
  const integration_id = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d31'
  const {transport} = fakeGateway({
    'GET /providers': {object: 'list', total: 1, data: [{...row, integration_id}]},
    'GET /integrations': {object: 'list', total: 1, data: [{id: integration_id, slug: 'house'}]},
  })
  expect((await run(['providers', 'list'], {transport})).stdout).toBe(
    'SLUG   NAME   KIND    INTEGRATION  STATUS  CREATED\nlocal  Local  ollama  house        active  -\n',
  )
})

test('limits are named first where a narrow terminal cuts them', async () => {
  const row = {
    ...{name: 'support-app', type: 'cost', enforcement: 'strict', limit: 10, used: 2.5, remaining: 7.5},
    ...{status: 'active', resets_at: '2026-04-01T00:00:00.000Z', corrected: null},
    label: '10 US dollars per month of the API key support-app',
  }
  const {transport} = fakeGateway({...ONE_WORKSPACE, 'GET /limits': {object: 'list', total: 1, data: [row]}})
  const {stdout} = await run(['limits', 'status'], {transport, terminal: 80, env: {NO_COLOR: '1'}})
  expect(stdout).toBe(
    `LIMIT                     LEFT  USED   OF  ENFORCEMENT  STATUS  RESETS
support-app: 10 US doll…  75%   $2.5  $10  strict       active  2026-04-01 00:00
`,
  )
})

describe('configs and guardrails', () => {
  const CONFIG = {slug: 'pc-resili-846e39', name: 'resilient', id: WORKSPACE.id}

  test.each([
    ['configs', 'slug', CONFIG],
    ['guardrails', 'slug', {...CONFIG, slug: 'pg-resili-846e39'}],
  ] as const)('%s go by name where one has it', async (noun, _, row) => {
    const found = {[`GET /${noun}/${row.slug}`]: {success: true, data: row}}
    const show = async (name: string, ...data: object[]) => {
      const list = {[`GET /${noun}`]: {success: true, object: 'list', total: data.length, data}}
      const {transport, requests} = fakeGateway({...list, ...found})
      return {...(await run([noun, 'show', name], {transport})), paths: requests.map(({path}) => path.split('?')[0])}
    }
    expect(await show('resilient', row)).toMatchObject({code: 0, paths: [`/v1/${noun}`, `/v1/${noun}/${row.slug}`]})
    expect(await show(row.slug, row)).toMatchObject({code: 0, paths: [`/v1/${noun}/${row.slug}`]})
    const twin = {...row, slug: `${row.slug}-2`}
    expect(await show('resilient', row, twin)).toMatchObject({
      code: 2,
      stderr: `gateway: 2 ${noun} have the name resilient: give a slug. They are: ${row.slug}, ${twin.slug}.\n`,
    })
    expect(await show('other', row)).toMatchObject({code: 3, paths: [`/v1/${noun}`, `/v1/${noun}/other`]})
    // a slug goes before a name
    expect(await show('resilient', {...row, slug: 'resilient', name: 'x'}, row)).toMatchObject({
      paths: [`/v1/${noun}`, `/v1/${noun}/resilient`],
    })
  })
})

describe('--filter', () => {
  const ask = async (argv: readonly string[]) => {
    const {transport, requests} = fakeGateway({
      ...keys(KEY, OTHER),
      'GET /logs': {object: 'list', total: 0, data: []},
      'GET /audit-logs': {object: 'analytics-graph', total: 0, records: []},
    })
    const output = await run(argv, {transport})
    return {...output, query: queryOf(requests.at(-1)?.path ?? '')}
  }

  test('takes the titles of the columns, and keys by their names', async () => {
    const filters = ['model=gpt-5', 'STATUS=429,500', `key=blue,${OTHER.id}`, 'provider=local', 'cost_min=2']
    expect(await ask(['logs', 'list', '--filter', ...filters])).toMatchObject({
      code: 0,
      query: {
        ...{ai_model: 'gpt-5', status_code: '429,500', virtual_keys: 'local', cost_min: '2'},
        api_key_ids: `${KEY.id},${OTHER.id}`,
      },
    })
    expect(await ask(['audit', 'list', '--filter', 'who=operator', 'what=api-key', 'method=PUT'])).toMatchObject({
      code: 0,
      query: {user_type: 'operator', resource_type: 'api-key', method: 'PUT'},
    })
    expect(await ask(['logs', 'list', '--filter', 'key=green'])).toMatchObject({code: 3})
  })

  test.each([
    ['statsu=429', 'gateway: --filter statsu is not known. Did you mean status? Known are: model, status, key, '],
    ['__proto__=1', 'gateway: --filter __proto__ is not known. Known are: model, status, key, provider, config, '],
    ['toString=1', 'gateway: --filter toString is not known. Known are: model, status, key, provider, config, '],
    ['=1', 'gateway: --filter takes name=value.'],
  ])('%s is refused with the names that there are', async (pair, stderr) => {
    for (const argv of [
      ['logs', 'list'],
      ['logs', 'traces'],
      ['analytics', 'by', 'model'],
    ]) {
      const output = await ask([...argv, '--filter', pair])
      expect(output).toMatchObject({code: 2, stderr: expect.stringContaining(stderr)})
      expect(output.stderr).not.toMatch(/page_size|workspace_id|time_of_generation/)
    }
  })

  test('--help names the columns', async () => {
    expect((await run(['logs', 'list', '--help'])).stdout.replace(/\s+/g, ' ')).toContain(
      'by model, status, key, provider, config, trace, span, or a parameter of the operation; for example model=gpt-5',
    )
  })
})

test('a minute without a call has no latency', async () => {
  const point = (minute: number, avg: number) => ({timestamp: `2026-03-04T05:0${minute}:00.000Z`, avg})
  const reply = {summary: {avg: 40}, data_points: [point(1, 40), point(2, 0)], object: 'analytics-graph'}
  const {transport} = fakeGateway({'GET /analytics/graphs/latency': reply})
  expect((await run(['analytics', 'latency'], {transport, terminal: 40})).stdout).toBe(
    '2026-03-04 05:01  40 ms  ███████████████\n2026-03-04 05:02      -\n',
  )
})

test('config show --changed says where nothing is changed', async () => {
  const around = {env: {}, folder: '/nowhere'}
  const output = await run(['config', 'show', '--changed'], around)
  expect(output).toEqual({code: 0, stdout: '', stderr: 'Every setting has its default.\n'})
  expect(await run(['config', 'show', '--changed', '--json'], around)).toEqual({code: 0, stdout: '[]\n', stderr: ''})
})
