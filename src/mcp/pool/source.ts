import {hash} from 'node:crypto'
import {LRUCache} from 'lru-cache'
import {type JsonObject, own} from '../../base/json-member.ts'
import {parsedObject} from '../../base/json-object.ts'
import type {McpServer} from '../call/server.ts'
import type {SignInOfPerson} from '../credentials/connection-hash.ts'
import type {CredentialOutcome, CredentialRequest, UpstreamCredential} from '../credentials/credentials.ts'
import type {McpCaller, McpUses} from '../services.ts'
import {EraDisprovedFault, SessionLostFault, UnauthorisedFault} from '../upstream/faults.ts'
import {openUpstream} from '../upstream/open.ts'
import type {ClientTexts, HeaderSource, Hello, LegacySession, McpUpstream} from '../upstream/upstream.ts'
import {McpFault} from '../wire/faults.ts'
import type {HeaderFields} from '../wire/header-values.ts'
import type {UpstreamPool} from './pool.ts'

type Services = McpUses<'credentials' | 'eras' | 'log' | 'noticed' | 'settings' | 'steady' | 'upstream'>

/** One client of one server, as its upstream is to see it. */
export interface UpstreamClient extends ClientTexts {
  readonly server: McpServer
  readonly caller: McpCaller
  readonly headers: HeaderFields
  /** The session of a legacy client, which owns the upstream's; null: the principal does. */
  readonly session_id: string | null
  /** Claims of the second token, where the integration wants one. */
  readonly validated: JsonObject | undefined
  /** A session of the upstream that is continued, as after a restart. */
  readonly continued?: LegacySession
}

/** Work with a connection; `sign_in`: that of a person, where the server wants one. */
type UpstreamWork<T> = (upstream: McpUpstream, sign_in: SignInAtServer | null) => Promise<T>

/** The upstream's session of a client's session lives as long as that, which may be used by another process. */
const SESSION_LIFE = {max_idle_ms: 24 * 60 * 60_000, max_lifetime_ms: 24 * 60 * 60_000}
/** A modern upstream's description of itself is good for so long. */
const HELLO_MS = 60_000
const MOST_KNOWN = 10_000

/**
 * Gives work a connection to an upstream: one of the pool, or a new one after a probe. Work that the upstream did not
 * take (its session was lost, its era is another, its credential was refused) is done once more.
 */
export class UpstreamSource {
  readonly #pool: UpstreamPool
  readonly #services: Services
  /** By connection: what its next request has. */
  readonly #headers = new LRUCache<string, {headers: Readonly<Record<string, string>>}>({max: MOST_KNOWN})
  readonly #hellos = new LRUCache<string, {readonly hello: Hello; readonly at_ms: number}>({max: MOST_KNOWN})

  constructor(pool: UpstreamPool, services: Services) {
    this.#pool = pool
    this.#services = services
  }

  /** Does `work` with a connection for `client`. Throws the faults of `work` and of opening. */
  async use<T>(client: UpstreamClient, signal: AbortSignal, work: UpstreamWork<T>): Promise<T> {
    try {
      return await this.#once(client, signal, work)
    } catch (fault) {
      const {integration_id} = client.server
      if (fault instanceof EraDisprovedFault) {
        this.#services.eras.forget(client.server.integration)
        for (const key of [...this.#hellos.keys()]) if (key.startsWith(`${integration_id} `)) this.#hellos.delete(key)
      } else if (!(fault instanceof SessionLostFault)) throw refused(fault, client.server)
    }
    try {
      return await this.#once({...client, continued: undefined}, signal, work)
    } catch (fault) {
      throw refused(fault, client.server)
    }
  }

  /** The sign-ins of people whose connections are open. */
  signIns(): SignInAtServer[] {
    return this.#pool.keys.flatMap(key => signInOf(key) ?? [])
  }

  /** Ends the connections of some sign-ins: those in use end with their calls. */
  endSignIns(isMeant: (sign_in: SignInAtServer) => boolean): void {
    this.#pool.drop(key => {
      const sign_in = signInOf(key)
      return sign_in !== null && isMeant(sign_in)
    })
  }

  /** Ends the connection of a client's session. */
  end(session_id: string): void {
    this.#pool.drop(key => key.split(' ')[3] === session_id)
  }

