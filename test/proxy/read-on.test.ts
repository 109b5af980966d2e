import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {newTrace, type RoutingSetup, startRouting} from '../support/routing.ts'

/**
 * A client that leaves when all choices have ended, before the usage that comes behind them: the answer was whole, and
 * is charged so.
 */
let routed: RoutingSetup
let key: string
beforeAll(async () => {
  routed = await startRouting({})
  key = await routed.key({usage_limits: {type: 'tokens', credit_limit: 1e9}})
})
afterEach(() => routed.reset())
afterAll(() => routed.close())

const USAGE = {prompt_tokens: 1000, completion_tokens: 3900, total_tokens: 4900}
const chunk = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', choices, ...more})}\n\n`
const says = (content: string, index = 0) => chunk([{index, delta: {content}, finish_reason: null}])
const ends = (index = 0) => chunk([{index, delta: {}, finish_reason: 'stop'}])
const TOLD = `${chunk([], {usage: USAGE})}data: [DONE]\n\n`

interface Script {
  /** What the client sees before it leaves. */
  readonly before: string
  readonly after?: string
  readonly gap_ms?: number
  readonly body?: object
  readonly path?: string
}

/** Leaves when `before` has come, and gives the row and how long after that the provider was left. */
async function left({before, after = TOLD, gap_ms = 200, body = {}, path = '/v1/chat/completions'}: Script) {
  let closed_ms = 0
  let left_at = 0
  const {promise: is_left, resolve: leave} = Promise.withResolvers<void>()
  routed.a.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.write(before)
    response.on('close', () => {
      closed_ms = performance.now() - left_at
    })
    void is_left.then(() => setTimeout(() => response.end(after), gap_ms))
  })
  const gone = new AbortController()
  const trace = newTrace()
  const reply = await routed.gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({model: 'gpt-4o', stream: true, messages: [{role: 'user', content: 'hi'}], ...body}),
    headers: {
      'x-gateway-api-key': key,
      'content-type': 'application/json',
      'x-gateway-trace-id': trace,
      'x-gateway-config': JSON.stringify({provider: '@a'}),
    },
    signal: gone.signal,
  })
  let text = ''
  const reading = (async () => {
    for await (const piece of reply.body!) {
      text += Buffer.from(piece).toString()
      if (text.length >= before.length) {
        left_at = performance.now()
        gone.abort()
        leave()
      }
    }
  })()
  await reading.catch(() => undefined)
  const row = async () => (await routed.gateway.logs()).find(({trace_id}) => trace_id === trace)
  await expect.poll(row, {timeout: 6000}).toBeDefined()
  const {req_units, res_units, usage_source, outcome, delivered} = (await row())!
  return {charged: [req_units, res_units, usage_source], outcome, delivered, closed_ms}
}

describe('a client that leaves behind the last reason to end', () => {
  test.each([20, 50, 500])('%i ms before the usage: the answer is charged as it was', async gap_ms => {
    const {charged, outcome, delivered} = await left({before: says('word ') + ends(), gap_ms})
    expect([charged, outcome]).toEqual([[1000, 3900, 'provider'], 'ok'])
    // what was sent before the gateway saw the client leave counts as delivered
    if (gap_ms === 500) expect(delivered).toBe(false)
  })

  test('a client that requests usage itself is charged so too', async () => {
    const {charged} = await left({before: says('word ') + ends(), body: {stream_options: {include_usage: true}}})
    expect(charged).toEqual([1000, 3900, 'provider'])
  })

  test('a completion is', async () => {
    const text = (piece: string, finish_reason: string | null) => chunk([{index: 0, text: piece, finish_reason}])
    const before = text('word ', null) + text('', 'stop')
    expect((await left({before, path: '/v1/completions', body: {prompt: 'hi'}})).charged).toEqual([
      1000,
      3900,
      'provider',
    ])
  })

  test('of two choices the second is waited for', async () => {
    const both = says('word ') + says('word ', 1) + ends()
    expect((await left({before: both, body: {n: 2}})).charged[2]).toBe('partial')
    expect((await left({before: both + ends(1), body: {n: 2}})).charged).toEqual([1000, 3900, 'provider'])
  })

  test('one event may end them all', async () => {
    const before = says('word ') + chunk([0, 1].map(index => ({index, delta: {}, finish_reason: 'stop'})))
    expect((await left({before, body: {n: 2}})).charged).toEqual([1000, 3900, 'provider'])
  })

  test('usage that does not come is waited for two seconds', async () => {
    const {charged, closed_ms} = await left({before: says('word ') + ends(), gap_ms: 10_000})
    expect(charged[2]).toBe('partial')
    expect(closed_ms).toBeGreaterThan(1900)
    expect(closed_ms).toBeLessThan(3500)
  })

  test('no more than 64 KB are read for it', async () => {
    const {charged, closed_ms} = await left({
      before: says('word ') + ends(),
      after: `: ${'x'.repeat(2 ** 20)}\n\n${TOLD}`,
    })
    expect(charged[2]).toBe('partial')
    expect(closed_ms).toBeLessThan(1500)
  })
})

test('a client that leaves within the answer ends it at once', async () => {
  const {charged, closed_ms} = await left({before: says('word '), after: ends() + TOLD, gap_ms: 3000})
  expect(charged[2]).toBe('partial')
  expect(closed_ms).toBeLessThan(1500)
})
