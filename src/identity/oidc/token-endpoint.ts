import {own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {OidcSettings} from '../../schema/connections.ts'
import {printable} from '../printable.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {errorSentence} from './answer.ts'
import {clientProof} from './client.ts'
import type {OidcMetadata} from './discovery.ts'
import {isJson, type OidcHttp, readReply, replyOf} from './http.ts'

/** A code with what proves that it was meant for us. */
export interface CodeExchange {
  readonly code: string
  readonly redirect_uri: string
  readonly code_verifier: string
}

/** Of the token endpoint, both not believed yet. */
export interface OidcTokens {
  readonly id_token: string
  readonly access_token: string
}

const WHAT = 'The token endpoint'
const TIMEOUT_MS = 10_000
const MAX_BYTES = 256 << 10
/** RFC 6750 §2.1: it is sent in a header. */
const ACCESS_TOKEN = /^[\x21-\x7e]{1,16384}$/

/**
 * Exchanges a code (RFC 6749 §4.1.3). Refuses with `provider_unreachable`, `provider_error`, `provider_invalid`,
 * `token_invalid` where there is no ID token, or `not_configured`.
 */
export async function exchangeCode(
  http: OidcHttp,
  settings: OidcSettings,
  metadata: OidcMetadata,
  {code, redirect_uri, code_verifier}: CodeExchange,
  now_s: number,
): Promise<OidcTokens> {
  const {headers, form} = clientProof(settings, metadata, now_s)
  const reply = await replyOf(http, WHAT, metadata.token_endpoint, {
    method: 'POST',
    headers: {...headers, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded'},
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      ...{code, redirect_uri, code_verifier},
      ...form,
    }).toString(),
    max_bytes: MAX_BYTES,
    timeout_ms: TIMEOUT_MS,
  })
  if (reply.status !== 200) {
    const json = parsed(reply.text)
    const error = own(json, 'error')
    const sentence = `${WHAT} answered with status ${reply.status}`
    if (typeof error !== 'string') throw new SignInFault('provider_error', sentence)
    throw new SignInFault('provider_error', errorSentence(WHAT, error, own(json, 'error_description')))
  }
  if (!isJson(reply)) throw new SignInFault('provider_invalid', `${WHAT} did not answer with application/json`)
  const json = readReply(WHAT, reply, 'provider_invalid')
  const [token_type, access_token, id_token] = ['token_type', 'access_token', 'id_token'].map(name => own(json, name))
  if (typeof token_type !== 'string' || token_type.toLowerCase() !== 'bearer')
    throw new SignInFault('provider_invalid', `${WHAT} gave the token_type ${printable(token_type)}, not Bearer`)
  if (typeof access_token !== 'string' || !ACCESS_TOKEN.test(access_token))
    throw new SignInFault('provider_invalid', `${WHAT} gave no access_token that can be sent`)
  if (typeof id_token !== 'string') throw new SignInFault('token_invalid', `${WHAT} gave no id_token`)
  return {id_token, access_token}
}
