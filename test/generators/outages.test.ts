import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {StoreSilentFault} from '../../src/base/store-fault.ts'
import type {LineState} from '../support/line.ts'
import {forRing, generated} from '../support/ring.ts'
import {CALL_NAMES, type Prepared, prepared} from './outages/calls.ts'
import {type HoldingProvider, holdingProvider} from './outages/holding-provider.ts'
import {administration, casesJudged, firstOf, holds, inTime, isRight, OWN} from './outages/judge.ts'
import {BACK_MS, PROMISES, type Promised, WELL} from './outages/promises.ts'
import {beside, DEADLINE_MS, IN_TIME_MS, type OutageWorld, overPostgres, overRedis} from './outages/world.ts'

/**
 * Each store x each way to be away x each moment x each kind of request: what comes is what docs/operating.md promises
 * (outages/promises.ts), in time, and no call is lost or counted twice.
 */

const {TEST_REDIS_URL: redis_url, TEST_DATABASE_URL: database_url} = process.env

type Outage = readonly [name: string, state: LineState, slow_ms: number]

const OUTAGES: readonly Outage[] = [
  ['frozen', 'frozen', 0],
  ['not there', 'refused', 0],
  ['slower than its deadline', 'slow', 5 * DEADLINE_MS],
  ['reset', 'reset', 0],
]
const TRIED = OUTAGES.slice(0, forRing({own: 1, ci: 3, full: 4}))
const LIMIT_MS = 60_000
afterAll(() => generated('outages', casesJudged()))

/** While a store is away, and has been for less than what is held in memory may be used. */
async function isAway(world: OutageWorld, calls: Prepared, promised: Promised) {
  await Promise.all(CALL_NAMES.map(async name => isRight(await calls.send(name), promised.calls[name], name)))
  for (const path of OWN) isRight(await world.get(path), 'served', path)
}

/** All of the administration, at once: there are more requests than connections. */
async function isAdministered(world: OutageWorld, {administration: outcome}: Pick<Promised, 'administration'>) {
  if (outcome === 'served')
    for (const [asked, ask] of administration(world)) isRight(await firstOf(ask), outcome, asked)
  else await Promise.all(administration(world).map(async ([asked, ask]) => isRight(await ask(), outcome, asked)))
}

/** /readyz and the metric of the store. */
async function isReported(world: OutageWorld, {readyz: [status, says], metric}: Promised) {
  await expect.poll(async () => (await world.get('/readyz')).text).toContain(says)
  isRight(await world.get('/readyz'), status === 200 ? 'served' : 'unready', '/readyz')
  const value = await world.metric(metric)
  holds(() => expect([metric, value]).toEqual([metric, 0]))
}

/** Calls, the administration and /readyz are as before, in the time that the documentation gives. */
async function isBack(world: OutageWorld, calls: Prepared, {metric}: Promised) {
  const came = performance.now()
  for (const name of CALL_NAMES)
    await expect.poll(async () => (await calls.send(name)).status).toBe(WELL.calls[name] === 'served' ? 200 : 401)
  await expect.poll(async () => (await world.get('/readyz')).text).toBe('{"status":"ok"}')
  holds(() => expect(performance.now() - came).toBeLessThan(BACK_MS + IN_TIME_MS))
  for (const name of CALL_NAMES) isRight(await firstOf(() => calls.send(name)), WELL.calls[name], name)
  await isAdministered(world, WELL)
  const value = await world.metric(metric)
  holds(() => expect([metric, value]).toEqual([metric, 1]))
  await isCounted(world)
}

/** Each call that was answered is in the log once, and its tokens are in the ledger's sums once. */
async function isCounted(world: OutageWorld) {
  const rows = await world.logged()
  holds(() => expect(rows).toBe(world.answered))
  const tokens = await world.summed()
  holds(() => expect(tokens).toBe(world.tokens))
}

interface Tried {
  readonly world: OutageWorld
  readonly held: HoldingProvider
  readonly promised: Promised
  readonly outage: Outage
}

async function isTried({world, held, promised, outage: [, state, slow_ms]}: Tried) {
  const calls = await prepared(world)
  const {key} = await world.key()
  await world.know(key)
  await calls.know()
  const before = await held.begin(key)
  await world.line.become(state, slow_ms)
  await isAway(world, calls, promised)
  held.release()
  for (const [name, reply] of Object.entries(before)) isRight({...(await reply), took_ms: 0}, promised.begun, name)
  await isAdministered(world, promised)
  await isReported(world, promised)
  if (promised.later) await isLater(calls, promised.later)
  await world.line.become('open')
  await isBack(world, calls, promised)

  await world.know(key)
  const earlier = await held.begin(key)
  held.release()
  await Promise.all(Object.values(earlier))
  await world.line.become(state, slow_ms)
  const across = await held.begin(key)
  await world.line.become('open')
  held.release()
  for (const [name, reply] of Object.entries(across)) isRight({...(await reply), took_ms: 0}, 'served', name)
}

