import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {type RoutingSetup, startRouting} from '../support/routing.ts'

const CARD = '4012888888881881'
const PUT = '<CREDIT_CARD_1>'
const REDACTS = {'default.pii': {redact: true}}
const DENIES = {'default.regexMatch': {rule: CARD, not: true}, deny: true}
const FAILS = {'default.regexMatch': {rule: CARD, not: true}}

const chat = (text: string) =>
  `{"id":"c","odd":1.0,"choices":[{"index":0,"message":{"role":"assistant","content":"${text}"},"finish_reason":"stop"}]}`
const response = (text: string) =>
  `{"id":"resp_1","object":"response","odd":1e3,"status":"completed","model":"m","output":[{"type":"message","id":"i","status":"completed","role":"assistant","content":[{"type":"output_text","text":"${text}","annotations":[]}]}]}`
const message = (text: string) =>
  `{"id":"msg_1","type":"message","role":"assistant","odd":1.50,"model":"claude","content":[{"type":"text","text":"${text}"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

/** Each operation that writes text, and how its provider says a text. */
const ROUTES = [
  ['/v1/chat/completions', '@a', chat],
  ['/v1/responses', '@a', response],
  ['/v1/messages', '@claude', message],
  ['/v1/proxy/chat/completions', '@a', chat],
  ['/v1/audio/transcriptions-of-an-unknown-kind', '@a', (text: string) => `{"odd":1.0,"transcript":"${text}"}`],
] as const
const STATUSES = [200, 201, 202, 203, 206]

let routed: RoutingSetup
beforeAll(async () => {
  routed = await startRouting()
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

async function ask(
  path: string,
  provider: string,
  output: object,
  status: number,
  body: string,
  more: object = {},
  type = 'application/json',
) {
  const of = provider === '@a' ? routed.a : routed.claude
  of.answer((_heard, reply) => reply.writeHead(status, {'content-type': type}).end(body))
  const reply = await routed.gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({model: 'm', max_tokens: 9, messages: [{role: 'user', content: 'hi'}], input: 'hi', ...more}),
    headers: {
      'content-type': 'application/json',
      'x-gateway-config': JSON.stringify({provider, output_guardrails: [output]}),
    },
  })
  return {status: reply.status, text: await reply.text()}
}

describe('fact 20: output checks run on every good status that carries text', () => {
  for (const status of STATUSES) {
    test.each(ROUTES)(
      `a ${status} of %s is redacted, and nothing else of it is changed`,
      async (path, provider, result) => {
        const {status: got, text} = await ask(path, provider, REDACTS, status, result(`card ${CARD}`))
        expect(got).toBe(status)
        expect(text.replace(/,"hook_results":.*$/s, '}')).toBe(result(`card ${PUT}`))
      },
    )

    test.each(ROUTES)(`a ${status} of %s is denied`, async (path, provider, result) => {
      const {status: got, text} = await ask(path, provider, DENIES, status, result(CARD))
      expect(got).toBe(446)
      expect(JSON.parse(text)).toMatchObject({error: {type: 'hooks_failed'}})
    })

    test(`a ${status} that is a stream is redacted and denied`, async () => {
      const events = `data: ${JSON.stringify({id: 'c', choices: [{index: 0, delta: {content: `card ${CARD} `}, finish_reason: null}]})}\n\ndata: ${JSON.stringify({id: 'c', choices: [{index: 0, delta: {}, finish_reason: 'stop'}]})}\n\ndata: [DONE]\n\n`
      const redacted = await ask(
        '/v1/chat/completions',
        '@a',
        {...REDACTS, stream_mode: 'buffer'},
        status,
        events,
        {stream: true},
        'text/event-stream',
      )
      expect(redacted.text).not.toContain(CARD)
      expect(redacted.text).toContain('CREDIT_CARD')
      const denied = await ask(
        '/v1/chat/completions',
        '@a',
        {...DENIES, stream_mode: 'buffer'},
        status,
        events,
        {stream: true},
        'text/event-stream',
      )
      expect(denied.text).not.toContain(`card ${CARD}`)
      expect(denied.text).toContain('hooks_failed')
    })
  }

  test('HEAD has no text: it passes', async () => {
    routed.a.answer((_heard, reply) =>
      reply.writeHead(200, {'content-type': 'application/json', 'content-length': '9'}).end(),
    )
    const headers = {'x-gateway-config': JSON.stringify({provider: '@a', output_guardrails: [DENIES]})}
    expect((await routed.gateway.call('/v1/chat/completions', {method: 'HEAD', headers})).status).toBe(200)
  })

  test('a check that fails without a denial leaves a status that is not 200 as it is', async () => {
    const statuses = []
    for (const status of STATUSES)
      statuses.push((await ask('/v1/chat/completions', '@a', FAILS, status, chat(CARD))).status)
    expect(statuses).toEqual([246, 201, 202, 203, 206])
  })
})
