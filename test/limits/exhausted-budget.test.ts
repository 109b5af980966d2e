import {expect, test} from 'vitest'
import {budgetClaim} from '../../src/limits/budget.ts'
import {refusalFrom} from '../../src/limits/claims.ts'

const NOW_MS = Date.parse('2026-11-23T10:00:00.000Z')
const of = {
  entity: 'key' as const,
  id: 'k',
  name: 'blue',
  workspace_id: 'w',
  usage: null,
  rates: null,
  last_reset_at: null,
}
const limit = {
  ...{
    type: 'cost' as const,
    credit_limit: 25,
    alert_threshold: null,
    periodic_reset: 'monthly' as const,
    periodic_reset_days: null,
  },
  ...{next_usage_reset_at: null, enforcement: 'compatible' as const, started_at: '2026-01-01T00:00:00.000Z'},
}

test.each([
  ['by the counter', () => [25_020_000_000n], '25.02 of 25 US dollars per month are used'],
  ['by a store that answers later', async () => [25_020_000_000n], '25.02 of 25 US dollars per month are used'],
  ['where there is no counter', () => [null], 'It allows 25 US dollars per month'],
  ['where the store fails', () => Promise.reject(new Error('gone')), 'It allows 25 US dollars per month'],
])('a budget that is used up is told with what is used, %s, and when it resets', async (_, read, says) => {
  const refusal = await refusalFrom({read}, budgetClaim(of, limit, NOW_MS), NOW_MS)
  expect(refusal.message).toBe(
    `The usage limit of the API key blue is used up. ${says}; it resets at 2026-12-01T00:00:00Z.`,
  )
  expect([refusal.status, refusal.codes.type, refusal.codes.code]).toEqual([412, 'api_key_exhaust_error', '04'])
})
