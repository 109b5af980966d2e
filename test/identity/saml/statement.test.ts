import {expect, test} from 'vitest'
import type {SamlSettings} from '../../../src/schema/connections.ts'
import {attributeXml, confirmationXml, ENC, MORE, type ResponseFields, SAML} from './documents.ts'
import {type Answer, SamlIdp} from './idp.ts'
import {makeCertifiedKey} from './keys.ts'
import {ACS, answered, NOW_MS, openIdp, REQUEST_ID, reasonOf} from './sign-in.ts'

const idp = openIdp()
const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims'
const OBJECT_ID = 'http://schemas.microsoft.com/identity/claims/objectidentifier'
const FORMAT_11 = 'urn:oasis:names:tc:SAML:1.1:nameid-format'
const FORMAT = `${SAML}:nameid-format`

test('39: a Response that holds gives its statement, and what replays are known by', async () => {
  const answer = {assertion_id: '_a1', attributes: {email: 'mia@example.test', givenName: 'Mia', sn: 'Lee'}}
  expect(await answered(idp, answer)).toEqual({
    statement: {
      ...{subject: null, email: 'mia@example.test', email_verified: null, first_name: 'Mia', last_name: 'Lee'},
      ...{groups: {kind: 'unset'}, session_ends_at: null, id_token: null},
      provider_session: null,
    },
    ...{assertion_id: '_a1', in_response_to: REQUEST_ID, issuer: idp.entity_id},
    replay_ends_at: new Date(NOW_MS + 360_000).toISOString(),
    notes: ['the provider names no subject that stays; the address decides'],
  })
})

test.each(['assertion', 'response', 'both'] as const)('39, 40: %s signed is let in', async sign => {
  expect((await answered(idp, {sign})).statement).toMatchObject({email: 'mia@example.test'})
})

test.each<[string, Answer, Partial<SamlSettings>, unknown]>([
  ['the attribute email', {attributes: {email: 'a@example.test'}}, {}, 'a@example.test'],
  ['mail', {attributes: {mail: 'a@example.test'}}, {}, 'a@example.test'],
  ['its OID', {attributes: {'urn:oid:0.9.2342.19200300.100.1.3': 'a@example.test'}}, {}, 'a@example.test'],
  ['its claim', {attributes: {[`${CLAIMS}/emailaddress`]: 'a@example.test'}}, {}, 'a@example.test'],
  ['a value twice', {attributes: {mail: ['a@example.test', 'a@example.test']}}, {}, 'a@example.test'],
  ['the NameID of that format', {attributes: {}, name_id: 'a@b'}, {}, 'a@b'],
  [
    'a NameID without format that is one',
    {attributes: {}, name_id: 'a@example.test', name_id_format: null},
    {},
    'a@example.test',
  ],
  ['another NameID', {attributes: {}, name_id: 'mia', name_id_format: `${FORMAT}:transient`}, {}, null],
  ['an attribute of its own', {attributes: {upn: 'a@example.test'}}, {email_attribute: 'upn'}, 'a@example.test'],
  ['one that is absent', {attributes: {email: 'a@example.test'}}, {email_attribute: 'upn'}, null],
  ['an empty one', {attributes: {upn: ''}}, {email_attribute: 'upn'}, null],
  ['spaces around it, which stay', {attributes: {email: ' a@example.test'}}, {}, ' a@example.test'],
])('the address is %s', async (_, answer, settings, email) => {
  expect((await answered(idp, answer, settings)).statement.email).toBe(email)
})

