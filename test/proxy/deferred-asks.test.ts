import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {asLines} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {RING} from '../support/ring.ts'

const MINUTE = 60_000
const picture = {type: 'image_generation_call', result: 'A'.repeat(9 << 20)}
const ROW = {
  id: 'r',
  custom_id: 'a',
  response: {status_code: 200, body: {model: 'gpt-4o', usage: {prompt_tokens: 1000, completion_tokens: 100}}},
}

let twin: FakeProvider
let folder: string
let gateway: TestGateway
let ahead_ms: number
/** What the provider shows of the work, as it goes on. */
let batch: Record<string, unknown>
let response: Record<string, unknown>

beforeAll(async () => {
  twin = await fakeProvider()
})
afterAll(() => twin.close())
beforeEach(async () => {
  batch = {
    id: 'batch_1',
    object: 'batch',
    endpoint: '/v1/chat/completions',
    status: 'in_progress',
    output_file_id: null,
  }
  response = {id: 'resp_1', object: 'response', status: 'queued', model: 'gpt-4o', background: true, output: []}
  twin.received.length = 0
  twin.answer(({path}, reply) => {
    if (path.startsWith('/v1/batches')) return json(reply, batch)
    if (path.startsWith('/v1/responses')) return json(reply, response)
    if (path === '/v1/files/file-out/content')
      return reply.writeHead(200, {'content-type': 'application/octet-stream'}).end(asLines([ROW]))
    json(reply, {error: {message: 'No.'}}, 404)
  })
  folder = mkdtempSync(join(tmpdir(), 'gateway-asks-'))
  ahead_ms = 0
  await start()
  await gateway.provider('main', 'openai', twin.url)
})
afterEach(async () => {
  await gateway.close()
  rmSync(folder, {recursive: true, force: true})
})

async function start() {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}, {folder, now: () => Date.now() + ahead_ms})
}
/** Ends the gateway, and starts it anew so much later. */
async function later(ms: number) {
  await gateway.close()
  ahead_ms += ms
  twin.received.length = 0
  await start()
}
const post = (path: string, body: object) =>
  gateway.call(`/v1${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {'x-gateway-provider': '@main', 'content-type': 'application/json'},
  })
const get = (path: string) => gateway.call(`/v1${path}`, {headers: {'x-gateway-provider': '@main'}})
const charged = async () =>
  (await gateway.logs())
    .filter(({cost}) => Number(cost) > 0)
    .map(({ai_model, endpoint, cost}) => `${ai_model} ${endpoint} ${cost}`)
    .sort()
const runs = async () =>
  (await gateway.admin<{data: {name: string; runs: number}[]}>('GET', '/admin/workers')).data.find(
    ({name}) => name === 'deferred',
  )!.runs
const asks = () => twin.received.filter(({method}) => method === 'GET').map(({path}) => path)

async function goesOn() {
  await later(5 * MINUTE)
  await expect
    .poll(asks, {timeout: 15_000})
    .toEqual(expect.arrayContaining(['/v1/batches/batch_1', '/v1/responses/resp_1']))
  expect(twin.received.every(({headers}) => headers.authorization === 'Bearer sk-upstream-secret-0123456789')).toBe(
    true,
  )
  expect(await charged()).toEqual([])
}

describe('work that nobody asks for again', () => {
  test('is asked for by the gateway, with the credentials of its integration, and charged once, also over restarts', async () => {
    expect(
      (await post('/batches', {input_file_id: 'f', endpoint: '/v1/chat/completions', completion_window: '24h'})).status,
    ).toBe(200)
    expect((await post('/responses', {model: 'gpt-4o', input: 'hi', background: true})).status).toBe(200)
    // it is charged no earlier than it ended
    if (RING !== 'own') await goesOn()
    Object.assign(batch, {status: 'completed', output_file_id: 'file-out'})
    Object.assign(response, {
      status: 'completed',
      output: [picture],
      usage: {input_tokens: 1000, output_tokens: 100, total_tokens: 1100},
    })
    await later(20 * MINUTE)
    // 1000 × 2.50 and 100 × 10 US dollars a million: 0.35 cents, of a batch the half
    const both = ['gpt-4o createBatch 0.175', 'gpt-4o createModelResponse 0.35']
    await expect.poll(charged, {timeout: 15_000}).toEqual(both)
    expect(asks().filter(path => path === '/v1/responses/resp_1')).toHaveLength(1)
    expect(twin.received.every(({headers}) => headers.authorization === 'Bearer sk-upstream-secret-0123456789')).toBe(
      true,
    )
    // whoever asks now is not charged again
    for (const path of ['/batches/batch_1', '/responses/resp_1']) await (await get(path)).text()
    expect(await charged()).toEqual(both)
    if (RING === 'own') return
    const before = await runs()
    await later(24 * 60 * MINUTE)
    await expect.poll(runs, {timeout: 15_000}).toBeGreaterThan(before)
    expect([asks(), await charged()]).toEqual([[], both])
  }, 60_000)

  test('is asked for at the host of its model', async () => {
    const apart = await fakeProvider(({path}, reply) => json(reply, path.startsWith('/v1/responses') ? response : {}))
    const models = [{slug: 'gpt-4o', enabled: true, is_custom: false, configurations: {custom_host: apart.url}}]
    await gateway.admin('PUT', '/integrations/main/models', {models})
    expect((await post('/responses', {model: 'gpt-4o', input: 'hi', background: true})).status).toBe(200)
    Object.assign(response, {status: 'completed', usage: {input_tokens: 1000, output_tokens: 100, total_tokens: 1100}})
    await later(20 * MINUTE)
    await expect.poll(charged, {timeout: 15_000}).toEqual(['gpt-4o createModelResponse 0.35'])
    expect([asks(), apart.received.map(({path}) => path)]).toEqual([[], ['/v1/responses', '/v1/responses/resp_1']])
    await apart.close()
  }, 60_000)
})
