import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {asLines} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {scraped} from '../support/scrape.ts'
import {KINDS, testStore} from '../support/stores.ts'

const BATCH = 'batch_abc'
const OUTPUT = 'file-out'
/** Cents a token: 10 US dollars a million in, 40 out; a batch is half of that unless a batch price says otherwise. */
const PRICE = {request_token: {price: 0.001}, response_token: {price: 0.004}}

const answeredRow = (custom_id: string, prompt_tokens: number, completion_tokens: number, model = 'tested') => ({
  id: `batch_req_${custom_id}`,
  custom_id,
  response: {status_code: 200, request_id: custom_id, body: {model, usage: {prompt_tokens, completion_tokens}}},
  error: null,
})
const failedRow = {id: 'batch_req_x', custom_id: 'x', response: null, error: {code: 'e', message: 'no'}}
/** What failed used nothing, whatever it says. */
const refusedRow = {
  ...answeredRow('y', 5000, 5000),
  response: {...answeredRow('y', 5000, 5000).response, status_code: 400},
}
const ROWS = [answeredRow('a', 1000, 500), failedRow, refusedRow, answeredRow('b', 3, 1)]

describe.each(KINDS)('a batch, on %s,', kind => {
  let twin: FakeProvider
  let folder: string
  let gateway: TestGateway
  let env: Record<string, string>
  let database: Awaited<ReturnType<typeof testStore>> | null
  let batch: Record<string, unknown>
  let rows: readonly object[]
  let output_status: number

  beforeAll(async () => {
    twin = await fakeProvider()
  })
  afterAll(() => twin.close())
  beforeEach(async () => {
    batch = {
      id: BATCH,
      object: 'batch',
      endpoint: '/v1/chat/completions',
      status: 'in_progress',
      output_file_id: null,
      error_file_id: null,
    }
    rows = ROWS
    output_status = 200
    twin.received.length = 0
    twin.answer(({method, path}, response) => {
      if (method === 'GET' && path.startsWith('/v1/batches') && path.split('?')[0] === '/v1/batches')
        return json(response, {object: 'list', data: [{...batch, id: 'batch_of_another', status: 'completed'}, batch]})
      if (path.startsWith('/v1/batches')) return json(response, batch)
      if (path !== `/v1/files/${OUTPUT}/content`) return json(response, {error: {message: 'No.'}}, 404)
      if (output_status !== 200) return json(response, {error: {message: 'No.'}}, output_status)
      response.writeHead(200, {'content-type': 'application/octet-stream'}).end(asLines(rows))
    })
    folder = mkdtempSync(join(tmpdir(), 'gateway-batches-'))
    database = kind === 'postgres' ? await testStore('postgres') : null
    env = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}
    if (database?.options.kind === 'postgres' && 'connectionString' in database.options.connection)
      Object.assign(env, {
        DATABASE_URL: database.options.connection.connectionString,
        GATEWAY_SEALING_KEY: Buffer.alloc(32, 7).toString('base64'),
      })
    gateway = await startGateway(env, {folder})
    for (const slug of ['main', 'other']) {
      await gateway.provider(slug, 'openai', twin.url)
      const models = ['tested', 'batched'].map(model => ({
        slug: model,
        enabled: true,
        is_custom: true,
        pricing_config: {
          type: 'static',
          pay_as_you_go: PRICE,
          ...(model === 'batched' && {batch_config: {request_token: {price: 0.0001}, response_token: {price: 0.0002}}}),
        },
      }))
      await gateway.admin('PUT', `/integrations/${slug}/models`, {models, allow_all_models: true})
    }
  })
  afterEach(async () => {
    await gateway.close()
    await database?.close()
    rmSync(folder, {recursive: true, force: true})
  })

  const ask = (path: string, {provider = 'main', ...init}: RequestInit & {provider?: string} = {}) =>
    gateway.call(`/v1${path}`, {
      ...init,
      headers: {'x-gateway-provider': `@${provider}`, 'content-type': 'application/json'},
    })
  const create = async () => {
    const body = {input_file_id: 'file-in', endpoint: '/v1/chat/completions', completion_window: '24h', metadata: {}}
    expect((await ask('/batches', {method: 'POST', body: JSON.stringify(body)})).status).toBe(200)
  }
  const done = (more: object = {}) => void Object.assign(batch, {status: 'completed', output_file_id: OUTPUT}, more)
  /** Reads the answer to its end, which waits until the batch is charged. */
  const poll = async (provider = 'main') => {
    const shown = await ask(`/batches/${BATCH}`, {provider})
    expect([shown.status, await shown.json()]).toEqual([200, batch])
  }
  const downloads = () => twin.received.filter(({path}) => path.startsWith('/v1/files/')).length

  /** What the ledger has of batches, and whether all of it holds. */
  async function charged() {
    await gateway.app.flushed()
    const store = await openStore(database?.options ?? {kind: 'sqlite', folder, role: 'server'})
    try {
      const entries = await store.db
        .selectFrom('traffic.ledger_entries')
        .selectAll()
        .where('endpoint', '=', 'createBatch')
        .where('cost_nanousd', '>', 0)
        .execute()
      expect((await verifyLedger(store)).breaks).toEqual([])
      return entries.map(({model, usage, usage_source, cost_nanousd, unpriced, attempt}) => ({
        ...{model, usage: JSON.parse(usage), usage_source, cost_nanousd: Number(cost_nanousd), unpriced, attempt},
      }))
    } finally {
      await store.close()
    }
  }

  // (1003 x 10 + 501 x 40 US dollars a million) / 2
  const ONCE = {
    model: 'tested',
    usage: {input_uncached_tokens: 1003, output_text_tokens: 501, units: {batch_requests: 2}},
    usage_source: 'provider',
    cost_nanousd: 15_035_000,
    unpriced: 0,
    attempt: 1,
  }

  test('is charged once it is done, at half the price, by the rows of its output, and but once', async () => {
    await create()
    await poll()
    expect([await charged(), downloads()]).toEqual([[], 0])
    done()
    await Promise.all([poll(), poll(), poll()])
    expect([await charged(), downloads()]).toEqual([[ONCE], 1])
    expect(await (await ask(`/batches/${BATCH}/output`)).text()).toBe(asLines(ROWS).toString())
    await (await ask('/batches')).text()
    await poll()
    expect([await charged(), downloads()]).toEqual([[ONCE], 2])
    const [row] = (await gateway.logs()).filter(({cost}) => Number(cost) > 0)
    expect(row).toMatchObject({cost: 1.5035, total_units: 1504, ai_model: 'tested', response_status_code: 200})
    const figures = ['llm_cost_sum', 'llm_token_sum', 'request_count'].map(name =>
      scraped(gateway, name, 'endpoint="createBatch"'),
    )
    // one call began it, and its end is one more
    expect(await Promise.all(figures)).toEqual([0.015035, 1504, 2])
  })

  test('is charged by whatever shows that it ended: its output, a list, its cancelling', async () => {
    const shows = [
      () => ask(`/batches/${batch.id}/output`),
      () => ask('/batches'),
      () => ask(`/batches/${batch.id}/cancel`, {method: 'POST'}),
    ]
    for (const [at, show] of shows.entries()) {
      Object.assign(batch, {id: `batch_${at}`, status: 'in_progress', output_file_id: null})
      await create()
      done({status: 'cancelled'})
      const shown = await show()
      expect(shown.status).toBe(200)
      await shown.text() // ends once the batch is charged
      expect(await charged()).toEqual(Array(at + 1).fill(ONCE))
    }
  })

  test('is charged after a restart, and not again after the next', async () => {
    await create()
    await gateway.close()
    gateway = await startGateway(env, {folder})
    done()
    await poll()
    expect(await charged()).toEqual([ONCE])
    await gateway.close()
    gateway = await startGateway(env, {folder})
    await poll()
    expect([await charged(), downloads()]).toEqual([[ONCE], 1])
  })

  test('is charged later when its output could not be had; its answer passes all the same', async () => {
    await create()
    done()
    output_status = 503
    await poll()
    expect(await charged()).toEqual([])
    expect(gateway.lines.some(line => line.includes('what ended could not be charged yet'))).toBe(true)
    output_status = 200
    await poll()
    expect(await charged()).toEqual([ONCE])
  })

  test('is charged by what it tells of itself where its output is gone', async () => {
    await create()
    output_status = 404
    done({
      model: 'tested',
      usage: {input_tokens: 1003, output_tokens: 501},
      request_counts: {total: 3, completed: 2, failed: 1},
    })
    await poll()
    await poll()
    expect(await charged()).toEqual([ONCE])
    const costs = (await gateway.logs()).map(({cost}) => Number(cost)).filter(cost => cost > 0)
    expect(costs, 'to be told of it costs nothing').toEqual([1.5035])
  })

  test('has the model’s price for batches, and the prices of several models', async () => {
    await create()
    rows = [answeredRow('a', 1000, 500, 'batched'), answeredRow('b', 1000, 500, 'unknown'), answeredRow('c', 1000, 500)]
    done()
    await poll()
    // 1000 x 1 + 500 x 2 US dollars a million; nothing; (1000 x 10 + 500 x 40) / 2
    expect(await charged()).toMatchObject([{cost_nanousd: 2_000_000 + 15_000_000, unpriced: 1, model: 'batched'}])
  })

  test('fact 8: has the price of the model of its rows, whatever model the request that made it names', async () => {
    const body = {
      input_file_id: 'file-in',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      model: 'batched',
    }
    expect((await ask('/batches', {method: 'POST', body: JSON.stringify(body)})).status).toBe(200)
    done()
    await poll()
    expect(await charged()).toEqual([ONCE])
  })

  test('that was not made here, is asked of elsewhere, or came to nothing, costs nothing', async () => {
    done()
    await poll()
    expect([await charged(), downloads()]).toEqual([[], 0])
    Object.assign(batch, {status: 'in_progress', output_file_id: null})
    await create()
    done()
    await poll('other')
    expect([await charged(), downloads()]).toEqual([[], 0])
    done({output_file_id: null, status: 'failed'})
    await poll()
    done()
    await poll()
    expect([await charged(), downloads()]).toEqual([[], 0])
  })

  test('counts against the limits of who made it', async () => {
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      name: 'limited',
      workspace_id: workspace!.id,
      scopes: ['completions.write'],
      usage_limits: {type: 'cost', credit_limit: 0.015},
    })
    const headers = {'x-gateway-api-key': key, 'x-gateway-provider': '@main', 'content-type': 'application/json'}
    const body = JSON.stringify({input_file_id: 'file-in', endpoint: '/v1/chat/completions', completion_window: '24h'})
    const make = async () => (await gateway.call('/v1/batches', {method: 'POST', headers, body})).status
    expect(await make()).toBe(200)
    done()
    await poll() // by another key of the workspace
    expect(await charged()).toEqual([ONCE])
    expect(await make()).toBe(412)
    const {data} = await gateway.admin<{data: {name: string; status: string; usage_limits: object}[]}>(
      'GET',
      '/api-keys',
    )
    expect(data.find(({name}) => name === 'limited')).toMatchObject({
      status: 'exhausted',
      usage_limits: {current_usage: 0.015035},
    })
  })
})
