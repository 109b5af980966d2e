import {afterAll, expect, test} from 'vitest'
import {SamlProviders} from '../../../src/identity/saml/providers.ts'
import {verifiedByProvider} from '../../../src/identity/saml/rollover.ts'
import {SAML_DEFAULTS} from '../../../src/schema/connections.ts'
import {encoded, metadataXml, sharedKey, startSamlIdp} from './idp.ts'
import {makeCertifiedKey} from './keys.ts'
import {ACS, AUDIENCE, NOW_MS, REQUEST, REQUEST_ID} from './sign-in.ts'

const INTERVAL_MS = 30_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const NEXT = makeCertifiedKey('ec')
const started = await startSamlIdp({now_ms: () => NOW_MS})
afterAll(() => started.close())

function opened(random = 0.5) {
  let now_ms = 1_000_000
  const address = {
    url: started.metadata_url,
    asked: 0,
    is_silent: false,
    text: undefined as string | undefined,
    held: undefined as (() => void)[] | undefined,
  }
  const warnings: string[] = []
  const providers = new SamlProviders({
    async fetch(url) {
      address.asked++
      if (address.held) await new Promise<void>(resolve => address.held!.push(resolve))
      if (address.is_silent) throw new Error('no answer')
      return {text: address.text ?? (await (await fetch(url, {redirect: 'error'})).text())}
    },
    steady_ms: () => now_ms,
    now_ms: () => NOW_MS + now_ms - 1_000_000,
    refetch_min_interval_ms: INTERVAL_MS,
    random: () => random,
    log: {warn: (_: object, text: string) => void warnings.push(text)} as never,
  })
  const settings = {...SAML_DEFAULTS, metadata_url: address.url}
  return {
    ...{address, warnings, providers, settings},
    pass: (ms: number) => {
      now_ms += ms
    },
    found: () => providers.providerOf(settings),
  }
}

test('sign-ins that come at once wait for one read', async () => {
  const {address, found} = opened()
  address.held = []
  const all = Array.from({length: 20}, () => found())
  await Promise.resolve()
  address.held.forEach(resolve => void resolve())
  expect(new Set((await Promise.all(all)).map(({entity_id}) => entity_id))).toEqual(new Set([started.idp.entity_id]))
  expect(address.asked).toBe(1)
})

test.each([
  ['6 hours', '', 0.5, 6 * HOUR_MS],
  ['a tenth less', '', 0, 5.4 * HOUR_MS],
  ['a tenth more', '', 1, 6.6 * HOUR_MS],
  ['its cacheDuration', ' cacheDuration="PT1H"', 0.5, HOUR_MS],
  ['a minute where that is less', ' cacheDuration="PT1S"', 0.5, 60_000],
  ['no more than 6 hours', ' cacheDuration="P30D"', 0.5, 6 * HOUR_MS],
])('metadata is read again after %s', async (_, head, random, fresh_ms) => {
  const {address, found, pass} = opened(random)
  address.text = metadataXml('https://a', 'https://a/sso', [sharedKey().certificate], {head})
  await found()
  pass(fresh_ms - 1)
  await found()
  expect(address.asked).toBe(1)
  pass(1)
  await found()
  expect(address.asked).toBe(2)
})

test('metadata that is over is read again at once, and refused where it stays so', async () => {
  const {address, found, pass} = opened()
  const head = ` validUntil="${new Date(NOW_MS + HOUR_MS).toISOString()}"`
  address.text = metadataXml('https://a', 'https://a/sso', [sharedKey().certificate], {head})
  await found()
  pass(HOUR_MS)
  await expect(found()).rejects.toMatchObject({reason: 'provider_invalid'})
  expect(address.asked).toBe(2)
  address.text = metadataXml('https://a', 'https://a/sso', [sharedKey().certificate])
  pass(INTERVAL_MS)
  expect(await found()).toMatchObject({entity_id: 'https://a', valid_until: null})
})

test('an address that falls silent: its metadata is used for 7 days, and it is said', async () => {
  const {address, warnings, found, pass} = opened()
  await found()
  address.is_silent = true
  pass(7 * DAY_MS - 1)
  expect(await found()).toMatchObject({entity_id: started.idp.entity_id})
  expect(warnings).toEqual(['the metadata of a SAML provider could not be read; that before stays'])
  pass(INTERVAL_MS)
  await expect(found()).rejects.toMatchObject({reason: 'provider_unreachable', status: 503})
})

