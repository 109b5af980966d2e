import type {SignInReason} from '../../../src/identity/sign-in-fault.ts'
import type {SamlSettings} from '../../../src/schema/connections.ts'
import {DSIG, ENVELOPED, EXC, MORE, SAML, signedXml, statusXml} from './documents.ts'
import type {Answer, SamlIdp} from './idp.ts'
import {type CertifiedKey, makeCertifiedKey} from './keys.ts'
import {bare, changedBy, FORGED, find, forge, forgeText, signatureIn, WRAPPINGS} from './wrapping.ts'

/** One line of the table: the answer of a provider that lies, or what a stranger makes of a true one. */
export type AttackRow = readonly [name: string, reason: SignInReason, answer?: Answer, settings?: Partial<SamlSettings>]

const FOREIGN: CertifiedKey = makeCertifiedKey('rsa', 'evil.example.test')
const CURVE: CertifiedKey = makeCertifiedKey('ec', 'idp.example.test')
const EMAIL = 'mia@example.test'
const SIGNED = ['assertion', 'response'] as const
const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'

/** Documents that have the wrong signature, or the right one over something else. */
export function forgeries(idp: SamlIdp): readonly AttackRow[] {
  return [...signatures(idp), ...texts(), ...wrapped(idp)]
}

/** 41, IC22.6: the signature itself. */
function signatures(idp: SamlIdp): readonly AttackRow[] {
  const public_pem = idp.key.public_key.export({type: 'spki', format: 'pem'}) as string
  const of = (signing: Answer['signing']): Answer => ({signing: signing!})
  return [
    ['41: no signature', 'document_signature', {sign: 'none'}],
    ['41: a changed NameID', 'document_signature', {changed: xml => xml.replace(`>${EMAIL}<`, `>${FORGED}<`)}],
    ['41: a foreign key with its certificate in KeyInfo', 'document_signature', of({key: FOREIGN})],
    [
      '41: a foreign key with the certificate of the provider',
      'document_signature',
      of({key: FOREIGN, certificate: idp.key.certificate}),
    ],
    ['41: a foreign key without KeyInfo', 'document_signature', of({key: FOREIGN, certificate: null})],
    ['41: rsa-sha1', 'document_algorithm', of({algorithm: `${DSIG}rsa-sha1`})],
    ['41: a digest of sha1', 'document_algorithm', of({digest: `${DSIG}sha1`})],
    ['HMAC with the public key', 'document_algorithm', of({algorithm: `${DSIG}hmac-sha1`, hmac: public_pem})],
    [
      'HMAC of SHA-256 with the certificate',
      'document_algorithm',
      of({algorithm: `${MORE}hmac-sha256`, hmac: idp.key.certificate_pem}),
    ],
    [
      'an RSA algorithm and a signature of a curve',
      'document_signature',
      of({key: CURVE, certificate: idp.key.certificate}),
    ],
    ['inclusive canonicalisation', 'document_algorithm', of({transforms: [ENVELOPED, C14N]})],
    ['canonicalisation with comments', 'document_algorithm', of({transforms: [ENVELOPED, `${EXC}WithComments`]})],
    ['inclusive canonicalisation of SignedInfo', 'document_algorithm', of({canonicalization: C14N})],
    ['SignedInfo with comments', 'document_algorithm', of({canonicalization: `${EXC}WithComments`})],
    [
      'an XPath transform',
      'document_algorithm',
      of({transforms: [ENVELOPED, 'http://www.w3.org/TR/1999/REC-xpath-19991116', EXC]}),
    ],
    [
      'an XSLT transform',
      'document_algorithm',
      of({transforms: [ENVELOPED, 'http://www.w3.org/TR/1999/REC-xslt-19991116']}),
    ],
    ['a transform in place of the enveloped one', 'document_algorithm', of({transforms: [C14N, EXC]})],
    ['no canonicalisation', 'document_algorithm', of({transforms: [ENVELOPED]})],
    ['no enveloped transform', 'document_algorithm', of({transforms: [EXC]})],
    ['an empty Reference URI', 'document_signature', {sign: 'response', signing: {is_empty_uri: true}}],
    [
      'a Reference without URI',
      'document_signature',
      {changed: xml => xml.replace(/<ds:Reference URI="[^"]*"/, '<ds:Reference')},
    ],
    [
      'a Reference to another element',
      'document_signature',
      {changed: xml => xml.replace(/<ds:Reference URI="[^"]*"/, `<ds:Reference URI="#_other"`)},
    ],
    ['two References', 'document_signature', {changed: xml => xml.replace(/<ds:Reference .*<\/ds:Reference>/, '$&$&')}],
    [
      'two SignedInfo',
      'document_signature',
      {changed: xml => xml.replace(/<ds:SignedInfo>.*<\/ds:SignedInfo>/, '$&$&')},
    ],
    [
      'a digest cut short by HMACOutputLength',
      'document_algorithm',
      {
        changed: xml =>
          xml.replace(
            /(<ds:SignatureMethod [^>]*)\/>/,
            '$1><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>',
          ),
      },
    ],
    ['two Signatures of one assertion', 'document_signature', {changed: doubled}],
    ['response only, the assertion is wanted', 'document_signature', {sign: 'response'}, {signed: 'assertion'}],
    ['assertion only, the Response is wanted', 'document_signature', {sign: 'assertion'}, {signed: 'response'}],
    ['assertion only, both are wanted', 'document_signature', {sign: 'assertion'}, {signed: 'both'}],
    ['response only, both are wanted', 'document_signature', {sign: 'response'}, {signed: 'both'}],
    [
      'both signed, one of them not by the provider',
      'document_signature',
      {sign: 'assertion', changed: xml => signedXml(xml, '_r', idp.signing({key: FOREIGN})), response_id: '_r'},
    ],
  ]
}

function doubled(xml: string): string {
  return xml.replace(/<ds:Signature .*<\/ds:Signature>/, '$&$&')
}

/** IC21: the document is changed after it was signed, in ways that canonical forms do not show. */
function texts(): readonly AttackRow[] {
  const inserts = {
    'a processing instruction': '<?p not-?>',
    'a comment': 'not-<!--x-->',
    'a CDATA section': '<![CDATA[not-]]>',
  }
  return SIGNED.flatMap(sign =>
    Object.entries(inserts).flatMap(([name, insert]): readonly AttackRow[] => [
      [
        `44, IC21: ${name} in the NameID, ${sign} signed`,
        'document_unreadable',
        {
          ...{sign, name_id: `not-${FORGED}`, attributes: {}},
          changed: xml => xml.replace(`>not-${FORGED}<`, `>${insert}${FORGED}<`),
        },
      ],
      [
        `IC21: ${name} in the address, ${sign} signed`,
        'document_unreadable',
        {
          ...{sign, attributes: {email: `not-${FORGED}`}},
          changed: xml =>
            xml.replace(`>not-${FORGED}</saml:AttributeValue>`, `>${insert}${FORGED}</saml:AttributeValue>`),
        },
      ],
    ]),
  )
}

/** IC22: genuine signatures over something else. */
function wrapped(idp: SamlIdp): readonly AttackRow[] {
  const rows = Object.entries(WRAPPINGS).map(
    ([name, {sign, change}]): AttackRow => [`44: ${name}`, 'document_content', {sign, changed: changedBy(change)}],
  )
  const failed = {sign: 'response', status_xml: statusXml('Requester')} as const
  const logout = signedXml(
    `<samlp:LogoutResponse xmlns:samlp="${SAML}:protocol" ID="_l" Version="2.0" IssueInstant="2026-11-27T12:00:00Z">` +
      `<saml:Issuer xmlns:saml="${SAML}:assertion">${idp.entity_id}</saml:Issuer>${statusXml('Success')}` +
      '</samlp:LogoutResponse>',
    ...(['_l', idp.signing()] as const),
  )
  const extended = (xml: string) =>
    xml.replace('<samlp:Status>', `<samlp:Extensions>${logout}</samlp:Extensions><samlp:Status>`)
  return [
    ...rows,
    ['IC22.1: a second Signature before Status', 'document_status', {...failed, changed: objected('before')}],
    ['IC22.1: a second Signature after Status', 'document_status', {...failed, changed: objected('after')}],
    [
      'IC22.1: a second Signature beside a good one',
      'document_content',
      {sign: 'response', changed: objected('before')},
    ],
    ['IC22.2: the signed one in Extensions, a forged one of its ID', 'document_unreadable', {changed: changedBy(twin)}],
    [
      'IC22.3: a signed LogoutResponse in a forged Response',
      'document_signature',
      {sign: 'none', email: FORGED, changed: extended},
    ],
    [
      'IC22.3: a signed LogoutResponse around a forged assertion',
      'document_content',
      {sign: 'none', email: FORGED, changed: xml => logout.replace('</samlp:LogoutResponse>', `${assertionOf(xml)}$&`)},
    ],
    ['IC22.4: the signed assertion in Advice of a forged one', 'document_content', {changed: changedBy(advised)}],
    [
      'IC22.5: a decoy id beside the ID',
      'document_unreadable',
      {assertion_id: '_a', changed: xml => xml.replace('ID="_a"', 'id="_a" ID="_a"')},
    ],
    [
      'IC22.5: a decoy id on another element',
      'document_unreadable',
      {assertion_id: '_a', changed: xml => xml.replace('<samlp:Status>', '<samlp:Status Id="_a">')},
    ],
    [
      'IC22.5: two elements of one ID',
      'document_unreadable',
      {assertion_id: '_a', changed: xml => xml.replace('<samlp:Status>', '<samlp:Status ID="_a">')},
    ],
    [
      'IC22.7: two signed assertions',
      'document_content',
      {
        ...{sign: 'none', assertion_id: '_a'},
        changed: xml => {
          const second = assertionOf(xml).replace('"_a"', '"_b"').replaceAll(EMAIL, FORGED)
          const both = xml.replace('</samlp:Response>', `${second}$&`)
          return signedXml(signedXml(both, '_a', idp.signing()), '_b', idp.signing())
        },
      },
    ],
    [
      'two assertions in one signed Response',
      'document_content',
      {
        sign: 'none',
        response_id: '_r',
        changed: xml =>
          signedXml(
            xml.replace('</samlp:Response>', `${assertionOf(xml).replaceAll('_a', '_b')}$&`),
            ...(['_r', idp.signing()] as const),
          ),
      },
    ],
    [
      'a forged Response, and the signature of another document',
      'document_signature',
      {sign: 'response', response_id: '_r', changed: changedBy(root => void forgeText(root))},
    ],
  ]
}

function assertionOf(xml: string): string {
  return /<saml:Assertion.*<\/saml:Assertion>/.exec(xml)![0]
}

function objected(place: 'before' | 'after'): (xml: string) => string {
  return changedBy((root, document) => {
    const status = find(root, 'Status', `${SAML}:protocol`)
    const second = signatureIn(root).cloneNode(true)
    const object = document.createElementNS(DSIG, 'ds:Object')
    object.appendChild(forge(find(root, 'Assertion').cloneNode(true), '_evil'))
    second.appendChild(object)
    root.insertBefore(second, place === 'before' ? status : null)
  })
}

function twin(root: Parameters<typeof bare>[0], document: Parameters<typeof bare>[0]): void {
  const assertion = find(root, 'Assertion')
  const forged = forgeText(bare(assertion))
  const extensions = document.createElementNS(`${SAML}:protocol`, 'samlp:Extensions')
  root.insertBefore(forged, assertion)
  root.insertBefore(extensions, forged)
  extensions.appendChild(assertion)
}

function advised(root: Parameters<typeof bare>[0], document: Parameters<typeof bare>[0]): void {
  const assertion = find(root, 'Assertion')
  const forged = forge(bare(assertion), '_evil')
  root.insertBefore(forged, assertion)
  const advice = document.createElementNS(`${SAML}:assertion`, 'saml:Advice')
  advice.appendChild(assertion)
  forged.insertBefore(advice, find(forged, 'AuthnStatement'))
}
