import {Registry} from 'prom-client'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import {callMetrics} from '../../src/proxy/records/metrics.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {pace} from '../support/pace.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

/** The page of metrics, whatever callers and providers say. */
const MAX_PAGE_BYTES = 4 << 20
const MOST_MS = 20 * pace()
/** A hold in each of so many rounds is no accident of the machine. */
const MOST_ROUNDS = 10
const FACTS = {
  total_ms: 12,
  upstream_ms: 10,
  overhead_ms: 2,
  tokens: 3,
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

function filled(with_model: boolean) {
  const metrics = callMetrics({registry: new Registry(), with_model, isKnownModel: () => true})
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
    let text = ''
    const holds: number[] = []
    for (let round = 0; round < MOST_ROUNDS && !(Math.min(...holds) < MOST_MS); round++) {
      holds.push(
        await longestHold(async () => {
          text = await metrics.text()
        }),
      )
    }
    expect(Math.min(...holds)).toBeLessThan(MOST_MS)
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_PAGE_BYTES)
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
