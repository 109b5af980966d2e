import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const BODY = JSON.stringify({model: 'm', messages: [{role: 'user', content: 'hi'}]})
const json = {'content-type': 'application/json'}
/** What the provider was told of who calls; null: it was not asked. */
async function response(headers: Record<string, string>, path = '/v1/chat/completions') {
  provider.received.length = 0
  const reply = await fetch(gateway.url + path, {method: 'POST', body: BODY, headers: {...json, ...headers}})
  await reply.text()
  const [received] = provider.received
  if (received) expect(JSON.stringify(received.headers)).not.toContain(WORKSPACE_KEY)
  return {
    status: reply.status,
    told: received ? (received.headers.authorization ?? received.headers['x-api-key'] ?? 'nothing') : null,
  }
}
const place = (kind = 'openai') => ({'x-gateway-provider': kind, 'x-gateway-custom-host': provider.url})

test.each(['openai', 'groq', 'anthropic', 'google', 'cohere', 'mistral-ai', 'azure-openai'])(
  '%s at a host of one’s own is called without a credential where none is brought, and is never told the service key',
  async kind => {
    for (const own of [{'x-gateway-api-key': WORKSPACE_KEY}, {authorization: `Bearer ${WORKSPACE_KEY}`}] as Record<
      string,
      string
    >[])
      for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions'])
        expect((await response({...place(kind), ...own}, path)).told).toBe('nothing')
    const both = {...place(kind), 'x-gateway-api-key': WORKSPACE_KEY, authorization: `Bearer ${WORKSPACE_KEY}`}
    expect((await response(both)).told).toBe('nothing')
  },
)

test('a credential that is brought goes there', async () => {
  expect(await response({...place(), 'x-gateway-api-key': WORKSPACE_KEY, authorization: 'Bearer sk-own'})).toEqual({
    status: 200,
    told: 'Bearer sk-own',
  })
})

test('a kind’s own place still needs one', async () => {
  expect(await response({'x-gateway-provider': 'openai', 'x-gateway-api-key': WORKSPACE_KEY})).toEqual({
    status: 400,
    told: null,
  })
})

const passing = () => ({passthrough: true, custom_host: provider.url})
test.each([
  ['at the root', () => passing()],
  ['below a fallback', () => ({strategy: {mode: 'fallback'}, targets: [passing()]})],
  [
    'below two strategies',
    () => ({strategy: {mode: 'loadbalance'}, targets: [{strategy: {mode: 'fallback'}, targets: [passing()]}]}),
  ],
])('a target that passes through %s passes the call’s own Authorization on', async (_, config) => {
  const headers = {
    'x-gateway-config': JSON.stringify(config()),
    'x-gateway-provider': 'openai',
    'x-gateway-api-key': WORKSPACE_KEY,
  }
  expect(await response({...headers, authorization: 'Bearer sk-own'})).toEqual({status: 200, told: 'Bearer sk-own'})
  expect(await response(headers)).toEqual({status: 200, told: 'nothing'})
})

test('a target of another kind below a strategy is not told it', async () => {
  const config = {strategy: {mode: 'fallback'}, targets: [{provider: 'openai', custom_host: provider.url}]}
  const headers = {'x-gateway-config': JSON.stringify(config), 'x-gateway-api-key': WORKSPACE_KEY}
  expect(await response({...headers, authorization: 'Bearer sk-own'})).toEqual({status: 400, told: null})
})
