import {expect, test} from 'vitest'
import {createLimits, type EntityLimit} from '../../src/limits/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'

const NOW_MS = Date.parse('2026-11-23T10:20:30.000Z')
const MOST = 3

function entity(policy: string, name: string, {unit = 'rph', enforcement = 'compatible'} = {}): EntityLimit {
  const rates = JSON.stringify([{type: 'requests', unit, value: 1, enforcement}])
  return {
    entity: 'policy',
    id: `${policy}/metadata._user:${name}`,
    name: `users (${name})`,
    workspace_id: 'w',
    usage: null,
    rates,
    last_reset_at: null,
  }
}

function opened() {
  const full: string[] = []
  let now_ms = NOW_MS
  const limits = createLimits({
    counters: createMemoryCounters({most_of_group: MOST, steady: () => now_ms}),
    usage: async () => ({tokens: 0n, cost_nanousd: 0n}),
    now: () => now_ms,
    enabled: true,
    onFull: ({of}) => full.push(of.name),
  })
  let calls = 0
  const call = async (...of: EntityLimit[]) => {
    try {
      await limits.admit(of, `call-${++calls}`, now_ms)
      return 200
    } catch (fault) {
      const {status, codes, message} = fault as {status: number; codes: {type: string}; message: string}
      return codes.type === 'policy_entities_exhausted' ? [status, message] : status
    }
  }
  const later = (ms: number) => {
    now_ms += ms
  }
  return {call, full, later}
}

test('a policy that counts as many entities as it can refuses new ones, and its used-up ones stay used up', async () => {
  const {call, full, later} = opened()
  for (let n = 0; n < MOST; n++) expect(await call(entity('p', `${n}`))).toBe(200)
  const says = 'The policy users (new) counts as many entities as it can, so no call of a further one is let through.'
  expect(await call(entity('p', 'new'))).toEqual([429, `${says} The first of them end at 2026-11-23T11:00:00Z.`])
  for (let n = 0; n < MOST; n++) expect(await call(entity('p', `${n}`))).toBe(429)
  expect(await call(entity('q', 'new'))).toBe(200)
  expect(full).toEqual(['users (new)'])
  later(3_600_000)
  expect(await call(entity('p', 'new'))).toBe(200)
})

test('a policy that only reports refuses nobody', async () => {
  const {call, full} = opened()
  for (let n = 0; n < 2 * MOST; n++) expect(await call(entity('p', `${n}`, {enforcement: 'shadow'}))).toBe(200)
  expect(full).toEqual([])
})
