import {encode as o200k} from 'gpt-tokenizer/encoding/o200k_base'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {promptTokens} from '../../src/providers/media/prompt.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

const CHINESE = '汉字是世界上最古老的文字之一，至今仍在使用。网关在每次调用之前都会预留它可能用掉的最大数量。'.repeat(
  12,
)
const RUSSIAN = 'Шлюз перед каждым вызовом резервирует наибольшее количество, которое тот может израсходовать. '.repeat(
  12,
)
const ENGLISH =
  'The gateway reserves the largest usage of a call before sending it, and refuses a call whose reservation does not fit. '.repeat(
    12,
  )
const TEXTS = [
  ['Chinese', CHINESE],
  ['Russian', RUSSIAN],
  ['English', ENGLISH],
] as const
const MAX = 20

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('main', 'openai', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

async function keyOf(credit_limit: number, type: 'tokens' | 'cost' = 'tokens') {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const body = {
    name: 'strict',
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    usage_limits: {type, credit_limit, enforcement: 'strict'},
  }
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)
  return {'x-gateway-api-key': key, 'x-gateway-provider': '@main'}
}

const chat = (content: unknown, more = {}) => ({
  model: 'gpt-4o',
  max_tokens: MAX,
  messages: [{role: 'user', content}],
  ...more,
})
/** As OpenAI counts it: the text, four for the message, three for the answer's begin. */
const usedBy = (text: string) => o200k(text).length + 7
const boundOf = (body: object) => promptTokens(Buffer.from(JSON.stringify(body)), 'openai', 'gpt-4o').text

function answers(prompt_tokens: number, completion_tokens: number) {
  const usage = {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens}
  provider.answer((_, response) =>
    json(response, {id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4o', choices: [], usage}),
  )
}

describe('a prompt whose bound does not fit is counted', () => {
  test.each(TEXTS)('%s passes where its tokens fit, and is refused where they do not', async (_, text) => {
    const used = usedBy(text) + MAX
    answers(used - MAX, MAX)
    expect(boundOf(chat(text)) + MAX).toBeGreaterThan(1.1 * used)
    expect((await gateway.chat(chat(text), await keyOf(Math.ceil(1.1 * used)))).status).toBe(200)
    const refused = await gateway.chat(chat(text), await keyOf(used - 1))
    expect(refused.status).toBe(412)
    expect(await refused.text()).toContain('api_key_exhaust_error')
  })

  test('under a limit of cost too', async () => {
    const used = usedBy(CHINESE)
    answers(used, MAX)
    const dollars = used * 2.5e-6 + MAX * 10e-6
    expect((await gateway.chat(chat(CHINESE), await keyOf(1.1 * dollars, 'cost'))).status).toBe(200)
    expect((await gateway.chat(chat(CHINESE), await keyOf(0.99 * dollars, 'cost'))).status).toBe(412)
  })

  test('beside a picture, whose bytes are no text', async () => {
    const png = Buffer.alloc(30_000)
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(png)
    png.writeUInt32BE(512, 16)
    png.writeUInt32BE(512, 20)
    const picture = {type: 'image_url', image_url: {url: `data:image/png;base64,${png.toString('base64')}`}}
    const body = chat([{type: 'text', text: CHINESE}, picture])
    const used = usedBy(CHINESE) + 85 + 170 + MAX
    answers(used - MAX, MAX)
    expect((await gateway.chat(body, await keyOf(Math.ceil(1.1 * used)))).status).toBe(200)
    expect((await gateway.chat(body, await keyOf(used - 1))).status).toBe(412)
  })

  test('a model whose tokenizer is not public stays with the bound', async () => {
    const body = chat(CHINESE, {model: 'own-model'})
    const bound = boundOf(body)
    answers(usedBy(CHINESE), MAX)
    expect((await gateway.chat(body, await keyOf(bound - 1))).status).toBe(412)
    expect((await gateway.chat(body, await keyOf(bound + MAX + 10))).status).toBe(200)
  })
})

test('a stream is not cut off for what its prompt was held for beyond its tokens', async () => {
  const words = 800
  const asked = CHINESE.slice(0, 180)
  const prompt_tokens = usedBy(asked)
  const body = chat(asked, {stream: true, max_tokens: undefined})
  const event = (choices: object[], more = {}) =>
    `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', choices, ...more})}\n\n`
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    for (let at = 0; at < words; at++)
      response.write(event([{index: 0, delta: {content: ' word'}, finish_reason: null}]))
    response.write(event([{index: 0, delta: {}, finish_reason: 'stop'}]))
    response.end('data: [DONE]\n\n')
  })
  // the bound and the first slice fit, the bound and the whole answer do not
  const limit = Math.ceil(1.1 * prompt_tokens) + words + 40
  expect(boundOf(body) + 256).toBeLessThan(limit)
  expect(boundOf(body) + words).toBeGreaterThan(limit)
  const reply = await gateway.chat(body, await keyOf(limit))
  const text = await reply.text()
  expect(text.match(/" word"/g)).toHaveLength(words)
  expect(text).toContain('[DONE]')
})
