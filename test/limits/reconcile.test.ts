import {randomBytes} from 'node:crypto'
import {setTimeout as sleep} from 'node:timers/promises'
import {describe, expect, onTestFinished, test} from 'vitest'
import {SHARED_COUNTERS} from '../../src/app/limits-drift.ts'
import {type Corrected, createLimits, type EntityLimit, type Limits} from '../../src/limits/index.ts'
import {look} from '../../src/limits/reconcile.ts'
import {keepUsageLimits, UsageLimit} from '../../src/schema/limits.ts'
import {KINDS, testCounters} from '../ports/support.ts'
import {Timers} from '../support/timers.ts'

const SET_AT = '2026-01-01T00:00:00.000Z'
const USED = {tokens: 100, cost_nanousd: 7_000}

function budget(enforcement: 'compatible' | 'strict', type: 'tokens' | 'cost' = 'tokens'): EntityLimit {
  const usage = keepUsageLimits([UsageLimit.parse({type, credit_limit: 100_000, enforcement})], null, SET_AT)
  return {
    entity: 'key',
    id: randomBytes(6).toString('hex'),
    name: 'blue',
    workspace_id: 'ws',
    usage,
    rates: null,
    last_reset_at: null,
  }
}

/**
 * Two processes over the same counters and the same ledger, each with a journal of its own that is flushed when the
 * test says so.
 */
async function house(kind: (typeof KINDS)[number], {settles_ms}: {readonly settles_ms: number} = {settles_ms: 0}) {
  const stores = await testCounters(kind)
  onTestFinished(() => stores.close())
  const timers = new Timers(Date.now())
  /** What timers began is over: a store over the network takes some milliseconds. */
  const settled = () => sleep(kind === 'memory' ? 0 : 25)
  const ledger = new Map<string, {tokens: bigint; cost_nanousd: bigint}>()
  const told: Corrected[] = []
  const faults: unknown[] = []
  const journals: {of: EntityLimit; tokens: number; cost_nanousd: number}[][] = [[], []]
  const counters = [stores.counters, await stores.again()]
  const processes = counters.map((each, at): Limits => {
    const limits = createLimits({
      counters: each,
      usage: async ({id}) => {
        flush(at)
        return ledger.get(id) ?? {tokens: 0n, cost_nanousd: 0n}
      },
      now: timers.now,
      enabled: true,
      onFault: fault => faults.push(fault),
      reconcile: {
        settles_ms,
        flushes_ms: 0,
        after: timers.after,
        workspaceOf: async () => 'ws',
        onDrift: corrected => told.push(...corrected),
      },
    })
    onTestFinished(() => limits.close())
    return limits
  })
  function flush(at: number) {
    for (const {of, tokens, cost_nanousd} of journals[at]!.splice(0)) {
      const sums = ledger.get(of.id) ?? {tokens: 0n, cost_nanousd: 0n}
      ledger.set(of.id, {tokens: sums.tokens + BigInt(tokens), cost_nanousd: sums.cost_nanousd + BigInt(cost_nanousd)})
    }
  }
  let calls = 0
  return {
    counters,
    processes,
    timers,
    told,
    faults,
    pass: (ms: number) => timers.pass(ms, settled),
    flush,
    ledger,
    /** A call by one of the processes; ends it, which journal and counters then know. */
    async call(at: number, of: EntityLimit) {
      const id = `call-${++calls}-${of.id}`
      const admission = (await processes[at]!.admit([of], id, timers.now()))!
      const hold =
        admission.strict_claims &&
        (await processes[at]!.hold(admission.strict_claims, id, 1, {tokens: 500, cost_nanousd: 50_000}))
      return async (used = USED) => {
        journals[at]!.push({of, ...used})
        hold?.settle(used)
        admission.settle(used)
      }
    },
    read: async (of: EntityLimit) => (await processes[0]!.read(of))[0]!.used,
    ledgerOf: (of: EntityLimit) => ledger.get(of.id)?.tokens ?? 0n,
  }
}

