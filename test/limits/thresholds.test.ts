import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {
  type AlertMark,
  type BudgetStanding,
  crossedThresholds,
  standingsOf,
  tellCrossings,
  thresholdCrossings,
} from '../../src/limits/thresholds.ts'
import {keepUsageLimits, UsageLimit} from '../../src/schema/limits.ts'

const MAY = Date.UTC(2026, 4, 1)
const JUNE = Date.UTC(2026, 5, 1)

const standing = (given: Partial<BudgetStanding> = {}): BudgetStanding => ({
  scope: 'key/blue/cost',
  used: 0n,
  credit_limit: 100n,
  alert_threshold: 80n,
  since_ms: MAY,
  ...given,
})

/** Looks at one standing after the other; says what each look told. */
function told(...standings: readonly Partial<BudgetStanding>[]): string[][] {
  let mark: AlertMark | null = null
  return standings.map(given => {
    const seen = crossedThresholds(standing(given), mark)
    // as a row would keep it
    mark = JSON.parse(JSON.stringify(seen.mark)) as AlertMark
    return seen.crossings.map(({kind}) => kind)
  })
}

describe('a crossing', () => {
  test('is told once: of the threshold when it is reached, of the budget when it is used up', () => {
    expect(told({used: 79n}, {used: 80n}, {used: 81n}, {used: 100n}, {used: 130n})).toEqual([
      [],
      ['threshold'],
      [],
      ['exhausted'],
      [],
    ])
  })

  test('of both at once is told as both', () => {
    expect(told({used: 0n}, {used: 100n}, {used: 100n})).toEqual([[], ['threshold', 'exhausted'], []])
  })

  test('is told at the first look too', () => {
    expect(told({used: 90n}, {used: 90n})).toEqual([['threshold'], []])
  })

  test('of a threshold needs a threshold', () => {
    expect(told({used: 99n, alert_threshold: null}, {used: 100n, alert_threshold: null})).toEqual([[], ['exhausted']])
  })

  test('is not told again when a correction takes usage back and more comes', () => {
    expect(told({used: 80n}, {used: 70n}, {used: 85n})).toEqual([['threshold'], [], []])
  })
})

describe('alerts are reset', () => {
  test('both, when the credit limit is raised', () => {
    expect(
      told(
        {used: 100n},
        {used: 100n, credit_limit: 200n, alert_threshold: 150n},
        {used: 150n, credit_limit: 200n, alert_threshold: 150n},
        {used: 200n, credit_limit: 200n, alert_threshold: 150n},
      ),
    ).toEqual([['threshold', 'exhausted'], [], ['threshold'], ['exhausted']])
  })

  test('and told again at once, where the raised limit leaves usage above the threshold', () => {
    expect(told({used: 100n}, {used: 100n, credit_limit: 200n})).toEqual([['threshold', 'exhausted'], ['threshold']])
  })

  test('none, when the credit limit is lowered', () => {
    expect(told({used: 90n}, {used: 85n, credit_limit: 86n})).toEqual([['threshold'], []])
  })

  test('the threshold alone, when it is raised', () => {
    expect(told({used: 100n}, {used: 100n, alert_threshold: 90n}, {used: 100n, alert_threshold: 90n})).toEqual([
      ['threshold', 'exhausted'],
      ['threshold'],
      [],
    ])
  })

  test('the threshold alone, when it is set to null and then set again', () => {
    expect(told({used: 85n}, {used: 85n, alert_threshold: null}, {used: 85n}, {used: 85n})).toEqual([
      ['threshold'],
      [],
      ['threshold'],
      [],
    ])
  })

  test('not when the threshold is lowered', () => {
    expect(told({used: 85n}, {used: 85n, alert_threshold: 10n})).toEqual([['threshold'], []])
  })

  test('both, when the budget starts again', () => {
    expect(
      told({used: 100n}, {used: 0n, since_ms: JUNE}, {used: 80n, since_ms: JUNE}, {used: 100n, since_ms: JUNE}),
    ).toEqual([['threshold', 'exhausted'], [], ['threshold'], ['exhausted']])
  })
})

test('however usage grows, and however often it is looked at, each alert is told once a period', () => {
  const steps = fc.array(fc.tuple(fc.bigInt(0n, 60n), fc.integer({min: 0, max: 3})), {maxLength: 30})
  fc.assert(
    fc.property(steps, grown => {
      let used = 0n
      let since_ms = MAY
      let mark: AlertMark | null = null
      const seen = new Map<string, number>()
      for (const [more, starts_again] of grown) {
        if (starts_again === 3) {
          used = 0n
          since_ms += 1
        }
        used += more
        const look = crossedThresholds(standing({used, since_ms}), mark)
        mark = look.mark
        for (const {kind} of look.crossings) {
          const name = `${kind} ${since_ms}`
          expect(seen.has(name)).toBe(false)
          seen.set(name, 1)
        }
        expect(mark.threshold).toBe(mark.threshold && seen.has(`threshold ${since_ms}`))
        expect(seen.has(`exhausted ${since_ms}`)).toBe(mark.exhausted)
      }
    }),
  )
})

test('of many budgets, those that changed are given to be kept', () => {
  const quiet = standing({scope: 'quiet', used: 1n})
  const loud = standing({scope: 'loud', used: 99n})
  const first = thresholdCrossings([quiet, loud], new Map())
  expect(first.crossings.map(({scope, kind}) => [scope, kind])).toEqual([['loud', 'threshold']])
  expect([...first.marks.keys()]).toEqual(['quiet', 'loud'])
  const second = thresholdCrossings(
    [
      {...quiet, used: 100n},
      {...loud, used: 99n},
    ],
    first.marks,
  )
  expect(second.crossings.map(({scope, kind}) => [scope, kind])).toEqual([
    ['quiet', 'threshold'],
    ['quiet', 'exhausted'],
  ])
  expect([...second.marks.keys()]).toEqual(['quiet'])
})

test('a crossing is kept before it is told, and looked at again is not told', async () => {
  const kept = new Map<string, AlertMark>()
  const order: string[] = []
  const marks = {
    read: async (scopes: readonly string[]) => new Map([...kept].filter(([scope]) => scopes.includes(scope))),
    keep: async (changed: ReadonlyMap<string, AlertMark>) => {
      for (const [scope, mark] of changed) kept.set(scope, mark)
      order.push('kept')
    },
  }
  const tell = async (used: bigint) => tellCrossings([standing({used})], marks, ({kind}) => order.push(kind))
  await tell(85n)
  await tell(86n)
  await tell(100n)
  expect(order).toEqual(['kept', 'threshold', 'kept', 'exhausted'])
})

test('the budgets of an entity stand as they are read: US dollars in nano-dollars', () => {
  const budget = UsageLimit.parse({credit_limit: 2, alert_threshold: 1.5})
  const usage = keepUsageLimits([budget], null, '2026-05-01T00:00:00.000Z')
  const of = {
    entity: 'key',
    id: 'blue',
    name: 'blue',
    workspace_id: 'ws',
    usage,
    rates: null,
    last_reset_at: null,
  } as const
  const reading = {
    type: 'cost',
    label: '',
    used: 7n,
    limit: 2_000_000_000n,
    since_ms: MAY,
    ends_at_ms: JUNE,
    mode: 'compatible',
  } as const
  expect(standingsOf(of, [reading])).toEqual([
    {scope: 'key/blue/cost', used: 7n, credit_limit: 2_000_000_000n, alert_threshold: 1_500_000_000n, since_ms: MAY},
  ])
})
