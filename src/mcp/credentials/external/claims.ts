import {isList, isObject, type JsonObject, own} from '../../../base/json-member.ts'
import {ALGORITHMS} from '../../../base/jwt/token.ts'
import {verifiedIdToken} from '../../../identity/oidc/id-token.ts'
import {isSubject} from '../../../identity/oidc/subject.ts'
import {SignInFault} from '../../../identity/sign-in-fault.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import {jsonObject} from '../oauth-upstream/documents.ts'
import type {GivenTokens} from '../oauth-upstream/token-endpoint.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from '../services.ts'
import type {SentExternally} from './begin.ts'

/** The person of a sign-in, as the provider says. */
export interface ExternalClaims {
  readonly subject: string
  readonly email: string | null
  /** False also where the provider does not say. */
  readonly is_email_verified: boolean
}

/**
 * The claims of a sign-in: of the ID token where keys for it are known, and of UserInfo. Rejects with an
 * `AuthServerFault` where neither says who the person is.
 */
export async function externalClaims(
  services: CredentialServices,
  integration: CalledIntegration,
  sent: SentExternally,
  given: GivenTokens,
): Promise<ExternalClaims> {
  const {userinfo_endpoint, jwks_uri, is_named} = sent.provider
  const {id_token = null} = given
  const of_token =
    id_token !== null && jwks_uri !== null && is_named
      ? await idTokenClaims(services, integration, sent, {id_token, access_token: given.access_token, jwks_uri})
      : null
  if (of_token && own(of_token, 'email') !== undefined) return claimsIn(of_token)
  if (userinfo_endpoint === null) {
    if (of_token) return claimsIn(of_token)
    throw new AuthServerFault('unfit', 'it does not say who signed in: it has neither an ID token nor UserInfo')
  }
  const userinfo = claimsIn(await userinfoClaims(services, integration, userinfo_endpoint, given.access_token))
  if (of_token && own(of_token, 'sub') !== userinfo.subject)
    throw new AuthServerFault('unfit', 'its UserInfo is of another person than its ID token')
  return userinfo
}

function claimsIn(claims: JsonObject): ExternalClaims {
  const [subject, email, verified] = ['sub', 'email', 'email_verified'].map(name => own(claims, name))
  if (!isSubject(subject)) throw new AuthServerFault('unfit', 'it names no subject (sub) of 1-255 characters')
  return {
    subject,
    email: typeof email === 'string' ? email : null,
    is_email_verified: verified === true || verified === 'true',
  }
}

interface TokenToJudge {
  readonly id_token: string
  readonly access_token: string
  readonly jwks_uri: string
}

async function idTokenClaims(
  {fetch, wall}: CredentialServices,
  integration: CalledIntegration,
  {nonce, client, provider}: SentExternally,
  {id_token, access_token, jwks_uri}: TokenToJudge,
): Promise<JsonObject> {
  const keysOf = async (kid: string | undefined) => {
    const reply = await fetch(jwks_uri, {method: 'GET', headers: {accept: 'application/json'}}, askerOf(integration))
    const keys = own(jsonObject(reply.text) ?? {}, 'keys')
    if (reply.status !== 200 || !isList(keys)) throw new AuthServerFault('silent', 'its keys could not be read')
    return keys.filter(key => isObject(key) && (kid === undefined || own(key, 'kid') === kid))
  }
  try {
    return await verifiedIdToken(id_token, keysOf, {
      ...{issuer: provider.issuer, client_id: client.client_id, algorithms: ALGORITHMS},
      ...{now_s: wall() / 1000, nonce, access_token, max_age_s: null},
    })
  } catch (fault) {
    if (fault instanceof SignInFault) throw new AuthServerFault('unfit', fault.message, {fault})
    throw fault
  }
}

async function userinfoClaims(
  {fetch}: CredentialServices,
  integration: CalledIntegration,
  endpoint: string,
  access_token: string,
): Promise<JsonObject> {
  const headers = {accept: 'application/json', authorization: `Bearer ${access_token}`}
  const {status, text} = await fetch(endpoint, {method: 'GET', headers}, askerOf(integration))
  const claims = status === 200 ? jsonObject(text) : null
  if (!claims) throw new AuthServerFault('silent', `its UserInfo answered with status ${status}`)
  return claims
}
