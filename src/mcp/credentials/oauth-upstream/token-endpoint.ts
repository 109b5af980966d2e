import {type JsonObject, own} from '../../../base/json-member.ts'
import {printable} from '../../wire/faults.ts'
import {headerValue} from '../../wire/header-values.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from '../services.ts'
import type {WalledReply} from '../walled-fetch.ts'
import {type OauthClient, sentProof} from './client-proof.ts'
import {jsonObject, textIn} from './documents.ts'

/** Tokens that a token endpoint gave. */
export interface GivenTokens {
  readonly access_token: string
  /** Null: the one before stays. */
  readonly refresh_token: string | null
  /** Null: not said. */
  readonly expires_in_s: number | null
  /** Null: that of the request. */
  readonly scope: string | null
  /** Of OpenID Connect; nothing of it is verified. */
  readonly id_token?: string | null
}

export interface TokenFields {
  readonly token_endpoint: string
  readonly client: OauthClient
  readonly form: Readonly<Record<string, string>>
  /** Null where it is not sent. */
  readonly resource: string | null
}

/** RFC 6750 §2.1: it is sent in a header. */
const ACCESS_TOKEN = /^[\x21-\x7e]{1,16384}$/
const REFRESH_TOKEN = /^[\x20-\x7e]{1,16384}$/
const LONGEST_LIFE_S = 315_360_000
const USUAL_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000

/**
 * Asks for tokens (RFC 6749 §5). Rejects with an `AuthServerFault`: `refused` with its error where the answer is one of
 * the protocol, else `silent` or `late`, which say nothing of the grant.
 */
export async function askedTokens(
  {fetch, wall}: Pick<CredentialServices, 'fetch' | 'wall'>,
  integration: CalledIntegration,
  {token_endpoint, client, form, resource}: TokenFields,
): Promise<GivenTokens> {
  const proof = sentProof(client)
  const body = new URLSearchParams({...form, ...(resource !== null && {resource}), ...proof.form}).toString()
  const headers = {...proof.headers, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded'}
  const reply = await fetch(token_endpoint, {method: 'POST', headers, body}, askerOf(integration))
  const {status} = reply
  if (status === 429 || status >= 500 || (status >= 300 && status < 400)) throw silentStatus(reply, wall())
  const answer = jsonObject(reply.text)
  if (!answer) throw new AuthServerFault('silent', `it answered with status ${status} and no JSON object`)
  if (status === 200 || status === 201) return givenTokens(answer, resource)
  if (textIn(answer, 'error') === null) throw new AuthServerFault('silent', `it answered with status ${status}`)
  throw refusal(answer, resource)
}

function givenTokens(answer: JsonObject, resource: string | null): GivenTokens {
  const [access_token, refresh_token] = [own(answer, 'access_token'), own(answer, 'refresh_token')]
  if (typeof access_token !== 'string') {
    if (textIn(answer, 'error') !== null) throw refusal(answer, resource)
    throw new AuthServerFault('silent', 'it answered without an access token')
  }
  if (!ACCESS_TOKEN.test(access_token)) throw new AuthServerFault('silent', 'its access token is none that can be sent')
  const token_type = own(answer, 'token_type')
  if (token_type !== undefined && String(token_type).toLowerCase() !== 'bearer')
    throw new AuthServerFault('unfit', `its tokens are of the type ${printable(String(token_type), 40)}, not Bearer`)
  return {
    access_token,
    refresh_token: typeof refresh_token === 'string' && REFRESH_TOKEN.test(refresh_token) ? refresh_token : null,
    expires_in_s: secondsIn(own(answer, 'expires_in')),
    scope: textIn(answer, 'scope')?.slice(0, 4096) ?? null,
    id_token: textIn(answer, 'id_token'),
  }
}

/** Also as text. What is no time says nothing. */
function secondsIn(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return null
  return Math.min(seconds, LONGEST_LIFE_S)
}

function refusal(answer: JsonObject, resource: string | null): AuthServerFault {
  const error = textIn(answer, 'error')!
  const description = textIn(answer, 'error_description')
  return refusedWith(error, description, resource)
}

/** A refusal of the protocol, in a sentence; one of the resource names the switch that leaves it out. */
export function refusedWith(error: string, description: string | null, resource: string | null): AuthServerFault {
  const said = `${printable(error, 100)}${description === null ? '' : `: ${printable(description)}`}`
  const cure = error === 'invalid_target' && resource !== null ? ' (oauth_metadata.resource: "omit" leaves it out)' : ''
  return new AuthServerFault('refused', `${said}${cure}`, {error})
}

function silentStatus({status, headers}: WalledReply, now_ms: number): AuthServerFault {
  const said_ms = pauseIn(headerValue(headers, 'retry-after'), now_ms)
  const retry_after_ms = said_ms ?? (status === 429 ? USUAL_PAUSE_MS : null)
  const more = status < 400 ? '; redirects are not followed' : ''
  return new AuthServerFault('silent', `it answered with status ${status}${more}`, {retry_after_ms})
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function pauseIn(value: string | undefined, now_ms: number): number | null {
  if (value === undefined) return null
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now_ms
  return Number.isNaN(ms) ? null : Math.min(LONGEST_PAUSE_MS, Math.max(0, ms))
}
