import {createHash} from 'node:crypto'
import type {McpServer} from '../call/server.ts'
import type {McpCaller, McpUses, UpstreamCredentials} from '../services.ts'
import {EraDisprovedFault, SessionLostFault, UnauthorisedFault} from '../upstream/faults.ts'
import {openUpstream} from '../upstream/open.ts'
import type {ClientTexts, Hello, LegacySession, McpUpstream} from '../upstream/upstream.ts'
import {McpFault} from '../wire/faults.ts'
import type {HeaderFields} from '../wire/header-values.ts'
import type {UpstreamPool} from './pool.ts'

type Services = McpUses<'credentialsFor' | 'eras' | 'log' | 'settings' | 'steady' | 'upstream'>

/** One client of one server, as its upstream is to see it. */
export interface UpstreamClient extends ClientTexts {
  readonly server: McpServer
  readonly caller: McpCaller
  readonly headers: HeaderFields
  /** The session of a legacy client, which owns the upstream's; null: the principal does. */
  readonly session_id: string | null
  /** A session of the upstream that is continued, as after a restart. */
  readonly continued?: LegacySession
}

/** The upstream's session of a client's session lives as long as that. */
const SESSION_LIFE = {max_idle_ms: 30 * 60_000, max_lifetime_ms: 24 * 60 * 60_000}
/** A modern upstream's description of itself is good for so long. */
const HELLO_MS = 60_000

/**
 * Gives work a connection to an upstream: one of the pool, or a new one after a probe. Work that the upstream did not
 * take (its session was lost, its era is another, its credential was refused) is done once more.
 */
export class UpstreamSource {
  readonly #pool: UpstreamPool
  readonly #services: Services
  readonly #hellos = new Map<string, {readonly hello: Hello; readonly at_ms: number}>()

  constructor(pool: UpstreamPool, services: Services) {
    this.#pool = pool
    this.#services = services
  }

  /** Does `work` with a connection for `client`. Throws the faults of `work` and of opening. */
  async use<T>(client: UpstreamClient, signal: AbortSignal, work: (upstream: McpUpstream) => Promise<T>): Promise<T> {
    try {
      return await this.#once(client, signal, work)
    } catch (fault) {
      const {integration_id} = client.server
      if (fault instanceof EraDisprovedFault) {
        this.#services.eras.forget(integration_id)
        this.#hellos.delete(integration_id)
      } else if (!(fault instanceof SessionLostFault)) throw refused(fault, client.server)
    }
    try {
      return await this.#once({...client, continued: undefined}, signal, work)
    } catch (fault) {
      throw refused(fault, client.server)
    }
  }

  /** Ends the connection of a client's session. */
  end(session_id: string): void {
    this.#pool.drop(key => key.split(' ')[3] === session_id)
  }

  async #once<T>(client: UpstreamClient, signal: AbortSignal, work: (upstream: McpUpstream) => Promise<T>): Promise<T> {
    const {server, caller, headers} = client
    const credentials = await this.#services.credentialsFor(server, caller, headers)
    const life = client.session_id === null ? undefined : SESSION_LIFE
    const lease = await this.#pool.lease(
      keyOf(client, credentials),
      () => this.#open(client, credentials, signal),
      life,
    )
    let is_broken = false
    try {
      return await work(lease.upstream)
    } catch (fault) {
      is_broken =
        fault instanceof SessionLostFault || fault instanceof EraDisprovedFault || fault instanceof UnauthorisedFault
      throw fault
    } finally {
      lease.release(is_broken)
    }
  }

  async #open(client: UpstreamClient, credentials: UpstreamCredentials, signal: AbortSignal): Promise<McpUpstream> {
    const {server, continued, client_info, client_capabilities} = client
    const {eras, settings, steady, upstream: services} = this.#services
    const kept = this.#hellos.get(server.integration_id)
    const hello = kept && steady() - kept.at_ms < HELLO_MS ? kept.hello : undefined
    const opened = await openUpstream(
      server.place,
      () => credentials.headers,
      {
        ...{client_info, client_capabilities, signal},
        credential: credentials.kind,
        known: eras.get(server.integration_id),
        ...(hello && !credentials.is_per_user && {hello}),
        ...(continued && {session: continued}),
        timeout_ms: settings.mcp_request_timeout_ms,
      },
      services,
    )
    if (opened.finding) eras.note(server.integration_id, opened.finding)
    const {upstream} = opened
    if (upstream.hello.era === 'modern' && !credentials.is_per_user && upstream.hello !== hello)
      this.#hellos.set(server.integration_id, {hello: upstream.hello, at_ms: steady()})
    return upstream
  }
}

/** Whatever makes two connections differ: its server and version, its owner, its client's declarations, its headers. */
function keyOf(client: UpstreamClient, credentials: UpstreamCredentials): string {
  const {server, caller, session_id, client_capabilities, client_info} = client
  const owner = `${caller.kind} ${caller.id} ${caller.user_id ?? ''}`
  const digest = createHash('sha256')
  for (const part of [owner, client_capabilities, client_info, credentials.digest])
    digest.update(`${part.length} ${part}`)
  return `${server.integration_id} ${server.version} ${server.id} ${session_id ?? '-'} ${digest.digest('base64url')}`
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
