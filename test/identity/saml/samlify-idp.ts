import * as samlify from 'samlify'
import {ENC, ENC11, MORE} from './documents.ts'
import {metadataXml} from './idp.ts'
import type {CertifiedKey} from './keys.ts'

samlify.setSchemaValidator({validate: async () => 'ok'})

interface SamlifyOptions {
  readonly is_encrypted?: boolean
  /** The value of the attribute `groups`, beside a NameID that stays; without it there is neither. */
  readonly group?: string
}

/** Another library in the place of the provider (samlify): it reads our request and our metadata, and answers. */
export function openSamlify(key: CertifiedKey, own_metadata: string, options: SamlifyOptions = {}) {
  const {is_encrypted = false, group} = options
  const metadata = metadataXml('https://samlify.example.test', 'https://samlify.example.test/sso', [key.certificate], {
    role: ' WantAuthnRequestsSigned="true"',
  })
  const template = {
    context: samlify.SamlLib.defaultLoginResponseTemplate.context,
    attributes: ['email', ...(group === undefined ? [] : ['groups'])].map(name => ({
      ...{name, valueTag: name, valueXsiType: 'xs:string'},
      nameFormat: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
    })),
  }
  const idp = samlify.IdentityProvider({
    metadata,
    privateKey: key.private_pem,
    isAssertionEncrypted: is_encrypted,
    requestSignatureAlgorithm: `${MORE}rsa-sha256`,
    dataEncryptionAlgorithm: `${ENC11}aes256-gcm`,
    keyEncryptionAlgorithm: `${ENC}rsa-oaep-mgf1p`,
    loginResponseTemplate: template,
  } as Parameters<typeof samlify.IdentityProvider>[0])
  return {
    metadata,
    /** Base64, with the clock of this machine. */
    async answer(url: string, email: string, wants_message_signed: boolean): Promise<string> {
      const sp = samlify.ServiceProvider({metadata: own_metadata, wantMessageSigned: wants_message_signed})
      const query = Object.fromEntries(new URL(url).searchParams)
      const request = await idp.parseLoginRequest(sp, 'redirect', {
        query,
        octetString: new URL(url).search.slice(1).replace(/&Signature=.*$/, ''),
      })
      const {context} = await idp.createLoginResponse(sp, request as never, 'post', {email}, {
        encryptThenSign: is_encrypted,
        customTagReplacement: (text: string) =>
          filled(text, request.extract.request?.id as string, {email, group}, sp, idp),
      } as never)
      return context
    },
  }
}

function filled(
  template: string,
  in_response_to: string,
  {email, group}: {readonly email: string; readonly group: string | undefined},
  sp: ReturnType<typeof samlify.ServiceProvider>,
  idp: ReturnType<typeof samlify.IdentityProvider>,
) {
  const now_ms = Date.now()
  const [now, later] = [new Date(now_ms).toISOString(), new Date(now_ms + 300_000).toISOString()]
  const acs = sp.entityMeta.getAssertionConsumerService('post') as string
  const tags = {
    ...{ID: `_r${now_ms}`, AssertionID: `_a${now_ms}`, Destination: acs, SubjectRecipient: acs},
    ...{AssertionConsumerServiceURL: acs, Audience: sp.entityMeta.getEntityID(), Issuer: idp.entityMeta.getEntityID()},
    ...{IssueInstant: now, ConditionsNotBefore: now, ConditionsNotOnOrAfter: later, InResponseTo: in_response_to},
    ...{SubjectConfirmationDataNotOnOrAfter: later, StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success'},
    ...nameIdOf(email, group !== undefined),
    ...{attrEmail: email, attrGroups: group ?? ''},
    AuthnStatement: '',
  }
  const statement =
    `<saml:AuthnStatement AuthnInstant="${now}" ` +
    'SessionIndex="_s"><saml:AuthnContext><saml:AuthnContextClassRef>' +
    'urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext>' +
    '</saml:AuthnStatement>'
  const context = samlify.SamlLib.replaceTagsByValue(template.replace('{AuthnStatement}', statement), tags)
  return {id: tags.ID, context}
}

function nameIdOf(email: string, stays: boolean) {
  return stays
    ? {NameIDFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent', NameID: `lasting-${email}`}
    : {NameIDFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress', NameID: email}
}
