import {DSIG, METADATA, POST_BINDING, PROTOCOL} from './names.ts'
import {escaped} from './request.ts'

export interface OwnMetadata {
  readonly entity_id: string
  /** Addresses of the consumer; the first is the default. */
  readonly acs_urls: readonly string[]
  /** For signatures of requests and for encryption of assertions; null: neither. */
  readonly certificate_pem: string | null
  readonly want_assertions_signed: boolean
  readonly authn_requests_signed: boolean
}

/** Our metadata, `application/samlmetadata+xml`. It has no SingleLogoutService, as none is offered. */
export function ownMetadata(own: OwnMetadata): string {
  const {entity_id, acs_urls, certificate_pem, want_assertions_signed, authn_requests_signed} = own
  const certificate = certificate_pem === null ? null : certificateIn(certificate_pem)
  const key = (use: string) =>
    `<md:KeyDescriptor use="${use}"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}` +
    '</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>'
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<md:EntityDescriptor xmlns:md="${METADATA}" xmlns:ds="${DSIG}" entityID="${escaped(entity_id)}">`,
    `<md:SPSSODescriptor AuthnRequestsSigned="${authn_requests_signed}"`,
    ` WantAssertionsSigned="${want_assertions_signed}" protocolSupportEnumeration="${PROTOCOL}">`,
    ...(certificate === null ? [] : [key('signing'), key('encryption')]),
    ...acs_urls.map(
      (url, at) =>
        `<md:AssertionConsumerService Binding="${POST_BINDING}" Location="${escaped(url)}" index="${at}"` +
        `${at === 0 ? ' isDefault="true"' : ''}/>`,
    ),
    '</md:SPSSODescriptor></md:EntityDescriptor>\n',
  ].join('')
}

/** The first certificate of a PEM text, without its lines; empty where there is none. */
function certificateIn(pem: string): string {
  const match = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/.exec(pem)
  return (match?.[1] ?? '').replace(/\s+/g, '')
}
