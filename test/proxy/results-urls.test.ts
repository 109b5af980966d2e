import Anthropic from '@anthropic-ai/sdk'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('ant', 'anthropic', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
})

const RESULTS = 'https://api.anthropic.com/v1/messages/batches/msgbatch_1/results'
const batch = (results_url: unknown = RESULTS) => ({
  id: 'msgbatch_1',
  type: 'message_batch',
  processing_status: 'ended',
  request_counts: {processing: 0, succeeded: 1, errored: 0, canceled: 0, expired: 0},
  results_url,
})
const version = {'anthropic-version': '2023-06-01', 'x-gateway-provider': '@ant'}

describe('fact 5: results_url of message batches leads to the gateway', () => {
  test('so that Anthropic’s own client fetches results with a key that is ours', async () => {
    provider.answer(({path}, response) => {
      if (!path.endsWith('/results')) return json(response, batch())
      response.writeHead(200, {'content-type': 'application/x-jsonl'})
      return response.end(`${JSON.stringify({custom_id: 'a', result: {type: 'canceled'}})}\n`)
    })
    const client = new Anthropic({
      apiKey: WORKSPACE_KEY,
      baseURL: gateway.url,
      maxRetries: 0,
      defaultHeaders: {'x-gateway-provider': '@ant'},
    })
    const rows: string[] = []
    for await (const row of await client.messages.batches.results('msgbatch_1')) rows.push(row.custom_id)
    expect(rows).toEqual(['a'])
    expect(provider.received.map(({path}) => path)).toEqual([
      '/v1/messages/batches/msgbatch_1',
      '/v1/messages/batches/msgbatch_1/results',
    ])
    expect(JSON.stringify((await gateway.logs()).map(({id, ...row}) => row))).toContain(
      'results_url leads to the gateway',
    )
  })

  test.each([
    ['GET', '/v1/messages/batches/msgbatch_1', '/v1'],
    ['GET', '/v1/proxy/messages/batches/msgbatch_1', '/v1/proxy'],
    ['POST', '/v1/messages/batches/msgbatch_1/cancel', '/v1'],
    ['POST', '/v1/messages/batches', '/v1'],
    ['GET', '/v1/messages/batches?limit=2', '/v1'],
  ])('%s %s, and each other byte stays', async (method, path, before) => {
    const reply = (url: string) =>
      ` {"data" : [ ${JSON.stringify(batch(url))}, {"results_url": null,"n":1.50} ], "results_url":"${url}" }\n`
    provider.answer((_, response) => response.writeHead(200, {'content-type': 'application/json'}).end(reply(RESULTS)))
    const body = method === 'POST' ? {body: '{"requests":[]}'} : {}
    const response = await gateway.call(path, {
      method,
      headers: {...version, 'content-type': 'application/json'},
      ...body,
    })
    expect(await response.text()).toBe(reply(`${gateway.url}${before}/messages/batches/msgbatch_1/results`))
  })

  test.each([
    ['no path of results', 'https://evil.example/v1/elsewhere', null],
    ['another host’s', 'https://evil.example/v1/messages/batches/msgbatch_1/results', 'ours'],
    ['no scheme', '//evil.example/x', null],
    ['a path alone', '/v1/messages/batches/msgbatch_1/results', 'as it came'],
    ['a number', 7, 'as it came'],
  ])('with %s', async (_, url, result) => {
    provider.answer((_, response) => json(response, batch(url)))
    const response = await gateway.call('/v1/messages/batches/msgbatch_1', {headers: version})
    const {results_url} = (await response.json()) as {results_url: unknown}
    expect(results_url).toBe(
      result === 'ours' ? `${gateway.url}/v1/messages/batches/msgbatch_1/results` : result === null ? null : url,
    )
    if (result === null)
      expect(JSON.stringify((await gateway.logs())[0])).toContain('results_url was left out of the reply')
  })

  test('an error, and what is no JSON, come as they are', async () => {
    const text = `{"type":"error","error":{"type":"not_found_error","message":"x"},"results_url":"${RESULTS}"}`
    provider.answer((_, response) => response.writeHead(404, {'content-type': 'application/json'}).end(text))
    expect(await (await gateway.call('/v1/messages/batches/b', {headers: version})).text()).toBe(text)
    provider.answer((_, response) =>
      response.writeHead(200, {'content-type': 'application/json'}).end('{"results_url":"https://x'),
    )
    expect(await (await gateway.call('/v1/messages/batches/b', {headers: version})).text()).toBe(
      '{"results_url":"https://x',
    )
  })
})
