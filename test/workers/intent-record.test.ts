import {expect, test} from 'vitest'
import {decodeIntent, encodeIntent} from '../../src/workers/intent-record.ts'
import {intent} from '../support/records.ts'

const read = (text: string) => decodeIntent(Buffer.from(text))

test.each([
  ['of an API key', intent()],
  [
    'of a session, with reservations',
    intent({kind: 'realtime_turn', principal: {kind: 'session', id: 's'}, held_keys: ['a', 'b']}),
  ],
])('an intent %s is read as it was written', (_, written) => {
  expect(read(encodeIntent(written))).toEqual(written)
})

test('no member of an intent is left out', () => {
  const whole: Required<ReturnType<typeof intent>> = {
    ...intent(),
    held_keys: ['a'],
    w3c: {is_sampled: true, state: 'a=1'},
  }
  expect(Object.keys(read(encodeIntent(whole))!).toSorted()).toEqual(Object.keys(whole).toSorted())
})

test('an intent of an earlier version is the object itself, of an API key', () => {
  const whole = intent()
  const {kind: _, principal, ...old} = whole
  expect(read(JSON.stringify({...old, api_key_id: principal.id}))).toMatchObject(whole)
})

test.each(['', 'null', '[]', '[1,2]', '{}', '{"call_id":1}', '"text"', 'no JSON'])(
  'what is no intent is not read: %j',
  text => {
    expect(read(text)).toBeUndefined()
  },
)
