import {describe, expect, test} from 'vitest'
import {fakeGateway, run} from './support.ts'

const ID = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d20'
const BUDGET = {
  type: 'cost',
  credit_limit: 25,
  alert_threshold: 20,
  periodic_reset: 'monthly',
  periodic_reset_days: null,
  next_usage_reset_at: null,
}
const STRICT = {...BUDGET, enforcement: 'strict'}
const view = (usage_limits: object, rest: object = {}) => ({
  name: 'blue',
  usage_limits,
  rate_limits: [{type: 'requests', unit: 'rpm', value: 60}],
  ...rest,
})

/** A gateway that answers an update with these views, and with what is used since. */
function changing(before: object, after: object, changed: string[], used = 11.2) {
  const usage = {
    usage_limits: {...(after as {usage_limits: object}).usage_limits, current_usage: used, status: 'active'},
  }
  return fakeGateway({[`PUT /api-keys/${ID}`]: {before, after, changed}, [`GET /api-keys/${ID}`]: {...after, ...usage}})
}

describe('an update says what it changed', () => {
  const changed = ['usage_limits.credit_limit']

  test('a budget, with what stays of it and what is used', async () => {
    const {transport, requests} = changing(view(STRICT), view({...STRICT, credit_limit: 50}), changed)
    expect(await run(['keys', 'update', ID, '--budget', '50'], {transport})).toEqual({
      code: 0,
      stdout: `Changed the API key ${ID}.\n  budget: $25.00 -> $50.00        (monthly, alert at $20.00, strict: unchanged; used $11.20)\n`,
      stderr: '',
    })
    expect(requests[0]).toMatchObject({
      path: `/v1/api-keys/${ID}?changes=true`,
      body: {usage_limits: {type: 'cost', credit_limit: 50}},
    })
  })

  test('a budget below what is used warns, and says the new state', async () => {
    const {transport} = changing(view(STRICT), view({...STRICT, credit_limit: 6, alert_threshold: null}), changed)
    const {stderr, stdout} = await run(['keys', 'update', ID, '--budget', '6', '--alert', 'none'], {transport})
    expect(stdout).toContain('  alert: $20.00 -> none\n')
    expect(stderr).toBe(
      `warning: $11.20 are used already, and the budget is $6.00: the API key ${ID} is exhausted now, and its calls are refused until it resets (monthly).\n`,
    )
  })

  test('rates and other fields', async () => {
    const after = view(STRICT, {
      name: 'green',
      rate_limits: [{type: 'requests', unit: 'rpm', value: 120, enforcement: 'strict'}],
    })
    const {transport} = changing(view(STRICT), after, ['name', 'rate_limits.requests rpm.value'])
    const {stdout} = await run(['keys', 'update', ID, '--name', 'green', '--rate', '120rpm'], {transport})
    expect(stdout).toBe(`Changed the API key ${ID}.\n  rate (rpm): 60rpm -> 120rpm strict\n  name: blue -> green\n`)
  })

  test('nothing changed, a dry run, and JSON', async () => {
    const same = changing(view(STRICT), view(STRICT), [])
    expect((await run(['keys', 'update', ID, '--budget', '25'], same)).stdout).toBe(
      `Nothing changed: the API key ${ID} has these values already.\n`,
    )
    const {transport, requests} = changing(view(STRICT), view({...STRICT, credit_limit: 50}), changed)
    expect((await run(['keys', 'update', ID, '--budget', '50', '--dry-run'], {transport})).stdout).toMatch(
      /^Would change the API key /,
    )
    expect(requests[0]!.path).toBe(`/v1/api-keys/${ID}?changes=true&dry_run=true`)
    const json = await run(['keys', 'update', ID, '--budget', '50', '--json'], {transport})
    expect(JSON.parse(json.stdout)).toEqual({before: view(STRICT), after: view({...STRICT, credit_limit: 50}), changed})
    expect(json.stderr).toBe('')
  })

  test('a gateway that knows no dry run is told of', async () => {
    const {transport} = fakeGateway({[`PUT /api-keys/${ID}`]: {}})
    const {code, stderr} = await run(['keys', 'update', ID, '--budget', '50', '--dry-run'], {transport})
    expect([code, stderr]).toEqual([1, expect.stringContaining('knows no dry run')])
  })

  test('a secret shows that it was replaced', async () => {
    const [before, after] = [
      {masked_key: 'sk-o****ne', key: 'set'},
      {masked_key: 'sk-t****wo', key: 'set (replaced)'},
    ]
    const {transport} = fakeGateway({'PUT /integrations/cloud': {before, after, changed: ['masked_key', 'key']}})
    const {stdout} = await run(['integrations', 'update', 'cloud', '--key-file', 'new.key'], {
      transport,
      files: {'new.key': 'sk-two'},
    })
    expect(stdout).toContain('  key: set -> set (replaced)\n')
  })
})
