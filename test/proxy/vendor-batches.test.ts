import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {asLines} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {RING} from '../support/ring.ts'
import {KINDS, testStore} from '../support/stores.ts'
import {VENDORS, type VendorRow} from './vendor-batches/vendors.ts'

/** Cents a token: 10 US dollars a million in, 40 out; a batch is half of that. */
const PRICE = {request_token: {price: 0.001}, response_token: {price: 0.004}}
const MODELS = ['tested', 'other']
// (1003 x 10 + 501 x 40 US dollars a million) / 2
const ONCE = {
  model: 'tested',
  usage: {input_uncached_tokens: 1003, output_text_tokens: 501, units: {batch_requests: 2}},
  usage_source: 'provider',
  cost_nanousd: 15_035_000,
  unpriced: 0,
  attempt: 1,
}
const ROWS: readonly VendorRow[] = [{input: 1000, output: 500}, 'failed', {input: 3, output: 1}]

/** Each form on one store, and all of them on both in the long ring: a form takes half a minute. */
const TRIED = {
  sqlite: VENDORS.filter(({name}, at) => RING === 'full' || at % 3 === 0 || name.startsWith('Bedrock')),
  postgres: VENDORS.filter((_, at) => RING === 'full' || at === 1 || at === 4),
}

describe.each(KINDS)('fact 8: batches by a vendor’s own path, on %s,', kind => {
  let twin: FakeProvider
  let folder: string
  let gateway: TestGateway
  let env: Record<string, string>
  let database: Awaited<ReturnType<typeof testStore>> | null
  let ahead_ms: number

  beforeAll(async () => {
    twin = await fakeProvider()
  })
  afterAll(() => twin.close())
  beforeEach(async () => {
    twin.received.length = 0
    ahead_ms = 0
    folder = mkdtempSync(join(tmpdir(), 'gateway-vendor-batches-'))
    database = kind === 'postgres' ? await testStore('postgres') : null
    env = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}
    if (database?.options.kind === 'postgres' && 'connectionString' in database.options.connection)
      Object.assign(env, {
        DATABASE_URL: database.options.connection.connectionString,
        GATEWAY_SEALING_KEY: Buffer.alloc(32, 7).toString('base64'),
      })
    await start()
  })
  afterEach(async () => {
    await gateway.close()
    await database?.close()
    rmSync(folder, {recursive: true, force: true})
  })

  const start = async () => {
    gateway = await startGateway(env, {folder, now: () => Date.now() + ahead_ms})
  }
  const again = async () => {
    await gateway.close()
    await start()
  }

  /** What the ledger has of batches, and whether all of it holds. */
  async function charged() {
    await gateway.app.flushed()
    const store = await openStore(database?.options ?? {kind: 'sqlite', folder, role: 'server'})
    try {
      const entries = await store.db.selectFrom('traffic.ledger_entries').selectAll().execute()
      expect((await verifyLedger(store)).breaks).toEqual([])
      return entries
        .filter(({cost_nanousd, usage_source}) => Number(cost_nanousd) > 0 || usage_source !== 'none')
        .map(({model, usage, usage_source, cost_nanousd, unpriced, attempt}) => ({
          ...{model, usage: JSON.parse(usage), usage_source, cost_nanousd: Number(cost_nanousd), unpriced, attempt},
        }))
    } finally {
      await store.close()
    }
  }
  const warnings = async () => (await gateway.logs()).map(({warning}) => warning).filter(Boolean)

  describe.each(TRIED[kind])('$name', vendor => {
    let state: {ended: boolean; rows: readonly VendorRow[]; results_status: number; raw: string | null; counts: boolean}

    beforeEach(async () => {
      state = {ended: false, rows: ROWS, results_status: 200, raw: null, counts: true}
      twin.answer(({method, path}, response) => {
        const answer = vendor.answer(method, path.split('?')[0]!, state)
        if (answer === null) return json(response, {error: {message: `No ${path}.`}}, 404)
        if (!('lines' in answer)) return json(response, answer.json)
        if (state.results_status !== 200) return json(response, {error: {message: 'No.'}}, state.results_status)
        const bytes = state.raw ?? asLines(answer.lines)
        response.writeHead(200, {'content-type': 'application/octet-stream'}).end(bytes)
      })
      const custom_host = twin.url.replace(/\/v1$/, vendor.base)
      const more = vendor.options && {key: null, configurations: {custom_host, ...vendor.options}}
      await gateway.provider('main', vendor.kind, custom_host, more)
      const models = MODELS.map(slug => ({
        ...{slug, enabled: true, is_custom: true},
        pricing_config: {type: 'static', pay_as_you_go: PRICE},
      }))
      await gateway.admin('PUT', '/integrations/main/models', {models, allow_all_models: true})
    })

    const ask = (
      method: string,
      path: string,
      {body, headers}: {body?: object; headers?: Record<string, string>} = {},
    ) =>
      gateway.call(path, {
        method,
        headers: {'x-gateway-provider': '@main', 'content-type': 'application/json', ...headers},
        ...(body && {body: JSON.stringify(body)}),
      })
    const create = async (
      models: readonly string[] = ['tested', 'tested', 'tested'],
      headers?: Record<string, string>,
    ) => ask('POST', vendor.create, {body: vendor.request(models), ...(headers && {headers})})
    const begin = async () => {
      const made = await create()
      expect([made.status, await made.json()]).toEqual([200, expect.anything()])
    }
    /** Reads the answer to its end, which waits until the batch is charged. */
    const read = async (path = vendor.reads[0]!) => {
      const shown = await ask('GET', path)
      expect(shown.status, path).toBe(200)
      await shown.text()
    }

    test('are charged once, by the rows of their results, whatever read shows that they ended', async () => {
      await begin()
      for (const path of vendor.shows) await read(path)
      expect(await charged()).toEqual([])
      state.ended = true
      for (const path of vendor.reads) {
        await read(path)
        expect(await charged(), path).toEqual([ONCE])
      }
      for (const path of vendor.reads) await read(path)
      expect(await charged()).toEqual([ONCE])
      const [row] = (await gateway.logs()).filter(({cost}) => Number(cost) > 0)
      expect(row).toMatchObject({cost: 1.5035, total_units: 1504, ai_model: 'tested', response_status_code: 200})
    })

    test.each(vendor.reads)('are charged by %s alone', async path => {
      await begin()
      state.ended = true
      await read(path)
      expect(await charged()).toEqual([ONCE])
    })

    test('are charged after a restart, and not again after the next', async () => {
      await begin()
      await again()
      state.ended = true
      await read()
      expect(await charged()).toEqual([ONCE])
      await again()
      await read()
      expect(await charged()).toEqual([ONCE])
    })

    test('are charged once by readers at the same time', async () => {
      await begin()
      state.ended = true
      await Promise.all([...vendor.reads, ...vendor.reads].map(path => read(path)))
      expect(await charged()).toEqual([ONCE])
    })

    test('are charged once where the process ended before it could say so', async () => {
      await begin()
      state.ended = true
      await read()
      expect(await charged()).toEqual([ONCE])
      await gateway.close()
      const store = await openStore(database?.options ?? {kind: 'sqlite', folder, role: 'server'})
      await store.write(db => db.updateTable('batches').set({settled_at: null}).execute())
      await store.close()
      await start()
      await read()
      expect(await charged()).toEqual([ONCE])
    })

    if (kind === 'postgres')
      test('are charged once by two processes at the same time', async () => {
        await begin()
        state.ended = true
        const other = await startGateway(env)
        const headers = {'x-gateway-provider': '@main'}
        const readThere = async () => (await other.call(vendor.reads[0]!, {headers})).text()
        await Promise.all([read(), readThere(), read(), readThere()])
        await other.app.flushed()
        await other.close()
        expect(await charged()).toEqual([ONCE])
      })

    test('cost nothing for rows that failed', async () => {
      await begin()
      Object.assign(state, {ended: true, rows: ['failed', 'failed']})
      await read()
      await read()
      expect(await charged()).toEqual([])
    })

    test('are charged by the model of each row, and flagged where one has no price', async () => {
      await begin()
      Object.assign(state, {
        ended: true,
        rows: [
          {input: 1000, output: 500},
          {input: 1000, output: 500, model: 'unheard'},
        ],
      })
      await read()
      // a job of one model runs it for every row
      const cost = vendor.one_model ? 2 * 15_000_000 : 15_000_000
      expect(await charged()).toMatchObject([{cost_nanousd: cost, unpriced: vendor.one_model ? 0 : 1}])
    })

    if (!vendor.is_indirect)
      test('are flagged for usage that no reader knows', async () => {
        await begin()
        Object.assign(state, {ended: true, rows: [{input: 1000, output: 500, more: {quantum_tokens: 7}}]})
        await read()
        const [entry] = await charged()
        expect(entry).toMatchObject({cost_nanousd: 15_000_000, unpriced: 1, usage: {usage_unknown: ['quantum_tokens']}})
      })

    test('are flagged, with the reason in the row, where the usage of some rows cannot be read', async () => {
      await begin()
      Object.assign(state, {ended: true, rows: [{input: 1000, output: 500}, 'mute']})
      await read()
      expect(await charged()).toMatchObject([{cost_nanousd: 15_000_000, usage_source: 'partial'}])
      expect(await warnings()).toEqual([
        expect.stringMatching(/^1 rows of the batch were not charged: (?:row|line) 2 has no usage that is known$/),
      ])
    })

    if (!vendor.is_indirect)
      test('are held against a list of models', async () => {
        const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
        const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
          ...{name: 'narrow', workspace_id: workspace!.id, scopes: ['completions.write'], models: {allow: ['tested']}},
        })
        const headers = {'x-gateway-api-key': key}
        expect((await create(['tested', 'tested'], headers)).status).toBe(200)
        const sent = twin.received.length
        const refused = await create(vendor.one_model ? ['other'] : ['tested', 'other', 'tested'], headers)
        expect([refused.status, await refused.text()]).toEqual([412, expect.stringContaining('other')])
        if (vendor.takes_decoy) {
          const body = {model: 'tested', ...vendor.request(['other'])}
          expect((await ask('POST', vendor.create, {body, headers})).status).toBe(412)
        }
        expect(twin.received).toHaveLength(sent)
      })

    test('count against the limits of who made them', async () => {
      const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
      const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
        ...{name: 'limited', workspace_id: workspace!.id, scopes: ['completions.write']},
        usage_limits: {type: 'cost', credit_limit: 0.015},
      })
      const headers = {'x-gateway-api-key': key}
      expect((await create(undefined, headers)).status).toBe(200)
      state.ended = true
      await read() // by another key of the workspace
      expect((await create(undefined, headers)).status).toBe(412)
    })

    test('are charged by the gateway’s own asking where no client reads', async () => {
      await begin()
      state.ended = true
      await gateway.close()
      ahead_ms += 5 * 60_000
      await start()
      await expect.poll(charged, {timeout: 20_000}).toEqual([ONCE])
    })

    if (vendor.has_file) {
      test('are charged later where the results could not be had', async () => {
        await begin()
        Object.assign(state, {ended: true, results_status: 503})
        await read(vendor.shows[0])
        expect(await charged()).toEqual([])
        state.results_status = 200
        await read(vendor.shows[0])
        expect(await charged()).toEqual([ONCE])
      })

      test('are flagged, with the reason in the row, where the results may not be read', async () => {
        await begin()
        Object.assign(state, {ended: true, results_status: 403})
        await read(vendor.shows[0])
        await read(vendor.shows[0])
        expect(await charged()).toMatchObject([{cost_nanousd: 0, usage_source: 'unmetered'}])
        expect(await warnings()).toEqual([
          'the results of the batch were not charged: the provider answered 403 when they were read',
        ])
      })

      test('are flagged for odd bytes and for a file that was cut', async () => {
        await begin()
        const whole = asLines(vendor.lines(ROWS)).toString()
        Object.assign(state, {ended: true, raw: `${whole.slice(0, whole.indexOf('\n') + 20)}`})
        await read()
        expect(await charged()).toMatchObject([{cost_nanousd: 15_000_000, usage_source: 'partial'}])
        expect((await warnings())[0]).toMatch(/(?:row|line) 2 is no row of results/)
      })
    }
    if (vendor.has_results_path)
      test('are charged whole where the client reads half of the results', async () => {
        await begin()
        state.ended = true
        const lines = asLines(vendor.lines(ROWS)).toString()
        let reads = 0
        twin.answer(({method, path}, response) => {
          const answer = vendor.answer(method, path, state)!
          if ('json' in answer) return json(response, answer.json)
          response.writeHead(200, {'content-type': 'application/octet-stream'})
          if (reads++ > 0) return response.end(lines)
          response.write(lines.slice(0, 40)) // and no more: the client leaves
        })
        const leaves = new AbortController()
        const shown = await gateway.call(vendor.reads[0]!, {
          headers: {'x-gateway-provider': '@main'},
          signal: leaves.signal,
        })
        await shown.body!.getReader().read()
        leaves.abort()
        await expect.poll(charged).toEqual([ONCE])
      })
    if (vendor.removes)
      test('are flagged where they are deleted before their results were read', async () => {
        await begin()
        expect((await ask('DELETE', vendor.removes!)).status).toBe(200)
        expect(await charged()).toMatchObject([{cost_nanousd: 0, usage_source: 'unmetered'}])
        expect(await warnings()).toEqual([
          'the results of the batch were not charged: it was deleted before they were read',
        ])
      })
  })
})