test.each<[string, Answer, Partial<SamlSettings>, string | null]>([
  ['the object id of Entra', {attributes: {[OBJECT_ID]: 'o1'}, name_id_format: `${FORMAT}:persistent`}, {}, 'o1'],
  ['the attribute of the connection', {attributes: {uid: 'u1', [OBJECT_ID]: 'o1'}}, {subject_attribute: 'uid'}, 'u1'],
  ['a persistent NameID', {name_id: 'p1', name_id_format: `${FORMAT}:persistent`}, {}, 'p1'],
  [
    'a persistent NameID with the qualifiers that are usual',
    {
      name_id_xml: persistent(
        `NameQualifier="${idp.entity_id}" SPNameQualifier="https://gateway.example.test/v2/auth/saml"`,
      ),
    },
    {},
    'p1',
  ],
  [
    'a persistent NameID with others',
    {name_id_xml: persistent('NameQualifier="urn:a" SPNameQualifier="urn:b"')},
    {},
    'urn%3Aa!urn%3Ab!p1',
  ],
  ['C10: no address', {name_id_format: `${FORMAT_11}:emailAddress`}, {}, null],
  ['C10: nothing unspecified', {name_id_format: `${FORMAT_11}:unspecified`}, {}, null],
  ['C10: nothing transient', {name_id_format: `${FORMAT}:transient`}, {}, null],
  ['C10: nothing without format', {name_id_format: null}, {}, null],
  ['nothing without a NameID', {name_id_xml: ''}, {}, null],
])('the subject is %s', async (_, answer, settings, subject) => {
  const {statement, notes} = await answered(idp, answer, settings)
  expect(statement.subject).toBe(subject)
  expect(notes).toHaveLength(subject === null ? 1 : 0)
})

function persistent(qualifiers: string): string {
  return `<saml:NameID Format="${FORMAT}:persistent" ${qualifiers}>p1</saml:NameID>`
}

test.each<[string, Answer, Partial<SamlSettings>]>([
  ['no value', {}, {subject_attribute: 'uid'}],
  ['an empty value', {attributes: {uid: ''}}, {subject_attribute: 'uid'}],
  ['two values', {attributes: {uid: ['u1', 'u2']}}, {subject_attribute: 'uid'}],
  ['a value that is too long', {attributes: {uid: 'u'.repeat(1025)}}, {subject_attribute: 'uid'}],
])('a subject attribute with %s is refused', async (_, answer, settings) => {
  expect(await reasonOf(answered(idp, answer, settings))).toBe('document_content')
})

const LINK = 'http://schemas.microsoft.com/claims/groups.link'
const UNKNOWN = {kind: 'unknown', reason: 'groups not in token'}
test.each<[string, Answer, unknown]>([
  ['IC1: several values', {attributes: {groups: ['a', 'b']}}, {kind: 'known', names: ['a', 'b'], dropped: 0}],
  ['C11: a text with a comma', {attributes: {groups: 'a,b'}}, {kind: 'known', names: ['a,b'], dropped: 0}],
  [
    'C11: exactly as written',
    {attributes: {groups: '/GW admins '}},
    {kind: 'known', names: ['/GW admins '], dropped: 0},
  ],
  ['IC1: no values', {attributes: {groups: []}}, {kind: 'known', names: [], dropped: 0}],
  ['IC1: the attribute is absent', {}, {kind: 'known', names: [], dropped: 0}],
  ['an empty value', {attributes: {groups: ['a', '']}}, {kind: 'known', names: ['a'], dropped: 1}],
  [
    'an attribute in two parts',
    {attributes_xml: ['a', 'b'].map(each => attributeXml('groups', [each])).join('')},
    {kind: 'known', names: ['a', 'b'], dropped: 0},
  ],
  ['IC2: a link in place of them', {attributes: {[LINK]: 'https://graph.example.test/x'}}, UNKNOWN],
  ['groups beside a link', {attributes: {groups: 'a', [LINK]: 'x'}}, {kind: 'known', names: ['a'], dropped: 0}],
])('groups, %s', async (_, answer, groups) => {
  const {statement, notes} = await answered(idp, answer, {groups_attribute: 'groups'})
  expect(statement.groups).toEqual(groups)
  expect(notes.includes('groups not in token')).toBe(groups === UNKNOWN)
})

test('a targeted id, whose value is an element by its definition, is passed over', async () => {
  const name = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.10'
  const attributes_xml = attributeXml(name, ['<saml:NameID>x</saml:NameID>'], true)
  expect((await answered(idp, {attributes_xml})).statement.email).toBe('mia@example.test')
})