describe.each(KINDS)('counters in %s', kind => {
  test.each(['compatible', 'strict'] as const)(
    'that were rebuilt before another process flushed its journal equal the ledger again within seconds, %s',
    async enforcement => {
      const {call, processes, flush, read, ledgerOf, pass, told, faults, ledger} = await house(kind)
      const of = budget(enforcement)
      // what the other process settled before the counters were lost stands in its journal alone
      ledger.set(of.id, {tokens: 300n, cost_nanousd: 0n})
      const open = await call(0, of)
      ledger.set(of.id, {tokens: 450n, cost_nanousd: 0n})
      flush(1)
      await pass(1_000)
      await expect.poll(() => read(of)).toBe(enforcement === 'strict' ? 950n : 450n)
      await open()
      await expect.poll(() => read(of)).toBe(550n)
      for (let n = 0; n < 5; n++) await pass(2_000)
      expect([await read(of), ledgerOf(of)]).toEqual([550n, 550n])
      expect(told.map(({by}) => by)).toEqual([-150n])
      expect((await processes[0]!.read(of))[0]!.corrected).toMatchObject({by: -150n})
      expect(processes[0]!.reconciler!.counts).toEqual({under: 1, over: 0})
      expect(faults).toEqual([])
    },
  )

  test('the schedule finds what differs, under at once, over when it stays, and no open hold is taken for a difference', async () => {
    const {call, processes, counters, flush, read, pass, told} = await house(kind)
    const of = budget('strict')
    for (const at of [0, 1]) await (await call(at, of))()
    await expect.poll(() => read(of)).toBe(200n)
    flush(0)
    flush(1)
    const open = await call(1, of)
    const run = () => processes[0]!.reconciler!.run(new AbortController().signal)
    await run()
    expect([told, await read(of)]).toEqual([[], 700n])
    const key = (await counters[0]!.restored()).find(each => each.includes(of.id))!
    const plant = async (amount: bigint) => {
      const [standing] = await counters[1]!.standings([key])
      await counters[1]!.correct(key, amount, standing!.revision)
    }
    await plant(-150n)
    await run()
    expect([told.map(({by}) => by), await read(of)]).toEqual([[-150n], 700n])
    await plant(40n)
    await run()
    expect(await read(of)).toBe(740n)
    await pass(120_000)
    await run()
    expect([told.map(({by}) => by), await read(of)]).toEqual([[-150n, 40n], 700n])
    await open()
    await expect.poll(() => read(of)).toBe(300n)
    flush(1)
    await run()
    expect(await read(of)).toBe(300n)
  })

  test('two processes that find the same difference put it right once', async () => {
    const {call, processes, counters, flush, read} = await house(kind)
    const of = budget('compatible')
    await (await call(0, of))()
    await expect.poll(() => read(of)).toBe(100n)
    flush(0)
    const key = (await counters[0]!.restored()).find(each => each.includes(of.id))!
    const [standing] = await counters[0]!.standings([key])
    await counters[0]!.correct(key, -60n, standing!.revision)
    await Promise.all(processes.map(each => each.reconciler!.run(new AbortController().signal)))
    expect(await read(of)).toBe(100n)
  })

  test.each(['compatible', 'strict'] as const)(
    'a call between two paid attempts is no difference, and is counted once, %s',
    async enforcement => {
      const {counters, processes, timers, ledger, read, told} = await house(kind)
      const of = budget(enforcement)
      const [limits] = processes
      const admission = (await limits!.admit([of], `between-${of.id}`, timers.now()))!
      const attempt = async (n: number) =>
        admission.strict_claims && (await limits!.hold(admission.strict_claims, `between-${of.id}`, n, USED))
      const first = await attempt(1)
      ledger.set(of.id, {tokens: 100n, cost_nanousd: 7_000n})
      first?.settle(USED)
      admission.spent(USED)
      const settled = async () => {
        const [standing] = await counters[0]!.standings(admission.counter_keys)
        return standing!.used - standing!.held
      }
      await expect.poll(settled).toBe(100n)
      const run = () => limits!.reconciler!.run(new AbortController().signal)
      await run()
      const second = await attempt(2)
      await run()
      ledger.set(of.id, {tokens: 200n, cost_nanousd: 14_000n})
      second?.settle(USED)
      admission.settle({tokens: 200, cost_nanousd: 14_000})
      await expect.poll(settled).toBe(200n)
      await run()
      expect([told, await read(of)]).toEqual([[], 200n])
    },
  )

  test.each(['compatible', 'strict'] as const)(
    'a settlement that a busy store takes late is counted once, %s',
    async enforcement => {
      const {call, processes, counters, read, flush, pass, told} = await house(kind, SHARED_COUNTERS)
      const of = budget(enforcement)
      await (await call(0, of))() // the counter is restored
      await pass(20_000)
      const end = await call(0, of)
      const {settle, adjust} = counters[0]!
      const taken = Promise.withResolvers<void>()
      Object.assign(counters[0]!, {
        settle: (...given: Parameters<typeof settle>) => taken.promise.then(() => settle(...given)),
        adjust: (...given: Parameters<typeof adjust>) => taken.promise.then(() => adjust(...given)),
      })
      await end()
      flush(0)
      const looked = processes[1]!.reconciler!.run(new AbortController().signal)
      await pass(4_900)
      taken.resolve()
      await pass(20_000)
      await looked
      await expect.poll(() => read(of)).toBe(200n)
      expect(told).toEqual([])
    },
  )

  test('a settlement that the store did not take is counted within seconds', async () => {
    const {call, processes, counters, read, flush, pass} = await house(kind)
    const of = budget('compatible')
    const end = await call(0, of)
    const {settle} = counters[0]!
    Object.assign(counters[0]!, {settle: () => Promise.reject(new Error('silent'))})
    await end()
    Object.assign(counters[0]!, {settle})
    await expect.poll(() => read(of)).toBe(0n)
    flush(0)
    for (let n = 0; n < 3; n++) await pass(1_000)
    await expect.poll(() => read(of)).toBe(100n)
    expect(processes[0]!.reconciler!.counts.under).toBe(1)
  })
})

test('the journal is flushed once for all counters of a look', async () => {
  const done: string[] = []
  const counters = ['one', 'two', 'three'].map(key => ({
    key,
    counts: 'tokens' as const,
    since_ms: 0,
    of: {entity: 'key' as const, id: key, workspace_id: 'ws'},
  }))
  const differences = await look(
    {
      counters: {standings: async keys => keys.map(() => ({used: 5n, held: 0n, revision: '1'}))},
      used: async ({key}) => {
        done.push(key)
        return key === 'two' ? 3n : 5n
      },
      flushed: async () => void done.push('flushed'),
      pause: async () => undefined,
      settles_ms: 0,
      flushes_ms: 0,
    },
    counters,
  )
  expect(done).toEqual(['flushed', 'one', 'two', 'three', 'flushed', 'two'])
  expect(differences.map(({counter, by}) => [counter.key, by])).toEqual([['two', 2n]])
})
