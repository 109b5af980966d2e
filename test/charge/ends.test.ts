import {afterAll, beforeAll, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {chatEvents, json} from '../support/provider.ts'
import {
  ANTHROPIC_OVERLOAD,
  CHAT,
  MESSAGE_REST,
  MESSAGE_START,
  newTrace,
  type RoutingSetup,
  startRouting,
} from '../support/routing.ts'
import {scraped} from '../support/scrape.ts'

/** What ledger, log and /metrics hold of one end is the same. */
let routed: RoutingSetup
beforeAll(async () => {
  routed = await startRouting({PROMETHEUS_INCLUDE_MODEL_LABEL: 'true'})
})
afterAll(() => routed.close())

const CLAUDE = {provider: '@claude'}
const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0)

test.each([
  ['a retry', {...CLAUDE, retry: {attempts: 1}}],
  ['a fallback', {strategy: {mode: 'fallback'}, targets: [CLAUDE, CLAUDE]}],
])('what an attempt cost that %s follows is in /metrics too, and the call counts once', async (_, config) => {
  let received = 0
  routed.claude.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(++received === 1 ? MESSAGE_START + ANTHROPIC_OVERLOAD : MESSAGE_START + MESSAGE_REST.join(''))
  })
  const read = () =>
    Promise.all(
      ['llm_token_sum', 'llm_cost_sum', 'request_count'].map(name =>
        scraped(routed.gateway, name, 'provider="anthropic"'),
      ),
    )
  const before = await read()
  const {entries} = await routed.ask(config, {
    path: '/v1/messages',
    body: {...CHAT, model: 'claude-sonnet-4-5', max_tokens: 9, stream: true},
  })
  const after = await read()
  expect(entries.map(({prompt_tokens}) => prompt_tokens > 0)).toEqual([true, true])
  const tokens = sum(entries.map(({prompt_tokens, completion_tokens}) => prompt_tokens + completion_tokens))
  const cost = sum(entries.map(({cost_nanousd}) => Number(cost_nanousd))) / 1e9
  expect(after.map((value, at) => Number((value - before[at]!).toFixed(9)))).toEqual([
    tokens,
    Number(cost.toFixed(9)),
    1,
  ])
})

test('a refused call is counted as its row has it: all of its time is the gateway’s own', async () => {
  const times = async () =>
    Promise.all(
      ['gateway_request_duration_milliseconds_sum', 'gateway_processing_time_excluding_last_byte_ms_sum'].map(name =>
        scraped(routed.gateway, name, 'code="400"'),
      ),
    )
  const before = await times()
  const told = await routed.ask({
    strategy: {mode: 'conditional', conditions: [], default: 'nobody'},
    targets: [{name: 'a', provider: '@a'}],
  })
  expect(told.status).toBe(400)
  const after = await times()
  const [total, own] = after.map((value, at) => value - before[at]!)
  expect(total).toBeGreaterThan(0)
  expect(own).toBeCloseTo(total!, 6)
})

test('a row that was made elsewhere has its bodies measured in bytes, and its model whole', async () => {
  const trace_id = newTrace()
  const model = `long-${'m'.repeat(400)}`
  const body = {model, messages: [{role: 'user', content: 'grüße, 世界'}]}
  const answer = {choices: [{message: {role: 'assistant', content: 'schöne Grüße'}}]}
  const put = {
    request: {url: 'https://x.example/v1/chat/completions', body},
    response: {body: answer},
    metadata: {trace_id},
  }
  const reply = await routed.gateway.call('/v1/logs', {
    method: 'POST',
    body: JSON.stringify(put),
    headers: {'content-type': 'application/json'},
  })
  expect(reply.status).toBe(200)
  await routed.gateway.app.flushed()
  const store = await openStore({kind: 'sqlite', folder: routed.gateway.folder, role: 'operator'})
  try {
    const row = await store.db
      .selectFrom('traffic.logs')
      .selectAll()
      .where('trace_id', '=', trace_id)
      .executeTakeFirstOrThrow()
    expect(row.model).toBe(model)
    expect(JSON.parse(row.detail)).toMatchObject({
      request_bytes: Buffer.byteLength(JSON.stringify(body)),
      response_bytes: Buffer.byteLength(JSON.stringify(answer)),
      option_path: 'config',
    })
    const entries = await store.db
      .selectFrom('traffic.ledger_entries')
      .select('call_id')
      .where('trace_id', '=', trace_id)
      .execute()
    expect(entries).toEqual([])
  } finally {
    await store.close()
  }
})

test('a stream and a whole answer are counted as their rows have them', async () => {
  routed.a.answer(({body}, response) => {
    if (!body.includes('"stream":true'))
      return json(response, {model: 'gpt-4o-mini', usage: {prompt_tokens: 3, completion_tokens: 4}})
    response.writeHead(200, {'content-type': 'text/event-stream'}).end(chatEvents('gpt-4o-mini').join(''))
  })
  for (const stream of [false, true]) {
    const label = `stream="${stream ? 1 : 0}"`
    const before = await scraped(routed.gateway, 'llm_token_sum', 'provider="openai"', label)
    const {entries} = await routed.ask({provider: '@a'}, {body: {...CHAT, stream}})
    const tokens = sum(entries.map(({prompt_tokens, completion_tokens}) => prompt_tokens + completion_tokens))
    expect(tokens).toBeGreaterThan(0)
    expect((await scraped(routed.gateway, 'llm_token_sum', 'provider="openai"', label)) - before).toBe(tokens)
  }
})