test('one that never answered is asked once in an interval, and each sign-in is refused at once', async () => {
  const {address, found, pass} = opened()
  address.is_silent = true
  for (let call = 0; call < 5; call++) await expect(found()).rejects.toMatchObject({reason: 'provider_unreachable'})
  expect(address.asked).toBe(1)
  address.is_silent = false
  pass(INTERVAL_MS)
  expect(await found()).toMatchObject({entity_id: started.idp.entity_id})
})

test('another entity at the address does not take the place of the one before', async () => {
  const {address, warnings, found, pass} = opened()
  await found()
  address.text = metadataXml('https://evil.example.test', 'https://evil.example.test/sso', [NEXT.certificate])
  pass(6 * HOUR_MS)
  expect(await found()).toMatchObject({entity_id: started.idp.entity_id})
  expect(warnings).toHaveLength(1)
})

test.each([
  ['an address without TLS', {metadata_url: 'http://idp.example.test/metadata'}, 'provider_invalid'],
  ['a file', {metadata_url: 'file:///etc/passwd'}, 'provider_invalid'],
  ['nothing', {metadata_url: null}, 'not_configured'],
])('%s is not asked', async (_, place, reason) => {
  const {address, providers, settings} = opened()
  await expect(providers.providerOf({...settings, ...place})).rejects.toMatchObject({reason})
  expect(address.asked).toBe(0)
})

test('more than 1 MiB is no metadata', async () => {
  const {address, found} = opened()
  address.text = `${started.idp.metadata}${' '.repeat(1_048_576)}`
  await expect(found()).rejects.toMatchObject({reason: 'provider_invalid'})
})

test('metadata in the settings needs no address, and is over when it says so', async () => {
  const {address, providers, settings, pass} = opened()
  const head = ` validUntil="${new Date(NOW_MS + HOUR_MS).toISOString()}"`
  const metadata_xml = metadataXml('https://a', 'https://a/sso', [NEXT.certificate], {head})
  const inline = {...settings, metadata_xml}
  expect(await providers.providerOf(inline)).toMatchObject({entity_id: 'https://a'})
  expect(await providers.providerOf(inline)).toBe(await providers.providerOf(inline))
  expect(await providers.changedProviderOf(inline, await providers.providerOf(inline))).toBeUndefined()
  pass(HOUR_MS)
  await expect(providers.providerOf(inline)).rejects.toMatchObject({reason: 'provider_invalid'})
  expect(address.asked).toBe(0)
})

test('of 1000 addresses each is known, and one more forgets the oldest', async () => {
  const {address, providers, settings} = opened()
  address.text = metadataXml('https://a', 'https://a/sso', [NEXT.certificate])
  const of = (at: number) => providers.providerOf({...settings, metadata_url: `https://${at}.example.test/`})
  for (let at = 0; at < 1000; at++) await of(at)
  await of(0)
  expect(address.asked).toBe(1000)
  await of(1000)
  await of(0)
  expect(address.asked).toBe(1001)
  await of(1)
  expect(address.asked).toBe(1002)
})

test(
  '82: a new certificate works one interval after it appears; foreign signatures cost one ' + 'read an interval',
  async () => {
    const {address, providers, settings, pass} = opened()
    const {idp} = started
    const signed = (key = idp.key) =>
      idp.respond(REQUEST, {signing: {key, algorithm: `${MORE}${key === NEXT ? 'ecdsa-sha384' : 'rsa-sha256'}`}})
    const judged = async (xml: string) =>
      await verifiedByProvider(providers, {
        ...{saml_response: encoded(xml), settings, recipients: [ACS], audiences: [AUDIENCE], now_ms: NOW_MS},
        ...{expected_request_id: (id: string) => id === REQUEST_ID, decryption_key: null},
      })
    expect(await judged(await signed())).toMatchObject({issuer: idp.entity_id})
    const rolled = await signed(NEXT)
    for (let each = 0; each < 5; each++)
      await expect(judged(rolled)).rejects.toMatchObject({reason: 'document_signature'})
    expect(address.asked).toBe(1)
    address.text = metadataXml(idp.entity_id, idp.sso_url, [idp.key.certificate, NEXT.certificate])
    pass(INTERVAL_MS)
    expect(await judged(rolled)).toMatchObject({issuer: idp.entity_id})
    expect(address.asked).toBe(2)
    expect(await judged(await signed())).toMatchObject({issuer: idp.entity_id})
    address.text = metadataXml(idp.entity_id, idp.sso_url, [NEXT.certificate])
    pass(6 * HOUR_MS)
    await expect(judged(await signed())).rejects.toMatchObject({reason: 'document_signature'})
  },
)

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
