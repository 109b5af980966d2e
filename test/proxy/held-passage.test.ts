import {expect, test} from 'vitest'
import {ReservedStream} from '../../src/proxy/attempt/reserved-stream.ts'

/** A passage whose counters are asked at every other time, and answer when they are told to. */
function passage() {
  const answers: ((refusal: null) => void)[] = []
  const passed: string[] = []
  let asked = 0
  const held = new ReservedStream(
    {reach: () => (asked++ % 2 ? null : new Promise<null>(resolve => void answers.push(resolve)))} as never,
    {} as never,
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
  held.end(() => {
    ends++
    held.take(Buffer.from('b'), null)
  })
  for (let turn = 0; turn < 6; turn++) await answer()
  expect([ends, passed]).toEqual([1, ['a', 'b']])
})
