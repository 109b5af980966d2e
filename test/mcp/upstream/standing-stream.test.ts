import {Readable} from 'node:stream'
import {expect, test} from 'vitest'
import type {IncomingReply} from '../../../src/mcp/upstream/http.ts'
import {MOST_SILENCE_MS, StandingStream} from '../../../src/mcp/upstream/standing-stream.ts'
import {Timers} from '../../support/timers.ts'

/** One answer to a GET: its status and type, and the events of a stream that ends after `open_ms`; never without. */
interface GetAnswer {
  readonly status: number
  readonly type?: string
  readonly events?: string
  readonly open_ms?: number | 'for ever'
}

const STREAM = {status: 200, type: 'text/event-stream'} as const

async function turn() {
  for (let turns = 0; turns < 12; turns++) await new Promise(setImmediate)
}

/** A stream whose GETs are answered in turn, the last answer again and again, or not at all (null). */
function standing(...answers: readonly (GetAnswer | null)[]) {
  const timers = new Timers(0)
  const gets: {at_ms: number; last_id: string | null}[] = []
  const taken: string[] = []
  const stream = new StandingStream({
    server: 's',
    clock: {steady: timers.now, after: timers.after},
    taker: {
      onCall: () => Promise.reject(new Error('It is of no call.')),
      async outside(message) {
        taken.push(message.method)
      },
    },
    async get(last_id, signal) {
      const answer = answers[Math.min(gets.length, answers.length - 1)]!
      gets.push({at_ms: timers.now_ms, last_id})
      if (!answer) throw new Error('refused')
      return replyOf(answer, timers, signal)
    },
  })
  stream.open()
  return {stream, gets, taken, pass: (ms: number) => timers.pass(ms, turn), timers}
}

function replyOf(
  {status, type = 'text/plain', events = '', open_ms = 0}: GetAnswer,
  timers: Timers,
  signal: AbortSignal,
) {
  const body = new Readable({read: () => undefined})
  body.on('error', () => undefined)
  signal.addEventListener('abort', () => body.destroy(signal.reason as Error))
  if (events !== '') body.push(events)
  if (open_ms === 0) body.push(null)
  else if (open_ms !== 'for ever') timers.after(open_ms, () => body.push(null))
  const nothing = () => undefined
  return {status, headers: {'content-type': type}, body, settle: nothing, destroy: nothing} satisfies IncomingReply
}

test.each<[string, GetAnswer]>([
  ['405', {status: 405}],
  ['404', {status: 404}],
  ['400', {status: 400}],
  ['JSON', {status: 200, type: 'application/json'}],
])('62: a server that answers GET with %s is not asked again', async (_, answer) => {
  const {gets, stream, pass} = standing(answer)
  await pass(3_600_000)
  expect(gets).toHaveLength(1)
  expect(stream.is_refused).toBe(true)
  await stream.settled
})

test.each<[string, GetAnswer | null]>([
  ['503', {status: 503}],
  ['409', {status: 409}],
  ['401', {status: 401}],
  ['a stream that ends at once', STREAM],
  ['no connection', null],
])('61, 62: after %s the pauses grow to a minute', async (_, answer) => {
  const {gets, stream, pass} = standing(answer)
  await pass(59_000)
  expect(gets.map(({at_ms}) => at_ms / 1_000)).toEqual([0, 1, 3, 7, 15, 31])
  await pass(300_000)
  expect(gets.slice(6).map(({at_ms}) => at_ms / 1_000)).toEqual([63, 123, 183, 243, 303])
  expect(stream.is_refused).toBe(false)
  await stream.settled
})

test('a conflict is waited out, and what comes then is taken', async () => {
  const note = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
  const last = {...STREAM, events: `data: ${note}\n\n`, open_ms: 'for ever'} as const
  const {gets, taken, pass} = standing({status: 409}, {status: 409}, {status: 409}, last)
  await pass(10_000)
  expect(gets).toHaveLength(4)
  expect(taken).toEqual(['notifications/tools/list_changed'])
})

test('a stream that was open for a second or more is opened again after a second, behind its last event', async () => {
  const {gets, pass} = standing({...STREAM, events: 'id: e1\ndata:\n\n', open_ms: 5_000})
  await pass(20_000)
  expect(gets).toEqual([
    {at_ms: 0, last_id: null},
    {at_ms: 6_000, last_id: 'e1'},
    {at_ms: 12_000, last_id: 'e1'},
    {at_ms: 18_000, last_id: 'e1'},
  ])
})

test('the pause that the server wishes for is kept, up to a minute', async () => {
  const {gets, pass} = standing(
    {...STREAM, events: 'retry: 7000\n\n', open_ms: 2_000},
    {...STREAM, events: 'retry: 999999\n\n', open_ms: 2_000},
    {...STREAM, open_ms: 'for ever'},
  )
  await pass(200_000)
  expect(gets.map(({at_ms}) => at_ms)).toEqual([0, 9_000, 71_000])
})

test('an id that no header can hold is not sent', async () => {
  const {gets, pass} = standing(
    {...STREAM, events: 'id: ü\ndata:\n\n', open_ms: 2_000},
    {...STREAM, open_ms: 'for ever'},
  )
  await pass(5_000)
  expect(gets.map(({last_id}) => last_id)).toEqual([null, null])
})

test('a stream without a byte for minutes is taken for dead', async () => {
  const {gets, pass} = standing({...STREAM, open_ms: 'for ever'})
  await pass(MOST_SILENCE_MS - 1)
  expect(gets).toHaveLength(1)
  await pass(2_000)
  expect(gets).toHaveLength(2)
})

test('a message that cannot be read is passed over', async () => {
  const events = 'data: {"a":\n\ndata: {"jsonrpc":"2.0","method":"ping","id":1}\n\n'
  const {taken, gets, pass} = standing({...STREAM, events, open_ms: 'for ever'})
  await pass(1_000)
  expect(taken).toEqual(['ping'])
  expect(gets).toHaveLength(1)
})

test('closing ends it, and leaves no timer', async () => {
  for (const answer of [STREAM, {...STREAM, open_ms: 'for ever'} as const]) {
    const {stream, gets, pass, timers} = standing(answer)
    await pass(10)
    const before = gets.length
    stream.close()
    await turn()
    expect(timers.waiting).toBe(0)
    await pass(600_000)
    expect(gets).toHaveLength(before)
    stream.open()
    await turn()
    expect(gets).toHaveLength(before)
  }
})
