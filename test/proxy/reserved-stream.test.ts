import {expect, test} from 'vitest'
import {ReservedStream} from '../../src/proxy/attempt/reserved-stream.ts'

/** A passage whose counters are asked at every other time, and answer when they are told to. */
function passage() {
  const answers: ((refusal: null) => void)[] = []
  const passed: string[] = []
  let asked = 0
  const held = new ReservedStream(
    {reach: () => (asked++ % 2 ? null : new Promise<null>(resolve => void answers.push(resolve)))} as never,
    {open_bytes: 0} as never,
    {pause: () => undefined, resume: () => undefined} as never,
    {paused_at: 0} as never,
    {pass: send => void passed.push(send.toString()), cutOff: () => undefined},
  )
  const answer = async () => {
    answers.shift()?.(null)
    await new Promise(setImmediate)
  }
  return {held, passed, answer}
}

test('what was to be done when all had passed is done once', async () => {
  const {held, passed, answer} = passage()
  let ends = 0
  held.take(Buffer.from('a'), null)
  held.wait(() => {
    ends++
    held.take(Buffer.from('b'), null)
  })
  for (let turn = 0; turn < 6; turn++) await answer()
  expect([ends, passed]).toEqual([1, ['a', 'b']])
})

/**
 * What passes of a stream cut into chunks, whose events end with a full stop; `fits` says whether so many events may
 * pass.
 */
function cutInto(chunks: readonly string[], fits: (events: number) => boolean, bound = Number.POSITIVE_INFINITY) {
  let came = ''
  const passed: string[] = []
  let faults = 0
  const stream = {
    get open_bytes() {
      const open = came.length - came.lastIndexOf('.') - 1
      return open > bound ? Number.POSITIVE_INFINITY : open
    },
    get pieces() {
      return came.split('.').length - 1
    },
    most_tokens: 0,
    usage: null,
  }
  const held = new ReservedStream(
    {reach: ({pieces}: {pieces: number}) => (fits(pieces) ? null : 'refused')} as never,
    stream as never,
    {pause: () => undefined, resume: () => undefined} as never,
    {paused_at: 0} as never,
    {pass: send => void passed.push(send.toString()), cutOff: () => void faults++},
  )
  for (const chunk of chunks) {
    came += chunk
    if (faults === 0) held.take(Buffer.from(chunk), null)
  }
  return {held, passed, faults: () => faults}
}

test.each([
  ['one event in a chunk', ['a.', 'b.'], ['a.', 'b.']],
  ['an event over chunks', ['aa', 'aa', 'a.', 'b.'], ['aaaaa.', 'b.']],
  ['a chunk that begins another', ['a.b', 'b.c', '.'], ['a.', 'bb.', 'c.']],
])('%s: an event leaves when it is whole', (_, chunks, passed) => {
  expect(cutInto(chunks, () => true).passed).toEqual(passed)
})

test('an event that does not fit leaves with no byte of it', () => {
  const {passed, faults} = cutInto(['a.', 'bb', 'bb', 'b.c.'], events => events < 2)
  expect([passed, faults()]).toEqual([['a.'], 1])
})

test('what the stream ends with leaves when it fits, once', () => {
  const ends: string[] = []
  const good = cutInto(['a.bb'], () => true)
  good.held.end(Buffer.from('c'), rest => void ends.push(rest.toString()))
  expect([good.passed, ends]).toEqual([['a.'], ['bbc']])
  const bad = cutInto(['a.bb'], events => events < 1)
  bad.held.end(Buffer.from('c'), rest => void ends.push(rest.toString()))
  expect([bad.faults() > 0, ends.length]).toEqual([true, 1])
})

test('an event that is too long to be read counts as it comes', () => {
  const chunk = 'x'.repeat(400_000)
  let most = 0
  const {passed} = cutInto(
    [chunk, chunk, chunk, chunk],
    pieces => {
      most = Math.max(most, pieces)
      return true
    },
    100,
  )
  expect(passed.map(({length}) => length)).toEqual([1_200_000])
  expect(most).toBe(1)
})
