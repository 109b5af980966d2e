import {afterAll, describe, expect, onTestFinished, test} from 'vitest'
import {traceIdOf} from '../../src/telemetry/spans/ids.ts'
import {type LineState, openLine} from '../support/line.ts'
import {forRing, generated} from '../support/ring.ts'
import {scraped} from '../support/scrape.ts'
import {type House, type HouseReply, openHouse, type ServiceName} from './outages/house.ts'
import {casesJudged, holds, isRight} from './outages/judge.ts'
import {DEADLINE_MS, IN_TIME_MS, madeDatabase, SEALING_KEY} from './outages/world.ts'

/**
 * Each service beside the stores x each way to be away: calls get what docs/operating.md promises ("Deadlines"), in
 * time, and what was meant for the service comes there once it is back.
 */

type Outage = readonly [name: string, state: LineState, slow_ms: number]

const OUTAGES: readonly Outage[] = [
  ['frozen', 'frozen', 0],
  ['not there', 'refused', 0],
  ['slower than its deadline', 'slow', 6 * DEADLINE_MS],
  ['reset', 'reset', 0],
]
const TRIED = OUTAGES.slice(0, forRing({own: 0, ci: 3, full: 4}))
const LIMIT_MS = 90_000
/** A call waits so long for a secret at most, and a verification for name servers. */
const SECRET_MS = 2_000
const NAMES_MS = 5_000
const SOON = {timeout: 30_000, interval: 100}
afterAll(() => generated('outages of services', casesJudged()))

const AT_DEMO = {'x-gateway-provider': '@demo'}
const SEMANTIC = {
  'x-gateway-config': JSON.stringify({provider: '@demo', cache: {mode: 'semantic', max_age: 3600}}),
}
const FAR = {'x-gateway-config': JSON.stringify({provider: '@far', request_timeout: DEADLINE_MS})}
const WITH_FALLBACK = {
  'x-gateway-config': JSON.stringify({
    strategy: {mode: 'fallback'},
    targets: [{provider: '@far', request_timeout: DEADLINE_MS}, {provider: '@demo'}],
  }),
}

/** The answer of a call whose provider is away, and of one whose secret was never read. */
const PROVIDER_AWAY: Readonly<Partial<Record<LineState, number>>> = {frozen: 408, slow: 408, refused: 503, reset: 502}
/** Within the wait of a call the manager refused three times, which is an answer; without one, it is late. */
const COLD_SECRET: Readonly<Partial<Record<LineState, readonly [number, string | null]>>> = {
  frozen: [503, '2'],
  slow: [503, '2'],
  refused: [500, null],
  reset: [500, null],
}

/** One case: what came, after `most_ms` at most. */
function comes(reply: HouseReply, expected: readonly [number, string | null], asked: string, most_ms = 0) {
  holds(() => {
    expect([asked, reply.status, reply.retry_after], reply.text).toEqual([asked, ...expected])
    expect(reply.took_ms, asked).toBeLessThan(most_ms + IN_TIME_MS)
    expect(reply.text).not.toContain('inside the gateway')
  })
}

const cacheStatus = ({headers}: HouseReply) => headers.get('x-gateway-cache-status')
const metric = async ({gateway}: House, name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await (await gateway.call('/metrics')).text())?.[1])

/** The log row of a call, which has its bodies or says why it has none. */
const rowOf = async (house: House, id: string) => house.request('GET', `/v1/logs/${id}`)
/** The rows of calls of clients, newest first; a request for embeddings has one too. */
const rowsOf = async ({gateway}: House) => (await gateway.logs()).filter(({endpoint}) => endpoint !== 'embed')
const newestId = async (house: House) => (await rowsOf(house))[0]!.id as string

const ALL_BUT_EMBEDDER: readonly ServiceName[] = [
  'log store',
  'vector store',
  'secret manager',
  'collector',
  'provider',
]

