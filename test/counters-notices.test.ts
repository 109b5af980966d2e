import {expect, test} from 'vitest'
import {countersNotices} from '../src/app/counters-notices.ts'
import {StoreSilentFault} from '../src/base/store-fault.ts'

const MINUTE_MS = 60_000

/** What the log has of the notices, in their order. */
function opened(setting: 'REDIS_URL' | 'DATABASE_URL' = 'REDIS_URL') {
  const lines: [level: string, members: object, text: string][] = []
  const clock = {now_ms: 0}
  const write =
    (level: string) =>
    (members: object, text = '') =>
      void lines.push([level, members, text])
  const log = {warn: write('warn'), error: write('error')} as never
  return {lines, clock, notice: countersNotices({log, now: () => clock.now_ms, setting})}
}

const coded = (code: string, message: string) => Object.assign(new Error(message), {code})

test.each([
  ['nothing listens at the address', coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1')],
  ['the host name is not known', coded('ENOTFOUND', 'getaddrinfo ENOTFOUND redis.invalid')],
  ['the user or the password is refused', new Error('WRONGPASS invalid username-password pair or user is disabled.')],
  ['the connection was cut', new Error('Connection is closed.')],
  ['no answer came in time', new Error('The counters did not answer within 250 ms.')],
  ['no answer came within 200 ms', new StoreSilentFault('PostgreSQL', 'no answer came within 200 ms')],
])('counters out of reach are one warning that names the setting, and has no stack: %s', (reason, fault) => {
  const {lines, notice} = opened()
  notice(fault)
  expect(lines).toEqual([
    [
      'warn',
      {reason, times: 1},
      `the shared counters do not answer: ${reason}; strict limits refuse calls (REDIS_URL)`,
    ],
  ])
})

test('an outage is a line a minute, with how many faults there were since the last', () => {
  const {lines, clock, notice} = opened('DATABASE_URL')
  const cut = new Error('Connection is closed.')
  for (clock.now_ms = 0; clock.now_ms <= MINUTE_MS; clock.now_ms += 1_000) notice(cut)
  expect(lines.map(([level, members]) => [level, members])).toEqual([
    ['warn', {reason: 'the connection was cut', times: 1}],
    ['warn', {reason: 'the connection was cut', times: 60}],
  ])
})

test('any other fault is an error with all that is known of it, each time', () => {
  const {lines, notice} = opened()
  const fault = new Error('ERR unknown command')
  notice(new Error('Connection is closed.'))
  notice(fault)
  notice(fault)
  const line = ['error', {fault}, 'the shared counters failed']
  expect(lines.slice(1)).toEqual([line, line])
})
