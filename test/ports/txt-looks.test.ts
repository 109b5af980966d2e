import {expect, onTestFinished, test} from 'vitest'
import {txtLooks} from '../../src/ports/dns/txt.ts'
import {type DnsAnswer, dnsServer, NO_NAME, SERVER_FAILED} from '../support/dns-server.ts'

const NAME = '_gateway-challenge.example.com'
const VALUE = 'gateway-verification=0123456789abcdef0123456789abcdef'
/** The deadline, at once. */
const late = (_: number, run: () => void) => {
  const timer = setTimeout(run, 50)
  return () => clearTimeout(timer)
}
const never = () => () => {}
const many = (count: number, at: number) =>
  Array.from({length: count}, (_, place) => [place === at ? VALUE : `other-verification=${place}`])

async function server(answer: DnsAnswer) {
  const opened = await dnsServer(() => answer)
  onTestFinished(opened.close)
  return opened
}

const CASES: readonly (readonly [string, DnsAnswer, object])[] = [
  ['the record', [['v=spf1 -all'], [VALUE]], {outcome: 'found', records: 2}],
  ['the record in chunks', [[VALUE.slice(0, 10), VALUE.slice(10, 12), '', VALUE.slice(12)]], {outcome: 'found'}],
  ['the record in the hundredth place of a hundred', many(100, 99), {outcome: 'found', records: 100}],
  ['200 records without it', many(200, 250), {outcome: 'too_many', records: 200}],
  ['200 records with it behind what is read', many(200, 150), {outcome: 'too_many', records: 200}],
  ['a record that begins alike', [[`${VALUE}0`]], {outcome: 'other_records', records: 1}],
  ['a record in other letters', [[VALUE.toUpperCase()]], {outcome: 'other_records', records: 1}],
  ['a name without records', [], {outcome: 'no_record'}],
  ['no such name', NO_NAME, {outcome: 'no_name'}],
  ['a failure', SERVER_FAILED, {outcome: 'silent', reason: 'it failed (SERVFAIL)'}],
]

test.each(CASES)('a name server that answers with %s', async (_, answer, expected) => {
  const {address, asked} = await server(answer)
  const look = txtLooks({servers: [address], after: never})
  expect(await look(NAME, VALUE)).toMatchObject(expected)
  expect(asked[0]).toBe(NAME)
})

test.each([
  ['says nothing', null, 'no answer came within 5 s'],
  ['answers with what is no message', Buffer.from('this is no answer of a name server'), 'its answer cannot be read'],
  ['answers with a head alone', Buffer.alloc(12), 'its answer cannot be read'],
])('a name server that %s has not answered', async (_, answer, why) => {
  const {address} = await server(answer)
  const {outcome, reason} = await txtLooks({servers: [address], after: late})(NAME, VALUE)
  expect({outcome, reason}).toEqual({outcome: 'silent', reason: why})
})

test('looks at once have a bound, and those that ended make room', async () => {
  const {address} = await server(null)
  const look = txtLooks({servers: [address], after: late})
  const looks = await Promise.all(Array.from({length: 25}, () => look(NAME, VALUE)))
  expect(looks.map(({outcome}) => outcome)).toEqual([...Array(20).fill('silent'), ...Array(5).fill('busy')])
  expect((await look(NAME, VALUE)).outcome).toBe('silent')
})
