import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import {toPublicPricing} from '../../src/pricing/view.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {insertHour} from '../support/logs.ts'
import {KINDS} from '../support/stores.ts'

const NOW_MS = Date.parse('2026-03-04T05:06:07.000Z')
const ROOTS = ['/v1/model-configs', '/model-configs']

describe('prices', () => {
  let admin: Admin
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'prices-'))
    const priced = (cents: number) => ({
      pricing_config: {pay_as_you_go: {request_token: {price: cents}, response_token: {price: cents * 2}}},
    })
    writeFileSync(join(folder, 'openai.json'), JSON.stringify({'gpt-4o': priced(0.5)}))
    writeFileSync(join(folder, 'my-lab.json'), JSON.stringify({'house/model:1': priced(0.25)}))
    admin = await startAdmin({env: {MODEL_CONFIGS_PRICING_LOCAL_PATH: folder}})
  })
  afterAll(async () => {
    await admin.close()
    rmSync(folder, {recursive: true})
  })

  const get = (path: string) => admin.send(undefined, 'GET', path)

  test.each(ROOTS)('of one model are shown to everyone at %s/pricing', async root => {
    const {status, body} = await get(`${root}/pricing/anthropic/claude-sonnet-4-5`)
    expect(status).toBe(200)
    expect(body).toEqual(toPublicPricing(bundledCatalogue().lookup('anthropic', 'claude-sonnet-4-5')!, NOW_MS))
    expect(body.pay_as_you_go.request_token).toEqual({price: 0.0003})
  })

  test('are found though the id of the model holds slashes and colons, written out or encoded', async () => {
    const price = {pay_as_you_go: {request_token: {price: 0.25}, response_token: {price: 0.5}}}
    for (const model of ['house/model:1', 'house%2Fmodel%3A1', 'House/Model:1', 'my-lab%2fhouse/model:1']) {
      expect((await get(`/v1/model-configs/pricing/my-lab/${model}`)).body).toMatchObject(price)
    }
    const {provider, model} = bundledCatalogue()
      .list()
      .find(each => each.provider === 'openrouter' && each.model.includes('/'))!
    const written = await get(`/model-configs/pricing/${provider}/${model}`)
    expect(written.status).toBe(200)
    expect((await get(`/model-configs/pricing/${provider}/${encodeURIComponent(model)}`)).body).toEqual(written.body)
  })

  test('are the operator’s own where a local file names the model, and know the other names of a provider', async () => {
    expect((await get('/v1/model-configs/pricing/openai/gpt-4o')).body.pay_as_you_go.request_token).toEqual({
      price: 0.5,
    })
    expect((await get('/v1/model-configs/pricing/open-ai/gpt-4o')).body.pay_as_you_go.response_token).toEqual({
      price: 1,
    })
  })

  test('of a model that is not known answer 404 in the reference’s words', async () => {
    for (const path of ['openai/no-such-model', 'nobody/gpt-4o', '..%2F..%2Fetc/passwd', 'openai/%00']) {
      for (const root of ROOTS) {
        const {status, body} = await get(`${root}/pricing/${path}`)
        expect([status, body]).toEqual([404, {error: 'Model not found'}])
      }
    }
    expect((await get('/v1/model-configs/pricing/openai/')).body).toEqual(
      refusal('AB01', 'path parameter model: must have at least 1 character.'),
    )
    expect((await get(`/v1/model-configs/pricing/openai/${'m/'.repeat(200)}`)).status).toBe(400)
  })

  test('are all listed, each as it is charged, whatever they are', async () => {
    const rows: {provider: string; model: string; source: string}[] = []
    for (let current_page = 0; ; current_page++) {
      const {status, body} = await get(`/v1/model-configs/pricing?page_size=1000&current_page=${current_page}`)
      expect([status, body.object]).toEqual([200, 'list'])
      rows.push(...body.data)
      if (rows.length === body.total) break
    }
    expect(rows).toHaveLength(bundledCatalogue().list().length + 1)
    expect(new Set(rows.map(row => `${row.provider} ${row.model}`)).size).toBe(rows.length)
    expect(rows.filter(row => row.source === 'local').map(row => row.model)).toEqual(['house/model:1', 'gpt-4o'])
  })

  test('are found by provider and by a part of the name or of an alias', async () => {
    const {body} = await get('/model-configs/pricing?provider=my-lab')
    expect(body.data).toEqual([
      {
        provider: 'my-lab',
        model: 'house/model:1',
        aliases: [],
        source: 'local',
        currency: 'USD',
        pay_as_you_go: {
          request_token: {price: 0.25},
          response_token: {price: 0.5},
          cache_write_input_token: {price: 0.25},
          cache_read_input_token: {price: 0.25},
        },
        tiers: [],
        object: 'model-price',
      },
    ])
    const aliased = bundledCatalogue()
      .list()
      .find(({aliases}) => aliases.length)!
    const asked = `provider=${aliased.provider}&search=${encodeURIComponent(aliased.aliases[0]!.toUpperCase())}`
    const models = (await get(`/v1/model-configs/pricing?${asked}`)).body.data.map((row: {model: string}) => row.model)
    expect(models).toContain(aliased.model)
    expect((await get('/v1/model-configs/pricing?provider=openai&search=no-such-model')).body).toEqual({
      object: 'list',
      total: 0,
      data: [],
    })
  })

  test('of longer prompts are listed as tiers', async () => {
    const tiered = bundledCatalogue()
      .list()
      .find(({periods}) => periods[0]!.tiers?.length)!
    const {body} = await get(
      `/v1/model-configs/pricing?provider=${tiered.provider}&search=${encodeURIComponent(tiered.model)}`,
    )
    const row = body.data.find((each: {model: string}) => each.model === tiered.model)
    expect(row.tiers.map((tier: {above: number}) => tier.above)).toEqual(
      tiered.periods[0]!.tiers!.map(({above}) => above),
    )
    expect(row.tiers[0].pay_as_you_go.request_token.price).toBe(tiered.periods[0]!.tiers![0]!.rates.input! / 1e10)
  })

  test('say nothing of a tenant', async () => {
    const text = (await get('/v1/model-configs/pricing?page_size=1000')).text
    for (const secret of [admin.organisation_id, admin.workspace_id, admin.workspace_slug])
      expect(text).not.toContain(secret)
  })
})

