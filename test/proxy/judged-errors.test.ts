import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {type Answer, json} from '../support/provider.ts'
import {newTrace, type RoutingSetup, startRouting} from '../support/routing.ts'

// What a provider says when it fails is judged by checks of answers before a client or the log has it: it often quotes
// what it was asked.

const CARD = '4012888888881881'
const PUT = '<CREDIT_CARD_1>'
const REDACTS = {'default.pii': {redact: true}}
const DENIES = {'default.regexMatch': {rule: CARD, not: true}, deny: true}
const ERROR = {error: {message: `no account for card ${CARD}`, type: 'invalid_request_error', param: null, code: null}}

let routed: RoutingSetup
beforeAll(async () => {
  routed = await startRouting({LOG_LEVEL: 'trace'})
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

async function ask(output: object, answer: Answer, {body = {}, config = {}}: {body?: object; config?: object} = {}) {
  routed.a.answer(answer)
  routed.gateway.lines.length = 0
  const trace_id = newTrace()
  const reply = await routed.gateway.call('/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({model: 'm', messages: [{role: 'user', content: 'hi'}], ...body}),
    headers: {
      'content-type': 'application/json',
      'x-gateway-trace-id': trace_id,
      'x-gateway-config': JSON.stringify({provider: '@a', output_guardrails: [output], ...config}),
    },
  })
  const text = await reply.text()
  const {rows} = await routed.recorded(trace_id)
  const all = await Promise.all(
    (rows as unknown as {id: string}[]).map(({id}) => routed.gateway.admin<object>('GET', `/logs/${id}`)),
  )
  return {status: reply.status, text, kept: JSON.stringify([all, routed.gateway.lines])}
}

const failing =
  (status: number, type = 'application/json'): Answer =>
  (_, response) =>
    void response.writeHead(status, {'content-type': type}).end(JSON.stringify(ERROR))
const chunk = (content: string) =>
  `data: ${JSON.stringify({id: 'c', choices: [{index: 0, delta: {content}, finish_reason: null}]})}\n\n`
const IN_STREAM = `data: ${JSON.stringify(ERROR)}\n\n`
const streaming =
  (...events: readonly string[]): Answer =>
  (_, response) =>
    void response.writeHead(200, {'content-type': 'text/event-stream'}).end(events.join(''))

test.each([
  ['of JSON', failing(400)],
  ['of another kind', failing(403, 'text/plain')],
  ['to be tried again', failing(429)],
  ['that calls itself a stream', failing(500, 'text/event-stream')],
] as const)('an error %s is redacted for client and log', async (_, answer) => {
  const {status, text, kept} = await ask(REDACTS, answer)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(text).toBe(JSON.stringify(ERROR).replace(CARD, PUT))
  expect(kept).not.toContain(CARD)
})

test('an error that a check forbids is 446 in its place', async () => {
  const {status, text, kept} = await ask(DENIES, failing(400))
  expect([status, JSON.parse(text)]).toMatchObject([446, {error: {type: 'hooks_failed'}}])
  // the pattern itself is among the results
  expect([text, kept].map(each => each.includes('no account'))).toEqual([false, false])
})

test('an error in which nothing is found, or of which an answer alone is asked, comes as it was sent', async () => {
  const plain: Answer = (_, response) => json(response, {error: {message: 'no such model'}}, 404)
  for (const check of [
    REDACTS,
    DENIES,
    {'default.jsonSchema': {schema: {type: 'object', required: ['a']}}, deny: true},
  ])
    expect(await ask(check, plain)).toMatchObject({status: 404, text: '{"error":{"message":"no such model"}}'})
})

test('an error does not keep the next target from its turn', async () => {
  routed.b.answer((_, response) =>
    json(response, {choices: [{index: 0, message: {role: 'assistant', content: 'fine'}}]}),
  )
  const config = {provider: undefined, strategy: {mode: 'fallback'}, targets: [{provider: '@a'}, {provider: '@b'}]}
  for (const check of [REDACTS, DENIES]) {
    const {status, kept} = await ask(check, failing(500), {config})
    expect([status, kept.includes('no account for card 4012')]).toEqual([200, false])
  }
})

test.each(['window', 'buffer'] as const)(
  '%s: an error in a stream is redacted or denied, at its start and behind a part of it',
  async stream_mode => {
    const words = Array.from({length: 30}, (_, at) => chunk(`word${at} `))
    const how = {stream_mode, ...(stream_mode === 'window' ? {stream_window_chars: 20} : {})}
    for (const events of [[IN_STREAM], [...words, IN_STREAM]]) {
      const redacted = await ask({...REDACTS, ...how}, streaming(...events), {body: {stream: true}})
      expect([redacted.text, redacted.kept].map(each => each.includes(CARD))).toEqual([false, false])
      expect(redacted.text).toContain(`no account for card ${PUT}`)
      const denied = await ask({...DENIES, ...how}, streaming(...events), {body: {stream: true}})
      expect([denied.text, denied.kept].map(each => each.includes('no account'))).toEqual([false, false])
    }
  },
)