test.each<[string, Answer, Partial<SamlSettings>?]>([
  [
    'times at the edge of the skew',
    {confirmation_ends_ms: NOW_MS - 59_000, ends_ms: NOW_MS - 59_000, begins_ms: NOW_MS + 60_000},
  ],
  [
    'one of two confirmations',
    {confirmations_xml: confirmationXml(fields({recipient: 'https://x'})) + confirmationXml(fields({}))},
  ],
  ['a second audience', {audiences: ['https://other.example.test', 'https://gateway.example.test/v2/auth/saml']}],
  ['OneTimeUse', {conditions_xml: '<saml:OneTimeUse/>'}],
  [
    'no Issuer, Destination and InResponseTo of the Response',
    {response_issuer: null, destination: null, response_in_response_to: null},
  ],
  ['a comment between elements', {changed: xml => xml.replace('<samlp:Status>', '<!-- made by a template -->$&')}],
  ['no NameID, and an address', {name_id_xml: ''}],
  ['prefixes that are kept', {sign: 'response', signing: {prefixes: ['saml', 'samlp']}}],
  ['a declaration, and lines', {changed: xml => `<?xml version="1.0" encoding="UTF-8"?>\n${xml}\n`}],
])('%s is let in', async (_, answer, settings) => {
  expect((await answered(idp, answer, settings)).statement.email).toBe('mia@example.test')
})

function fields(lies: Partial<ResponseFields>): ResponseFields {
  const usual = {recipient: ACS, in_response_to: REQUEST_ID, confirmation_ends_ms: NOW_MS + 1000}
  return {...usual, confirmation_begins_ms: null, ...lies} as ResponseFields
}

test('41: an algorithm is for keys of its own type', async () => {
  const curve = new SamlIdp({key: makeCertifiedKey('ec'), now_ms: () => NOW_MS})
  const of = (name: string) => answered(curve, {signing: {algorithm: `${MORE}${name}`}})
  expect((await of('ecdsa-sha256')).statement.email).toBe('mia@example.test')
  expect((await of('ecdsa-sha512')).statement.email).toBe('mia@example.test')
  expect(await reasonOf(of('rsa-sha256'))).toBe('document_signature')
  const rsa = (name: string) => answered(idp, {signing: {algorithm: `${MORE}${name}`, digest: `${ENC}sha512`}})
  expect((await rsa('rsa-sha384')).statement.email).toBe('mia@example.test')
  expect((await rsa('rsa-sha512')).statement.email).toBe('mia@example.test')
  expect(await reasonOf(rsa('ecdsa-sha256'))).toBe('document_signature')
})

test('43: with allow_idp_initiated a Response without InResponseTo is let in, and says so', async () => {
  const answer = {in_response_to: null, response_in_response_to: null}
  expect(await answered(idp, answer, {allow_idp_initiated: true})).toMatchObject({in_response_to: null})
  expect(await answered(idp, {}, {allow_idp_initiated: true})).toMatchObject({in_response_to: REQUEST_ID})
})

test('the session ends when the provider wants it to', async () => {
  const session_ends_ms = NOW_MS + 3_600_000
  const {statement} = await answered(idp, {session_ends_ms})
  expect(statement.session_ends_at).toBe(new Date(session_ends_ms).toISOString())
})

test('42: a replay is known for as long as any confirmation of the assertion holds', async () => {
  const later = NOW_MS + 3_600_000
  const confirmations_xml = confirmationXml(fields({})) + confirmationXml(fields({confirmation_ends_ms: later}))
  const {replay_ends_at} = await answered(idp, {confirmations_xml})
  expect(replay_ends_at).toBe(new Date(later + 60_000).toISOString())
})

test('an open sign-in may be looked up in a database', async () => {
  const expected_request_id = async (id: string) => await Promise.resolve(id === REQUEST_ID)
  expect(await answered(idp, {}, {}, {expected_request_id})).toMatchObject({in_response_to: REQUEST_ID})
  const foreign = answered(idp, {}, {}, {expected_request_id: async () => false})
  expect(await reasonOf(foreign)).toBe('document_request')
})
