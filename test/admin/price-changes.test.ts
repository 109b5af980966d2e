import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeBundleKeys, writeBundle} from '../../src/base/bundle.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const NOW = '2026-03-04T05:06:07.000Z'
const keys = makeBundleKeys()
const others = makeBundleKeys()
const priced = (cents: number) => ({
  pricing_config: {pay_as_you_go: {request_token: {price: cents}, response_token: {price: cents * 2}}},
})
const list = (providers: object) => ({format: 'gateway-prices/1', providers})
const bundled = (serial: number, providers: object, key = keys.private_key, kind = 'prices') =>
  JSON.parse(writeBundle({serial, created_at: NOW, note: '', contents: [{kind, content: list(providers)}]}, key).text)

for (const kind of KINDS) {
  describe(`prices that are installed on ${kind}`, () => {
    let admin: Admin
    beforeAll(async () => {
      admin = await startAdmin({kind})
    })
    afterAll(() => admin.close())

    const inputOf = async (model: string, provider = 'openai') =>
      (await admin.send(undefined, 'GET', `/v1/model-configs/pricing/${provider}/${model}`)).body.pay_as_you_go
        ?.request_token.price
    const sync = (providers: object, more = {}) =>
      admin.asAdmin('POST', '/v1/model-configs/pricing', {prices: list(providers), ...more})
    const rollback = (body = {}) => admin.asAdmin('POST', '/v1/model-configs/rollback', body)
    const clean = () => rollback({to_revision: 0})

    test('stand over the catalogue from now on, or from a later moment, and can be withdrawn', async () => {
      admin.at(NOW)
      const {status, body} = await sync(
        {openai: {'gpt-4o': priced(0.5), 'a-new-one': priced(0.25)}},
        {origin: 'a test'},
      )
      expect(status).toBe(200)
      expect(body).toMatchObject({revision: 1, total: 2, added: 1, changed: 1, removed: 0, effective_at: NOW})
      expect(body.changes[0]).toMatchObject({
        provider: 'openai',
        model: 'gpt-4o',
        change: 'changed',
        before: {pay_as_you_go: {request_token: {price: 0.00025}}},
        after: {pay_as_you_go: {request_token: {price: 0.5}}},
      })
      expect([await inputOf('gpt-4o'), await inputOf('gpt-4o-2024-08-06'), await inputOf('a-new-one')]).toEqual([
        0.5, 0.5, 0.25,
      ])

      await sync({openai: {'gpt-4o': priced(0.75), 'a-new-one': priced(0.25)}}, {effective_at: '2026-03-05T00:00:00Z'})
      expect(await inputOf('gpt-4o')).toBe(0.5)
      admin.at('2026-03-05T00:00:00.000Z')
      expect(await inputOf('gpt-4o')).toBe(0.75)
      expect((await rollback()).body.withdrawn).toMatchObject([{revision: 2, withdrawn_at: '2026-03-05T00:00:00.000Z'}])
      expect(await inputOf('gpt-4o')).toBe(0.5)
      await clean()
      expect([await inputOf('gpt-4o'), await inputOf('a-new-one')]).toEqual([0.00025, undefined])
      expect(admin.published).toContain('prices')
    })

    test('take away what their providers had before and do not name any more, of no other provider', async () => {
      await sync({openai: {one: priced(1), two: priced(2)}, groq: {three: priced(3)}})
      const {body} = await sync({openai: {one: priced(1)}})
      expect(body).toMatchObject({
        added: 0,
        changed: 0,
        removed: 1,
        changes: [{model: 'two', change: 'removed', after: null}],
      })
      expect([await inputOf('one'), await inputOf('two'), await inputOf('three', 'groq')]).toEqual([1, undefined, 3])
      await rollback()
      expect(await inputOf('two')).toBe(2)
      await clean()
    })

    test('that change nothing are no revision', async () => {
      await sync({openai: {one: priced(1)}})
      const before = (await admin.asAdmin('GET', '/v1/model-configs/revisions')).body.total
      expect((await sync({openai: {one: priced(1)}})).body).toMatchObject({
        revision: null,
        added: 0,
        changed: 0,
        removed: 0,
      })
      expect((await admin.asAdmin('GET', '/v1/model-configs/revisions')).body.total).toBe(before)
      await clean()
    })

    test('are compared before they are installed, which installs nothing', async () => {
      const {status, body} = await admin.asAdmin('POST', '/v1/model-configs/pricing/diff', {
        prices: list({openai: {'gpt-4o': priced(0.5)}}),
      })
      expect([status, body.changed, body.object]).toEqual([200, 1, 'price-diff'])
      expect(await inputOf('gpt-4o')).toBe(0.00025)
    })

    test('may be those of one model, above all others, and be taken away again', async () => {
      const path = '/v1/model-configs/pricing/open-ai/house/model:1'
      expect((await admin.asAdmin('PUT', path, priced(0.125))).body).toMatchObject({added: 1})
      await sync({openai: {'house/model:1': priced(0.5)}})
      expect(await inputOf('house/model:1')).toBe(0.125)
      expect((await admin.asAdmin('DELETE', path)).body).toMatchObject({removed: 1})
      expect(await inputOf('house/model:1')).toBe(0.5)
      await clean()
      expect((await admin.asAdmin('PUT', '/v1/model-configs/pricing/opnai/m', priced(1))).body).toEqual(
        refusal('AB01', 'provider: no kind of provider is called so; did you mean openai?'),
      )
    })

    test('are written whole or not at all: a mistake anywhere names its field and installs nothing', async () => {
      const rows = Object.fromEntries(Array.from({length: 500}, (_, at) => [`m${at}`, priced(1)]))
      const {status, body} = await sync({groq: rows, openai: {...rows, bad: priced(-1)}})
      expect([status, body.data.message]).toEqual([
        400,
        expect.stringContaining('prices.providers.openai.bad.pricing_config.pay_as_you_go.request_token.price: '),
      ])
      expect(await inputOf('m1', 'groq')).toBeUndefined()
    })

    test.each<[string, object, string]>([
      ['the past', {effective_at: '2026-01-01T00:00:00Z'}, 'effective_at: is in the past'],
      ['no time', {effective_at: 'soon'}, 'effective_at'],
      ['another format', {prices: {...list({}), format: 'x'}}, 'prices.format'],
      ['a provider that is no slug', {prices: list({'../x': {}})}, 'prices.providers'],
      ['a model with a line end', {prices: list({openai: {'a\nb': priced(1)}})}, 'prices.providers.openai'],
      [
        'a row of the catalogue with a mistake',
        {prices: list({openai: {m: {rates: {input: 0.5}}}})},
        'prices.providers.openai.m',
      ],
      ['an unknown key', {because: 1}, 'because'],
    ])('are refused: %s', async (_, more, message) => {
      const {status, body} = await sync({}, more)
      expect([status, body.data.message]).toEqual([400, expect.stringContaining(message)])
    })

    test('with tiers, dates, hours and names, as the catalogue has them', async () => {
      const row = {
        source: 'x',
        aliases: ['long-alias'],
        periods: [
          {rates: {input: 1e6}, tiers: [{above: 10, rates: {input: 2e6}}], units: {audio_seconds: [36e10, 3600]}},
          {from: '2030-01-01', hours: [0, 60], rates: {input: 5e6}, batch: {rates: {input: 1}}},
        ],
      }
      expect((await sync({openai: {long: row}})).status).toBe(200)
      const [shown] = (
        await admin.send(undefined, 'GET', '/v1/model-configs/pricing?provider=openai&search=long-alias')
      ).body.data
      expect(shown).toMatchObject({
        model: 'long',
        source: 'sync',
        tiers: [{above: 10, pay_as_you_go: {request_token: {price: 0.0002}}}],
      })
      expect(await inputOf('long-alias')).toBe(0.0001)
      await clean()
    })

    test('can be withdrawn back to one that is known, and no further than there is anything', async () => {
      await clean()
      expect(await rollback()).toMatchObject({status: 409, body: {data: {errorCode: 'AB07'}}})
      await sync({openai: {one: priced(1)}})
      expect(await rollback({to_revision: 99_999})).toMatchObject({status: 404})
      expect(await rollback({to_revision: -1})).toMatchObject({status: 400})
      await clean()
    })

    test('are recorded in the audit log, and changed by admins alone', async () => {
      const before = (await admin.auditLog()).length
      await admin.asAdmin('PUT', '/v1/model-configs/pricing/openai/m', priced(1))
      const rows = (await admin.auditLog()).slice(before)
      expect(rows).toMatchObject([{resource_type: 'price', action: 'update'}])
      await clean()
      for (const [method, path, body] of [
        ['POST', '/v1/model-configs/pricing', {prices: list({})}],
        ['POST', '/v1/model-configs/rollback', {}],
        ['PUT', '/v1/model-configs/pricing/openai/m', priced(1)],
        ['DELETE', '/v1/model-configs/pricing/openai/m', undefined],
        ['POST', '/v1/bundles', {bundle: {}}],
        ['GET', '/v1/model-configs/revisions', undefined],
      ] as const) {
        expect((await admin.asWorkspace(method, path, body)).status).toBe(403)
        expect((await admin.send(undefined, method, path, body)).status).toBe(401)
      }
    })
  })

  describe(`signed bundles on ${kind}`, () => {
    let admin: Admin
    beforeAll(async () => {
      admin = await startAdmin({kind})
    })
    afterAll(() => admin.close())

    const apply = (bundle: unknown, more = {}) =>
      admin.asAdmin('POST', '/v1/bundles', {bundle, public_key: keys.public_key, ...more})
    const inputOf = async (model: string) =>
      (await admin.send(undefined, 'GET', `/v1/model-configs/pricing/openai/${model}`)).body.pay_as_you_go
        ?.request_token.price
    const why = async (bundle: unknown, more = {}) => {
      const {status, body} = await apply(bundle, more)
      return [status, body.data?.message]
    }

    test('are checked, installed once, never replaced by an older one, and withdrawn', async () => {
      const first = bundled(10, {openai: {one: priced(1)}})
      expect(
        (await admin.asAdmin('POST', '/v1/bundles/verify', {bundle: first, public_key: keys.public_key})).body,
      ).toMatchObject({
        serial: 10,
        key_id: keys.key_id,
        contents: ['prices'],
        prices: {total: 1, added: 1},
      })
      expect(await inputOf('one')).toBeUndefined()
      expect((await apply(first)).body).toMatchObject({revision: 1, added: 1})
      expect(await why(first)).toEqual([409, expect.stringContaining('serial 10 is installed already')])
      expect((await apply(bundled(20, {openai: {one: priced(2)}}))).body).toMatchObject({changed: 1})
      expect(await why(first)).toEqual([409, expect.stringContaining('its serial 10 is older than 20')])
      expect(await why(bundled(20, {openai: {one: priced(9)}}))).toEqual([
        409,
        expect.stringContaining('with other content'),
      ])
      expect(await inputOf('one')).toBe(2)

      expect((await admin.asAdmin('POST', '/v1/bundles/rollback', {})).body.withdrawn).toMatchObject([{serial: 20}])
      expect(await inputOf('one')).toBe(1)
      expect(await why(first)).toEqual([409, expect.stringContaining('older than 20')])
      expect((await apply(bundled(20, {openai: {one: priced(2)}}))).status).toBe(200)
      expect(await inputOf('one')).toBe(2)
    })

    test('are refused whole when anything is wrong with them', async () => {
      const good = bundled(30, {openai: {one: priced(3)}})
      const payload = Buffer.from(good.payload, 'base64')
      payload[payload.length >> 1]! ^= 1
      expect(await why({...good, payload: payload.toString('base64')})).toEqual([
        400,
        'The bundle is not taken: its signature does not fit its content: it was changed after it was signed, or damaged on the way.',
      ])
      expect(await why({...good, signatures: []})).toEqual([400, 'The bundle is not taken: it is not signed.'])
      expect(await why(list({openai: {one: priced(3)}}))).toEqual([
        400,
        'The bundle is not taken: it is no bundle of the format gateway-bundle/1.',
      ])
      expect(await why(bundled(30, {}, others.private_key))).toEqual([
        400,
        expect.stringContaining(`signed with the key ${others.key_id}, which is not trusted here`),
      ])
      expect(await why(good, {public_key: undefined})).toEqual([400, expect.stringContaining('no key is trusted')])
      expect(await why(bundled(30, {}, keys.private_key, 'pictures'))).toEqual([
        400,
        expect.stringContaining('it holds "pictures", which this version cannot take'),
      ])
      expect(await why(bundled(30, {openai: {one: {}}}))).toEqual([
        400,
        expect.stringContaining('prices.providers.openai.one: expected {"pricing_config"'),
      ])
      expect(await why(bundled(30, {openai: {one: 7}}))).toEqual([400, expect.stringContaining('providers.openai.one')])
      expect(await inputOf('one')).toBe(2)
    })

    test('are not withdrawn from below a later sync', async () => {
      await admin.asAdmin('POST', '/v1/model-configs/pricing', {prices: list({openai: {one: priced(5)}})})
      const {status, body} = await admin.asAdmin('POST', '/v1/bundles/rollback', {})
      expect([status, body.data.message]).toEqual([409, expect.stringContaining('was synced after the bundle')])
    })
  })
}

test('where the settings name keys, a caller brings no other', async () => {
  const admin = await startAdmin({env: {GATEWAY_BUNDLE_PUBLIC_KEY: keys.public_key}})
  const bundle = bundled(1, {openai: {one: priced(1)}})
  const strange = bundled(1, {openai: {one: priced(1)}}, others.private_key)
  const send = async (body: object) => (await admin.asAdmin('POST', '/v1/bundles', body)).status
  expect(await send({bundle: strange, public_key: others.public_key})).toBe(400)
  expect(await send({bundle: strange})).toBe(400)
  expect(await send({bundle})).toBe(200)
  await admin.close()
})

test('no key of one organisation changes the prices of the others', async () => {
  const admin = await startAdmin()
  const {admin: foreign} = await admin.foreign()
  for (const key of [admin.admin_key, foreign.key]) {
    const {status, body} = await admin.send(key, 'POST', '/v1/model-configs/pricing', {
      prices: list({openai: {one: priced(1)}}),
    })
    expect([status, body.data.message]).toEqual([403, expect.stringContaining('Prices hold for every organisation')])
  }
  await admin.close()
})
