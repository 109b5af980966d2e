import {describe, expect, test} from 'vitest'
import {Refusal} from '../../src/base/errors.ts'
import {createLimits, type EntityLimit} from '../../src/limits/index.ts'
import {KINDS, testCounters} from '../ports/support.ts'

const HOUR_MS = 3_600_000
const unlimited: EntityLimit = {
  entity: 'key',
  id: 'id',
  name: 'blue',
  workspace_id: 'ws',
  usage: null,
  rates: null,
  last_reset_at: null,
}
const requests = (value: number): EntityLimit => ({
  ...unlimited,
  rates: JSON.stringify([{type: 'requests', unit: 'rpd', value, enforcement: 'compatible'}]),
})
const budget = (credit_limit: number): EntityLimit => ({
  ...unlimited,
  entity: 'workspace',
  usage: JSON.stringify([
    {
      type: 'cost',
      credit_limit,
      enforcement: 'compatible',
      periodic_reset: null,
      periodic_reset_days: null,
      next_usage_reset_at: null,
      started_at: '2026-01-01T00:00:00.000Z',
    },
  ]),
})

describe.each(KINDS)('limits over counters in %s', kind => {
  test('of N calls that come at once to two processes exactly as many are let through as the limit says', async () => {
    const opened = await testCounters(kind)
    const faults: unknown[] = []
    const options = {
      usage: async () => ({tokens: 0n, cost_nanousd: 0n}),
      now: Date.now,
      enabled: true,
      onFault: (fault: unknown) => faults.push(fault),
    }
    // One process in memory; over a shared store each has its own.
    const [one, other] = [
      createLimits({...options, counters: opened.counters}),
      createLimits({...options, counters: await opened.again()}),
    ]
    // Early in a day, so that no window ends meanwhile.
    const now_ms = Math.ceil(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS + 10_000
    const of = [requests(25), budget(1)]
    const calls = Array.from({length: 80}, async (_, n) => (n % 2 ? one : other).admit(of, `call-${n}`, now_ms))
    const outcomes = await Promise.allSettled(calls)
    const admitted = outcomes.flatMap(outcome =>
      outcome.status === 'fulfilled' && outcome.value ? [outcome.value] : [],
    )
    const refused = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(admitted).toHaveLength(25)
    expect(refused.every(fault => fault instanceof Refusal && fault.code === 'key.rate_reached')).toBe(true)
    for (const admission of admitted) admission.settle({tokens: 1, cost_nanousd: 40_000_001})
    await expect.poll(async () => (await one.read(budget(1)))[0]?.used).toBe(25n * 40_000_001n)
    await expect(async () => other.admit([budget(1)], 'late', now_ms)).rejects.toMatchObject({
      code: 'workspace.exhausted',
      status: 412,
    })
    expect(faults).toEqual([])
    await opened.close()
  })
})
