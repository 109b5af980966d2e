import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {StoreSilentFault} from '../../src/base/store-fault.ts'
import type {LineState} from '../support/line.ts'
import {forRing, generated} from '../support/ring.ts'
import {
  beside,
  DEADLINE_MS,
  IN_TIME_MS,
  type OutageWorld,
  overPostgres,
  overRedis,
  type Reply,
} from './outages/world.ts'

const {TEST_REDIS_URL: redis_url, TEST_DATABASE_URL: database_url} = process.env

type Outage = readonly [name: string, state: LineState, slow_ms: number]

const OUTAGES: readonly Outage[] = [
  ['frozen', 'frozen', 0],
  ['not there', 'refused', 0],
  ['slower than its deadline', 'slow', 5 * DEADLINE_MS],
  ['reset', 'reset', 0],
]
const TRIED = OUTAGES.slice(0, forRing({own: 1, ci: 3, full: 4}))
let cases = 0
afterAll(() => generated('outages', cases))

function inTime(reply: Reply): Reply {
  cases++
  expect(reply.took_ms, reply.text).toBeLessThan(IN_TIME_MS)
  return reply
}

/** Let in, in time. */
function isAnswer(reply: Reply) {
  expect(inTime(reply).status, reply.text).toBe(200)
}

/** 503, in time, with the time to come again, and not told as a fault of our own. */
function isOutage(reply: Reply) {
  expect([inTime(reply).status, reply.retry_after], reply.text).toEqual([503, '2'])
  expect(reply.text).not.toContain('inside the gateway')
}

async function timed(work: Promise<unknown>) {
  const started = performance.now()
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  cases++
  expect(performance.now() - started).toBeLessThan(2 * IN_TIME_MS)
  return fault
}

const comes = (status: number, ask: () => Promise<Reply>) => expect.poll(async () => (await ask()).status).toBe(status)

describe.runIf(database_url)('PostgreSQL', () => {
  let world: OutageWorld & {readonly url: string}
  beforeAll(async () => {
    world = await overPostgres(database_url!)
  })
  afterAll(() => world.close())

  test.each(TRIED)(
    '%s: calls, administration, lists, a stop and a start answer in time, and nothing is lost',
    async (_, state, slow_ms) => {
      const [warm, cold, colder] = [await world.key(), await world.key(), await world.key()]
      await world.know(warm.key)

      await world.line.become(state, slow_ms)
      isAnswer(await world.call(warm.key))
      isOutage(await world.call(cold.key))
      isOutage(await world.get('/v1/api-keys'))
      isOutage(await world.get('/v1/logs'))
      await comes(503, () => world.get('/readyz'))
      expect((await world.get('/readyz')).text).toContain('the database does not answer')
      expect(await world.metric('gateway_database_answers')).toBe(0)
      await comes(503, () => world.call(warm.key))
      const stale = await world.call(warm.key)
      isOutage(stale)
      expect(stale.text).toContain('CALLER_CACHE_MAX_STALE_S')

      await world.line.become('open')
      for (const {key} of [warm, colder]) await comes(200, () => world.call(key))
      await comes(200, () => world.get('/readyz'))
      await comes(200, () => world.get('/v1/api-keys'))
      expect(await world.logged()).toBe(world.answered)

      await world.line.become(state, slow_ms)
      isAnswer(await world.call(warm.key))
      await timed(world.gateway.close())
      expect(await timed(world.start())).toBeInstanceOf(StoreSilentFault)
      await world.line.become('open')
      world.replace(await world.start())
      expect(await world.logged()).toBe(world.answered)
    },
  )

  test('behind connections that carry nothing any more: a key that another process revokes is refused within seconds', async () => {
    const other = await beside(world.url)
    onTestFinished(() => other.close())
    const {id, key} = await world.key()
    await world.know(key)
    await world.line.become('stale')
    await other.admin('DELETE', `/api-keys/${id}`)
    const revoked = performance.now()
    await comes(401, () => world.call(key))
    expect(performance.now() - revoked).toBeLessThan(IN_TIME_MS)
    expect(await world.metric('gateway_database_given_up_total')).toBeGreaterThan(0)
    cases++
  })

  test('slow, but in time: everything answers', async () => {
    await world.line.become('slow', DEADLINE_MS / 20)
    isAnswer(await world.get('/v1/api-keys'))
    isAnswer(await world.get('/readyz'))
  })
})

const LIMIT = {usage_limits: {type: 'tokens', credit_limit: 1_000_000}}
const STRICT = {usage_limits: {...LIMIT.usage_limits, enforcement: 'strict'}}

describe.runIf(redis_url)('Redis', () => {
  let world: OutageWorld
  beforeAll(async () => {
    world = await overRedis(redis_url!)
  })
  afterAll(() => world.close())

  test.each(TRIED)(
    '%s: calls go on, strict limits refuse, all else answers in time, and /readyz says so',
    async (_, state, slow_ms) => {
      const [plain, limited, strict] = [await world.key(), await world.key(LIMIT), await world.key(STRICT)]
      for (const {key} of [plain, limited, strict]) await comes(200, () => world.call(key))

      await world.line.become(state, slow_ms)
      for (const {key} of [plain, limited]) isAnswer(await world.call(key))
      isOutage(await world.call(strict.key))
      for (const path of ['/v1/api-keys', '/v1/logs']) isAnswer(await world.get(path))
      await expect.poll(async () => (await world.get('/readyz')).text).toContain('Redis does not answer')
      isAnswer(await world.get('/readyz'))
      expect(await world.metric('gateway_redis_answers')).toBe(0)

      await timed(world.gateway.close())
      const started = await timed(world.start().then(again => world.replace(again)))
      expect(started).toBeUndefined()
      isAnswer(await world.call(limited.key))
      await world.line.become('open')
      await comes(200, () => world.call(strict.key))
      await expect.poll(() => world.metric('gateway_redis_answers')).toBe(1)
      expect(await world.logged()).toBe(world.answered)
    },
  )
})
