import {expect, test} from 'vitest'
import type {SignInReason} from '../../../src/identity/sign-in-fault.ts'
import {SignInFault} from '../../../src/identity/sign-in-fault.ts'
import type {SamlSettings} from '../../../src/schema/connections.ts'
import {ENC, ENC11, encryptedXml} from './documents.ts'
import {type Answer, ENCRYPTING} from './idp.ts'
import {makeCertifiedKey} from './keys.ts'
import {ACS, AUDIENCE, answered, openIdp, REQUEST_ID, reasonOf} from './sign-in.ts'

const idp = openIdp()
const OURS = makeCertifiedKey('rsa', 'gateway.example.test')
const OTHER = makeCertifiedKey('rsa', 'other.example.test')
const KEY = {decryption_key: OURS.private_key}
const FORGED = 'olga@example.test'
const SEALED: SignInReason = 'document_encryption'

const judge = (answer: Answer, settings: Partial<SamlSettings> = {}) =>
  answered(idp, {encrypt: OURS, ...answer}, settings, KEY)

test.each<[string, Answer, Partial<SamlSettings>?]>([
  ['signed inside', {}],
  ['signed inside, the assertion is wanted', {}, {signed: 'assertion'}],
  ['both signed', {sign: 'both'}, {signed: 'both'}],
  ['Response signed, assertion not', {sign: 'response'}],
  ['Response signed, which is wanted', {sign: 'response'}, {signed: 'response'}],
  ['AES-128-GCM', {encrypt: {...OURS, data: `${ENC11}aes128-gcm`}}],
  ['OAEP with SHA-256 and the mask of SHA-1', {encrypt: {...OURS, digest: 'sha256'}}],
  ['OAEP of XML-Enc 1.1', {encrypt: {...OURS, key: `${ENC11}rsa-oaep`, digest: 'sha256', mask: 'sha256'}}],
  ['AES-CBC in a signed Response', {sign: 'response', encrypt: {...OURS, data: `${ENC}aes256-cbc`}}],
  ['AES-128-CBC in a signed Response', {sign: 'both', encrypt: {...OURS, data: `${ENC}aes128-cbc`}}],
])('82, IC23: encrypted, %s: is let in', async (_, answer, settings) => {
  expect((await judge(answer, settings)).statement.email).toBe('mia@example.test')
})

test('the key may be beside the data', async () => {
  const moved = (xml: string) => {
    const key = /<e:EncryptedKey.*<\/e:EncryptedKey>/s.exec(xml)![0]
    const beside = key.replace('<e:EncryptedKey', '<e:EncryptedKey Id="_k" xmlns="http://www.w3.org/2000/09/xmldsig#"')
    return xml
      .replace(key, '<ds:RetrievalMethod xmlns:ds="http://www.w3.org/2000/09/xmldsig#" URI="#_k"/>')
      .replace('</saml:EncryptedAssertion>', `${beside}$&`)
  }
  expect((await judge({changed: moved})).statement.email).toBe('mia@example.test')
})

/** A bit of the last cipher value is turned: that of the data. */
function turned(xml: string): string {
  return xml.replace(
    /(<xenc:CipherValue>|<e:CipherValue>)([^<]{40})(.)([^<]*<\/\w+:CipherValue>(?![\s\S]*CipherValue>))/,
    (_, start, head, letter, tail) => `${start}${head}${letter === 'A' ? 'B' : 'A'}${tail}`,
  )
}

