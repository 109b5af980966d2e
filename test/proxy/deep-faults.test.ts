import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatEvents, type FakeProvider, fakeProvider} from '../support/provider.ts'

/** Errors of a provider that are nested to hurt whoever reads them. */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const ROUTES = [
  ['cohere', '/v1/chat/completions', {messages: [{role: 'user', content: 'hi'}]}],
  ['mistral-ai', '/v1/chat/completions', {messages: [{role: 'user', content: 'hi'}]}],
  ['openai', '/v1/messages', {max_tokens: 5, messages: [{role: 'user', content: 'hi'}]}],
  ['groq', '/v1/messages', {max_tokens: 5, messages: [{role: 'user', content: 'hi'}]}],
  ['cohere', '/v1/messages', {max_tokens: 5, messages: [{role: 'user', content: 'hi'}]}],
] as const
const LEVELS = [26, 40, 10_000]
const deep = (levels: number) => `${'{"msg":'.repeat(levels)}"x"${'}'.repeat(levels)}`

describe.each(ROUTES)('%s at %s', (kind, path, body) => {
  /** The answer, and the least that three of them took: other work on the machine only adds. */
  async function asked(stream: boolean) {
    let least_ms = Number.POSITIVE_INFINITY
    let status = 0
    let text = ''
    for (let round = 0; round < 3; round++) {
      const began = performance.now()
      const answer = await gateway.call(path, {
        method: 'POST',
        body: JSON.stringify({model: 'm', ...body, stream}),
        headers: {
          'content-type': 'application/json',
          'x-gateway-provider': kind,
          'x-gateway-custom-host': provider.url,
          authorization: 'Bearer sk-1',
        },
      })
      text = await answer.text()
      status = answer.status
      least_ms = Math.min(least_ms, performance.now() - began)
    }
    // the whole call, with its way over two sockets
    expect(least_ms).toBeLessThan(100)
    return {status, text}
  }

  test.each(LEVELS)('%i levels keep the status of the provider', async levels => {
    for (const status of [400, 429, 503]) {
      provider.answer((_heard, response) =>
        response.writeHead(status, {'content-type': 'application/json'}).end(`{"message":${deep(levels)}}`),
      )
      for (const stream of [false, true])
        expect(await asked(stream)).toMatchObject({status, text: expect.stringContaining('error')})
    }
  })

  test.each(LEVELS)('%i levels in a 200 are an answer that is none', async levels => {
    provider.answer((_heard, response) =>
      response.writeHead(200, {'content-type': 'application/json'}).end(`{"error":{"message":${deep(levels)}}}`),
    )
    expect((await asked(false)).status).toBe(502)
  })

  test.each(LEVELS)('%i levels in an event end the stream with an error', async levels => {
    provider.answer((_heard, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      if (kind !== 'cohere') response.write(chatEvents('m')[0])
      response.end(`data: {"error":{"message":${deep(levels)}}}\n\n`)
    })
    const {status, text} = await asked(true)
    expect([200, 502]).toContain(status)
    expect(text).toContain('error')
  })
})
