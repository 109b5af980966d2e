import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

// An answer that is read with pauses is judged as any other.

let provider: FakeProvider
let gateway: TestGateway
let reply = ''
beforeAll(async () => {
  provider = await fakeProvider((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(reply)
  })
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('main', 'openai', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const words = (words: string) => ({
  checks: [{id: 'default.contains', parameters: {words: [words], operator: 'none'}}],
  deny: true,
})
const ask = async () => {
  const config = JSON.stringify({provider: '@main', output_guardrails: [words('forbidden')]})
  const answer = await gateway.chat(
    {model: 'm', messages: [{role: 'user', content: 'hi'}]},
    {'x-gateway-config': config},
  )
  return {status: answer.status, text: await answer.text()}
}
const choice = (content: string, at = 0) =>
  `{"index":${at},"message":{"role":"assistant","content":${JSON.stringify(content)}},"finish_reason":"stop"}`
const answered = (choices: string, more = '') =>
  `{ "id":"c","object":"chat.completion","model":"m","choices":[${choices}],"usage":{"prompt_tokens":1,"completion_tokens":1}${more} }`
const MANY = Array.from({length: 4000}, (_, at) => choice(`Word ${at}. 龘`, at)).join(', ')
const DEEP = 20_000

test.each<[string, string, number, RegExp | null]>([
  ['many choices', answered(MANY), 200, null],
  [
    'many choices, the last of which is forbidden',
    answered(`${MANY},${choice('a forbidden word', 4000)}`),
    446,
    /default\.contains/,
  ],
  ['one long text', answered(choice('x '.repeat(400_000))), 200, null],
  [
    'one long text with a forbidden word at its end',
    answered(choice(`${'x '.repeat(400_000)}forbidden`)),
    446,
    /default\.contains/,
  ],
  ['a key that repeats', answered(MANY, ',"id":"again"'), 502, /repeats|twice|two/i],
  ['what is too deep', answered(MANY, `,"x":${'['.repeat(DEEP)}${']'.repeat(DEEP)}`), 502, /deep/],
  ['what ends early', answered(MANY).slice(0, -3), 502, /JSON/],
  ['a list', `[${MANY}]`, 502, /JSON object/],
])('%s', async (_, body, status, says) => {
  reply = body
  expect(Buffer.byteLength(body)).toBeGreaterThan(1 << 18)
  const found = await ask()
  expect(found.status, found.text.slice(0, 300)).toBe(status)
  if (says) expect(found.text).toMatch(says)
  else expect(found.text.startsWith(body.slice(0, -2))).toBe(true)
})
