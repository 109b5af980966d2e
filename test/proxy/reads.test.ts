import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import Sqlite from 'better-sqlite3'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatReply, type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'
import {KINDS} from '../support/stores.ts'

/** Cents a token: 10 US dollars a million in, 40 out. */
const PRICE = {request_token: {price: 0.001}, response_token: {price: 0.004}}
const USAGE = {input_tokens: 1003, output_tokens: 501, total_tokens: 1504, output_tokens_details: {reasoning_tokens: 0}}
const ZEROS = {input_tokens: 0, output_tokens: 0, total_tokens: 0}

/** One entry of the ledger. */
interface Charged {
  readonly endpoint: string
  readonly model: string | null
  readonly usage: object
  readonly usage_source: string
  readonly cost_nanousd: number
}

type Row = Omit<Charged, 'usage'> & {readonly usage: string}

// 1003 x 10 + 501 x 40 US dollars a million
const ONCE: Charged = {
  endpoint: 'createModelResponse',
  model: 'tested',
  usage: {input_uncached_tokens: 1003, output_text_tokens: 501},
  usage_source: 'provider',
  cost_nanousd: 30_070_000,
}

let twin: FakeProvider
let folder: string
let gateway: TestGateway
const ENV = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}
/** What the provider keeps. */
let kept: Record<string, unknown>

const events = (response: object) =>
  ['response.created', 'response.in_progress', `response.${kept.status}`]
    .map((type, at) => ({
      type,
      sequence_number: at,
      response: at === 2 ? response : {...response, status: 'in_progress', usage: null},
    }))
    .map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')

function answer({method, path, headers}: Heard, response: Parameters<Parameters<FakeProvider['answer']>[0]>[1]) {
  if (method === 'DELETE') return json(response, {...kept, deleted: true})
  if (!path.includes('stream=true')) return json(response, kept)
  const bytes = Buffer.from(events(kept))
  const zips = headers['accept-encoding']?.includes('gzip') && path.includes('zip')
  response.writeHead(200, {'content-type': 'text/event-stream', ...(zips && {'content-encoding': 'gzip'})})
  response.end(zips ? gzipSync(bytes) : bytes)
}

beforeAll(async () => {
  twin = await fakeProvider()
})
afterAll(() => twin.close())
beforeEach(async () => {
  kept = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    background: false,
    model: 'tested',
    output: [],
    usage: USAGE,
  }
  twin.answer(answer)
  folder = mkdtempSync(join(tmpdir(), 'gateway-reads-'))
  gateway = await startGateway(ENV, {folder})
  for (const slug of ['main', 'other']) {
    await gateway.provider(slug, 'openai', twin.url)
    const pricing_config = {type: 'static', pay_as_you_go: PRICE}
    const models = [{slug: 'tested', enabled: true, is_custom: true, pricing_config}]
    await gateway.admin('PUT', `/integrations/${slug}/models`, {models, allow_all_models: true})
  }
})
afterEach(async () => {
  await gateway.close()
  const store = await openStore({kind: 'sqlite', folder, role: 'operator'})
  expect((await verifyLedger(store)).breaks).toEqual([])
  await store.close()
  rmSync(folder, {recursive: true, force: true})
})

/** Asks, and reads the answer to its end, which waits until what it tells of is charged. */
async function ask(
  method: string,
  path: string,
  {provider = 'main', body}: {provider?: string; body?: object} = {},
): Promise<string> {
  const headers = {'x-gateway-provider': `@${provider}`, 'content-type': 'application/json'}
  const shown = await gateway.call(`/v1${path}`, {method, headers, ...(body && {body: JSON.stringify(body)})})
  const text = await shown.text()
  expect([shown.status, text !== '']).toEqual([200, true])
  return text
}

