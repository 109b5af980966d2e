import {expect, test} from 'vitest'
import {bundledCatalogue} from '../../../src/pricing/catalogue.ts'
import {cost} from '../../../src/pricing/cost.ts'
import type {LogRow} from '../../support/gateway.ts'
import {scraped} from '../../support/scrape.ts'
import {startUpstream} from '../upstream.ts'
import {attribute, attributes, ingestHouse, ns, request, span, spanId, TRACE, work} from './house.ts'

const DAY_MS = 86_400_000

test('TI2: one bad span of ten is one bad span, whose reason names no content of it', async () => {
  const {gateway, post, rows} = await ingestHouse({LOG_RETENTION_DAYS: '30'})
  const [start, end] = [ns(2_000), ns(1_000)]
  const ids = Array.from({length: 10}, spanId)
  const spans = [
    span({spanId: ids[0], traceId: undefined, name: 'planted name'}),
    span({spanId: ids[1], attributes: [{key: 'nothing'}, {key: 'empty', value: {}}, attribute('kept', 1)]}),
    span({spanId: ids[2], startTimeUnixNano: end, endTimeUnixNano: start}),
    span({spanId: ids[3], startTimeUnixNano: ns(40 * DAY_MS), endTimeUnixNano: ns(40 * DAY_MS)}),
    span({spanId: ids[4], attributes: Array.from({length: 5_000}, (_, at) => attribute(`a${at}`, at))}),
    span({spanId: ids[5], attributes: [attribute('long', 'é'.repeat(1 << 20))]}),
    ...ids.slice(6).map(spanId => span({spanId})),
  ]
  const reply = await post(JSON.stringify(request(spans)))
  expect(reply.status).toBe(200)
  const body = (await reply.json()) as {partialSuccess: {rejectedSpans: string; errorMessage: string}}
  expect(body.partialSuccess.rejectedSpans).toBe('2')
  expect(body.partialSuccess.errorMessage).toMatch(/^1 span: has no trace id .* 1 span: began before the time .*\.$/)
  expect(JSON.stringify(body)).not.toContain('planted')
  const found = new Map((await rows()).map(row => [row.span_id, row]))
  expect(new Set(found.keys())).toEqual(new Set([ids[1], ids[2], ...ids.slice(4)]))
  expect(found.get(ids[2]!)).toMatchObject({response_time: 0, span: {flags: ['times'], start_ns: end}})
  expect(found.get(ids[4]!)).toMatchObject({span: {dropped: 5_000 - 128, flags: []}})
  expect(found.get(ids[5]!)).toMatchObject({span: {flags: ['cut']}})
  const attributesIn = async (id: string) => {
    const row = await gateway.admin<Said>('GET', `/logs/${found.get(id)!.id}`)
    return row.request.body.attributes
  }
  expect(await attributesIn(ids[1]!)).toEqual({kept: 1})
  expect(Object.keys(await attributesIn(ids[4]!))).toHaveLength(128)
  const long = String((await attributesIn(ids[5]!)).long)
  expect([Buffer.byteLength(long) <= 64 << 10, long.endsWith('é…[cut]')]).toEqual([true, true])
  const counted = (outcome: string) => scraped(gateway, 'gateway_ingested_spans_total', `outcome="${outcome}"`)
  expect([await counted('taken'), await counted('ids'), await counted('old')]).toEqual([8, 1, 1])
}, 60_000)

interface Said {
  readonly request: {readonly body: {readonly attributes: Readonly<Record<string, unknown>>}}
}

