import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {type Case, caseAt, ROUTE_NAMES} from './strict-reservations/cases.ts'
import {type Counts, countAnew, counted} from './strict-reservations/counted.ts'
import {Random} from './strict-reservations/random.ts'

vi.mock('../../src/ports/counters/open.ts', async original => {
  const {openCounters} = await original<typeof import('../../src/ports/counters/open.ts')>()
  const {listening} = await import('./strict-reservations/counted.ts')
  return {openCounters: async (...of: Parameters<typeof openCounters>) => listening(await openCounters(...of))}
})

const CASES = forRing({own: 242, ci: 2090, full: 20_900})
const PLENTY = 1e9
const BEDROCK = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  aws_secret_access_key: 'x'.repeat(40),
  aws_region: 'us-east-1',
}
/** What the catalogue has no price of. */
const PRICED = [
  ['openai', 'tts-1', 'characters', 0.0015],
  ['cohere', 'rerank-v3.5', 'search_units', 0.2],
] as const
let provider: FakeProvider
let gateway: TestGateway
let key: string

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const kind of ['openai', 'anthropic', 'google', 'cohere', 'mistral-ai'])
    await gateway.provider(kind, kind, provider.url)
  await gateway.provider('bedrock', 'bedrock', provider.url, {configurations: {...BEDROCK, custom_host: provider.url}})
  for (const [kind, model, unit, cents] of PRICED)
    await gateway.admin('PUT', `/model-configs/pricing/${kind}/${model}`, {
      pricing_config: {pay_as_you_go: {additional_units: {[unit]: {price: cents}}}},
    })
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

async function call({path, body, headers, is_own_path, provider: slug}: Case): Promise<{status: number; text: string}> {
  const is_form = body instanceof FormData
  const reply = await gateway.call(is_own_path ? path : `/v1${path}`, {
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
    countAnew()
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
