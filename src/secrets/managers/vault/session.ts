import {object, parsed} from '../../../base/json-object.ts'
import {asManagerFault, ManagerFault} from '../../manager-fault.ts'
import type {ManagerReply, ManagerServices} from '../../services.ts'
import {type SecretPlace, textOf} from '../reading.ts'
import type {VaultServer} from './requests.ts'

/** For a refusal of its token a session logs in again once in so long. */
const LOGIN_EVERY_MS = 60_000
/** A token without a lease is used so long. */
const USUAL_LEASE_S = 3600
const MS = 1000

interface Token {
  readonly text: string
  /** Infinity: it does not end. */
  readonly ends_at_ms: number
  /** From then on it is renewed, or another is fetched. */
  readonly renew_at_ms: number
  readonly renewable: boolean
  readonly first_lease_s: number
}

interface SessionParts {
  readonly on: ManagerServices
  readonly server: VaultServer
  readonly login: SecretPlace['login']
}

/** The token of one login at Vault: fetched, renewed, fetched again. */
export class VaultSession {
  readonly #parts: SessionParts
  readonly #way: string | null
  #token: Token | null = null
  #fetching: Promise<Token> | null = null
  #renewing: Promise<void> | null = null
  #refused_at_ms = Number.NEGATIVE_INFINITY

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#way = textOf(parts.login, 'vault_auth_type')
  }

  async token(): Promise<string> {
    const now_ms = this.#parts.on.wall()
    const held = this.#token
    if (!held || now_ms >= held.ends_at_ms) return (await this.#fetch()).text
    // the lease still holds: the call does not wait for the next one
    if (now_ms >= held.renew_at_ms) this.#renewing ??= this.#renew(held).finally(() => (this.#renewing = null))
    return held.text
  }

  /** Another token for one that was refused; null where that was tried lately, or it is the one that was given. */
  async anew(refused: string): Promise<string | null> {
    if (this.#way === 'token') return null
    if (this.#token && this.#token.text !== refused) return this.#token.text
    const now_ms = this.#parts.on.wall()
    if (!this.#fetching && now_ms - this.#refused_at_ms < LOGIN_EVERY_MS) return null
    if (!this.#fetching) this.#refused_at_ms = now_ms
    this.#token = null
    return (await this.#fetch()).text
  }

  #fetch(): Promise<Token> {
    this.#fetching ??= this.#login()
      .then(token => {
        this.#token = token
        return token
      })
      .finally(() => {
        this.#fetching = null
      })
    return this.#fetching
  }

  async #renew(held: Token): Promise<void> {
    try {
      if (!held.renewable) return void (this.#way !== 'token' && (await this.#fetch()))
      const {server} = this.#parts
      const reply = await server.ask('POST', 'auth/token/renew-self', {token: held.text, body: {}})
      if (reply.status === 200) {
        const token = this.#tokenIn(reply, held)
        this.#token = token
        // near the end of all renewals a lease no longer grows
        if (this.#way !== 'token' && leaseOf(reply) < held.first_lease_s / 2) await this.#fetch()
      } else if (reply.status === 400 || reply.status === 403) await this.anew(held.text)
    } catch (fault) {
      this.#parts.on.log.warn({reason: asManagerFault(fault, 'Vault').message}, 'a token of Vault was not renewed')
    }
  }

  async #login(): Promise<Token> {
    const {server, login, on} = this.#parts
    if (this.#way === 'token') return this.#lookUp(textOf(login, 'vault_token') ?? '')
    const is_pod = this.#way === 'kubernetes'
    if (is_pod && !on.isNamedHost(server.hostname))
      throw new ManagerFault(
        'unusable',
        'Vault: the gateway shows the token of its pod to hosts in SECRET_MANAGER_HOSTS alone',
      )
    const body = is_pod
      ? {role: textOf(login, 'vault_role'), jwt: (await podToken(on)).trim()}
      : {role_id: textOf(login, 'vault_role_id'), secret_id: textOf(login, 'vault_secret_id')}
    const reply = await server.ask('POST', `auth/${is_pod ? 'kubernetes' : 'approle'}/login`, {body})
    if (reply.status !== 200) throw server.fault(reply, 'Vault did not let the gateway log in')
    return this.#tokenIn(reply, null)
  }

  /** A token as given describes itself; it may have no right to say it. */
  async #lookUp(text: string): Promise<Token> {
    const reply = await this.#parts.server.ask('GET', 'auth/token/lookup-self', {token: text})
    const {ttl, renewable} = object(object(parsed(reply.body)).data)
    const ttl_s = reply.status === 200 && typeof ttl === 'number' && ttl > 0 ? ttl : 0
    return this.#tokenOf(text, ttl_s, renewable === true && ttl_s > 0, ttl_s)
  }

  #tokenIn(reply: ManagerReply, before: Token | null): Token {
    const {client_token, renewable} = object(object(parsed(reply.body)).auth)
    const text = typeof client_token === 'string' && client_token !== '' ? client_token : before?.text
    if (text === undefined || !/^[\x21-\x7e]+$/.test(text))
      throw new ManagerFault('unreachable', 'Vault let the gateway log in without a token', {status: reply.status})
    const lease_s = leaseOf(reply)
    return this.#tokenOf(text, lease_s, renewable === true, before?.first_lease_s ?? lease_s)
  }

  /** A lease of 0 is one that does not end. */
  #tokenOf(text: string, lease_s: number, renewable: boolean, first_lease_s: number): Token {
    const now_ms = this.#parts.on.wall()
    if (lease_s === 0)
      return {
        text,
        ends_at_ms: Number.POSITIVE_INFINITY,
        renew_at_ms: Number.POSITIVE_INFINITY,
        renewable,
        first_lease_s,
      }
    const share = renewable ? 2 / 3 : 0.8
    // a token as given is used until Vault refuses it
    const ends_at_ms = this.#way === 'token' ? Number.POSITIVE_INFINITY : now_ms + lease_s * MS
    return {text, ends_at_ms, renew_at_ms: now_ms + lease_s * MS * share, renewable, first_lease_s}
  }
}

function leaseOf({body}: ManagerReply): number {
  const {lease_duration} = object(object(parsed(body)).auth)
  return typeof lease_duration === 'number' && lease_duration >= 0 ? lease_duration : USUAL_LEASE_S
}

async function podToken({pod_token}: ManagerServices): Promise<string> {
  try {
    return await pod_token()
  } catch (fault) {
    throw new ManagerFault('unreachable', 'Vault: the token of this pod cannot be read', {cause: fault})
  }
}
