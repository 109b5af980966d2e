import {once} from 'node:events'
import {request as httpRequest} from 'node:http'
import {afterAll, beforeAll, beforeEach, expect, onTestFinished, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {chatEvents, openaiLike} from '../support/provider.ts'
import {
  ANTHROPIC_OVERLOAD,
  CHAT,
  events,
  MESSAGE_START,
  newTrace,
  type RoutingSetup,
  startRouting,
  statuses,
  when,
} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting({DRAIN_TIMEOUT_MS: '1000', TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

const [A, B] = [{provider: '@a'}, {provider: '@b'}]
const CLAUDE = {provider: '@claude', override_params: {model: 'claude-sonnet-4-5'}}
const fallback = (...targets: object[]) => ({strategy: {mode: 'fallback'}, targets})
const on = (on_status_codes: number[], ...targets: object[]) => ({
  strategy: {mode: 'fallback', on_status_codes},
  targets,
})
const STREAMED = {body: {...CHAT, stream: true}}

// live calls are counted by attempts, so that between two of them there are none, and the drain thinks it is over
test('a drain ends a call whose first attempt came back after it began', async () => {
  const draining = await startRouting({DRAIN_TIMEOUT_MS: '300'})
  onTestFinished(() => draining.close())
  let answer = () => {}
  const asked = new Promise<void>(resolve => {
    draining.a.answer((_, response) => {
      answer = () => response.writeHead(500).end('{}')
      resolve()
    })
  })
  draining.b.answer((received, response) => void setTimeout(() => openaiLike(received, response), 1500))
  const headers = {
    'x-gateway-api-key': WORKSPACE_KEY,
    'x-gateway-config': JSON.stringify(fallback(A, B)),
    'content-type': 'application/json',
  }
  const request = httpRequest(`${draining.gateway.url}/v1/chat/completions`, {method: 'POST', headers, agent: false})
  request.end(JSON.stringify(CHAT))
  await asked
  const drained = draining.gateway.app.drain()
  answer()
  const [response] = await once(request, 'response')
  response.resume()
  expect(response.statusCode).toBe(503)
  await drained
})

// the refusal is noted under the id of the row before it, and is lost
test('the row of a last target that was refused is written beside the row of the one before it', async () => {
  await routed.gateway.provider('old', 'openai', routed.b.url)
  await routed.gateway.admin('PUT', '/providers/old', {expires_at: new Date(Date.now() - 60_000).toISOString()})
  routed.a.answer(statuses([500]))
  const result = await routed.ask(fallback(A, {provider: '@old'}))
  expect([result.status, result.path]).toEqual([401, 'config.targets[1]'])
  expect(result.rows.map(({status}) => status)).toEqual([500, 401])
})

// a row that is noted is of attempt 0, and sums nothing
test('the row of a call that ends in the wait for a retry tells what was used before', async () => {
  routed.claude.answer(events([MESSAGE_START, ANTHROPIC_OVERLOAD]))
  const trace_id = newTrace()
  const client = new AbortController()
  const reply = routed.gateway
    .call('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify(STREAMED.body),
      headers: {
        'content-type': 'application/json',
        'x-gateway-config': JSON.stringify({...CLAUDE, retry: {attempts: 1}}),
        'x-gateway-trace-id': trace_id,
      },
      signal: client.signal,
    })
    .catch(() => null)
  await expect.poll(async () => (await routed.recorded(trace_id)).entries.length).toBe(1)
  client.abort()
  await reply
  await expect.poll(async () => (await routed.recorded(trace_id)).rows.length).toBe(1)
  const {rows, entries} = await routed.recorded(trace_id)
  expect(entries).toMatchObject([{prompt_tokens: 25}])
  expect(rows[0]!.cost_nanousd).toBe(entries[0]!.cost_nanousd)
})

// a path into a member has the whole body written anew, also where it leads nowhere
test('bytes are the client’s own where drop_params finds nothing', async () => {
  const body = '{ "model":"gpt-4o-mini", "seed": 12345678901234567890, "messages":[{"role":"user","content":"hi"}] }'
  await routed.ask(
    {...A, drop_params: ['messages[*].cache_control']},
    {body, headers: {'content-type': 'application/json'}},
  )
  expect(routed.a.received[0]!.body.toString()).toBe(body)
})

// statusOf looks at the type alone; OpenAI's names what is short ("tokens", "requests"), and its code says what it is
test.each([
  ['OpenAI’s rate limit', {message: 'Rate limit reached', type: 'tokens', param: null, code: 'rate_limit_exceeded'}],
  ['a number for a code', {message: 'Rate limit reached', code: 429}],
  ['a Google status', {message: 'Out of quota', status: 'RESOURCE_EXHAUSTED', code: 429}],
])('a rate limit told in a stream is a 429: %s', async (_, error) => {
  routed.a.answer(events([`data: ${JSON.stringify({error})}\n\n`]))
  const result = await routed.ask(on([429], A, B), STREAMED)
  expect(result.path).toBe('config.targets[1]')
})

// the row tells the status of our own words for it, 502
test('the row of a stream that was dropped for an overload says 529', async () => {
  routed.claude.answer(events([MESSAGE_START, ANTHROPIC_OVERLOAD]))
  const result = await routed.ask(fallback(CLAUDE, B), STREAMED)
  expect(result.rows.map(({status}) => status)).toEqual([529, 200])
})

// nothing bounds what is held before the first event (core rule 20)
test('more than 64 KB before the first event of a stream are not held', async () => {
  const many = `: ${'x'.repeat(1000)}\n\n`.repeat(100)
  routed.a.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'}).write(many)
  })
  const trace = {'x-gateway-config': JSON.stringify(fallback(A, B)), 'content-type': 'application/json'}
  const reply = await routed.gateway.call('/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(STREAMED.body),
    headers: trace,
    signal: AbortSignal.timeout(1500),
  })
  expect(reply.status).toBe(200)
  await reply.body?.cancel()
})

