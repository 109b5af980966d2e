import {randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {onServer} from '../support/stores.ts'

/** What a strict limit holds for a response that is made in the background stays held until that is charged. */
const responseOf = (id: string, status: string, usage: object | null) => ({
  id,
  object: 'response',
  created_at: 1,
  status,
  model: 'gpt-4o',
  background: true,
  output: [],
  usage,
})
const USED = {input_tokens: 10, output_tokens: 590, total_tokens: 600}

let provider: FakeProvider
let begun = 0
let ends: 'completed' | 'cancelled'
beforeAll(async () => {
  provider = await fakeProvider()
  provider.answer(({method, path, body}, reply) => {
    const id = /resp_\d+/.exec(path)?.[0] ?? `resp_${++begun}`
    if (method === 'GET') return json(reply, responseOf(id, ends, ends === 'completed' ? USED : null))
    const response = responseOf(id, 'queued', null)
    if (!JSON.parse(body.toString()).stream) return json(reply, response)
    reply.writeHead(200, {'content-type': 'text/event-stream'})
    reply.write(`event: response.created\ndata: ${JSON.stringify({type: 'response.created', response})}\n\n`)
    reply.end()
  })
})
afterAll(() => provider.close())
beforeEach(() => {
  ends = 'completed'
})

/** A key under such a limit, at whichever gateway `of` gives. */
async function limitedAt(of: () => TestGateway, type: 'tokens' | 'cost', credit_limit: number) {
  const [workspace] = (await of().admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const usage_limits = {type, credit_limit, enforcement: 'strict'}
  const body = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write'], usage_limits}
  const {id, key} = await of().admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', body)
  const headers = {'content-type': 'application/json', 'x-gateway-provider': '@main', 'x-gateway-api-key': key}
  const begin = async (stream = false) => {
    const asked = {model: 'gpt-4o', input: 'x', background: true, max_output_tokens: 890, stream}
    const reply = await of().call('/v1/responses', {method: 'POST', body: JSON.stringify(asked), headers})
    const text = await reply.text()
    return reply.status === 200 ? /resp_\d+/.exec(text)![0] : reply.status
  }
  const read = async (response: unknown) => (await of().call(`/v1/responses/${response}`, {headers})).text()
  const used = async () =>
    (await of().admin<{usage_limits: {current_usage: number}}>('GET', `/api-keys/${id}`)).usage_limits.current_usage
  return {begin, read, used}
}

describe('under a strict limit', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
    await gateway.provider('main', 'openai', provider.url)
  })
  afterAll(() => gateway.close())

  const limited = (type: 'tokens' | 'cost', credit_limit: number) => limitedAt(() => gateway, type, credit_limit)

  test.each([
    ['tokens', 1000, 600],
    ['cost', 0.01, 0.005925],
  ] as const)('a limit in %s lets one begin, and the next when the first was charged', async (type, limit, costs) => {
    const {begin, read, used} = await limited(type, limit)
    const first = await begin()
    expect(first).toMatch(/^resp_/)
    for (let times = 0; times < 5; times++) expect(await begin()).toBe(412)
    await read(first)
    await expect.poll(used, {timeout: 5000}).toBeCloseTo(costs, 6)
    await read(first)
    expect(await used()).toBeCloseTo(costs, 6)
  })

  test('so does one whose stream ends before it does', async () => {
    const {begin, read, used} = await limited('tokens', 1000)
    const first = await begin(true)
    expect(first).toMatch(/^resp_/)
    expect(await begin()).toBe(412)
    await read(first)
    await expect.poll(used, {timeout: 5000}).toBe(600)
  })

  test('one that ended and says nothing of usage gives nothing back yet', async () => {
    ends = 'cancelled'
    const {begin, read} = await limited('tokens', 1000)
    await read(await begin())
    expect(await begin()).toBe(412)
  })
})

const {TEST_DATABASE_URL: database, TEST_REDIS_URL: redis} = process.env
const name = `gateway_test_${randomBytes(6).toString('hex')}`
const SHARED = {
  DATABASE_URL: database ? Object.assign(new URL(database), {pathname: `/${name}`}).href : '',
  GATEWAY_SEALING_KEY: Buffer.alloc(32, 5).toString('base64'),
}
const STORES: readonly (readonly [string, Record<string, string> | null])[] = [
  ['SQLite', {}],
  ['PostgreSQL', database ? SHARED : null],
  ['PostgreSQL and Redis', database && redis ? {...SHARED, REDIS_URL: redis} : null],
]

describe.each(STORES)('over %s', (store, env) => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  let gateway: TestGateway
  const start = async () => {
    gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env}, {folder})
  }
  beforeAll(async () => {
    if (env && store !== 'SQLite') await onServer(`create database ${name}`)
    if (!env) return
    await start()
    await gateway.provider('main', 'openai', provider.url)
  })
  afterAll(async () => {
    await gateway?.close()
    if (env && store !== 'SQLite') await onServer(`drop database ${name} with (force)`)
    rmSync(folder, {recursive: true, force: true})
  })

  test.runIf(env !== null).each([
    ['tokens', 1000, 600],
    ['cost', 0.01, 0.005925],
  ] as const)('what is held in %s stays held over a restart, until it is charged', async (type, limit, costs) => {
    const {begin, read, used} = await limitedAt(() => gateway, type, limit)
    const first = await begin()
    expect(first).toMatch(/^resp_/)
    await gateway.app.flushed()
    await gateway.close()
    await start()
    expect(await begin()).toBe(412)
    await read(first)
    await expect.poll(used, {timeout: 5000}).toBeCloseTo(costs, 6)
    await gateway.close()
    await start()
    expect(await used()).toBeCloseTo(costs, 6)
  })
})
