import {describe, expect, test} from 'vitest'
import {budgetClaim} from '../../src/limits/budget.ts'
import {changedUsageLimits, UsageLimitsChange} from '../../src/schema/limit-changes.ts'
import {keepUsageLimits, readUsageLimits, UsageLimit, usageLimitViews} from '../../src/schema/limits.ts'

const SET = '2025-03-10T09:00:00.000Z'
const EDITED = '2026-05-06T10:00:00.000Z'

const made = (period: object) => keepUsageLimits([UsageLimit.parse({credit_limit: 10, ...period})], null, SET)!
const edited = (column: string, change: object, at = EDITED) =>
  changedUsageLimits(UsageLimitsChange.parse(change), column, at)!
const claimAt = (usage: string, at: string) => {
  const of = {entity: 'key' as const, id: 'k', name: 'blue', workspace_id: 'w', usage, rates: null, last_reset_at: null}
  const {key, since_ms, ends_at_ms} = budgetClaim(of, readUsageLimits(usage)[0]!, Date.parse(at))
  return {key, since: new Date(since_ms).toISOString(), ends: new Date(ends_at_ms).toISOString()}
}
const shown = (usage: string, at: string) => usageLimitViews(usage, Date.parse(at))[0]!.next_usage_reset_at

describe('a next reset that is added to a running budget', () => {
  test.each([
    ['monthly', {periodic_reset: 'monthly'}, '2026-05-01T00:00:00.000Z'],
    ['weekly', {periodic_reset: 'weekly'}, '2026-05-03T00:00:00.000Z'],
    ['of ten days', {periodic_reset_days: 10}, '2026-05-04T00:00:00.000Z'],
  ])('%s, lets the period that runs go on: what was used before it does not count anew', (_, period, begins) => {
    const before = made(period)
    const after = edited(before, {next_usage_reset_at: '2026-05-20T15:00:00.000Z'})
    expect(claimAt(before, EDITED)).toMatchObject({since: begins})
    expect(claimAt(after, EDITED)).toEqual({
      key: claimAt(before, EDITED).key,
      since: begins,
      ends: '2026-05-20T00:00:00.000Z',
    })
    expect(claimAt(after, '2026-05-19T23:59:59.999Z')).toMatchObject({since: begins})
    expect(claimAt(after, '2026-05-20T00:00:00.000Z')).toMatchObject({since: '2026-05-20T00:00:00.000Z'})
    // another edit, whatever it is, changes nothing of that
    const again = edited(after, {credit_limit: 20}, '2026-05-10T00:00:00.000Z')
    expect(claimAt(again, '2026-05-10T00:00:00.000Z')).toEqual(claimAt(after, '2026-05-10T00:00:00.000Z'))
  })

  test('of a budget that never reset still counts from when it was set', () => {
    const after = edited(made({}), {periodic_reset: 'monthly', next_usage_reset_at: '2026-06-01T00:00:00.000Z'})
    expect(claimAt(after, EDITED)).toMatchObject({since: SET, ends: '2026-06-01T00:00:00.000Z'})
  })
})

test('a next reset that has come is shown as the one after it, and sending that back changes nothing', () => {
  const usage = made({periodic_reset_days: 7, next_usage_reset_at: '2025-03-20T15:00:00.000Z'})
  expect(shown(usage, SET)).toBe('2025-03-20T00:00:00.000Z')
  expect(shown(usage, '2025-03-20T00:00:00.000Z')).toBe('2025-03-27T00:00:00.000Z')
  const next = shown(usage, EDITED)!
  expect(next > EDITED).toBe(true)
  const after = edited(usage, {next_usage_reset_at: next})
  expect([claimAt(after, EDITED), shown(after, EDITED)]).toEqual([claimAt(usage, EDITED), next])
  expect(JSON.stringify(usageLimitViews(after, Date.parse(EDITED)))).not.toMatch(/counts_from|started_at/)
  expect(shown(made({periodic_reset: 'monthly'}), EDITED)).toBeNull()
})
