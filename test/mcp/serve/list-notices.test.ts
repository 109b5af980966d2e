import {expect, test} from 'vitest'
import {ListNotices} from '../../../src/mcp/serve/list-notices.ts'
import {Timers} from '../../support/timers.ts'

const TOOLS = 'notifications/tools/list_changed'
const PROMPTS = 'notifications/prompts/list_changed'

function opened() {
  const timers = new Timers(0)
  const sent: [number, string][] = []
  const notices = new ListNotices(timers.after, text => void sent.push([timers.now_ms, text]))
  return {notices, sent, pass: (ms: number) => timers.pass(ms, async () => undefined), timers}
}

test('72, MC16: of 500 notices in a second the first goes at once and the last within a second after it', async () => {
  const {notices, sent, pass} = opened()
  for (let n = 1; n <= 500; n++) {
    notices.take(TOOLS, `notice ${n}`)
    await pass(2)
  }
  await pass(60_000)
  expect(sent[0]).toEqual([0, 'notice 1'])
  expect(sent.at(-1)![1]).toBe('notice 500')
  expect(sent.at(-1)![0]).toBeLessThanOrEqual(499 * 2 + 1_000)
  expect(sent.length).toBeLessThanOrEqual(3)
})

test('kinds have pauses of their own, and a notice after a pause goes at once', async () => {
  const {notices, sent, pass, timers} = opened()
  notices.take(TOOLS, 'a')
  notices.take(PROMPTS, 'b')
  await pass(1_000)
  notices.take(TOOLS, 'c')
  expect(sent).toEqual([
    [0, 'a'],
    [0, 'b'],
    [1_000, 'c'],
  ])
  await pass(1_000)
  expect(timers.waiting).toBe(0)
})

test('at its end it gives what waits, and has no timer left', async () => {
  const {notices, sent, timers} = opened()
  notices.take(TOOLS, 'a')
  notices.take(TOOLS, 'b')
  notices.take(TOOLS, 'c')
  expect(notices.close()).toEqual(['c'])
  expect([sent, timers.waiting]).toEqual([[[0, 'a']], 0])
})