// comments count as signs of life, and nothing looks for the first event
test('a stream that only comments is over at the deadline for the first byte', async () => {
  const hasty = await startRouting({UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '300', DRAIN_TIMEOUT_MS: '100'})
  onTestFinished(() => hasty.close())
  hasty.a.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    const timer = setInterval(() => response.write(': still there\n\n'), 50)
    response.on('close', () => clearInterval(timer))
  })
  const result = await hasty.ask(fallback(A, B), {...STREAMED, signal: AbortSignal.timeout(2000)})
  expect([result.status, result.path]).toEqual([200, 'config.targets[1]'])
})

// the catalogue's `all` takes Messages in, which OpenAI does not serve (reference: messages on any provider)
test('a client of Messages may talk to OpenAI', async () => {
  const result = await routed.ask(A, {path: '/v1/messages', body: {...CHAT, max_tokens: 9}})
  expect(routed.a.received[0]!.path).toBe('/v1/chat/completions')
  expect(JSON.parse(result.text)).toMatchObject({type: 'message', role: 'assistant'})
})

// the metadata is made before the body is read, and never completed
test('conditions know the user of the body as metadata._user', async () => {
  const config = {
    strategy: {mode: 'conditional', conditions: [when({'metadata._user': 'jo'}, 'first')], default: 'second'},
    targets: [
      {name: 'first', ...A},
      {name: 'second', ...B},
    ],
  }
  expect((await routed.ask(config, {body: {...CHAT, user: 'jo'}})).path).toBe('config.targets[0]')
})

// nobody reads `passthrough`
test.each([
  [
    'the header before the model',
    {passthrough: true},
    {headers: {'x-gateway-provider': '@b'}, body: {...CHAT, model: '@a/m'}},
  ],
  ['the model, whatever the target says', {passthrough: true, provider: '@a'}, {body: {...CHAT, model: '@b/m'}}],
])('a target that passes through asks the provider of the request: %s', async (_, target, asked) => {
  await routed.ask(fallback(target), asked)
  expect(routed.received()).toMatchObject({a: 0, b: 1})
})

// the client's token goes to every kind that a config names without a key (reference: resolution of provider per leaf)
test('the client’s own token goes to a flat config’s provider alone', async () => {
  const raw = (kind: string, custom_host: string) => ({provider: kind, custom_host})
  const own = {headers: {authorization: 'Bearer sk-of-the-client'}}
  expect((await routed.ask(raw('openai', routed.a.url), own)).status).toBe(200)
  routed.a.answer(statuses([500]))
  await routed.ask(fallback(raw('openai', routed.a.url), raw('groq', routed.b.url)), own)
  expect(routed.b.received.map(({headers}) => headers.authorization)).toEqual([])
})

// behind a first attempt what was admitted is settled, and only before it given back
test('a provider that could not be told the call has not had a request of its limit', async () => {
  await routed.gateway.provider('few', 'anthropic', routed.claude.url)
  await routed.gateway.admin('PUT', '/providers/few', {rate_limits: [{type: 'requests', unit: 'rpd', value: 1}]})
  routed.a.answer(statuses([500]))
  const FEW = {provider: '@few', override_params: {model: 'claude-sonnet-4-5'}}
  const embedding = {path: '/v1/embeddings', body: {model: 'text-embedding-3-small', input: 'a'}}
  expect((await routed.ask(fallback(A, FEW, B), embedding)).path).toBe('config.targets[2]')
  expect((await routed.ask(FEW)).status).toBe(200)
})

// the preamble of Responses is taken for a decision, like the first event of all others (core rule 20 names none of it)
test('an overload behind the preamble of a Responses stream falls back', async () => {
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`
  const response = {id: 'resp_1', object: 'response', status: 'in_progress', output: []}
  const error = {code: 'server_error', message: 'The server is overloaded'}
  routed.a.answer(
    events([
      event('response.created', {response}),
      event('response.in_progress', {response}),
      event('response.failed', {response: {...response, status: 'failed', error}}),
    ]),
  )
  routed.b.answer(events(chatEvents('gpt-4o-mini')))
  const result = await routed.ask(fallback(A, B), {
    path: '/v1/responses',
    body: {model: 'gpt-4o-mini', input: 'hi', stream: true},
  })
  expect(result.path).toBe('config.targets[1]')
})

// a timeout holds for the whole answer, and until its body begins the client has none of it (decisions: wire)
test('an answer whose body does not come in time falls back while the client has no byte', async () => {
  routed.a.answer((_, response) => {
    response.writeHead(200, {'content-type': 'application/json', 'content-length': '100'}).flushHeaders()
  })
  const result = await routed.ask(fallback({...A, request_timeout: 60}, B))
  expect([result.status, result.path]).toEqual([200, 'config.targets[1]'])
})

// circuits are kept by path, and nobody forgets those of a config that changes
test('a circuit closes when its config changes: the path leads elsewhere', async () => {
  const C = {provider: '@c'}
  const broken = (...targets: object[]) => ({
    strategy: {mode: 'fallback', cb_config: {failure_threshold: 1, cooldown_interval: 30_000}},
    targets,
  })
  routed.a.answer(statuses([500]))
  const slug = await routed.save(broken(A, B))
  await routed.ask(slug)
  expect((await routed.ask(slug)).path).toBe('config.targets[1]')
  await routed.gateway.admin('PUT', `/configs/${slug}`, {config: broken(C, B)})
  expect((await routed.ask(slug)).path).toBe('config.targets[0]')
})
