import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {startGateway} from './support/gateway.ts'
import {machine} from './support/machine.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const CHAT = {model: 'echo', max_tokens: 5, messages: [{role: 'user', content: 'what time is it?'}]}

const earlyInAMinute = () => Math.ceil(Date.now() / 60_000) * 60_000 + 5_000

test.each([-HOUR_MS, -DAY_MS])(
  'a clock that is set by %d ms locks no key, keeps no answer longer, and is told of once',
  async step_ms => {
    const on = machine(earlyInAMinute())
    const gateway = await startGateway({}, on)
    const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      name: 'rated',
      scopes: ['completions.write'],
      workspace_id: (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id,
      rate_limits: [{type: 'requests', unit: 'rpm', value: 2}],
    })
    const rated = async () =>
      (await gateway.chat(CHAT, {'x-gateway-provider': '@demo', 'x-gateway-api-key': key})).status
    const config = JSON.stringify({provider: '@demo', cache: {mode: 'simple', max_age: 60}})
    const cached = async () =>
      (await gateway.chat(CHAT, {'x-gateway-config': config})).headers.get('x-gateway-cache-status')
    expect([await rated(), await rated(), await rated()]).toEqual([200, 200, 429])
    expect([await cached(), await cached()]).toEqual(['MISS', 'HIT'])
    on.set(step_ms)
    expect([await rated(), await cached()]).toEqual([429, 'HIT'])
    on.pass(67_000)
    expect([await rated(), await rated(), await rated()]).toEqual([200, 200, 429])
    expect([await cached(), await cached()]).toEqual(['MISS', 'HIT'])
    await expect.poll(() => gateway.lines.filter(line => line.includes('clock')).length, {timeout: 5_000}).toBe(1)
    on.set(-step_ms)
    expect(await rated()).toBe(429)
    await expect.poll(() => gateway.lines.filter(line => line.includes('clock')).length, {timeout: 5_000}).toBe(2)
    await gateway.close()
  },
)

test('a process that starts after the clock went back goes on from what the ledger saw', async () => {
  const on = machine(earlyInAMinute())
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  const first = await startGateway({}, {...on, folder})
  const {id, key} = await first.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', {
    name: 'strict',
    scopes: ['completions.write'],
    workspace_id: (await first.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id,
    usage_limits: {type: 'tokens', credit_limit: 100_000, enforcement: 'strict'},
  })
  const used = async (gateway: typeof first) =>
    (await gateway.admin<{usage_limits: {current_usage: number}}>('GET', `/api-keys/${id}`)).usage_limits.current_usage
  const call = async (gateway: typeof first) =>
    expect((await gateway.chat(CHAT, {'x-gateway-provider': '@demo', 'x-gateway-api-key': key})).status).toBe(200)
  await call(first)
  const once = await used(first)
  await first.close()
  on.set(-HOUR_MS)
  const second = await startGateway({}, {...on, folder})
  expect(second.lines.some(line => line.includes('clock'))).toBe(true)
  await call(second)
  expect(await used(second)).toBe(2 * once)
  await second.close()
  // what was used an hour ago by this clock still counts: the limit was set after that
  const third = await startGateway({}, {...on, folder})
  expect(await used(third)).toBe(2 * once)
  await third.close()
  rmSync(folder, {recursive: true, force: true})
})
