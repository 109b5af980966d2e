import {randomBytes} from 'node:crypto'
import {createServer, type Server} from 'node:net'
import {Redis} from 'iovalkey'
import {afterEach, describe, expect, test} from 'vitest'
import type {Counters} from '../../src/ports/counters/index.ts'
import {openCounters} from '../../src/ports/counters/open.ts'
import {type CounterTable, createPostgresCounters} from '../../src/ports/counters/postgres.ts'
import {openRedisCounters} from '../../src/ports/counters/redis.ts'
import {claim, soon, wipe} from './support.ts'

const redis_url = process.env.TEST_REDIS_URL
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const compatible = claim('compatible')
const strict = claim('strict', {mode: 'strict'})
const shadow = claim('shadow', {mode: 'shadow', limit: 0})

async function failsOpenAndClosed(counters: Counters) {
  expect(await counters.reserve('r1', [compatible, shadow], soon())).toEqual({outcome: 'open'})
  expect(await counters.reserve('r2', [compatible, strict], soon())).toEqual({outcome: 'closed', claim: strict})
  expect(await counters.extend('r2', [strict])).toEqual({outcome: 'closed', claim: strict})
}

describe('a store that does not answer', () => {
  test('Redis that hears and says nothing: compatible and shadow claims go on, strict ones do not', async () => {
    const server = await listen(createServer(() => undefined))
    const faults: unknown[] = []
    const counters = await openRedisCounters({
      url: server,
      now: Date.now,
      timeout_ms: 30,
      onFault: fault => faults.push(fault),
    })
    closing.push(() => counters.close())
    await failsOpenAndClosed(counters)
    await expect(counters.settle('r1', {tokens: 1, cost_nanousd: 1})).rejects.toThrow()
    expect(faults.length).toBeGreaterThan(0)
  })

  test('Redis that is not there: the same, and the gateway starts all the same', async () => {
    const counters = await openCounters({redis_url: 'redis://127.0.0.1:1', table: null, now: Date.now, timeout_ms: 30})
    closing.push(() => counters.close())
    await failsOpenAndClosed(counters)
  })

  test('PostgreSQL that never ends a statement: one claim waits, those after it within a second do not ask', async () => {
    let now = 1_000_000
    let asked = 0
    const table = {...silentTable(), reserve: () => new Promise<never>(() => void asked++)}
    const counters = createPostgresCounters({table, now: () => now, timeout_ms: 20})
    await failsOpenAndClosed(counters)
    expect(asked).toBe(1)
    now += 1_001
    await counters.reserve('r3', [compatible], soon())
    expect(asked).toBe(2)
  })

  test('PostgreSQL that has much to do: what a call used is waited for longer than a claim, and is not taken for lost', async () => {
    const settle = () => new Promise<boolean[]>(done => void setTimeout(done, 100, [true]))
    const counters = createPostgresCounters({table: {...silentTable(), settle}, now: Date.now, timeout_ms: 20})
    expect(await counters.settle('r1', {tokens: 1, cost_nanousd: 1})).toBe(true)
    expect(await counters.release('r2')).toBe(true)
  })
})

test('PostgreSQL that refuses a value: the call that has it is refused, and the next is answered', async () => {
  let refuses = true
  const faults: unknown[] = []
  const reserve = async () => {
    if (!refuses) return [{word: 'taken', now_ms: 5_000_000, places: []}] as const
    throw Object.assign(new Error('unsupported Unicode escape sequence'), {code: '22P05'})
  }
  const counters = createPostgresCounters({
    table: {...silentTable(), reserve},
    now: () => 5_000_000,
    onFault: fault => faults.push(fault),
  })
  await expect(counters.reserve('r1', [compatible, strict], soon())).rejects.toMatchObject({
    code: 'value.unfit',
    status: 400,
  })
  refuses = false
  expect(await counters.reserve('r2', [compatible, strict], soon())).toEqual({outcome: 'taken', over: []})
  expect(faults).toEqual([])
})

test('windows are cut by the clock of the store, not by that of a machine that is wrong', async () => {
  const local_ms = 5_000_000
  const table = {...silentTable(), reserve: async () => [{word: 'taken', now_ms: 9_000_000, places: []}] as const}
  const counters = createPostgresCounters({table, now: () => local_ms})
  expect(counters.time(local_ms)).toBe(local_ms)
  await counters.reserve('r', [compatible], soon())
  expect(counters.time(local_ms)).toBe(9_000_000)
  expect(counters.time(local_ms + 10)).toBe(9_000_010)
})

test('our own clock, when it is ahead of that of the store, is forgotten once the store is heard', async () => {
  const table = {...silentTable(), reserve: async () => [{word: 'taken', now_ms: 5_000_000, places: []}] as const}
  const counters = createPostgresCounters({table, now: () => 9_000_000})
  expect(counters.time(9_000_000)).toBe(9_000_000)
  await counters.reserve('r', [compatible], soon())
  expect(counters.time(9_000_010)).toBe(5_000_010)
})