test('TI3: a repeat adds nothing and changes nothing, also with another time and another name', async () => {
  const {send, rows} = await ingestHouse()
  const first = work({'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 5})
  await send(first, span())
  const before = await rows()
  expect(before).toHaveLength(2)
  await send(first)
  await send({...first, name: 'another name', attributes: []}, {...first, startTimeUnixNano: ns(5_000)})
  expect(await rows()).toEqual(before)
  // of another trace it is another span
  await send({...first, traceId: 'e'.repeat(32)})
  expect(await rows()).toHaveLength(3)
}, 60_000)

/** The price of the catalogue, for the same tokens. */
function priceOf(input: number, cached: number, written: number, output: number): number {
  const price = bundledCatalogue().find('openai', 'gpt-4o-mini')
  expect(price).toBeDefined()
  const usage = {
    input_uncached_tokens: input - cached - written,
    cache_read_tokens: cached,
    cache_write_5m_tokens: written,
    output_text_tokens: output,
  }
  return cost(usage, price, {at: Date.now()}).cost_nanousd
}

const nanousd = (row: LogRow) => Math.round((row.cost as number) * 1e7)

type UsageCases = readonly (readonly [string, Record<string, string | number>])[]

const SAME: UsageCases = [
  [
    'the conventions',
    {
      'gen_ai.usage.input_tokens': 13_675,
      'gen_ai.usage.cache_read.input_tokens': 9_216,
      'gen_ai.usage.output_tokens': 50,
    },
  ],
  [
    'cache_read_tokens',
    {'gen_ai.usage.input_tokens': 13_675, 'gen_ai.usage.cache_read_tokens': 9_216, 'gen_ai.usage.output_tokens': 50},
  ],
  [
    'cache_read_input_tokens',
    {
      'gen_ai.usage.input_tokens': 13_675,
      'gen_ai.usage.cache_read_input_tokens': 9_216,
      'gen_ai.usage.output_tokens': 50,
    },
  ],
  [
    'input_cached_tokens',
    {'gen_ai.usage.input_tokens': 13_675, 'gen_ai.usage.input_cached_tokens': 9_216, 'gen_ai.usage.output_tokens': 50},
  ],
  [
    'prompt and completion',
    {
      'gen_ai.usage.prompt_tokens': 13_675,
      'gen_ai.usage.completion_tokens': 50,
      'gen_ai.usage.details.cache_read_tokens': 9_216,
    },
  ],
  [
    'OpenInference',
    {
      'llm.token_count.prompt': 13_675,
      'llm.token_count.prompt_details.cache_read': 9_216,
      'llm.token_count.completion': 50,
    },
  ],
  [
    'texts',
    {
      'gen_ai.usage.input_tokens': '13675',
      'gen_ai.usage.cache_read.input_tokens': '9216',
      'gen_ai.usage.output_tokens': '50',
    },
  ],
  [
    'older usage',
    {
      'llm.usage.prompt_tokens': 13_675,
      'gen_ai.usage.cache_read.input_tokens': 9_216,
      'llm.usage.completion_tokens': 50,
    },
  ],
]

test('TI4 TI5: cached tokens are inside the input, in the words of all generations', async () => {
  const {send, rows} = await ingestHouse()
  await send(...SAME.map(([name, usage]) => work(usage, {name})))
  const found = await rows()
  expect(found).toHaveLength(SAME.length)
  for (const row of found) {
    expect([row.span_name, nanousd(row)]).toEqual([row.span_name, priceOf(13_675, 9_216, 0, 50)])
    expect(row).toMatchObject({req_units: 13_675, res_units: 50, usage_source: 'reported', unpriced: false})
    expect(row.ai_org).toBe('openai')
  }
}, 60_000)

test('TI4 TI5: tokens that were written into a cache count once, whatever names they have', async () => {
  const {send, rows} = await ingestHouse()
  const usage = {
    'gen_ai.usage.input_tokens': 13_675,
    'gen_ai.usage.cache_creation.input_tokens': 1_000,
    'gen_ai.usage.cache_write.input_tokens': 1_000,
    'gen_ai.usage.output_tokens': 50,
  }
  await send(work(usage))
  const [row] = await rows()
  expect(row).toMatchObject({req_units: 13_675, usage: {cache_write_5m_tokens: 1_000, input_uncached_tokens: 12_675}})
}, 60_000)

const UNFIT: UsageCases = [
  ['a negative count', {'gen_ai.usage.input_tokens': -5, 'gen_ai.usage.output_tokens': 50}],
  ['more cached than input', {'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.cache_read.input_tokens': 11}],
  ['a count that is none', {'gen_ai.usage.input_tokens': 'many', 'gen_ai.usage.output_tokens': 50}],
  ['a part of a token', {'gen_ai.usage.input_tokens': 1.5}],
]

test('TI4: counts that contradict each other, or are none, are unpriced and flagged', async () => {
  const {send, rows} = await ingestHouse()
  await send(...UNFIT.map(([name, usage]) => work(usage, {name})))
  const found = await rows()
  expect(found).toHaveLength(UNFIT.length)
  for (const row of found)
    expect(row).toMatchObject({cost: 0, unpriced: true, req_units: 0, res_units: 0, span: {flags: ['tokens']}})
}, 60_000)

test('TI5: an unknown model is unpriced; a provider goes by the names of all generations', async () => {
  const {send, rows} = await ingestHouse()
  const usage = {'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 5}
  await send(
    work({...usage, 'gen_ai.request.model': 'no-such-model'}, {name: 'unknown'}),
    work({...usage, 'gen_ai.response.model': 'gpt-4o-2024-08-06'}, {name: 'answered'}),
    span({
      name: 'older',
      attributes: attributes({...usage, 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'az.ai.openai'}),
    }),
    span({
      name: 'inference',
      attributes: attributes({
        'openinference.span.kind': 'LLM',
        'llm.provider': 'openai',
        'llm.model_name': 'gpt-4o-mini',
        'llm.token_count.prompt': 10,
      }),
    }),
  )
  const by_name = new Map((await rows()).map(row => [row.span_name, row]))
  expect(by_name.get('unknown')).toMatchObject({unpriced: true, cost: 0, req_units: 10})
  expect(by_name.get('answered')).toMatchObject({unpriced: false, ai_model: 'gpt-4o-2024-08-06'})
  expect(by_name.get('older')).toMatchObject({ai_org: 'azure-openai', ai_model: null, unpriced: true})
  expect(by_name.get('inference')).toMatchObject({unpriced: false, span: {operation: 'chat', is_charged: true}})
  expect(by_name.get('inference')!.cost).toBeGreaterThan(0)
}, 60_000)

const USAGE = {'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20}

test("TI6 TI7: the application's view of a call through the gateway shows 0, and so do agents and tools", async () => {
  const {gateway, send, rows} = await ingestHouse()
  const upstream = await startUpstream()
  await gateway.provider('one', 'openai', upstream.url)
  const [agent, own, step, tool, other] = Array.from({length: 5}, spanId)
  const chat = await gateway.chat(
    {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]},
    {'x-gateway-provider': '@one', traceparent: `00-${TRACE}-${step}-01`},
  )
  expect(chat.status).toBe(200)
  const agents = {'gen_ai.operation.name': 'invoke_agent', 'gen_ai.provider.name': 'openai', ...USAGE}
  await send(
    span({spanId: step, parentSpanId: own, name: 'POST', attributes: attributes({'http.request.method': 'POST'})}),
    work(USAGE, {spanId: own, parentSpanId: agent, name: 'own'}),
    work(USAGE, {spanId: other, parentSpanId: agent, name: 'elsewhere'}),
    span({spanId: agent, name: 'agent', attributes: attributes({...agents, 'gen_ai.request.model': 'gpt-4o-mini'})}),
    span({spanId: tool, name: 'tool', attributes: attributes({'gen_ai.operation.name': 'execute_tool'})}),
  )
  const all = await gateway.logs()
  const call = all.find(({source}) => source === 'gateway')!
  const by_name = new Map((await rows()).map(row => [row.span_name, row]))
  expect(by_name.size).toBe(5)
  expect(call.trace_id).toBe(TRACE)
  expect(call.cost).toBeGreaterThan(0)
  expect(by_name.get('own')).toMatchObject({cost: 0, req_units: 0, span: {own_call_id: call.internal_trace_id}})
  expect(by_name.get('agent')).toMatchObject({cost: 0, req_units: 0, unpriced: false, span: {own_call_id: null}})
  expect(by_name.get('tool')).toMatchObject({cost: 0, unpriced: false})
  expect(by_name.get('elsewhere')).toMatchObject({usage_source: 'reported', req_units: 100})
  expect(by_name.get('elsewhere')!.cost).toBeGreaterThan(0)
  // over the whole trace each token counts once
  expect(all.reduce((sum, row) => sum + (row.req_units as number), 0)).toBe(200)
}, 60_000)

test('TI8: no counter, no ledger and no metric of calls moves, whatever spans report', async () => {
  const {gateway, post, rows} = await ingestHouse()
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    name: 'small',
    workspace_id: workspace!.id,
    scopes: ['logs.write', 'completions.write'],
    usage_limits: {credit_limit: 0.01},
    rate_limits: [{type: 'requests', unit: 'rpd', value: 2}],
  })
  const headers = {'x-gateway-api-key': key}
  const page = async () => (await gateway.call('/metrics')).text()
  const before = await page()
  for (let at = 0; at < 3; at++) {
    const reply = await post(JSON.stringify(request([work({'gen_ai.usage.input_tokens': 100_000_000})])), headers)
    expect(reply.status).toBe(200)
  }
  const found = await rows()
  expect(found).toHaveLength(3)
  for (const row of found) expect(row.cost).toBeGreaterThan(100)
  const after = await page()
  for (const name of ['request_count', 'http_request_duration', 'llm_cost_sum', 'llm_token_sum'])
    expect(lines(after, name)).toEqual(lines(before, name))
  const usage = await gateway.admin<{data: LogRow[]}>('GET', '/admin/usage?by=model&since=2020-01-01T00:00:00Z')
  expect(usage.data).toEqual([])
  const unpriced = await gateway.admin<{data: LogRow[]}>('GET', '/model-configs/unpriced')
  expect(unpriced.data).toEqual([])
  // neither the cost nor the requests were counted
  const body = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
  for (const expected of [200, 200, 429])
    expect((await gateway.chat(body, {...headers, 'x-gateway-provider': '@demo'})).status).toBe(expected)
}, 60_000)

function lines(text: string, name: string): string[] {
  return text.split('\n').filter(line => line.startsWith(name))
}