/** What is held in memory is too old. */
async function isLater(calls: Prepared, {outcome, says}: NonNullable<Promised['later']>) {
  await expect.poll(async () => (await calls.send('a known key')).text).toContain(says)
  await Promise.all(CALL_NAMES.map(async name => isRight(await calls.send(name), outcome, `${name}, later`)))
}

async function isRestarted({world, promised, outage: [, state, slow_ms]}: Tried) {
  const {key} = await world.key()
  await world.know(key)
  await world.line.become(state, slow_ms)
  isRight(await world.call(key), 'served', 'a call before the stop')
  await inTime(world.gateway.close())
  const fault = await inTime(world.start().then(again => world.replace(again)))
  if (promised.start === 'served') {
    holds(() => expect(fault).toBeUndefined())
    isRight(await firstOf(() => world.call(key)), 'served', 'a call after the start')
  } else holds(() => expect(fault).toBeInstanceOf(StoreSilentFault))
  await world.line.become('open')
  if (fault !== undefined) world.replace(await world.start())
  await isCounted(world)
}

/** Requests of the administration while the ways to a store are cut: each is one of the two, and never a fault. */
async function isCutInTheMiddle(world: OutageWorld) {
  await world.line.become('slow', DEADLINE_MS / 10)
  const asked = administration(world).map(([name, ask]) => [name, ask()] as const)
  await world.get('/livez')
  world.line.cut()
  for (const [name, reply] of asked) {
    const {status} = await reply
    isRight(await reply, status === 503 ? 'refused' : 'served', name)
  }
  await world.line.become('open')
  for (const [name, ask] of administration(world)) isRight(await firstOf(ask), 'served', name)
}

describe.runIf(database_url)('PostgreSQL', () => {
  const promised = PROMISES.PostgreSQL
  let world: OutageWorld & {readonly url: string}
  let held: HoldingProvider
  beforeAll(async () => {
    world = await overPostgres(database_url!)
    held = await holdingProvider(world)
  })
  afterAll(async () => {
    await held.close()
    await world.close()
  })

  describe.each(TRIED)('%s', (...outage) => {
    test('each request gets what is promised, and nothing is lost', {timeout: LIMIT_MS}, () =>
      isTried({world, held, promised, outage}),
    )
    test('a stop and a start end in time, and nothing is lost', {timeout: LIMIT_MS}, () =>
      isRestarted({world, held, promised, outage}),
    )
  })

  test('cut in the middle of statements: each request is answered, or refused', () => isCutInTheMiddle(world))

  test('behind connections that carry nothing any more: a key that another process revokes is refused within seconds', async () => {
    const other = await beside(world.url)
    onTestFinished(() => other.close())
    const {id, key} = await world.key()
    await world.know(key)
    await world.line.become('stale')
    await other.admin('DELETE', `/api-keys/${id}`)
    const revoked = performance.now()
    await expect.poll(async () => (await world.call(key)).status).toBe(401)
    holds(() => expect(performance.now() - revoked).toBeLessThan(IN_TIME_MS))
    const given_up = await world.metric('gateway_database_given_up_total')
    holds(() => expect(given_up).toBeGreaterThan(0))
  })

  test('slow, but in time: everything answers', async () => {
    await world.line.become('slow', DEADLINE_MS / 20)
    for (const path of ['/v1/api-keys', '/readyz']) isRight(await firstOf(() => world.get(path)), 'served', path)
  })
})

describe.each([
  ['SQLite', TRIED],
  ['PostgreSQL', database_url ? TRIED.slice(0, forRing({own: 0, ci: 1, full: 4})) : []],
] as const)('Redis, beside %s', (store, tried) => {
  describe.runIf(redis_url && tried.length > 0)('is', () => {
    const promised = PROMISES.Redis
    let world: OutageWorld
    let held: HoldingProvider
    beforeAll(async () => {
      world = await overRedis(redis_url!, store === 'PostgreSQL' ? database_url : undefined)
      held = await holdingProvider(world)
    })
    afterAll(async () => {
      await held.close()
      await world.close()
    })

    test.each(tried)('%s: each request gets what is promised, and nothing is lost', {timeout: LIMIT_MS}, (...outage) =>
      isTried({world, held, promised, outage}),
    )
    test.each(tried)('%s: a stop and a start end in time, and nothing is lost', {timeout: LIMIT_MS}, (...outage) =>
      isRestarted({world, held, promised, outage}),
    )
  })
})
