import {Readable} from 'node:stream'
import {expect, test} from 'vitest'
import {answerOnStream} from '../../../src/mcp/upstream/answer-stream.ts'
import {CallDeadlines} from '../../../src/mcp/upstream/deadlines.ts'
import {unreachable} from '../../../src/mcp/upstream/faults.ts'
import type {IncomingReply} from '../../../src/mcp/upstream/http.ts'
import {OpenCall} from '../../../src/mcp/upstream/open-call.ts'
import {Collected, faultIn} from '../../support/mcp/upstream.ts'
import {Timers} from '../../support/timers.ts'

const ANSWER = 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
const CUT = Symbol('cut')

async function turn() {
  for (let turns = 0; turns < 12; turns++) await new Promise(setImmediate)
}

/** Streams in turn: their events, with an end or a cut; null: the resumption is refused for now. */
function reading(first: readonly (string | symbol)[], ...more: readonly (readonly (string | symbol)[] | null)[]) {
  const timers = new Timers(0)
  const clock = {steady: timers.now, after: timers.after}
  const deadlines = new CallDeadlines(clock, {total_ms: 600_000, idle_ms: 5_000}, 'fixture')
  const sink = new Collected()
  const call = new OpenCall({id: 1, method: 'tools/call', params: undefined, sink, deadlines, server: 'fixture'})
  const resumed: {at_ms: number; last_id: string}[] = []
  deadlines.begun()
  const answer = answerOnStream(call, replyOf(first), {
    ...{server: 'fixture', clock},
    async take(message) {
      if (message.kind === 'notification') await call.notified(message)
    },
    async resume(last_id) {
      const next = more[resumed.length]
      resumed.push({at_ms: timers.now_ms, last_id})
      if (next === undefined) throw unreachable('fixture', 'it does not resume it')
      return next && replyOf(next)
    },
  })
  answer.catch(() => undefined)
  return {answer, resumed, deadlines, timers, pass: (ms: number) => timers.pass(ms, turn)}
}

function replyOf(events: readonly (string | symbol)[]): IncomingReply {
  async function* bytes() {
    for (const event of events) {
      if (event === CUT) throw Object.assign(new Error('read ECONNRESET'), {code: 'ECONNRESET'})
      yield Buffer.from(event as string)
    }
  }
  const body = Readable.from(bytes(), {objectMode: false})
  body.on('error', () => undefined)
  const nothing = () => undefined
  return {status: 200, headers: {'content-type': 'text/event-stream'}, body, settle: nothing, destroy: nothing}
}

const ENDS = [
  ['ended', []],
  ['was cut', [CUT]],
] as const

test.each(ENDS)('a stream that %s behind an event with an id is resumed after the server’s pause', async (_, end) => {
  const {answer, resumed, pass} = reading(['id: e1\nretry: 700\ndata:\n\n', ...end], [ANSWER])
  await pass(699)
  expect(resumed).toEqual([])
  await pass(1)
  expect(resumed).toEqual([{at_ms: 700, last_id: 'e1'}])
  expect((await answer).result).toEqual({})
})

test.each(ENDS)('one without ids that %s is a fault', async (_, end) => {
  const {answer, resumed} = reading(['retry: 1\ndata: \n\n', ...end], [ANSWER])
  expect(await faultIn(answer)).toMatchObject({reason: 'upstream_unreachable'})
  expect(resumed).toEqual([])
})

test('the last id counts, and an id that no header can hold is none', async () => {
  const {resumed, pass} = reading(['id: e1\ndata:\n\nid: e2\ndata:\n\n'], [ANSWER])
  await pass(1_000)
  expect(resumed).toEqual([{at_ms: 1_000, last_id: 'e2'}])
  const {answer} = reading(['id: e1\ndata:\n\nid: ü\ndata:\n\n'], [ANSWER])
  expect(await faultIn(answer)).toMatchObject({reason: 'upstream_unreachable'})
})

test('resumptions that are refused for now, or bring nothing, have growing pauses without idle time', async () => {
  const {answer, resumed, pass} = reading(['id: e1\nretry: 100\ndata:\n\n'], null, null, [], [ANSWER])
  await pass(60_000)
  expect(resumed.map(({at_ms}) => at_ms)).toEqual([100, 2_100, 6_100, 14_100])
  expect((await answer).result).toEqual({})
})

test('a server that ends its streams again and again, each time with something new, sets the pace', async () => {
  const steps = [1, 2, 3].map(at => [`id: e${at + 1}\ndata:\n\n`])
  const {answer, resumed, pass} = reading(['id: e1\nretry: 0\ndata:\n\n'], ...steps, [ANSWER])
  await pass(200)
  expect(resumed.map(({at_ms, last_id}) => [at_ms, last_id])).toEqual([
    [50, 'e1'],
    [100, 'e2'],
    [150, 'e3'],
    [200, 'e4'],
  ])
  expect((await answer).result).toEqual({})
})

test('the whole time is a bound of it all', async () => {
  const refusals = Array.from({length: 50}, () => null)
  const {answer, resumed, pass, timers} = reading(['id: e1\ndata:\n\n'], ...refusals)
  await pass(700_000)
  expect(await faultIn(answer)).toMatchObject({reason: 'upstream_timeout', facts: {deadline: 'total'}})
  expect(resumed.length).toBeLessThan(20)
  expect(timers.waiting).toBe(0)
})

test('a refusal of the resumption is the end', async () => {
  const {answer, resumed, pass} = reading(['id: e1\ndata:\n\n'])
  await pass(5_000)
  expect(await faultIn(answer)).toMatchObject({message: expect.stringMatching(/does not resume/)})
  expect(resumed).toHaveLength(1)
})

test('a request that is cancelled in the pause ends at once, and leaves no timer', async () => {
  const {answer, deadlines, timers, pass} = reading(['id: e1\nretry: 9000\ndata:\n\n'], [ANSWER])
  await pass(10)
  deadlines.end(new Error('cancelled'))
  expect((await faultIn(answer)).message).toBe('cancelled')
  expect(timers.waiting).toBe(0)
})
