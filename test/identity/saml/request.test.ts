import {createVerify} from 'node:crypto'
import {expect, test} from 'vitest'
import {beginUrl, makeRequestId} from '../../../src/identity/saml/request.ts'
import {readRequest, sharedKey} from './idp.ts'
import {makeCertifiedKey} from './keys.ts'
import {ACS, AUDIENCE, REQUEST_ID} from './sign-in.ts'

const SSO = 'https://idp.example.test/sso?tenant=a&b="c"'
const ASK = {
  ...{id: REQUEST_ID, acs_url: `${ACS}?x=1&y=2`, entity_id: AUDIENCE, relay_state: 'a+b/c='},
  ...{issued_at: '2026-11-27T12:00:00Z', sign_with: null},
}
const PLAIN = {name_id_format: null, sign_requests: false}

test('a request names its id, the provider, the consumer and the gateway, and no format', () => {
  const url = beginUrl({sso_url: SSO}, PLAIN, ASK)
  expect(url).toMatch(/^https:\/\/idp\.example\.test\/sso\?tenant=a&b="c"&SAMLRequest=[\w%]+&RelayState=a%2Bb%2Fc%3D$/)
  const {xml, ...read} = readRequest(url)
  expect(read).toEqual({id: REQUEST_ID, acs_url: ASK.acs_url, entity_id: AUDIENCE, relay_state: 'a+b/c='})
  expect(xml).toContain('Destination="https://idp.example.test/sso?tenant=a&amp;b=&quot;c&quot;"')
  expect(xml).toContain('ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"')
  expect(xml).toContain('ForceAuthn="false"')
  expect(xml).toContain('IssueInstant="2026-11-27T12:00:00Z"')
  expect(xml).not.toContain('NameIDPolicy')
})

test('a request asks for the format of the connection', () => {
  const settings = {...PLAIN, name_id_format: 'urn:x"&'}
  const {xml} = readRequest(beginUrl({sso_url: 'https://idp.example.test/sso'}, settings, ASK))
  expect(xml).toContain('<samlp:NameIDPolicy Format="urn:x&quot;&amp;" AllowCreate="true"/>')
})

test.each([
  ['rsa', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'],
  ['ec', 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256'],
] as const)('the query is signed by a key of %s', (kind, algorithm) => {
  const key = kind === 'rsa' ? sharedKey() : makeCertifiedKey('ec')
  const ask = {...ASK, sign_with: key.private_key}
  const url = new URL(beginUrl({sso_url: 'https://idp.example.test/sso'}, {...PLAIN, sign_requests: true}, ask))
  const [signed, signature] = url.search.slice(1).split('&Signature=')
  expect(url.searchParams.get('SigAlg')).toBe(algorithm)
  const isSigned = (text: string) =>
    createVerify('sha256')
      .update(text)
      .verify({key: key.public_key, dsaEncoding: 'ieee-p1363'}, decodeURIComponent(signature!), 'base64')
  expect([isSigned(signed!), isSigned(signed!.replace('a%2Bb', 'a%2Bc'))]).toEqual([true, false])
  expect(signed).toMatch(/^SAMLRequest=[^&]+&RelayState=[^&]+&SigAlg=[^&]+$/)
})

test('a connection that signs its requests needs a key', () => {
  expect(() => beginUrl({sso_url: SSO}, {...PLAIN, sign_requests: true}, ASK)).toThrow(
    expect.objectContaining({reason: 'not_configured'}),
  )
})

test('an id is 32 hex digits after a letter of XML', () => {
  expect(makeRequestId('0123456789abcdef0123456789abcdef')).toBe(REQUEST_ID)
  expect(() => makeRequestId('"><x')).toThrow(RangeError)
})
