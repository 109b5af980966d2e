import {afterAll, beforeAll, expect, test} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {run} from './support.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const files = {
  'guardrail.yaml':
    'checks: [{id: contains, parameters: {words: [internal], operator: none}}]\nactions: {deny: true}\n',
  'request.json': '{"messages": [{"role": "user", "content": "an internal word"}]}',
}
/** A command on the gateway at its address, with a key. */
const there = (key: string, ...argv: string[]) =>
  run(argv, {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: key}, files, now_ms: Date.now() + 1000})

test('a guardrail is saved at an address, tried there, and evaluated on calls that were answered there', async () => {
  const model = '@demo/echo'
  const say = (content: string, more: object = {}) => ({model, messages: [{role: 'user', content}], ...more})
  const sent: [string, object][] = [
    ['/v1/chat/completions', say('an internal word')],
    ['/v1/chat/completions', say('in public')],
    ['/v1/chat/completions', say('internal, streamed', {stream: true})],
    ['/v1/messages', say('internal, of another dialect', {max_tokens: 100})],
    ['/v1/messages', say('internal, of another dialect, streamed', {max_tokens: 100, stream: true})],
    ['/v1/responses', {model, input: 'internal, of a third'}],
    ['/v1/embeddings', {model, input: 'internal'}],
  ]
  for (const [path, body] of sent) {
    const reply = await gateway.call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {'content-type': 'application/json'},
    })
    expect([path, reply.status]).toEqual([path, 200])
    await reply.text()
  }
  const made = await there(WORKSPACE_KEY, 'guardrails', 'create', 'words', '--file', 'guardrail.yaml', '--quiet')
  expect(made).toMatchObject({code: 0, stderr: ''})
  const slug = made.stdout.trim()
  const tried = await there(WORKSPACE_KEY, 'guardrails', 'test', slug, '--file', 'request.json')
  expect([tried.code, tried.stdout]).toEqual([1, expect.stringContaining('✗ default.contains')])
  await gateway.app.flushed()
  const whole = JSON.parse((await there(ADMIN_KEY, 'guardrails', 'eval', slug, '--since', '1h', '--json')).stdout)
  expect(whole).toMatchObject({calls: 7, judged: 7, failed: 6, denied: 6, left_out: 0, without_body: 0})
  // The demo provider says what it was asked; embeddings have no text in their answer.
  expect(whole.checks).toMatchObject([
    {side: 'input', passed: 1, failed: 6, errored: 0, skipped: 0},
    {side: 'output', passed: 1, failed: 5, errored: 0, skipped: 0},
  ])
})
