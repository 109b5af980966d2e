import {execFileSync, spawnSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {readMetadata} from '../../../src/identity/saml/metadata.ts'
import {ownMetadata} from '../../../src/identity/saml/own-metadata.ts'
import {beginUrl} from '../../../src/identity/saml/request.ts'
import {verifiedResponse} from '../../../src/identity/saml/response.ts'
import {SAML_DEFAULTS, type SamlSettings} from '../../../src/schema/connections.ts'
import {DSIG, EXC, MORE, SAML} from './documents.ts'
import {sharedKey} from './idp.ts'
import {makeCertifiedKey} from './keys.ts'
import {openSamlify} from './samlify-idp.ts'
import {ACS, AUDIENCE, judged, openIdp, REQUEST, REQUEST_ID} from './sign-in.ts'

const OURS = makeCertifiedKey('rsa', 'gateway.example.test')

interface Case {
  readonly wants_assertion: boolean
  readonly wants_message: boolean
  readonly is_encrypted: boolean
  readonly signed: SamlSettings['signed']
  readonly expected: string
}

describe('another library in the place of the provider', () => {
  // it signs messages alone where the assertion is not wanted signed
  const cases: readonly (readonly [string, Case])[] = [
    ['39: both signed', {...row(true, true), signed: 'both', expected: 'in'}],
    ['39: assertion only', {...row(true, false), signed: 'either', expected: 'in'}],
    ['40: response only, either', {...row(false, true), signed: 'either', expected: 'in'}],
    ['40: response only, the assertion is wanted', {...row(false, true), signed: 'assertion', expected: 'out'}],
    ['82: encrypted, assertion signed inside', {...row(true, false, true), signed: 'assertion', expected: 'in'}],
    ['82: encrypted, both signed', {...row(true, true, true), signed: 'both', expected: 'in'}],
    ['82: encrypted, response signed', {...row(false, true, true), signed: 'response', expected: 'in'}],
  ]
  test.each(cases)('%s', async (_, {wants_assertion, wants_message, is_encrypted, signed, expected}) => {
    const own = ownMetadata({
      ...{entity_id: AUDIENCE, acs_urls: [ACS], certificate_pem: OURS.certificate_pem},
      ...{want_assertions_signed: wants_assertion, authn_requests_signed: true},
    })
    const samlify = openSamlify(sharedKey(), own, {is_encrypted})
    const provider = await readMetadata(samlify.metadata, null, Date.now())
    const settings = {...SAML_DEFAULTS, signed, sign_requests: true}
    const url = beginUrl(provider, settings, {
      ...{id: REQUEST_ID, acs_url: ACS, entity_id: AUDIENCE, relay_state: 'r'.repeat(43)},
      ...{issued_at: new Date().toISOString(), sign_with: OURS.private_key},
    })
    const saml_response = await samlify.answer(url, 'mia@example.test', wants_message)
    const judging = verifiedResponse({
      ...{saml_response, provider, settings, recipients: [ACS], audiences: [AUDIENCE], now_ms: Date.now()},
      ...{expected_request_id: (id: string) => id === REQUEST_ID, decryption_key: OURS.private_key},
    })
    if (expected === 'out') return expect(judging).rejects.toMatchObject({reason: 'document_signature'})
    expect(await judging).toMatchObject({in_response_to: REQUEST_ID, statement: {email: 'mia@example.test'}})
  })

  function row(wants_assertion: boolean, wants_message: boolean, is_encrypted = false) {
    return {wants_assertion, wants_message, is_encrypted}
  }
})

const HAS_XMLSEC = spawnSync('xmlsec1', ['--version']).status === 0
describe.skipIf(!HAS_XMLSEC)('xmlsec1, which is no JavaScript', () => {
  const idp = openIdp()

  test.each([
    ['', ''],
    ['with prefixes that are kept', `<ec:InclusiveNamespaces xmlns:ec="${EXC}" PrefixList="xs saml"/>`],
  ])('signs an assertion that is let in %s', async (_, prefixes) => {
    const value = '<saml:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">x'
    const unsigned = (await idp.respond(REQUEST, {sign: 'none', assertion_id: '_a', attributes_xml: ''}))
      .replace('<samlp:Response', '<samlp:Response xmlns:xs="http://www.w3.org/2001/XMLSchema"')
      .replace(
        '</saml:AttributeStatement>',
        `<saml:Attribute Name="x">${value}</saml:AttributeValue></saml:Attribute>$&`,
      )
    const template = unsigned.replace(/(<saml:Assertion.*?<\/saml:Issuer>)/, `$1${signatureTemplate('_a', prefixes)}`)
    const signed = inFolder(template, (file, key) => {
      const type = ['--id-attr:ID', `${SAML}:assertion:Assertion`]
      execFileSync('xmlsec1', ['--sign', '--privkey-pem', key, ...type, '--output', `${file}.signed`, file])
      return readFileSync(`${file}.signed`, 'utf8')
    })
    expect(await judged(idp, signed)).toMatchObject({statement: {email: 'mia@example.test'}})
    await expect(judged(idp, signed.replace('mia@', 'olga@'))).rejects.toMatchObject({reason: 'document_signature'})
  })

  test.each(['assertion', 'response'] as const)('takes what the provider of these tests signs: %s', async sign => {
    const xml = await idp.respond(REQUEST, {sign})
    const [ns, name] = sign === 'assertion' ? ['assertion', 'Assertion'] : ['protocol', 'Response']
    const verify = (text: string) =>
      inFolder(text, (file, key) => {
        const type = ['--id-attr:ID', `${SAML}:${ns}:${name}`, '--enabled-key-data', 'rsa']
        return spawnSync('xmlsec1', ['--verify', '--privkey-pem', key, ...type, file]).status
      })
    expect(verify(xml)).toBe(0)
    expect(verify(xml.replace('mia@', 'olga@'))).not.toBe(0)
  })

  function inFolder<T>(text: string, use: (file: string, key: string) => T): T {
    const folder = mkdtempSync(join(tmpdir(), 'saml-'))
    const [file, key] = [join(folder, 'document.xml'), join(folder, 'key.pem')]
    writeFileSync(file, text)
    writeFileSync(key, idp.key.private_pem)
    try {
      return use(file, key)
    } finally {
      rmSync(folder, {recursive: true})
    }
  }

  function signatureTemplate(id: string, prefixes: string): string {
    const transforms =
      `<ds:Transform Algorithm="${DSIG}enveloped-signature"/>` +
      `<ds:Transform Algorithm="${EXC}">${prefixes}</ds:Transform>`
    return (
      `<ds:Signature xmlns:ds="${DSIG}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${EXC}"/>` +
      `<ds:SignatureMethod Algorithm="${MORE}rsa-sha512"/><ds:Reference URI="#${id}"><ds:Transforms>${transforms}` +
      `</ds:Transforms><ds:DigestMethod Algorithm="${MORE}sha384"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>` +
      '<ds:SignatureValue/></ds:Signature>'
    )
  }
})
