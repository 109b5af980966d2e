import {rmSync} from 'node:fs'
import * as samlify from 'samlify'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {type Answer, readRequest} from '../identity/saml/idp.ts'
import {makeCertifiedKey} from '../identity/saml/keys.ts'
import {openSamlify} from '../identity/saml/samlify-idp.ts'
import {startGateway} from '../support/gateway.ts'
import {RING} from '../support/ring.ts'
import {KINDS} from '../support/stores.ts'
import {everyRow} from './people-house.ts'
import {formOf, OF_PROVIDER, openSaml, type SamlHouse} from './saml-house.ts'

const OURS = makeCertifiedKey('rsa', 'gateway.example.test')
const OTHER = makeCertifiedKey()
const KEYS = {SAML_SP_PRIVATE_KEY: OURS.private_pem, SAML_SP_CERT: OURS.certificate_pem}

describe.skipIf(RING === 'own').each(KINDS)('what is kept of SAML, on %s', kind => {
  test(
    '42: a replay is refused after a restart on the same data, and an answer to a sign-in ' + 'before it is taken',
    async () => {
      const house = await openSaml(kind)
      await house.saml({allow_idp_initiated: true})
      const unasked = formOf(
        await house.idp.respond({id: null, acs_url: house.acs_url, entity_id: house.entity_id}, {}),
      )
      const {form, reply} = await house.signIn()
      expect([reply.status, (await house.post(house.acs_url, unasked)).status]).toEqual([303, 303])
      const browser = house.gateway.browser()
      const late = await house.provider.answer(await house.begin(browser), {email: 'late@example.test'})
      const between = house.gateway.browser()
      const handle = (await house.send(await house.provider.answer(await house.begin(between)))).location!
      await house.gateway.app.drain()
      await house.gateway.app.close()
      const again = await startGateway(house.gateway.shared, {folder: house.gateway.folder, now: house.now})
      for (const fields of [{SAMLResponse: form.SAMLResponse, RelayState: form.RelayState}, unasked]) {
        const replayed = await house.post(house.acs_url, fields)
        expect([replayed.status, replayed.location]).toEqual([400, null])
      }
      expect((await browser.go((await house.send(late)).location!)).status).toBe(303)
      expect((await browser.self()).user.email).toBe('late@example.test')
      expect((await between.go(handle)).status).toBe(303)
      await again.close()
      await house.close().catch(() => undefined)
      rmSync(house.gateway.folder, {recursive: true, force: true})
    },
  )

  test(
    '72: SAMLResponse, RelayState, the handle and what the assertion says are in no log, row ' + 'or database',
    async () => {
      const house = await openSaml(kind)
      const canary = 'canary-of-the-assertion-4711'
      const browser = house.gateway.browser()
      const url = await house.begin(browser)
      const form = await house.provider.answer(url, {attributes: {email: 'mia@example.test', secret: canary}})
      const refused = await house.provider.answer(url, {
        ...{sign: 'none', attributes: {email: 'mia@example.test', secret: canary}},
      })
      expect((await house.send(refused)).status).toBe(401)
      const consumed = await house.send(form)
      const handle = /h=(.+)$/.exec(consumed.location!)![1]!
      const secrets = [form.SAMLResponse, refused.SAMLResponse, form.RelayState, handle, canary]
      const login = [...browser.cookies.values()]
      const held = async () => [...(await everyRow(house.gateway)), ...house.gateway.lines].join('\n')
      const expectSecret = async (more: readonly string[]) => {
        const text = await held()
        expect(text.length).toBeGreaterThan(1_000)
        for (const secret of [...secrets, ...login, ...more]) {
          expect(text).not.toContain(secret)
          expect(text).not.toContain(secret.slice(0, 40))
          expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 20))
        }
      }
      await expectSecret([])
      expect((await browser.go(consumed.location!)).status).toBe(303)
      await house.gateway.app.flushed()
      await expectSecret([browser.session!])
      const row = (await everyRow(house.gateway)).find(each => each.startsWith('sign_ins '))!
      expect(row).not.toMatch(/"(?:secrets|result)":"/)
      await house.close()
    },
  )
})

