import {Registry} from 'prom-client'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import type {MetricLabels} from '../../src/proxy/records/metric-labels.ts'
import {callMetrics} from '../../src/proxy/records/metrics.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {pace} from '../support/pace.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

/** The page of metrics, whatever callers and providers say. */
const MAX_PAGE_BYTES = 5 << 20
const MOST_MS = 20 * pace()
/** A hold in each of so many rounds is no accident of the machine. */
const MOST_ROUNDS = 10
const FACTS = {
  total_ms: 12,
  upstream_ms: 10,
  overhead_ms: 2,
  auth_ms: 1,
  plan_ms: 1,
  last_byte_diff_ms: 3,
  request_bytes: 100,
  input_tokens: 2,
  output_tokens: 1,
  config_id: null,
  key_id: null,
  metadata: {},
  cost_nanousd: 5,
  unpriced: false,
  is_part: false,
}

/** The longest that work held the event loop, by this thread's processor. */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let is_over = false
  let longest_ms = 0
  const watched = (async () => {
    while (!is_over) {
      const began = process.threadCpuUsage()
      await new Promise(resolve => setImmediate(resolve))
      const {user, system} = process.threadCpuUsage(began)
      longest_ms = Math.max(longest_ms, (user + system) / 1000)
    }
  })()
  await work()
  is_over = true
  await watched
  return longest_ms
}

function opened(labels: Partial<MetricLabels>, isKnownModel: (provider: string, model: string) => boolean) {
  return callMetrics({
    registry: new Registry(),
    labels: {model: false, config_name: [], key_name: [], metadata: [], ...labels},
    names: {config: () => undefined, key: () => undefined},
    isKnownModel,
  })
}

function filled(with_model: boolean) {
  const metrics = opened({model: with_model}, () => true)
  let calls = 0
  for (const {slug: provider} of list()) {
    for (const endpoint of Object.keys(ENDPOINTS)) {
      for (let status = 200; status < 1000; status += endpoint === 'chatComplete' ? 1 : 40) {
        calls++
        metrics.ended({
          ...{
            ...FACTS,
            provider,
            endpoint,
            status,
            method: `M${calls % 97}`,
            is_stream: calls % 2 === 0,
            cache_status: 'DISABLED',
          },
          ...{
            model: `model-${calls % 1000}`,
            unpriced_units: [`image:${calls}:x`, 'pages', `u${calls % 1000}`],
            mode_unpriced: 'fast',
          },
          usage_unknown: [`member_${calls}`],
        })
      }
    }
  }
  return {metrics, calls}
}

test.each([false, true])(
  'the page has a bound, counts every call, and is put together in slices (model as a label: %s)',
  async with_model => {
    const {metrics, calls} = filled(with_model)
    let slices: readonly string[] = []
    const holds: number[] = []
    for (let round = 0; round < MOST_ROUNDS && !(Math.min(...holds) < MOST_MS); round++) {
      holds.push(
        await longestHold(async () => {
          slices = await metrics.page()
        }),
      )
    }
    expect(Math.min(...holds)).toBeLessThan(MOST_MS)
    const page = Buffer.from(slices.join(''))
    expect(page.length).toBeLessThan(MAX_PAGE_BYTES)
    const text = page.toString()
    const counts = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      )
    expect(counts('request_count')).toBe(calls)
    expect(counts('http_request_duration_seconds_count')).toBe(calls)
    expect(counts('mode_unpriced_count')).toBe(calls)
    expect(counts('unpriced_unit_count')).toBe(3 * calls)
    expect(counts('usage_unknown_count')).toBe(calls)
    expect(text).not.toContain('member_')
    expect(new Set(text.match(/method="[^"]*"/g))).toEqual(new Set(['method="other"']))
    const lines = text.split('\n').filter(line => line && !line.startsWith('#'))
    expect(new Set(lines.map(line => line.replace(/ [^ ]*$/, ''))).size).toBe(lines.length)
  },
)

const CALL = {
  ...{...FACTS, provider: 'openai', endpoint: 'chatComplete', status: 200, method: 'POST', is_stream: false},
  ...{cache_status: 'DISABLED', model: 'gpt-4o', unpriced_units: [], mode_unpriced: undefined, usage_unknown: []},
}
const countsOf = async (metrics: ReturnType<typeof opened>, of: (set: string) => boolean) => {
  const text = (await metrics.page()).join('')
  return [...text.matchAll(/^request_count\{(.*)\} (\d+)$/gm)]
    .filter(([, set]) => of(set!))
    .reduce((sum, [, , count]) => sum + Number(count), 0)
}

test.each([
  [null, 'na'],
  [0, '0-2MB'],
  [2 * 1024 * 1024, '0-2MB'],
  [2 * 1024 * 1024 + 1, '2-5MB'],
  [10 * 1024 * 1024, '5-10MB'],
  [20 * 1024 * 1024, '10-20MB'],
  [20 * 1024 * 1024 + 1, '>20MB'],
])('a body of %s bytes counts as %s', async (request_bytes, range) => {
  const metrics = opened({payload_size: true}, () => true)
  metrics.ended({...CALL, request_bytes})
  expect((await metrics.page()).join('')).toContain(`payloadSizeRange="${range}"} 1`)
})

test('TL28: label sets beyond the bound are counted as other, and how many is counted exactly', async () => {
  const metrics = opened({metadata: [{label: 'metadata_run', key: 'run'}]}, () => true)
  const calls = 10_001
  for (let at = 0; at < calls; at++) metrics.ended({...CALL, metadata: {run: `${at}`.padStart(60, 'x')}})
  const others = await countsOf(metrics, set => set.includes('metadata_run="other"'))
  expect(others).toBeGreaterThan(0)
  expect(await countsOf(metrics, () => true)).toBe(calls)
  const page = Buffer.from((await metrics.page()).join(''))
  expect(page.toString()).toContain(`gateway_metric_series_dropped_total ${others}\n`)
  expect(page.length).toBeLessThan(MAX_PAGE_BYTES)
})

test('the bound of the page is of bytes: letters of three bytes take three times the room', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e']
  const metrics = opened({metadata: keys.map(key => ({label: `metadata_${key}`, key}))}, () => true)
  for (let at = 0; at < 5_000; at++) {
    const value = `${at}`.padStart(42, '語')
    metrics.ended({...CALL, metadata: Object.fromEntries(keys.map(key => [key, value]))})
  }
  expect(Buffer.from((await metrics.page()).join('')).length).toBeLessThan(MAX_PAGE_BYTES)
})