async function isTried(house: House, [, state, slow_ms]: Outage) {
  const [known, cold] = [await house.mapped(), await house.mapped()]
  comes(await house.chat({'x-gateway-provider': `@${known}`}), [200, null], 'a secret that is read')
  comes(await house.chat(SEMANTIC, 'What is the capital of Bafa?'), [200, null], 'a semantic cache')
  comes(await house.chat(FAR), [200, null], 'the provider')
  const stored = await newestId(house)
  await expect.poll(() => [...house.stored.keys()].some(path => path.includes(stored)), SOON).toBe(true)
  const {domain} = JSON.parse((await house.request('POST', DOMAINS, {domain: 'names.example'})).text)

  const behind = () => scraped(house.gateway, 'gateway_telemetry_behind_bytes')
  await expect.poll(behind, SOON).toBe(0)
  await house.become(state, slow_ms, ALL_BUT_EMBEDDER)
  const late = house.request('POST', `${DOMAINS}/${domain}/verify`, {method: 'dns'})
  const unread = house.chat({'x-gateway-provider': `@${cold}`})
  comes(await house.chat(AT_DEMO), [200, null], 'a call')
  comes(await house.chat({'x-gateway-provider': `@${known}`}), [200, null], 'a secret that was read')
  const searched = await house.chat(SEMANTIC, 'What is the capital of Cefe?')
  comes(searched, [200, null], 'a vector store that is away')
  holds(() => expect(cacheStatus(searched)).toBe('SEMANTIC MISS'))
  comes(await house.chat(FAR), [PROVIDER_AWAY[state]!, null], 'a provider that is away')
  comes(await house.chat(WITH_FALLBACK), [200, null], 'a fallback')
  await house.become(state, slow_ms, ['embedder'])
  const embedded = await house.chat(SEMANTIC, 'What is the capital of Digi?')
  comes(embedded, [200, null], 'an embedder that is away')
  holds(() => expect(cacheStatus(embedded)).toBe('MISS'))
  const row = await rowOf(house, stored)
  comes(row, [200, null], 'a row whose bodies are away')
  holds(() => expect(JSON.parse(row.text).log_store_error).toMatch(/^The bodies of calls cannot be read now/))
  const waiting = await newestId(house)
  const fresh = await rowOf(house, waiting)
  comes(fresh, [200, null], 'a row whose bodies wait here')
  holds(() => expect(JSON.parse(fresh.text)).toMatchObject({request: {body: {model: 'echo'}}}))
  comes(await unread, COLD_SECRET[state]!, 'a secret that was never read', SECRET_MS)
  comes(await late, [503, '30'], 'records of a domain', NAMES_MS)
  await holds(() => expect.poll(() => metric(house, 'gateway_log_store_available'), SOON).toBe(0))
  const failures = () => scraped(house.gateway, 'gateway_telemetry_failures_total')
  await holds(() => expect.poll(failures, SOON).toBeGreaterThan(0))
  const searches = await scraped(house.gateway, 'gateway_vector_store_events_total', 'event="search_failed"')
  holds(() => expect(searches).toBe(1))
  isRight(await house.request('GET', '/readyz'), 'served', '/readyz')

  await house.become('open', 0)
  await isBack(house, {cold, waiting, state})
}

const DOMAINS = '/v1/admin/organisation/domains'

interface Left {
  /** The provider whose secret was never read. */
  readonly cold: string
  /** The row whose bodies waited for the log store. */
  readonly waiting: string
  readonly state: LineState
}

