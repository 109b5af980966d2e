import {describe, expect, test} from 'vitest'
import {fakeGateway, ONE_WORKSPACE, run, WORKSPACE} from './support.ts'

const ID = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d20'

describe('policies', () => {
  test('a usage policy is made in the words of the operator', async () => {
    const {transport, requests} = fakeGateway({
      ...ONE_WORKSPACE,
      'POST /policies/usage-limits': {id: ID, object: 'policy_usage_limits'},
    })
    const argv =
      'policies usage create --when metadata.team=blue,red model=@main/* --except model=@main/small --per metadata._user --budget 2.5 --reset weekly --alert 2 --enforcement strict --name fair'
    expect(await run(argv.split(' '), {transport})).toMatchObject({
      code: 0,
      stdout: `Created the usage policy ${ID}.\n`,
    })
    expect(requests.at(-1)).toEqual({
      method: 'POST',
      path: '/v1/policies/usage-limits',
      body: {
        name: 'fair',
        conditions: [
          {key: 'metadata.team', value: ['blue', 'red']},
          {key: 'model', value: '@main/*', excludes: '@main/small'},
        ],
        group_by: [{key: 'metadata._user'}],
        enforcement: 'strict',
        workspace_id: WORKSPACE.slug,
        type: 'cost',
        credit_limit: 2.5,
        periodic_reset: 'weekly',
        alert_threshold: 2,
      },
    })
  })

  test('a rate policy is made, changed and deleted', async () => {
    const {transport, requests} = fakeGateway({
      ...ONE_WORKSPACE,
      'POST /policies/rate-limits': {id: ID, object: 'policy_rate_limits'},
      [`PUT /policies/rate-limits/${ID}`]: {},
      [`DELETE /policies/rate-limits/${ID}`]: {},
    })
    expect(
      (
        await run(
          ['policies', 'rate', 'create', '--when', 'provider=*', '--per', 'api_key', '--token-rate', '900rph'],
          {transport},
        )
      ).code,
    ).toBe(0)
    expect(requests.at(-1)!.body).toMatchObject({type: 'tokens', unit: 'rph', value: 900})
    expect((await run(['policies', 'rate', 'update', ID, '--rate', '5rpm'], {transport})).code).toBe(0)
    expect(requests.at(-1)!.body).toEqual({unit: 'rpm', value: 5})
    expect((await run(['policies', 'rate', 'delete', ID], {transport})).code).toBe(0)
  })

  test('a policy for calls of tools may count all of them together, in weeks too', async () => {
    const made = {id: ID, object: 'policy_rate_limits'}
    const {transport, requests} = fakeGateway({...ONE_WORKSPACE, 'POST /policies/rate-limits': made})
    const argv = 'policies rate create --target mcp_tools --when mcp_server=tickets --rate 100rpw'.split(' ')
    expect((await run(argv, {transport})).code).toBe(0)
    expect(requests.at(-1)!.body).toEqual({
      ...{target: 'mcp_tools', conditions: [{key: 'mcp_server', value: 'tickets'}], workspace_id: WORKSPACE.slug},
      ...{type: 'requests', unit: 'rpw', value: 100},
    })
  })

  test('what is cleared is null, what is not said is absent', async () => {
    const {transport, requests} = fakeGateway({[`PUT /policies/usage-limits/${ID}`]: {}})
    const argv = ['policies', 'usage', 'update', ID, '--no-reset', '--no-alert', '--reset-usage', 'metadata._user:bob']
    expect((await run(argv, {transport})).code).toBe(0)
    expect(requests.at(-1)!.body).toEqual({
      periodic_reset: null,
      alert_threshold: null,
      reset_usage_for_value: 'metadata._user:bob',
    })
  })

  test('entities are listed, and one is reset', async () => {
    const rows = [{id: 'e1', value_key: 'metadata._user:bob', current_usage: 4.5, status: 'active'}]
    const {transport, requests} = fakeGateway({
      [`GET /policies/usage-limits/${ID}/entities`]: {object: 'list', total: 1, data: rows},
      [`PUT /policies/usage-limits/${ID}/entities/e1/reset`]: {},
    })
    const listed = await run(['policies', 'usage', 'entities', ID, '--search', 'bob'], {transport})
    expect(listed.stdout.split('\n')[1]).toMatch(/^e1 +metadata\._user:bob +4\.5 +active$/)
    expect(requests[0]!.path).toContain('search=bob')
    expect((await run(['policies', 'usage', 'reset', ID, 'e1'], {transport})).code).toBe(0)
  })

  test.each<[string, string]>([
    ['policies rate create --when a=b --rate 1rpm', '--per is missing'],
    ['policies rate create --when a=b --per api_key --rate 1rpy', '1rpy is not a rate'],
    ['policies usage create --when a=b --per api_key', 'Give one of --budget and --token-budget.'],
    ['policies usage create --when a=b --per api_key --budget 1 --reset 30d', 'is no period of a policy'],
    ['policies rate create --when a=b --per api_key', 'Give one of --rate and --token-rate.'],
    [
      'policies rate create --when a=b --except c=d --per api_key --rate 1rpm',
      '--except c leaves values out of a condition that is not there.',
    ],
    [`policies usage update ${ID}`, 'Nothing to change was said.'],
    [`policies rate update ${ID} --enforcement hard`, 'Allowed choices are compatible, strict, shadow'],
  ])('%s is no command line', async (line, why) => {
    const {transport} = fakeGateway(ONE_WORKSPACE)
    const {code, stderr} = await run(line.split(' '), {transport})
    expect([code, stderr.includes(why)]).toEqual([2, true])
  })
})