test('what ended is swept away once a minute', async () => {
  let now = 1_000_000
  const swept: number[] = []
  const table = {
    ...silentTable(),
    reserve: async () => [{word: 'taken', now_ms: now, places: []}] as const,
    sweep: async (before: number) => void swept.push(before),
  }
  const counters = createPostgresCounters({table, now: () => now})
  await counters.reserve('r1', [compatible], soon())
  now += 60_000
  await counters.reserve('r2', [compatible], soon())
  await counters.reserve('r3', [compatible], soon())
  expect(swept).toEqual([now - 3_600_000])
})

describe.runIf(redis_url)('Redis', () => {
  test('a difference that was read before the counters were lost is not put right in those of after', async () => {
    const name = tag()
    const {counters, raw} = await open(name)
    await counters.restore([{key: 'budget', used: 90n, ends_at_ms: budget.ends_at_ms}], await generationOf(counters))
    const [standing] = await counters.standings(['budget'])
    await raw.del(`{${name}}:generation`)
    await counters.restore([{key: 'budget', used: 95n, ends_at_ms: budget.ends_at_ms}], await generationOf(counters))
    expect(await counters.correct('budget', 5n, standing!.revision)).toBe(false)
    expect([await counters.read(['budget']), await counters.restored()]).toEqual([[95n], ['budget']])
  })

  const tag = () => `test-${randomBytes(6).toString('hex')}`
  const budget = claim('budget', {
    type: 'cost',
    amount: 0,
    limit: 100,
    rebuilds: true,
    ends_at_ms: Number.POSITIVE_INFINITY,
  })

  async function open(name: string): Promise<{counters: Counters; raw: Redis}> {
    const counters = await openRedisCounters({url: redis_url!, tag: name, now: Date.now, timeout_ms: 5_000})
    const raw = new Redis(redis_url!)
    closing.push(
      () => wipe(name),
      () => counters.close(),
      () => raw.disconnect(),
    )
    return {counters, raw}
  }

  test('every name shares the hash tag, and every one but the marker is forgotten some day', async () => {
    const name = tag()
    const {counters, raw} = await open(name)
    await counters.restore(
      [{key: 'budget', used: 1n, ends_at_ms: Number.POSITIVE_INFINITY}],
      await generationOf(counters),
    )
    await counters.reserve('r', [budget, compatible], soon())
    const names = await raw.keys(`*${name}*`)
    expect(names).toHaveLength(5)
    for (const each of names) {
      expect(each.startsWith(`{${name}}:`)).toBe(true)
      const ttl = await raw.pttl(each)
      if (each !== `{${name}}:generation`) expect(ttl).toBeGreaterThan(0)
    }
  })

  test('once the marker is gone, budgets have to be rebuilt, and what was read from the ledger before is not restored', async () => {
    const name = tag()
    const {counters, raw} = await open(name)
    const before = await generationOf(counters)
    await counters.restore([{key: 'budget', used: 90n, ends_at_ms: budget.ends_at_ms}], before)
    expect(await counters.reserve('r1', [budget], soon())).toMatchObject({outcome: 'taken'})
    await raw.del(`{${name}}:generation`)
    const answer = await counters.reserve('r2', [budget], soon())
    expect(answer).toMatchObject({outcome: 'missing', claims: [budget]})
    await counters.restore([{key: 'budget', used: 5n, ends_at_ms: budget.ends_at_ms}], before)
    expect(await counters.read(['budget'])).toEqual([null])
    await counters.restore([{key: 'budget', used: 95n, ends_at_ms: budget.ends_at_ms}], await generationOf(counters))
    expect(await counters.read(['budget'])).toEqual([95n])
  })

  test('a reservation is settled by another process too', async () => {
    const name = tag()
    const [one, other] = [await open(name), await open(name)]
    const tokens = claim('tokens', {type: 'tokens', amount: 0, limit: 100})
    await one.counters.reserve('r', [tokens], soon())
    expect(await other.counters.settle('r', {tokens: 7, cost_nanousd: 0})).toBe(true)
    expect(await one.counters.read(['tokens'])).toEqual([7n])
    expect(await one.counters.settle('r', {tokens: 7, cost_nanousd: 0})).toBe(false)
  })

  async function generationOf(counters: Counters): Promise<string> {
    const answer = await counters.reserve('asks', [claim('never-there', {rebuilds: true})], soon())
    return answer.outcome === 'missing' ? answer.generation : ''
  }
})

async function listen(server: Server): Promise<string> {
  const sockets = new Set<{destroy(): void}>()
  server.on('connection', socket => sockets.add(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('no port')
  return `redis://127.0.0.1:${address.port}`
}

/** Answers everything with nothing. */
function silentTable(): CounterTable {
  return {
    reserve: async () => [{word: 'taken', now_ms: 0, places: []}],
    settle: async () => [true],
    read: async () => new Map(),
    insert: async () => undefined,
    add: async () => undefined,
    restored: async () => [],
    standings: async () => new Map(),
    correct: async () => false,
    sizes: async () => new Map(),
    makeRoom: async () => undefined,
    sweep: async () => undefined,
  }
}
