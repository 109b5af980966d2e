import type {SignInReason} from '../../../src/identity/sign-in-fault.ts'
import type {SamlSettings} from '../../../src/schema/connections.ts'
import {attributeXml, confirmationXml, DSIG, statusXml} from './documents.ts'
import {type AttackRow, forgeries} from './forgeries.ts'
import {type Answer, encoded, type SamlIdp} from './idp.ts'
import {ACS, AUDIENCE, NOW_MS, openIdp, REQUEST, REQUEST_ID} from './sign-in.ts'
import {FORGED} from './wrapping.ts'

/** A document that nobody may be let in by, and the reason that the refusal has. */
export interface Attack {
  readonly name: string
  readonly reason: SignInReason
  readonly answer?: Answer
  readonly settings?: Partial<SamlSettings>
  /** The form field in place of the base64 of the document. */
  readonly sent?: (base64: string) => string
}

const EMAIL = 'mia@example.test'

/** 43, 44: what the document says. */
function contents(): readonly AttackRow[] {
  const wrong = 'document_content'
  const past = NOW_MS - 61_000
  const to_come = NOW_MS + 61_000
  const elsewhere = 'https://gateway.example.test/v2/auth/saml/callback/b'
  return [
    ['43: unsolicited', 'unsolicited', {in_response_to: null, response_in_response_to: null}],
    ['43: InResponseTo in the unsigned Response alone', 'unsolicited', {in_response_to: null}],
    ['43: the same, signed as well', 'unsolicited', {in_response_to: null, sign: 'both'}],
    [
      '43: the same, with sign-ins that the provider begins',
      'document_request',
      {in_response_to: null},
      {allow_idp_initiated: true},
    ],
    [
      '43: a foreign InResponseTo',
      'document_request',
      {in_response_to: '_foreign', response_in_response_to: '_foreign'},
    ],
    [
      '43: a foreign InResponseTo, with sign-ins that the provider begins',
      'document_request',
      {in_response_to: '_foreign', response_in_response_to: null},
      {allow_idp_initiated: true},
    ],
    ['43: another InResponseTo in the Response', 'document_request', {response_in_response_to: '_foreign'}],
    ['44: another audience', 'document_audience', {audiences: ['https://other.example.test']}],
    ['44: our audience with another end', 'document_audience', {audiences: [`${AUDIENCE}/`]}],
    ['44: no audience', 'document_audience', {audiences: []}],
    [
      '44: a second restriction to another audience',
      'document_audience',
      {
        conditions_xml:
          '<saml:AudienceRestriction><saml:Audience>https://other.example.test</saml:Audience>' +
          '</saml:AudienceRestriction>',
      },
    ],
    ['44: Recipient of another organisation', 'document_recipient', {recipient: elsewhere}],
    ['44: Recipient with a slash at its end', 'document_recipient', {recipient: `${ACS}/`}],
    ['44: Destination of another organisation', 'document_recipient', {destination: elsewhere}],
    ['44: another Issuer', 'document_issuer', {issuer: 'https://evil.example.test'}],
    ['44: another Issuer of the Response', 'document_issuer', {response_issuer: 'https://evil.example.test'}],
    ['44: the confirmation is over', 'document_time', {confirmation_ends_ms: past}],
    ['44: the confirmation begins later', 'document_time', {confirmation_begins_ms: to_come}],
    ['44: the confirmation has no end', wrong, {confirmation_ends_ms: null}],
    ['44: the conditions are over', 'document_time', {ends_ms: past}],
    ['44: the conditions begin later', 'document_time', {begins_ms: to_come}],
    [
      '44: the conditions are no times',
      wrong,
      {sign: 'response', changed_assertion: xml => xml.replace(/ NotBefore="[^"]*"/, ' NotBefore="soon"')},
    ],
    ['44: authenticated in the future', 'document_time', {authenticated_ms: to_come}],
    ['44: issued in the future', 'document_time', {issued_ms: to_come}],
    [
      '44: the assertion is issued in the future',
      'document_time',
      {
        sign: 'response',
        changed_assertion: xml => xml.replace(/ IssueInstant="[^"]*"/, ` IssueInstant="2026-11-27T12:01:01Z"`),
      },
    ],
    ['44: the session is over', 'document_time', {session_ends_ms: past}],
    ['44: status Requester, with an assertion', 'document_status', {status_xml: statusXml('Requester')}],
    ['44: AuthnFailed', 'provider_denied', {status_xml: statusXml('Responder', 'AuthnFailed')}],
    ['44: NoPassive', 'provider_denied', {status_xml: statusXml('Responder', 'NoPassive')}],
    ['44: RequestDenied', 'provider_denied', {status_xml: statusXml('Responder', 'RequestDenied')}],
    ['44: Success below Responder', 'document_status', {status_xml: statusXml('Responder', 'Success')}],
    ['44: no status', wrong, {status_xml: ''}],
    ['44: two of them', wrong, {status_xml: statusXml('Success') + statusXml('Requester')}],
    ['an unknown condition', wrong, {conditions_xml: '<saml:Condition/>'}],
    ['a condition of another namespace', wrong, {conditions_xml: '<x:OneTimeUse xmlns:x="urn:x"/>'}],
    ['no AuthnStatement', wrong, {authenticated_ms: null}],
    ['no confirmation', wrong, {confirmations_xml: ''}],
    [
      'a confirmation for holders of a key',
      wrong,
      {confirmations_xml: confirmationXml(confirmation()).replace('cm:bearer', 'cm:holder-of-key')},
    ],
    [
      'two confirmations, of which neither meets all',
      'document_time',
      {
        confirmations_xml:
          confirmationXml(confirmation({recipient: elsewhere})) +
          confirmationXml(confirmation({confirmation_ends_ms: past})),
      },
    ],
    ['IC21: a child element in the NameID', wrong, {name_id_xml: `<saml:NameID><b>${FORGED}</b></saml:NameID>`}],
    ['IC21: an empty NameID', wrong, {name_id_xml: '<saml:NameID/>'}],
    ['IC21: a NameID of spaces', wrong, {name_id: '  '}],
    [
      'IC21: text around a child element in the NameID',
      'document_unreadable',
      {name_id_xml: `<saml:NameID>not-<b/>${FORGED}</saml:NameID>`},
    ],
    [
      'IC21: two NameIDs',
      wrong,
      {name_id_xml: `<saml:NameID>${EMAIL}</saml:NameID><saml:NameID>${FORGED}</saml:NameID>`},
    ],
    [
      'IC21: a child element in a value',
      wrong,
      {attributes: {}, attributes_xml: attributeXml('email', [`<b>${FORGED}</b>`], true)},
    ],
    ['two addresses', 'address_not_unique', {attributes: {email: [EMAIL, FORGED]}}],
    [
      'IC23: EncryptedID',
      wrong,
      {
        name_id_xml:
          '<saml:EncryptedID><e:EncryptedData xmlns:e="http://www.w3.org/2001/04/xmlenc#"/></saml:EncryptedID>',
      },
    ],
    ['an encrypted attribute', wrong, {attributes_xml: '<saml:EncryptedAttribute/>'}],
    ['an encrypted attribute with a name', wrong, {attributes_xml: '<saml:EncryptedAttribute Name="x"/>'}],
  ]
}

function confirmation(
  lies: Partial<Parameters<typeof confirmationXml>[0]> = {},
): Parameters<typeof confirmationXml>[0] {
  const usual = {recipient: ACS, in_response_to: REQUEST_ID, confirmation_ends_ms: NOW_MS + 1000}
  return {...usual, confirmation_begins_ms: null, ...lies} as Parameters<typeof confirmationXml>[0]
}

/** Documents that no reader should spend itself on. */
function markup(): readonly AttackRow[] {
  const bad = 'document_unreadable'
  const dtd = (body: string, use: string) => (xml: string) =>
    `<!DOCTYPE samlp:Response [${body}]>${xml.replace(EMAIL, use)}`
  const laughs = Array.from({length: 9}, (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(10)}">`).join('')
  const status = (inner: string) => (xml: string) => xml.replace('<samlp:Status>', `<samlp:Status>${inner}`)
  return [
    ['44: a DTD', bad, {changed: xml => `<!DOCTYPE x>${xml}`}],
    ['44: an external entity', bad, {changed: dtd('<!ENTITY x SYSTEM "file:///etc/passwd">', '&x;')}],
    ['44: an entity that grows', bad, {changed: dtd(`<!ENTITY a0 "ha">${laughs}`, '&a9;')}],
    ['an entity without a DTD', bad, {changed: xml => xml.replace(EMAIL, '&nbsp;')}],
    ['a processing instruction at its top', bad, {changed: xml => `<?xml-stylesheet href="x"?>${xml}`}],
    [
      'an XML declaration in the middle',
      bad,
      {changed: xml => xml.replace('<samlp:Status>', '<?xml version="1.0"?>$&')},
    ],
    ['two documents', bad, {changed: xml => `${xml}${xml}`}],
    ['text after its end', bad, {changed: xml => `${xml}x`}],
    ['a document that is cut', bad, {changed: xml => xml.slice(0, -20)}],
    ['an attribute without quotes', bad, {changed: status('<x y=1/>')}],
    ['an attribute twice', bad, {changed: status('<x y="1" y="2"/>')}],
    ['a prefix without a namespace', bad, {changed: status('<x:y/>')}],
    ['an element of HTML', bad, {changed: status('<script xmlns="http://www.w3.org/1999/xhtml">x</script>')}],
    ['a character that XML has not', bad, {changed: status('<x y="&#0;"/>')}],
    ['another character that XML has not', bad, {changed: status('<x y="\u0001"/>')}],
    ['a character that the parser takes for a line', bad, {changed: status('<x y="\u2028"/>')}],
    ['an element with two IDs', bad, {changed: xml => xml.replace('<samlp:Status>', '<samlp:Status ID="_x" Id="_y">')}],
    [
      'a signature in another place',
      'document_signature',
      {
        changed: xml =>
          xml.replace('<samlp:Status>', `<samlp:Extensions><x:Signature xmlns:x="${DSIG}"/></samlp:Extensions>$&`),
      },
    ],
    ['a part that a Response has not', 'document_content', {changed: xml => xml.replace('<samlp:Status>', '<x/>$&')}],
    ['65 elements in each other', bad, {changed: status(`${'<x>'.repeat(63)}${'</x>'.repeat(63)}`)}],
    ['more than 10,000 elements', bad, {changed: status('<x/>'.repeat(10_001))}],
    ['more than 40,000 attributes', bad, {changed: status(`<x${attributeList(32)}/>`.repeat(1251))}],
    ['an element of 33 attributes', bad, {changed: status(`<x${attributeList(33)}/>`)}],
    ['65 prefixes', bad, {changed: status(Array.from({length: 65}, (_, at) => `<x xmlns:p${at}="urn:x"/>`).join(''))}],
    ['257 names', bad, {changed: status(Array.from({length: 257}, (_, at) => `<x${at}/>`).join(''))}],
    ['101 comments', bad, {changed: xml => xml.replace('<samlp:Status>', `${'<!--x-->'.repeat(101)}$&`)}],
  ]
}

function attributeList(count: number): string {
  return Array.from({length: count}, (_, at) => ` a${at}="x"`).join('')
}

/** Bodies that are no document at all, or not quite one that would be let in. */
function bodies(): readonly Attack[] {
  const of = (name: string, sent: (base64: string) => string): Attack => ({name, reason: 'document_unreadable', sent})
  const byte = Buffer.concat([Buffer.from('<!--'), Buffer.from([0xff]), Buffer.from('-->')])
  return [
    of('nothing', () => ''),
    of('no base64', base64 => `!${base64}`),
    of('no UTF-8', base64 => Buffer.concat([byte, Buffer.from(base64, 'base64')]).toString('base64')),
    of('no XML', () => encoded('hello')),
    of('more than 1 MiB', base64 => `${base64}${' '.repeat(1_048_577 - base64.length)}`),
  ]
}

export const ATTACKING_IDP: SamlIdp = openIdp()

export const ATTACKS: readonly Attack[] = [
  ...[...forgeries(ATTACKING_IDP), ...contents(), ...markup()].map(
    ([name, reason, answer = {}, settings = {}]): Attack => ({name, reason, answer, settings}),
  ),
  ...bodies(),
]

/** The form field of an attack. */
export async function fieldOf({answer = {}, sent = base64 => base64}: Attack): Promise<string> {
  return sent(encoded(await ATTACKING_IDP.respond(REQUEST, answer)))
}