describe('limits status', () => {
  const row = {
    entity: 'key',
    id: ID,
    name: 'blue',
    kind: 'budget',
    type: 'cost',
    enforcement: 'strict',
    label: '10 US dollars per month of the API key blue',
    limit: 10,
    used: 2.5,
    remaining: 7.5,
    status: 'active',
    since_at: '2026-03-01T00:00:00.000Z',
    resets_at: '2026-04-01T00:00:00.000Z',
    corrected: {by: -0.0125, at: '2026-03-02T10:20:30.000Z'},
  }
  const gone = {
    ...row,
    corrected: null,
    kind: 'rate',
    type: 'requests',
    label: '5 requests per day of the API key blue',
    limit: 5,
    used: 5,
    remaining: 0,
    status: 'exhausted',
    enforcement: 'compatible',
  }
  const unknown = {...gone, used: null, remaining: null, status: 'active'}
  const answers = {...ONE_WORKSPACE, 'GET /limits': {object: 'list', total: 3, data: [row, gone, unknown]}}

  test('draws what is left as bars', async () => {
    const {transport} = fakeGateway(answers)
    const {code, stdout, stderr} = await run(['limits', 'status'], {transport})
    expect(code).toBe(0)
    expect(stderr).toContain(
      'The counter of 10 US dollars per month of the API key blue said $0.0125 less than the ledger; it was put right at 2026-03-02 10:20.',
    )
    expect(stderr).toContain('Rates are counted in the gateway that serves: see them with --url and a key.')
    const [, first, second, third] = stdout.split('\n')
    expect(first).toMatch(
      /^10 US dollars per month of the API key blue +█{15}░{5} +75% +\$2\.5 +\$10 +strict +active +2026-04-01 00:00$/,
    )
    expect(second).toMatch(/░{20} +0% +5 +5 +compatible +exhausted/)
    expect(third).toMatch(/blue +- +- +5 +compatible/)
  })

  test('--json prints the reply', async () => {
    const {transport} = fakeGateway(answers)
    expect(JSON.parse((await run(['limits', 'status', '--json'], {transport})).stdout)).toEqual(answers['GET /limits'])
  })

  test('--watch looks again until a signal comes', async () => {
    const {transport, requests} = fakeGateway(answers)
    let raise = (_: string) => {}
    let sleeps = 0
    const around = {
      transport,
      onListening: (received: (name: string) => void) => {
        raise = received
      },
      onSleep: () => {
        if (++sleeps === 3) raise('SIGINT')
      },
    }
    expect((await run(['limits', 'status', '--watch', '--json'], around)).stdout.trim().split('\n')).toHaveLength(3)
    expect(requests.filter(({path}) => path.startsWith('/v1/limits'))).toHaveLength(3)
  })
})
