import {expect, test} from 'vitest'
import {readMetadata} from '../../../src/identity/saml/metadata.ts'
import {ownMetadata} from '../../../src/identity/saml/own-metadata.ts'
import {SAML} from './documents.ts'
import {metadataXml, sharedKey} from './idp.ts'
import {makeCertifiedKey} from './keys.ts'
import {ACS, AUDIENCE, NOW_MS} from './sign-in.ts'

const ENTITY = 'https://idp.example.test/saml'
const SSO = 'https://idp.example.test/sso'
const RSA = sharedKey()
const EC = makeCertifiedKey('ec')
const WEAK = makeCertifiedKey('weak')
const of = (lies: Parameters<typeof metadataXml>[3] = {}, certificates = [RSA.certificate]) =>
  metadataXml(ENTITY, SSO, certificates, lies)

test('a provider is its entity, its address and all of its signing keys', async () => {
  const head = ' validUntil="2026-12-01T00:00:00Z" cacheDuration="PT1H30M"'
  const provider = await readMetadata(of({head}, [RSA.certificate, EC.certificate, RSA.certificate]), null, NOW_MS)
  expect(provider).toMatchObject({
    ...{entity_id: ENTITY, sso_url: SSO, valid_until: '2026-12-01T00:00:00.000Z', cache_duration_s: 5400},
  })
  expect(provider.certificates.map(key => key.asymmetricKeyType)).toEqual(['rsa', 'ec'])
  expect(provider.certificate_ends.every(end => Date.parse(end) > NOW_MS)).toBe(true)
  expect(provider.certificate_ends).toHaveLength(2)
})

test('82: a key without a use signs as well', async () => {
  expect((await readMetadata(of({use: ''}), null, NOW_MS)).certificates).toHaveLength(1)
})

test.each<[string, string, string?]>([
  ['82: no signing key', of({}, [])],
  ['82: a key for encryption alone', of({use: ' use="encryption"'})],
  ['82: a certificate that is none', of({}, ['AAAA'])],
  ['a key of 1024 bits', of({}, [WEAK.certificate])],
  ['no address for redirects', of({binding: 'HTTP-POST'})],
  ['an address without TLS', metadataXml(ENTITY, 'http://idp.example.test/sso', [RSA.certificate])],
  ['an address that is a script', metadataXml(ENTITY, 'javascript:alert(1)', [RSA.certificate])],
  ['another entity', of(), 'https://other.example.test'],
  ['no entity', metadataXml('', SSO, [RSA.certificate])],
  ['metadata that is over', of({head: ' validUntil="2026-11-27T12:00:00Z"'})],
  ['a time that is none', of({head: ' validUntil="soon"'})],
  ['a DTD', `<!DOCTYPE x>${of().replace(/<\?.*\?>/, '')}`],
  ['another document', '<html/>'],
  ['no XML', 'hello'],
  ['two providers, of which none is named', federation(of(), metadataXml('https://b', SSO, [RSA.certificate]))],
  ['a group that is over', federation(of()).replace('<md:EntitiesDescriptor', '$& validUntil="2020-01-01T00:00:00Z"')],
  [
    'a service provider',
    ownMetadata({
      ...{entity_id: AUDIENCE, acs_urls: [ACS], certificate_pem: RSA.certificate_pem},
      ...{want_assertions_signed: true, authn_requests_signed: false},
    }),
  ],
])('%s is refused', async (_, xml, entity_id) => {
  await expect(readMetadata(xml, entity_id ?? null, NOW_MS)).rejects.toMatchObject({reason: 'provider_invalid'})
})

test('of a federation the entity is chosen by its id alone, and its shortest times count', async () => {
  const foreign = metadataXml('https://b.example.test', 'https://b.example.test/sso', [EC.certificate])
  const xml = federation(of({head: ' cacheDuration="P1D"'}), foreign)
    .replace('<md:EntitiesDescriptor', '$& validUntil="2027-01-01T00:00:00Z" cacheDuration="PT6H"')
    .replace('</md:EntitiesDescriptor>', '<!-- made by hand -->$&')
  expect(await readMetadata(xml, ENTITY, NOW_MS)).toMatchObject({
    ...{sso_url: SSO, valid_until: '2027-01-01T00:00:00.000Z', cache_duration_s: 21_600},
  })
  const {certificates} = await readMetadata(xml, 'https://b.example.test', NOW_MS)
  expect(certificates.map(key => key.asymmetricKeyType)).toEqual(['ec'])
})

function federation(...entities: readonly string[]): string {
  const inner = entities.map(entity => entity.replace(/<\?.*?\?>/, '')).join('\n')
  return `<md:EntitiesDescriptor xmlns:md="${SAML}:metadata">${inner}</md:EntitiesDescriptor>`
}

test('our metadata has the consumer, the keys, and no logout', () => {
  const xml = ownMetadata({
    ...{entity_id: 'https://x/?a=1&b="2"', acs_urls: [ACS, `${ACS}2`], certificate_pem: RSA.certificate_pem},
    ...{want_assertions_signed: true, authn_requests_signed: true},
  })
  expect(xml).toContain('entityID="https://x/?a=1&amp;b=&quot;2&quot;"')
  expect(xml).toContain(
    `<md:KeyDescriptor use="encryption"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${RSA.certificate}<`,
  )
  expect(xml).toContain(`HTTP-POST" Location="${ACS}" index="0" isDefault="true"/>`)
  expect(xml).toContain(`HTTP-POST" Location="${ACS}2" index="1"/>`)
  expect(xml).not.toMatch(/Logout|PRIVATE/)
  const bare = ownMetadata({
    ...{entity_id: AUDIENCE, acs_urls: [ACS], certificate_pem: null},
    ...{want_assertions_signed: false, authn_requests_signed: false},
  })
  expect(bare).not.toContain('KeyDescriptor')
})