/** What the ledger has that used anything, or cost, or was taken for more than nothing. */
async function charged(): Promise<Charged[]> {
  await gateway.app.flushed()
  const traffic = new Sqlite(join(folder, 'traffic.db'), {readonly: true})
  const entries = traffic
    .prepare('select endpoint, model, usage, usage_source, cost_nanousd from ledger_entries')
    .all() as Row[]
  traffic.close()
  return entries
    .map(entry => ({...entry, usage: JSON.parse(entry.usage) as object}))
    .filter(
      ({usage, usage_source, cost_nanousd}) =>
        usage_source !== 'none' || cost_nanousd !== 0 || Object.keys(usage).length > 0,
    )
}

const create = (more: object = {}, path = '/responses') =>
  ask('POST', path, {body: {model: 'tested', input: 'Write at length.', background: true, ...more}})
const begin = async (path?: string) => {
  Object.assign(kept, {status: 'queued', background: true, usage: null})
  await create({}, path)
}
const end = (more: object = {}) => void Object.assign(kept, {status: 'completed', usage: USAGE}, more)

/** The ledger is read from its file here, as only SQLite has one. */
const suite = describe.runIf(KINDS.includes('sqlite'))

suite('a call that shows or takes away what is kept costs nothing, whatever it tells of usage,', () => {
  const RUN = {
    id: 'run_1',
    object: 'thread.run',
    status: 'completed',
    model: 'tested',
    usage: chatReply('tested').usage,
  }
  test.each([
    ['GET', '/responses/resp_1', undefined],
    ['GET', '/responses/resp_1?stream=true', undefined],
    ['GET', '/responses/resp_1?stream=true&zip=1', undefined],
    ['DELETE', '/responses/resp_1', undefined],
    ['GET', '/proxy/responses/resp_1', undefined],
    ['GET', '/proxy/responses/resp_1?stream=true', undefined],
    ['GET', '/chat/completions/chatcmpl-1', chatReply('tested')],
    ['DELETE', '/chat/completions/chatcmpl-1', chatReply('tested')],
    ['GET', '/threads/thread_1/runs/run_1', RUN],
    ['POST', '/threads/thread_1/runs/run_1/cancel', RUN],
    ['POST', '/responses/resp_1/cancel', undefined],
  ])('%s %s', async (method, path, shown) => {
    kept = shown ?? kept
    const result = [await ask(method, path), await ask(method, path)]
    expect(result.every(text => text.includes('_tokens"'))).toBe(true)
    expect(await charged()).toEqual([])
    expect((await gateway.logs()).map(({cost, total_units}) => [Number(cost), Number(total_units)])).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  test('while what makes it is charged, also by pass-through', async () => {
    await create({background: false})
    await create({background: false}, '/proxy/responses')
    expect(await charged()).toEqual([ONCE, {...ONCE, endpoint: 'proxy'}])
  })
})

suite('a response in the background', () => {
  test('costs nothing until it ended, and then once, however often and in parallel it is fetched', async () => {
    await begin()
    await ask('GET', '/responses/resp_1')
    kept.status = 'in_progress'
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([])
    end()
    await Promise.all([1, 2, 3, 4].map(() => ask('GET', '/responses/resp_1')))
    await ask('GET', '/responses/resp_1?stream=true')
    expect(await charged()).toEqual([ONCE])
    const [row, ...others] = (await gateway.logs()).filter(({cost}) => Number(cost) > 0)
    expect(others).toEqual([])
    expect(row).toMatchObject({cost: 3.007, total_units: 1504, ai_model: 'tested', response_status_code: 200})
  })

  test.each(['completed', 'failed', 'incomplete', 'cancelled'])(
    'that is %s is charged by the usage it tells',
    async status => {
      await begin()
      end({status})
      await ask('GET', '/responses/resp_1')
      expect(await charged()).toEqual([ONCE])
    },
  )

  test.each([
    ['GET', '/responses/resp_1?stream=true'],
    ['GET', '/responses/resp_1?stream=true&zip=1'],
    ['GET', '/proxy/responses/resp_1'],
    ['GET', '/proxy/responses/resp_1/?stream=true'],
    ['POST', '/responses/resp_1/cancel'],
  ])('is charged by whatever shows that it ended: %s %s', async (method, path) => {
    await begin()
    end()
    await ask(method, path)
    expect(await charged()).toEqual([ONCE])
    await ask(method, path)
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([ONCE])
  })

  test('that is told at length in a stream is charged by its last event', async () => {
    await begin()
    end({output: [{type: 'message', content: [{type: 'output_text', text: 'long '.repeat(400_000)}]}]})
    await ask('GET', '/responses/resp_1?stream=true')
    expect(await charged()).toEqual([ONCE])
  })

  test('that was begun by pass-through is charged to that call', async () => {
    await begin('/proxy/responses')
    expect(await charged()).toEqual([])
    end()
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([{...ONCE, endpoint: 'proxy'}])
  })

  test('a run of an assistant is charged once to the call that began it', async () => {
    const run = {id: 'run_7', object: 'thread.run', model: 'tested'}
    kept = {...run, status: 'queued', usage: null}
    await ask('POST', '/threads/thread_1/runs', {body: {assistant_id: 'asst_1'}})
    kept = {...run, status: 'requires_action', usage: null}
    await ask('GET', '/threads/thread_1/runs/run_7')
    kept = {...run, status: 'queued', usage: null}
    await ask('POST', '/threads/thread_1/runs/run_7/submit_tool_outputs', {body: {tool_outputs: []}})
    expect(await charged()).toEqual([])
    kept = {...run, status: 'completed', usage: chatReply('tested').usage}
    await ask('GET', '/threads/thread_1/runs/run_7')
    await ask('GET', '/threads/thread_1/runs/run_7')
    expect(await charged()).toMatchObject([{endpoint: 'proxy', model: 'tested', usage_source: 'provider'}])
  })

  test('that tells zeros while it waits is charged for what it used in the end', async () => {
    Object.assign(kept, {status: 'queued', usage: ZEROS})
    await create()
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([])
    end()
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([ONCE])
  })

  test('that ended without a word of usage is charged when that is told', async () => {
    await begin()
    end({status: 'cancelled', usage: null})
    await ask('POST', '/responses/resp_1/cancel')
    expect(await charged()).toEqual([])
    end({status: 'cancelled'})
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([ONCE])
  })

  test('has the rate of its service tier', async () => {
    await begin()
    end({service_tier: 'flex'})
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([
      {...ONCE, usage: {...ONCE.usage, units: {batch_requests: 1}}, cost_nanousd: 15_035_000},
    ])
  })

  test('is charged after a restart, and not again after the next', async () => {
    await begin()
    for (const _ of [1, 2]) {
      await gateway.close()
      gateway = await startGateway(ENV, {folder})
      end()
      await ask('GET', '/responses/resp_1')
      expect(await charged()).toEqual([ONCE])
    }
  })

  test('that was not begun here, or is asked of elsewhere, costs nothing', async () => {
    await ask('GET', '/responses/resp_1')
    await begin()
    end()
    await ask('GET', '/responses/resp_1', {provider: 'other'})
    expect(await charged()).toEqual([])
  })

  test('that is streamed as it is made is charged there, and not again', async () => {
    twin.answer((received, response) =>
      answer(received.method === 'POST' ? {...received, path: '/?stream=true'} : received, response),
    )
    kept.background = true
    await create({stream: true})
    await ask('GET', '/responses/resp_1')
    expect(await charged()).toEqual([ONCE])
  })

  test('counts against the limits of who began it', async () => {
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      ...{name: 'limited', workspace_id: workspace!.id, scopes: ['completions.write']},
      usage_limits: {type: 'cost', credit_limit: 0.03},
    })
    const headers = {'x-gateway-api-key': key, 'x-gateway-provider': '@main', 'content-type': 'application/json'}
    const body = JSON.stringify({model: 'tested', input: 'a', background: true})
    Object.assign(kept, {status: 'queued', usage: null})
    const make = async () => (await gateway.call('/v1/responses', {method: 'POST', headers, body})).status
    expect(await make()).toBe(200)
    end()
    await ask('GET', '/responses/resp_1') // by another key of the workspace
    expect(await charged()).toEqual([ONCE])
    expect(await make()).toBe(412)
  })
})
