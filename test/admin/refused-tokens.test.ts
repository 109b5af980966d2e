import {expect, test} from 'vitest'
import {RefusedTokens} from '../../src/admin/refused-tokens.ts'
import type {RefusedToken} from '../../src/identity/jwt/tokens.ts'
import type {AuditLogsTable} from '../../src/store/tables/identity.ts'

const MINUTE_MS = 60_000

function opened() {
  let now_ms = 1_000_000
  const rows: AuditLogsTable[] = []
  const warned: object[] = []
  const faults: object[] = []
  let is_down = false
  const refused = new RefusedTokens({
    store: {
      async write() {
        if (is_down) throw new Error('no disk')
        rows.push({} as AuditLogsTable)
        return undefined as never
      },
    },
    log: {warn: (facts: object) => void warned.push(facts), error: (facts: object) => void faults.push(facts)} as never,
    now: () => now_ms,
    audits: true,
  })
  const note = (more: Partial<RefusedToken> = {}) =>
    refused.note({
      ...{organisation_id: 'o1', token: 'eyJ.eyJ.abc', code: 'token.key', reason: 'Not found.', status: 401},
      ...{kid: 'k', subject: 's', issuer: 'i', client_ip: '192.0.2.1'},
      ...more,
    })
  return {
    ...{rows, warned, faults, note},
    pass: (ms: number) => {
      now_ms += ms
    },
    fall: () => {
      is_down = true
    },
  }
}

test('a reason of an address is one row a minute', () => {
  const {rows, note, pass} = opened()
  for (let each = 0; each < 50; each++) note()
  expect(rows).toHaveLength(1)
  note({code: 'token.signature'})
  note({client_ip: '192.0.2.2'})
  note({organisation_id: 'o2'})
  expect(rows).toHaveLength(4)
  pass(MINUTE_MS)
  note()
  expect(rows).toHaveLength(5)
})

test('many addresses fill no audit log', () => {
  const {rows, note, pass} = opened()
  for (let each = 0; each < 5_000; each++) note({client_ip: `2001:db8::${each.toString(16)}`})
  expect(rows).toHaveLength(100)
  pass(MINUTE_MS)
  note({client_ip: '2001:db8::ffff'})
  expect(rows).toHaveLength(101)
})

test('one of no organisation is in the process log alone', () => {
  const {rows, warned, note} = opened()
  for (let each = 0; each < 50; each++) note({organisation_id: null})
  expect([rows.length, warned]).toEqual([0, [{reason: 'Not found.', client_ip: '192.0.2.1', count: 1}]])
})

test('a store that is down is logged, and stops nothing', async () => {
  const {faults, note, fall} = opened()
  fall()
  note()
  await expect.poll(() => faults.length).toBe(1)
})