const refused: readonly [string, SignInReason, Answer, Partial<SamlSettings>?][] = [
  ['unsigned inside, unsigned outside', SEALED, {sign: 'none'}],
  ['signed inside by a foreign key', SEALED, {signing: {key: OTHER}}],
  ['for another key', SEALED, {encrypt: OTHER}],
  ['a turned bit', SEALED, {changed: turned}],
  ['the Response signed, the assertion wanted', 'document_signature', {sign: 'response'}, {signed: 'assertion'}],
  ['the assertion signed, the Response wanted', 'document_signature', {}, {signed: 'response'}],
  ['AES-CBC, and the Response unsigned', SEALED, {encrypt: {...OURS, data: `${ENC}aes256-cbc`}}],
  ['RSA 1.5', SEALED, {encrypt: {...OURS, key: `${ENC}rsa-1_5`}}],
  ['RSA 1.5 in a signed Response', SEALED, {sign: 'both', encrypt: {...OURS, key: `${ENC}rsa-1_5`}}],
  ['triple DES in a signed Response', SEALED, {sign: 'both', encrypt: {...OURS, data: `${ENC}tripledes-cbc`}}],
  ['a changed ciphertext of a signed Response', 'document_signature', {sign: 'response', changed: turned}],
  [
    'a comment added inside',
    SEALED,
    {
      ...{name_id: `not-${FORGED}`, attributes: {}},
      changed_assertion: xml => xml.replace(`>not-${FORGED}<`, `>not-<!--x-->${FORGED}<`),
    },
  ],
  [
    'a processing instruction added inside',
    SEALED,
    {
      ...{name_id: `not-${FORGED}`, attributes: {}},
      changed_assertion: xml => xml.replace(`>not-${FORGED}<`, `><?p not-?>${FORGED}<`),
    },
  ],
  ['a changed NameID inside', SEALED, {changed_assertion: xml => xml.replace('>mia@', '>olga@')}],
  ['two assertions inside', SEALED, {changed_assertion: xml => `${xml}${xml}`}],
  ['a Response inside', SEALED, {changed_assertion: xml => `<x>${xml}</x>`}],
  ['a signed Response, and no assertion inside', SEALED, {sign: 'response', changed_assertion: xml => `<x>${xml}</x>`}],
  ['OAEP with SHA-512', SEALED, {encrypt: {...OURS, digest: 'sha512'}}],
  ['the mask of SHA-512', SEALED, {encrypt: {...OURS, key: `${ENC11}rsa-oaep`, digest: 'sha256', mask: 'sha512'}}],
  ['no XML inside', SEALED, {changed_assertion: () => 'hello'}],
  ['a wrong audience inside', 'document_audience', {audiences: ['https://other.example.test']}],
  ['a foreign InResponseTo inside', 'document_request', {in_response_to: '_x', response_in_response_to: null}],
  ['unsolicited inside', 'unsolicited', {in_response_to: null}],
]

test.each(refused)('82, IC23: encrypted, %s: nobody is let in', async (_, reason, answer, settings) => {
  expect(await reasonOf(judge(answer, settings))).toBe(reason)
})

test('82, IC23: two encrypted assertions, or a plain one beside, are refused', async () => {
  const twice = (xml: string) => xml.replace(/<saml:EncryptedAssertion.*<\/saml:EncryptedAssertion>/s, '$&$&')
  expect(await reasonOf(judge({changed: twice}))).toBe('document_content')
  const plain = await idp.respond({id: REQUEST_ID, acs_url: ACS, entity_id: AUDIENCE})
  const assertion = /<saml:Assertion.*<\/saml:Assertion>/s.exec(plain)![0]
  const beside = (xml: string) => xml.replace('</samlp:Response>', `${assertion}$&`)
  expect(await reasonOf(judge({changed: beside}))).toBe('document_content')
})

test('82, IC23: two keys for one text are refused', async () => {
  const two = (xml: string) => xml.replace(/<e:EncryptedKey.*<\/e:EncryptedKey>/s, '$&$&')
  expect(await reasonOf(judge({changed: two}))).toBe('document_encryption')
})

test('82, IC23: a wrong padding, a wrong key and a bad signature inside read the same', async () => {
  const faults = await Promise.all(
    refused
      .filter(([, reason]) => reason === SEALED)
      .map(([, , answer, settings]) => judge(answer, settings).catch((fault: unknown) => fault)),
  )
  const seen = new Set(faults.map(fault => (fault instanceof SignInFault ? `${fault.status} ${fault.detail}` : fault)))
  expect(faults.length).toBeGreaterThan(10)
  expect(seen.size).toBe(1)
})

test('82: without a key of ours nothing encrypted is taken', async () => {
  expect(await reasonOf(answered(idp, {encrypt: OURS}))).toBe('document_encryption')
})

test('the padding of AES-CBC is judged after the signature of the Response alone', async () => {
  // a stranger with our certificate makes any ciphertext that he likes, and signs nothing
  const inner = await encryptedXml('<a/>', {...ENCRYPTING, ...OURS, data: `${ENC}aes128-cbc`})
  const changed = (xml: string) => xml.replace(/<saml:EncryptedAssertion.*<\/saml:EncryptedAssertion>/s, inner)
  expect(await reasonOf(judge({sign: 'none', changed}))).toBe('document_encryption')
})
