import {constants, createPrivateKey, type JsonWebKey, type KeyObject, randomUUID, sign} from 'node:crypto'
import {isList, isObject, type JsonValue, own} from '../../base/json-member.ts'
import {readKeySet} from '../../base/jwt/key-set.ts'
import type {OidcSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {OidcMetadata} from './discovery.ts'

/** Proof towards the token endpoint of being the client: headers and form fields of a request. */
export interface ClientProof {
  readonly headers: Readonly<Record<string, string>>
  readonly form: Readonly<Record<string, string>>
}

type ClientMethod = NonNullable<OidcSettings['token_endpoint_auth_method']>

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const ASSERTION_LIFE_S = 60
const MIN_RSA_BITS = 2048

export function clientMethodOf({token_endpoint_auth_method, jwks}: OidcSettings): ClientMethod {
  return token_endpoint_auth_method ?? (jwks === null ? 'client_secret_basic' : 'private_key_jwt')
}

/** Refuses with `not_configured` where the connection lacks the secret or the key that its method needs. */
export function clientProof(settings: OidcSettings, metadata: OidcMetadata, now_s: number): ClientProof {
  const {client_id} = settings
  switch (clientMethodOf(settings)) {
    case 'none':
      return {headers: {}, form: {client_id}}
    case 'client_secret_post':
      return {headers: {}, form: {client_id, client_secret: secretOf(settings)}}
    case 'client_secret_basic': {
      const pair = `${formEncoded(client_id)}:${formEncoded(secretOf(settings))}`
      return {headers: {authorization: `Basic ${Buffer.from(pair).toString('base64')}`}, form: {}}
    }
    case 'private_key_jwt': {
      const client_assertion = assertionOf(settings, metadata, now_s)
      return {headers: {}, form: {client_id, client_assertion_type: ASSERTION_TYPE, client_assertion}}
    }
  }
}

function secretOf({client_secret}: OidcSettings): string {
  if (client_secret === null) throw new SignInFault('not_configured', 'The connection has no client_secret')
  return client_secret
}

/** RFC 6749 §2.3.1 and appendix B: a colon or a percent sign of a secret would be read as something else. */
function formEncoded(text: string): string {
  return new URLSearchParams({'': text}).toString().slice(1)
}

/** RFC 7523 §3, with what OpenID Connect Core 1.0 §9 adds. */
function assertionOf(settings: OidcSettings, metadata: OidcMetadata, now_s: number): string {
  const {client_id, client_assertion_audience, issuer} = settings
  const {key, alg, kid} = signingKeyOf(settings, metadata)
  const iat = Math.floor(now_s)
  const parts = [
    {alg, typ: 'JWT', ...(typeof kid === 'string' && {kid})},
    {
      iss: client_id,
      sub: client_id,
      aud: client_assertion_audience === 'issuer' ? issuer : metadata.token_endpoint,
      jti: randomUUID(),
      iat,
      exp: iat + ASSERTION_LIFE_S,
    },
  ]
  const signed = parts.map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${signed}.${signatureOf(Buffer.from(signed), key, alg).toString('base64url')}`
}

interface SigningKey {
  readonly key: KeyObject
  readonly alg: string
  readonly kid: JsonValue | undefined
}

/** The first key of the connection that can sign. Refuses with `not_configured`, and shows nothing of any key. */
function signingKeyOf({jwks}: OidcSettings, metadata: OidcMetadata): SigningKey {
  for (const jwk of readKeySet(jwks ?? undefined) ?? []) {
    const key = privateKey(jwk)
    const alg = key && algorithmOf(jwk, metadata.token_endpoint_auth_signing_alg_values_supported)
    if (key && alg) return {key, alg, kid: own(jwk, 'kid')}
  }
  throw new SignInFault('not_configured', 'The connection has no private key (jwks) that can sign for the client')
}

function privateKey(jwk: JsonValue): KeyObject | undefined {
  const uses = own(jwk, 'key_ops')
  if (!isObject(jwk) || own(jwk, 'use') === 'enc' || (isList(uses) && !uses.includes('sign'))) return undefined
  try {
    const key = createPrivateKey({key: jwk as JsonWebKey, format: 'jwk'})
    return (key.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS) < MIN_RSA_BITS ? undefined : key
  } catch {
    return undefined // its message may hold a part of the key
  }
}

/** RFC 7518 §3.1 and RFC 8037, by what kind of key signs. */
const ALGORITHMS_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  RSA: ['RS256', 'PS256'],
  'P-256': ['ES256'],
  Ed25519: ['EdDSA'],
}

/** The key's own, else the first that the provider takes. */
function algorithmOf(jwk: JsonValue, accepted: readonly string[] | null): string | undefined {
  const kind = own(jwk, 'kty') === 'RSA' ? 'RSA' : String(own(jwk, 'crv'))
  const possible = Object.hasOwn(ALGORITHMS_BY_KIND, kind) ? ALGORITHMS_BY_KIND[kind]! : []
  const alg = own(jwk, 'alg')
  if (alg !== undefined) return possible.find(each => each === alg)
  return possible.find(each => accepted?.includes(each)) ?? possible[0]
}

function signatureOf(data: Buffer, key: KeyObject, alg: string): Buffer {
  if (alg === 'EdDSA') return sign(null, data, key)
  if (alg === 'ES256') return sign('sha256', data, {key, dsaEncoding: 'ieee-p1363'})
  if (alg === 'RS256') return sign('sha256', data, {key, padding: constants.RSA_PKCS1_PADDING})
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST
  return sign('sha256', data, {key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength})
}
