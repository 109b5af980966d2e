import {describe, expect, test} from 'vitest'
import {Refusal} from '../../src/base/errors.ts'
import {createLimits, type EntityLimit} from '../../src/limits/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {keepUsageLimits, UsageLimit} from '../../src/schema/limits.ts'
import {keepUsageTerms} from '../../src/schema/policies.ts'

const ENTITIES = ['key', 'workspace', 'provider', 'integration'] as const
type Entity = EntityLimit['entity']
type Period = Partial<Pick<UsageLimit, 'periodic_reset' | 'periodic_reset_days' | 'next_usage_reset_at'>>

function budget(
  entity: Entity,
  period: Period,
  given: {set_at: string; enforcement?: UsageLimit['enforcement']; last_reset_at?: string},
): EntityLimit {
  const {set_at, enforcement = 'compatible', last_reset_at = null} = given
  const usage =
    entity === 'policy'
      ? keepUsageTerms(
          {type: 'tokens', credit_limit: 10, periodic_reset: period.periodic_reset ?? null, enforcement},
          set_at,
        )
      : keepUsageLimits([UsageLimit.parse({type: 'tokens', credit_limit: 10, ...period, enforcement})], null, set_at)
  return {entity, id: entity, name: 'blue', workspace_id: 'ws', usage, rates: null, last_reset_at}
}

/**
 * A process with nothing in its ledger; `use` says whether a call at this time is let through, and has it use up the
 * budget.
 */
function opened() {
  const limits = createLimits({
    counters: createMemoryCounters(),
    usage: async () => ({tokens: 0n, cost_nanousd: 0n}),
    now: () => 0,
    enabled: true,
  })
  let calls = 0
  return async (of: EntityLimit, at: string): Promise<boolean> => {
    const id = `call-${++calls}`
    try {
      const admission = (await limits.admit([of], id, Date.parse(at)))!
      if (admission.strict_claims)
        (await limits.hold(admission.strict_claims, id, 1, {tokens: 10, cost_nanousd: 0})).settle({
          tokens: 10,
          cost_nanousd: 0,
        })
      admission.settle({tokens: 10, cost_nanousd: 0})
      return true
    } catch (fault) {
      if (fault instanceof Refusal && fault.status === 412) return false
      throw fault
    }
  }
}

/** Period, the first use, the last millisecond in which it is still used up, and the first in which it is not. */
const EDGES: readonly (readonly [string, Period, string, string, string])[] = [
  [
    'a day',
    {periodic_reset_days: 1},
    '2026-05-06T10:00:00.000Z',
    '2026-05-06T23:59:59.999Z',
    '2026-05-07T00:00:00.000Z',
  ],
  [
    'a week, from Sunday',
    {periodic_reset: 'weekly'},
    '2026-05-06T10:00:00.000Z',
    '2026-05-09T23:59:59.999Z',
    '2026-05-10T00:00:00.000Z',
  ],
  [
    'a week over the turn of a year',
    {periodic_reset: 'weekly'},
    '2026-12-31T10:00:00.000Z',
    '2027-01-02T23:59:59.999Z',
    '2027-01-03T00:00:00.000Z',
  ],
  [
    'a month of 30 days',
    {periodic_reset: 'monthly'},
    '2026-04-06T10:00:00.000Z',
    '2026-04-30T23:59:59.999Z',
    '2026-05-01T00:00:00.000Z',
  ],
  [
    'December',
    {periodic_reset: 'monthly'},
    '2026-12-06T10:00:00.000Z',
    '2026-12-31T23:59:59.999Z',
    '2027-01-01T00:00:00.000Z',
  ],
  [
    'February of a leap year',
    {periodic_reset: 'monthly'},
    '2028-02-06T10:00:00.000Z',
    '2028-02-29T23:59:59.999Z',
    '2028-03-01T00:00:00.000Z',
  ],
  [
    'February of a year without a leap day',
    {periodic_reset: 'monthly'},
    '2027-02-06T10:00:00.000Z',
    '2027-02-28T23:59:59.999Z',
    '2027-03-01T00:00:00.000Z',
  ],
  [
    'February of 2100, which is no leap year',
    {periodic_reset: 'monthly'},
    '2100-02-06T10:00:00.000Z',
    '2100-02-28T23:59:59.999Z',
    '2100-03-01T00:00:00.000Z',
  ],
  [
    '30 days over a leap day',
    {periodic_reset_days: 30},
    '2028-02-10T10:00:00.000Z',
    '2028-03-10T23:59:59.999Z',
    '2028-03-11T00:00:00.000Z',
  ],
  [
    '365 days over a leap day',
    {periodic_reset_days: 365},
    '2028-01-01T10:00:00.000Z',
    '2028-12-30T23:59:59.999Z',
    '2028-12-31T00:00:00.000Z',
  ],
  [
    'days from a first reset that was given',
    {periodic_reset_days: 7, next_usage_reset_at: '2026-05-20T15:00:00.000Z'},
    '2026-05-06T10:00:00.000Z',
    '2026-05-19T23:59:59.999Z',
    '2026-05-20T00:00:00.000Z',
  ],
]

describe('a budget that is running starts again with its period', () => {
  test.each(ENTITIES.flatMap(entity => EDGES.map(edge => [entity, ...edge] as const)))(
    'of a %s, %s',
    async (entity, _, period, from, last, first) => {
      for (const enforcement of ['compatible', 'strict'] as const) {
        const use = opened()
        const of = budget(entity, period, {set_at: from, enforcement})
        expect([
          await use(of, from),
          await use(of, from),
          await use(of, last),
          await use(of, first),
          await use(of, first),
        ]).toEqual([true, false, false, true, false])
      }
    },
  )

  test.each([
    ['weekly', '2026-05-06T10:00:00.000Z', '2026-05-10T23:59:59.999Z', '2026-05-11T00:00:00.000Z'],
    ['weekly', '2026-12-31T10:00:00.000Z', '2027-01-03T23:59:59.999Z', '2027-01-04T00:00:00.000Z'],
    ['monthly', '2028-02-06T10:00:00.000Z', '2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00.000Z'],
  ] as const)('of a policy, %s from %s: weeks begin on Monday', async (periodic_reset, from, last, first) => {
    const use = opened()
    const of = budget('policy', {periodic_reset}, {set_at: from})
    expect([await use(of, from), await use(of, last), await use(of, first)]).toEqual([true, false, true])
  })

  test.each([...ENTITIES, 'policy'] as const)('of a %s, without a period: it is cumulative', async entity => {
    const use = opened()
    const of = budget(entity, {}, {set_at: '2026-05-06T10:00:00.000Z'})
    expect([await use(of, '2026-05-06T10:00:00.000Z'), await use(of, '2100-01-01T00:00:00.000Z')]).toEqual([
      true,
      false,
    ])
  })

  test.each([...ENTITIES, 'policy'] as const)('of a %s, reset by hand', async entity => {
    const use = opened()
    const from = '2026-05-06T10:00:00.000Z'
    const reset_at = '2026-05-06T11:00:00.000Z'
    expect([
      await use(budget(entity, {}, {set_at: from}), from),
      await use(budget(entity, {}, {set_at: from}), reset_at),
    ]).toEqual([true, false])
    expect(await use(budget(entity, {}, {set_at: from, last_reset_at: reset_at}), reset_at)).toBe(true)
  })
})