describe('SAML with keys of our own', () => {
  let house: SamlHouse
  beforeAll(async () => {
    house = await openSaml('sqlite', {...KEYS, JWKS_REFETCH_MIN_INTERVAL_MS: '100'})
  })
  afterAll(() => house.close())
  beforeEach(() => house.skip())

  const ENCRYPT = {certificate_pem: OURS.certificate_pem, public_key: OURS.public_key}
  test.each<[string, Answer, number]>([
    ['signed inside', {encrypt: ENCRYPT}, 303],
    ['signed around it', {encrypt: ENCRYPT, sign: 'response'}, 303],
    ['signed in both places', {encrypt: ENCRYPT, sign: 'both'}, 303],
    ['signed nowhere', {encrypt: ENCRYPT, sign: 'none'}, 401],
    ['signed inside by a foreign key', {encrypt: ENCRYPT, signing: {key: OTHER}}, 401],
    ['to another key', {encrypt: {certificate_pem: OTHER.certificate_pem, public_key: OTHER.public_key}}, 401],
  ])('IC23: an encrypted assertion, %s', async (_, answer, status) => {
    const is_in = status === 303
    const {browser, reply} = await house.signIn({email: is_in ? 'mia@example.test' : 'eve@example.test', ...answer})
    expect([reply.status, browser.session !== undefined]).toEqual([status, is_in])
    if (is_in) return
    // one reason for all of them: nobody learns which step failed
    const reason = () => house.gateway.rows('sign_in').then(([row]) => row?.body.reason)
    await expect.poll(reason).toBe('document_encryption')
  })

  test('our metadata is read by another library (samlify), and that signs people in', async () => {
    const today = await openSaml('sqlite', KEYS)
    const place = `/v2/auth/saml/metadata/${today.organisation_id}`
    const {text, headers, status} = await today.gateway.browser().go(place)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/samlmetadata+xml; charset=utf-8'])
    const sp = samlify.ServiceProvider({metadata: text})
    expect(sp.entityMeta.getEntityID()).toBe(today.entity_id)
    expect(sp.entityMeta.getAssertionConsumerService('post')).toBe(today.acs_url)
    expect(sp.entityMeta.isWantAssertionsSigned()).toBe(true)
    expect(sp.entityMeta.isAuthnRequestSigned()).toBe(true)
    expect(text).toContain(OURS.certificate)
    const other = openSamlify(OTHER, text)
    await today.saml({metadata_url: null, metadata_xml: other.metadata, sign_requests: true})
    for (const is_message_signed of [false, true]) {
      const browser = today.gateway.browser()
      const url = await today.begin(browser)
      const {relay_state, acs_url} = readRequest(url)
      const SAMLResponse = await other.answer(url, 'sam@example.test', is_message_signed)
      const consumed = await today.post(acs_url, {SAMLResponse, RelayState: relay_state})
      expect([consumed.status, consumed.text]).toEqual([303, ''])
      expect((await browser.go(consumed.location!)).status).toBe(303)
      expect((await browser.self()).user.email).toBe('sam@example.test')
    }
    expect((await today.gateway.browser().go('/v2/auth/saml/metadata/none')).status).toBe(404)
    await today.close()
  })

  test('82: a new key of the provider is read from its metadata, and the old one is done with', async () => {
    const before = house.idp.key
    expect((await house.signIn()).reply.status).toBe(303)
    house.idp.key = OTHER
    const enter = async () => {
      house.skip()
      return (await house.signIn()).reply.status
    }
    await expect.poll(enter, {timeout: 5_000}).toBe(303)
    house.idp.key = before
    house.provider.served.text = house.idp.metadata.replace(before.certificate, OTHER.certificate)
    expect(await enter()).toBe(401)
    house.provider.served.text = undefined
    await expect.poll(enter, {timeout: 5_000}).toBe(303)
  })

  test.each<[string, () => string, number]>([
    ['without SAMLResponse', () => 'RelayState=x', 400],
    ['with an empty SAMLResponse', () => 'SAMLResponse=', 400],
    ['with SAMLResponse twice', () => 'SAMLResponse=YQ==&SAMLResponse=YQ==', 400],
    ['with RelayState twice', () => 'SAMLResponse=YQ==&RelayState=a&RelayState=b', 400],
    ['of 1 MiB that is no document', () => `SAMLResponse=${'A'.repeat(1_048_576)}`, 401],
    ['of more than 1 MiB', () => `SAMLResponse=${'A'.repeat(1_048_577)}`, 400],
    ['of 1 MiB that is written with three characters for each', () => `SAMLResponse=${'%41'.repeat(1_048_576)}`, 401],
    ['of more than any form has', () => `SAMLResponse=${'A'.repeat(5 << 20)}`, 413],
  ])('a body %s', async (_, made, status) => {
    const reply = await fetch(house.acs_url, {
      method: 'POST',
      redirect: 'manual',
      headers: {'content-type': 'application/x-www-form-urlencoded', ...OF_PROVIDER},
      body: made(),
    })
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([status, []])
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(((await reply.json()) as {success: boolean}).success).toBe(false)
  })

  test('the consumer of an organisation that is not there, or has no connection, says the same', async () => {
    const {id} = await house.gateway.admin<{id: string}>('POST', '/operator/organisations', {name: 'E', slug: 'e'})
    const place = (name: string) => `${house.entity_id}/callback/${name}`
    const {SAMLResponse} = formOf('<x/>')
    const replies = [
      await house.post(place('0e3f2f60-5f0a-4a2c-9a55-000000000000'), {SAMLResponse}),
      await house.post(place(id), {SAMLResponse}),
    ]
    expect(replies.map(({status}) => status)).toEqual([404, 404])
    const pages = replies.map(({text}) => text.replace(/<code>.*?<\/code>/, ''))
    expect(pages[0]).toBe(pages[1])
  })
})