test('names that are printed twice take their room: fewer label sets have times of their own', async () => {
  const setsWith = async (has_compatible_names: boolean) => {
    const metrics = callMetrics({
      registry: new Registry(),
      labels: {model: false, config_name: [], key_name: [], metadata: [{label: 'metadata_run', key: 'run'}]},
      names: {config: () => undefined, key: () => undefined},
      isKnownModel: () => true,
      has_compatible_names,
    })
    for (let at = 0; at < 1_000; at++) metrics.ended({...CALL, metadata: {run: `${at}`}})
    const text = (await metrics.page()).join('')
    return text.match(/^gateway_request_duration_milliseconds_count/gm)!.length
  }
  const [with_names, without] = [await setsWith(true), await setsWith(false)]
  expect(with_names).toBeGreaterThan(10)
  expect(with_names).toBeLessThan(0.9 * without)
})

test('ten thousand misspelt models do not make a known one other', async () => {
  const metrics = opened({model: true}, (_, model) => model === 'gpt-4o')
  for (let at = 0; at < 10_000; at++)
    for (let again = 0; again < 4; again++) metrics.ended({...CALL, model: `misspelt-${at}`})
  metrics.ended({...CALL})
  expect(await countsOf(metrics, set => set.includes('model="gpt-4o"'))).toBe(1)
  // one that fails is other, however often it is called
  const failing = opened({model: true}, () => false)
  for (let at = 0; at < 10; at++) failing.ended({...CALL, status: 404, model: 'none'})
  expect(await countsOf(failing, set => set.includes('model="other"'))).toBe(10)
})

let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

test('the check of limits and the look into the cache are timed where a call has them', async () => {
  const before = (await (await gateway.call('/metrics')).text()).split('\n')
  const countOf = (lines: readonly string[], name: string) =>
    Number(lines.find(line => line.startsWith(`${name}_count `))?.split(' ')[1] ?? 0)
  provider.answer((_heard, response) =>
    response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(chatReply('m'))),
  )
  const place = {provider: 'openai', custom_host: provider.url}
  const ask = async (config: object) =>
    (
      await gateway.chat(
        {model: 'm', messages: [{role: 'user', content: 'hi'}]},
        {'x-gateway-config': JSON.stringify({...place, ...config})},
      )
    ).arrayBuffer()
  await ask({})
  await ask({cache: {mode: 'simple'}})
  await ask({cache: {mode: 'simple'}})
  const page = (await (await gateway.call('/metrics')).text()).split('\n')
  const cache = 'llm_cache_processing_duration_milliseconds'
  expect(countOf(page, cache) - countOf(before, cache)).toBe(2)
  expect(page).toContain(`# TYPE ${cache} histogram`)
  expect(page.filter(line => line.startsWith(`${cache}_bucket{le="`))).toHaveLength(23)
  const limits = 'api_key_rate_limit_check_duration_milliseconds'
  expect(countOf(page, limits)).toBe(0)
  const metrics = opened({}, () => true)
  metrics.took('rate_limits', 0.2)
  metrics.took('rate_limits', 7)
  const text = (await metrics.page()).join('')
  expect(text).toContain(`${limits}_bucket{le="0.1"} 0\n${limits}_bucket{le="1"} 1\n`)
  expect(text).toContain(`${limits}_sum 7.2\n${limits}_count 2\n`)
})

test('a status that nobody knows is other', async () => {
  for (let status = 200; status < 1000; status += 7) {
    provider.answer((_heard, response) =>
      response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(chatReply('m'))),
    )
    const place = {'x-gateway-provider': 'openai', 'x-gateway-custom-host': provider.url}
    await (await gateway.chat({model: 'm', messages: [{role: 'user', content: 'hi'}]}, place)).arrayBuffer()
  }
  const scrapes = await Promise.all([gateway.call('/metrics'), gateway.call('/metrics')])
  const [text] = await Promise.all(scrapes.map(scrape => scrape.text()))
  const codes = new Set([...text!.matchAll(/code="(\w+)"/g)].map(([, code]) => code))
  expect(codes).toContain('200')
  expect(codes).toContain('other')
  expect(codes.size).toBeLessThanOrEqual(17)
})
