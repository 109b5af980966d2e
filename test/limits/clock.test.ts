import {describe, expect, test} from 'vitest'
import {Refusal} from '../../src/base/errors.ts'
import {createLimits, type EntityLimit} from '../../src/limits/index.ts'
import type {Counters} from '../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {type CounterTable, createPostgresCounters} from '../../src/ports/counters/postgres.ts'
import {keepRateLimits, RateLimit} from '../../src/schema/limits.ts'
import {machine} from '../support/machine.ts'

const NOON = Date.UTC(2026, 4, 6, 12)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LENGTH_MS = {rpm: 60_000, rph: HOUR_MS, rpd: DAY_MS} as const
const UNITS = ['rpm', 'rph', 'rpd'] as const

/** A machine, and a store of counters on it: both go by its clock, which may be set. */
type Machine = ReturnType<typeof machine>

/** What PostgreSQL does for windows of requests, by the clock of its machine. */
function table(on: Machine): CounterTable {
  const used = new Map<string, number>()
  return {
    reserve: async asked =>
      asked.map(({claims}) => {
        const refused = claims.findIndex(({key, most}) => (used.get(key) ?? 0) > Number(most))
        if (refused >= 0) return {word: 'refused', now_ms: on.now(), places: [refused]} as const
        for (const {key, amount} of claims) used.set(key, (used.get(key) ?? 0) + amount)
        return {word: 'taken', now_ms: on.now(), places: []} as const
      }),
    settle: async asked => asked.map(() => true),
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

const STORES: readonly (readonly [string, (on: Machine) => Counters])[] = [
  ['memory', ({steady}) => createMemoryCounters({steady})],
  ['a shared store', on => createPostgresCounters({table: table(on), now: on.now, steady: on.steady})],
]

describe.each(STORES)('rates over counters in %s', (_, open) => {
  test.each(UNITS.flatMap(unit => [-HOUR_MS, -DAY_MS, HOUR_MS, DAY_MS].map(step_ms => [unit, step_ms] as const)))(
    '%s: a clock that is set by %d ms neither opens a window again nor keeps one shut, then and when it is put right',
    async (unit, step_ms) => {
      const on = machine(NOON)
      const limits = createLimits({
        counters: open(on),
        usage: async () => ({tokens: 0n, cost_nanousd: 0n}),
        now: on.now,
        enabled: true,
      })
      const rates = keepRateLimits([RateLimit.parse({type: 'requests', unit, value: 2})])
      const of: EntityLimit = {
        entity: 'key',
        id: unit,
        name: 'blue',
        workspace_id: 'ws',
        usage: null,
        rates,
        last_reset_at: null,
      }
      let calls = 0
      const admitted = async (count: number) => {
        let through = 0
        for (let n = 0; n < count; n++) {
          try {
            await limits.admit([of], `call-${++calls}`, on.now())
            through++
          } catch (fault) {
            if (!(fault instanceof Refusal)) throw fault
          }
        }
        return through
      }
      expect(await admitted(3)).toBe(2)
      on.set(step_ms)
      const at_step = await admitted(3)
      // what went ahead ended the window, as far as anybody can know; what went back ends none
      expect(at_step).toBe(step_ms >= LENGTH_MS[unit] ? 2 : 0)
      // no window is longer than a ninth more than it says
      on.pass(Math.ceil(LENGTH_MS[unit] / 0.9))
      expect(await admitted(3)).toBe(2)
      on.set(-step_ms)
      expect(await admitted(3)).toBe(0)
      on.pass(Math.ceil(LENGTH_MS[unit] / 0.9))
      expect(await admitted(3)).toBe(2)
    },
  )
})
