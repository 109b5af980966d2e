import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import type {Claim, Counters} from '../../src/ports/counters/index.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {type Case, caseAt, ROUTE_NAMES} from './strict-reservations/cases.ts'
import {Random} from './strict-reservations/random.ts'

interface Counts {
  tokens: number
  cost_nanousd: number
}

/** What the attempts of the call under way reserved, and what they used in the end. */
const counted = vi.hoisted(() => ({reserved: {tokens: 0, cost_nanousd: 0}, used: null as {tokens: number; cost_nanousd: number} | null}))

vi.mock('../../src/ports/counters/open.ts', async original => {
  const {openCounters} = await original<typeof import('../../src/ports/counters/open.ts')>()
  return {openCounters: async (...of: Parameters<typeof openCounters>) => listening(await openCounters(...of))}
})

/** The same counters; what passes through them is added up. */
function listening(counters: Counters): Counters {
  const take = (work: Counters['reserve'] | Counters['extend']) => (id: string, claims: readonly Claim[], deadline_ms: number) => {
    for (const {amount, type} of claims) {
      if (type === 'tokens') counted.reserved.tokens += amount
      else if (type === 'cost') counted.reserved.cost_nanousd += amount
    }
    return work(id, claims, deadline_ms)
  }
  const settle: Counters['settle'] = (id, actual) => {
    const {tokens, cost_nanousd} = actual as Counts
    if (!counted.used || tokens + cost_nanousd > 0) counted.used = {tokens, cost_nanousd}
    return counters.settle(id, actual)
  }
  return {...counters, reserve: take(counters.reserve) as Counters['reserve'], extend: take(counters.extend) as Counters['extend'], settle}
}

const CASES = forRing({own: 242, ci: 2090, full: 20_900})
const PLENTY = 1e9
let provider: FakeProvider
let gateway: TestGateway
let key: string

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const kind of ['openai', 'anthropic', 'google']) await gateway.provider(kind, kind, provider.url)
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const usage_limits = (['tokens', 'cost'] as const).map(type => ({
    type,
    credit_limit: type === 'cost' ? 1e6 : PLENTY,
    enforcement: 'strict',
  }))
  await gateway.admin('PUT', `/admin/workspaces/${workspace!.id}`, {usage_limits})
  const body = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write']}
  key = (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

function answer({reply}: Case) {
  provider.answer((_, response) => {
    if (!Array.isArray(reply)) return json(response, reply)
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(`${reply.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`)
  })
}

async function call({path, body, headers, provider: slug}: Case): Promise<{status: number; text: string}> {
  const is_form = body instanceof FormData
  const reply = await gateway.call(`/v1${path}`, {
    method: 'POST',
    headers: {
      'x-gateway-api-key': key,
      'x-gateway-provider': `@${slug}`,
      ...(!is_form && {'content-type': 'application/json'}),
      ...headers,
    },
    body: is_form ? body : JSON.stringify(body),
  })
  return {status: reply.status, text: await reply.text()}
}

test('whatever a call asks for, it uses no more than strict limits reserved for it', {timeout: 600_000}, async () => {
  const random = new Random(seed())
  const seen = new Map(ROUTE_NAMES.map(name => [name, 0]))
  for (let at = 0; at < CASES; at++) {
    const one = caseAt(at, random)
    answer(one)
    counted.reserved = {tokens: 0, cost_nanousd: 0}
    counted.used = null
    const {status, text} = await call(one)
    const told = `case ${at}, ${one.name}: ${status} ${status === 200 ? '' : text.slice(0, 300)}`
    if (one.is_unbounded) {
      expect({status, refused: text.includes('usage_unbounded_error')}, told).toEqual({status: 412, refused: true})
      continue
    }
    expect(status, told).toBe(200)
    await expect.poll(() => counted.used !== null, {interval: 1}).toBe(true)
    const {reserved} = counted
    const used = counted.used as Counts | null
    expect(used!.tokens + used!.cost_nanousd, told).toBeGreaterThan(0)
    expect(used!.tokens, `${told} tokens`).toBeLessThanOrEqual(reserved.tokens)
    expect(used!.cost_nanousd, `${told} cost`).toBeLessThanOrEqual(reserved.cost_nanousd)
    const route = one.name.slice(0, one.name.indexOf(': '))
    seen.set(route, seen.get(route)! + 1)
  }
  expect([...seen].filter(([, count]) => count === 0)).toEqual([])
  generated('strict reservations', CASES)
})