  async #once<T>(client: UpstreamClient, signal: AbortSignal, work: UpstreamWork<T>): Promise<T> {
    const request = requestOf(client)
    const credential = usable(await this.#services.credentials.headersFor(request))
    try {
      return await this.#with(client, credential, signal, work)
    } catch (fault) {
      if (!(fault instanceof UnauthorisedFault)) throw fault
      const {www_authenticate} = fault
      const other = usable(await this.#services.credentials.after401(request, credential, {www_authenticate}))
      try {
        return await this.#with(client, other, signal, work)
      } catch (again) {
        if (!(again instanceof UnauthorisedFault)) throw again
        const last = {www_authenticate: again.www_authenticate, is_last: true}
        usable(await this.#services.credentials.after401(request, other, last))
        throw again
      }
    }
  }

  /** Does work with a connection of the pool, or a new one; a connection of before gets the headers of now. */
  async #with<T>(
    client: UpstreamClient,
    credential: UpstreamCredential,
    signal: AbortSignal,
    work: UpstreamWork<T>,
  ): Promise<T> {
    const life = client.session_id === null ? undefined : SESSION_LIFE
    const key = keyOf(client, credential)
    const current = this.#headers.get(key) ?? {headers: credential.headers}
    current.headers = credential.headers
    this.#headers.set(key, current)
    const open = () => this.#open(client, credential, () => current.headers, signal)
    const lease = await this.#pool.lease(key, open, life)
    let is_broken = false
    try {
      const {sign_in} = credential
      const done = await work(lease.upstream, sign_in && {...sign_in, server_id: client.server.id})
      if (credential.per_user) this.#services.credentials.succeeded(requestOf(client))
      return done
    } catch (fault) {
      is_broken = fault instanceof SessionLostFault || fault instanceof EraDisprovedFault
      throw fault
    } finally {
      lease.release(is_broken)
    }
  }

  async #open(
    client: UpstreamClient,
    credential: UpstreamCredential,
    headers: HeaderSource,
    signal: AbortSignal,
  ): Promise<McpUpstream> {
    const {server, continued, client_info, client_capabilities} = client
    const {eras, settings, steady, upstream: services} = this.#services
    const hello = this.#keptHello(client, credential)
    const opened = await openUpstream(
      server.place,
      headers,
      {
        ...{client_info, client_capabilities, signal},
        credential: credential.credential,
        known: await eras.find(server.integration),
        ...(hello && {hello}),
        ...(continued && {session: continued}),
        onListChange: () => this.#services.noticed(server.integration_id),
        timeout_ms: settings.mcp_request_timeout_ms,
      },
      services,
    )
    if (opened.finding) eras.note(server.integration, opened.finding)
    const {upstream} = opened
    if (upstream.hello.era === 'modern' && upstream.hello !== hello) {
      const of_all = !credential.per_user && cacheScopeOf(upstream.hello) === 'public'
      this.#hellos.set(helloKey(client, credential, of_all), {hello: upstream.hello, at_ms: steady()})
    }
    return upstream
  }

  /** The upstream's description of itself, to this principal or to all whose requests bear these headers. */
  #keptHello(client: UpstreamClient, credential: UpstreamCredential): Hello | undefined {
    for (const of_all of [false, true]) {
      const kept = this.#hellos.get(helloKey(client, credential, of_all))
      if (kept && this.#services.steady() - kept.at_ms < HELLO_MS) return kept.hello
    }
    return undefined
  }
}

/** A person has to sign in at the upstream first, at this address of ours. */
export class SignInNeededFault extends Error {
  readonly url: string

  constructor(url: string) {
    super('The MCP server wants a sign-in of this person.')
    this.name = 'SignInNeededFault'
    this.url = url
  }
}

function requestOf({server, caller, headers, validated}: UpstreamClient): CredentialRequest {
  return {
    integration: server.integration,
    server,
    caller: {
      principal_id: caller.id,
      user_id: caller.user_id,
      email: caller.email,
      username: caller.username,
      workspace_id: caller.workspace_id,
      organisation_id: caller.organisation_id,
      client_id: caller.oauth?.client_id ?? null,
      scopes: caller.oauth?.scopes ?? [],
      credential_kind: caller.oauth ? 'oauth' : caller.kind === 'token' ? 'jwt' : 'api_key',
    },
    client_headers: headers,
    validated,
  }
}

function usable(outcome: CredentialOutcome): UpstreamCredential {
  if ('sign_in_needed' in outcome) throw new SignInNeededFault(outcome.sign_in_needed.authorization_url)
  if ('refused' in outcome) throw outcome.refused.fault
  return outcome
}

/** Whatever makes two connections differ: its server and version, its owner, its client's declarations, its headers. */
function keyOf(client: UpstreamClient, credential: UpstreamCredential): string {
  const {server, caller, session_id, client_capabilities, client_info} = client
  const owner = ownerOf(caller)
  let parts = ''
  for (const part of [owner, client_capabilities, client_info, credential.connection_hash])
    parts += `${part.length} ${part}`
  const {sign_in} = credential
  const person = sign_in ? `${encodeURIComponent(sign_in.user_id)}@${sign_in.connected_at}` : '-'
  const place = `${server.integration_id} ${server.version} ${server.id}`
  return `${place} ${session_id ?? '-'} ${person} ${hash('sha256', parts, 'base64url')}`
}

/** A sign-in of a person at a server. */
export interface SignInAtServer extends SignInOfPerson {
  readonly server_id: string
}

function signInOf(key: string): SignInAtServer | null {
  const [, , server_id = '', , person = '-'] = key.split(' ')
  if (person === '-') return null
  const at = person.indexOf('@')
  return {server_id, user_id: decodeURIComponent(person.slice(0, at)), connected_at: person.slice(at + 1)}
}

function helloKey({server, caller}: UpstreamClient, {connection_hash}: UpstreamCredential, of_all: boolean): string {
  return `${server.integration_id} ${server.version} ${connection_hash} ${of_all ? '-' : ownerOf(caller)}`
}

function ownerOf({kind, id, user_id}: McpCaller): string {
  return `${kind} ${id} ${user_id ?? ''}`
}

function cacheScopeOf({text}: Hello): unknown {
  return own(parsedObject(text) ?? undefined, 'cacheScope')
}

/** A refusal of the credential is never one of the client's own. */
function refused(fault: unknown, server: McpServer): unknown {
  if (fault instanceof UnauthorisedFault)
    return new McpFault(
      'upstream_unreachable',
      {server: server.slug, reason: `it refused the credential that the gateway has for it (${fault.status})`},
      {cause: fault},
    )
  if (fault instanceof SessionLostFault || fault instanceof EraDisprovedFault)
    return new McpFault(
      'upstream_nonsense',
      {server: server.slug, reason: 'it forgets its sessions at once'},
      {cause: fault},
    )
  return fault
}