/** Everything works again, and what was meant for a service is there. */
async function isBack(house: House, {cold, waiting, state}: Left) {
  const text = 'What is the capital of Foho?'
  const status = async (headers: Record<string, string>) => (await house.chat(headers)).status
  await holds(() => expect.poll(() => status({'x-gateway-provider': `@${cold}`}), SOON).toBe(200))
  await holds(() => expect.poll(() => status(FAR), SOON).toBe(200))
  await holds(() => expect.poll(async () => cacheStatus(await house.chat(SEMANTIC, text)), SOON).toMatch(/MISS|HIT/))
  let blanks = 0
  const again = async () => cacheStatus(await house.chat(SEMANTIC, text.toLowerCase() + ' '.repeat(blanks++)))
  await holds(() => expect.poll(again, SOON).toBe('SEMANTIC HIT'))
  const stored = () => [...house.stored.keys()].some(path => path.includes(waiting))
  await holds(() => expect.poll(stored, SOON).toBe(true))
  await holds(() => expect.poll(() => metric(house, 'gateway_log_store_available'), SOON).toBe(1))
  const rows = (await rowsOf(house)).filter(({response_status_code}) => response_status_code === 200)
  const left = () => {
    const arrived = new Set(house.spans().map(({trace_id}) => trace_id))
    return rows.map(({trace_id}) => traceIdOf(String(trace_id))).filter(id => !arrived.has(id))
  }
  await holds(() => expect.poll(left, SOON).toEqual([]))
  // what a slow collector took after its deadline is sent once more, under the same ids
  const ids = house.spans().map(({span_id}) => span_id)
  if (state !== 'slow') holds(() => expect(ids).toHaveLength(new Set(ids).size))
}

describe.each(TRIED)('services are %s', (...outage) => {
  test('calls get what is promised, and what waited arrives', {timeout: LIMIT_MS}, async () => {
    const house = await openHouse()
    onTestFinished(() => house.close())
    await isTried(house, outage)
  })
})

const {TEST_REDIS_URL: redis_url, TEST_DATABASE_URL: database_url} = process.env
const TIMES = 31
/** Beyond what an answer takes that reads nothing. */
const READY_MS = 5

async function medianOf(ask: () => Promise<HouseReply>): Promise<number> {
  const took_ms: number[] = []
  for (let time = 0; time < TIMES; time++) took_ms.push((await ask()).took_ms)
  return took_ms.toSorted((one, other) => one - other)[(TIMES - 1) / 2]!
}

test.runIf(redis_url && database_url)(
  'with PostgreSQL, Redis and all services frozen /readyz answers within 5 ms, while calls wait for them',
  {timeout: LIMIT_MS},
  async () => {
    const {url, drop} = await madeDatabase(database_url!)
    onTestFinished(drop)
    const stores = [await openLine(url, {usual_port: 5432}), await openLine(redis_url!, {usual_port: 6379})] as const
    onTestFinished(async () => void (await Promise.all(stores.map(line => line.close()))))
    const [{url: DATABASE_URL}, {url: REDIS_URL}] = stores
    const house = await openHouse({DATABASE_URL, REDIS_URL, GATEWAY_SEALING_KEY: SEALING_KEY})
    onTestFinished(async () => {
      await Promise.all(stores.map(line => line.become('open')))
      await house.close()
    })
    await expect.poll(async () => (await house.chat(AT_DEMO)).status).toBe(200)
    await Promise.all([house.become('frozen', 0), ...stores.map(line => line.become('frozen'))])
    const says = async () => (await house.request('GET', '/readyz')).text
    await holds(() => expect.poll(says).toContain('the database does not answer'))
    const waiting = [FAR, SEMANTIC, AT_DEMO].map(headers => house.chat(headers))
    const alone_ms = await medianOf(() => house.request('GET', '/livez'))
    const ready_ms = await medianOf(() => house.request('GET', '/readyz'))
    holds(() => expect(ready_ms - alone_ms).toBeLessThan(READY_MS))
    for (const reply of await Promise.all(waiting)) holds(() => expect(reply.took_ms).toBeLessThan(IN_TIME_MS))
    isRight(await house.request('GET', '/readyz'), 'unready', '/readyz')
    isRight(await house.request('GET', '/livez'), 'served', '/livez')
  },
)
