import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

/**
 * A response that is made in the background goes on when its stream is left: it is charged once, when it first shows
 * that it ended.
 */
const USAGE = {input_tokens: 1000, output_tokens: 50_000, total_tokens: 51_000}
const responseOf = (status: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'gpt-4o',
  background: true,
  output: [],
  usage: status === 'completed' ? USAGE : null,
})
const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`
const BEGUN =
  event('response.created', {response: responseOf('queued')}) +
  event('response.output_text.delta', {delta: 'hello '.repeat(50)})
const REST =
  event('response.output_text.delta', {delta: 'world'}) +
  event('response.completed', {response: responseOf('completed')})

let provider: FakeProvider
let gateway: TestGateway
let folder: string
let ahead_ms: number
/** Whether the stream that begins the response goes on to its end. */
let is_whole: boolean

beforeAll(async () => {
  provider = await fakeProvider()
})
afterAll(() => provider.close())
beforeEach(async () => {
  is_whole = false
  provider.answer(({method, path}, reply) => {
    if (method === 'GET' && !path.includes('stream=true')) return json(reply, responseOf('completed'))
    reply.writeHead(200, {'content-type': 'text/event-stream'})
    if (method === 'GET') reply.end(REST)
    else if (is_whole) reply.end(BEGUN + REST)
    else reply.write(BEGUN)
  })
  folder = mkdtempSync(join(tmpdir(), 'gateway-background-'))
  ahead_ms = 0
  await start()
  await gateway.provider('main', 'openai', provider.url)
})
afterEach(async () => {
  await gateway.close()
  rmSync(folder, {recursive: true, force: true})
})

async function start() {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}, {folder, now: () => Date.now() + ahead_ms})
}

async function begin(path: string) {
  const gone = new AbortController()
  const reply = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({model: 'gpt-4o', input: 'x', background: true, stream: true}),
    headers: {'content-type': 'application/json', 'x-gateway-provider': '@main'},
    signal: gone.signal,
  })
  if (is_whole) return void (await reply.text())
  await reply.body!.getReader().read()
  gone.abort()
  await expect.poll(async () => (await rows()).length, {timeout: 5000}).toBe(1)
}
const read = async (path: string) => (await gateway.call(path, {headers: {'x-gateway-provider': '@main'}})).text()
const rows = async () =>
  (await gateway.logs()).filter(({request_method, cost}) => request_method === 'POST' || Number(cost) > 0)
const charged = async () =>
  (await rows())
    .filter(({cost}) => Number(cost) > 0)
    .map(({req_units, res_units, usage_source}) => [req_units, res_units, usage_source])
const ONCE = [[1000, 50_000, 'provider']]

describe.each(['/v1/responses', '/v1/proxy/responses'])('%s', path => {
  test('left early, it costs nothing yet', async () => {
    await begin(path)
    expect((await rows()).map(({outcome, usage_source, cost}) => [outcome, usage_source, cost])).toEqual([
      ['aborted', 'none', 0],
    ])
  })

  test.each(['', '?stream=true&starting_after=2'])(
    'and is charged once when it is read%s, however often',
    async query => {
      await begin(path)
      for (let times = 0; times < 2; times++) expect(await read(`${path}/resp_1${query}`)).toContain('50000')
      expect(await read(`${path}/resp_1`)).toContain('50000')
      await expect.poll(charged, {timeout: 5000}).toEqual(ONCE)
    },
  )

  test('read to its end, it is charged then, and never again', async () => {
    is_whole = true
    await begin(path)
    await read(`${path}/resp_1`)
    await read(`${path}/resp_1?stream=true&starting_after=2`)
    expect(await charged()).toEqual(ONCE)
  })
})

test('one that nobody reads is asked for, also by the next process', async () => {
  await begin('/v1/responses')
  await gateway.close()
  ahead_ms += 5 * 60_000
  await start()
  await expect.poll(charged, {timeout: 15_000}).toEqual(ONCE)
})