describe.each(KINDS)('models without a price on %s', kind => {
  let admin: Admin
  beforeAll(async () => {
    admin = await startAdmin({kind})
    const here = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const red = await admin.seedWorkspace(admin.organisation_id, {slug: 'red'})
    const {db} = admin.store
    await insertHour(db, {...here, hour: '2026-03-04T04:00:00.000Z', model: 'new-model', unpriced: 3})
    await insertHour(db, {...here, hour: '2026-03-01T04:00:00.000Z', model: '', provider: 'groq', unpriced: 1})
    await insertHour(db, {...here, hour: '2026-03-01T04:00:00.000Z', model: 'gpt-4o', unpriced: 2})
    await insertHour(db, {...here, hour: '2026-01-01T00:00:00.000Z', model: 'past', unpriced: 9})
    const unit = {
      ...here,
      api_key_id: 'key-1',
      provider: 'openai',
      model: 'gpt-4o',
      model_key: 'gpt-4o',
      hour: '2026-03-01T04:00:00.000Z',
    }
    await db
      .insertInto('traffic.unpriced_hourly')
      .values([
        {...unit, unit: 'web_search', requests: 1},
        {...unit, unit: 'maps', requests: 2},
        {...unit, unit: 'pages', requests: 9, hour: '2026-01-01T00:00:00.000Z'},
        {...unit, unit: 'pages', requests: 9, provider: 'groq'},
      ])
      .execute()
    await insertHour(db, {
      ...here,
      workspace_id: red.id,
      hour: '2026-03-04T05:00:00.000Z',
      model: 'new-model',
      unpriced: 4,
    })
    const other = await admin.foreign()
    await insertHour(db, {
      organisation_id: other.organisation_id,
      workspace_id: other.workspace.id,
      hour: '2026-03-04T05:00:00.000Z',
      unpriced: 5,
    })
  })
  afterAll(() => admin.close())

  const summary = async (query = '', as = admin.asAdmin) => {
    const {body} = await as('GET', `/v1/model-configs/unpriced${query}`)
    return body.data.map(({provider, model, requests}: Record<string, unknown>) => `${provider} ${model} ${requests}`)
  }

  test('are those that were called lately, the most used first', async () => {
    const {body} = await admin.asWorkspace('GET', '/v1/model-configs/unpriced')
    const object = 'unpriced-model'
    const set = 'gateway pricing set'
    const last_seen = '2026-03-01T04:00:00.000Z'
    const unit = (name: string, requests: number) => ({kind: 'unit', name, requests})
    expect(body).toEqual({
      object: 'list',
      total: 4,
      data: [
        {
          ...{
            provider: 'openai',
            model: 'new-model',
            requests: 3,
            units: [],
            parts: [],
            last_seen: '2026-03-04T04:00:00.000Z',
          },
          ...{command: `${set} new-model --provider openai --input USD --output USD`, priced_now: false, object},
        },
        {
          ...{
            provider: 'openai',
            model: 'gpt-4o',
            requests: 2,
            units: ['maps', 'web_search'],
            last_seen,
            priced_now: false,
            object,
          },
          parts: [unit('maps', 2), unit('web_search', 1)],
          command: `${set} gpt-4o --provider openai --unit maps=USD --unit web_search=USD`,
        },
        {
          provider: 'groq',
          model: null,
          requests: 1,
          units: [],
          parts: [],
          command: null,
          last_seen,
          priced_now: false,
          object,
        },
        {
          ...{provider: 'groq', model: 'gpt-4o', requests: 9, units: ['pages'], last_seen, priced_now: false, object},
          parts: [unit('pages', 9)],
          command: `${set} gpt-4o --provider groq --unit pages=USD`,
        },
      ],
    })
  })

  test('are of the workspace, or of the whole organisation for an admin key', async () => {
    expect((await summary())[0]).toBe('openai new-model 7')
    expect(await summary('?workspace_id=red')).toEqual(['openai new-model 4'])
    expect(await summary('?days=1', admin.asWorkspace)).toEqual(['openai new-model 3'])
    expect(await summary('?days=365')).toContain('openai past 9')
    expect((await admin.asWorkspace('GET', '/v1/model-configs/unpriced?workspace_id=red')).status).toBe(404)
  })

  test('are for keys that may list the log, under /v1 alone', async () => {
    const {key} = await admin.seedKey(admin, {scopes: ['completions.write']})
    expect((await admin.send(key, 'GET', '/v1/model-configs/unpriced')).status).toBe(403)
    expect((await admin.send(undefined, 'GET', '/v1/model-configs/unpriced')).status).toBe(401)
    expect((await admin.asAdmin('GET', '/model-configs/unpriced')).status).toBe(404)
    expect((await admin.asAdmin('GET', '/v1/model-configs/unpriced?days=0')).body).toEqual(
      refusal('AB01', 'query parameter days: must be at least 1.'),
    )
  })
})
