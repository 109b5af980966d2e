import {hash, randomBytes} from 'node:crypto'
import {isoTime} from '../../base/clock.ts'
import {isObject, type JsonObject} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {McpSessionsTable} from '../../store/tables/mcp.ts'
import type {McpServer} from '../call/server.ts'
import type {McpCaller, McpUses} from '../services.ts'
import type {LegacySession} from '../upstream/upstream.ts'
import {isLogLevel} from '../wire/envelope.ts'
import {McpFault} from '../wire/faults.ts'
import {isLegacyVersion, LEGACY_VERSIONS, type LegacyVersion} from '../wire/versions.ts'
import {ClientSession} from './session.ts'

const IDLE_MS = 30 * 60_000
const LIFE_MS = 24 * 60 * 60_000
const MOST_OF_PRINCIPAL = 50
const MOST = 10_000
const NOTED_EVERY_MS = 60_000
const SWEEP_MS = 60_000
const RETRY_AFTER_S = 30

/** A session that this process has, with what ends it. */
interface KnownSession {
  readonly session: ClientSession
  readonly principal: string
  readonly created_ms: number
  used_ms: number
  noted_ms: number
}

type Services = McpUses<'after' | 'log' | 'now' | 'seal' | 'sessions'>

/**
 * Sessions of legacy clients. Each is a row, so that a restart or another process continues it; streams and open
 * calls, which only a process can have, are in its memory.
 */
export class Sessions {
  readonly #services: Services
  readonly #onEnd: (session: ClientSession) => void
  /** The least recently used first. */
  readonly #known = new Map<string, KnownSession>()
  #callOff: () => void = () => undefined

  constructor(services: Services, onEnd: (session: ClientSession) => void) {
    this.#services = services
    this.#onEnd = onEnd
    this.#sweep()
  }

  get size(): number {
    return this.#known.size
  }

  newId(): string {
    return `ms_${randomBytes(16).toString('base64url')}`
  }

  /** Keeps a session that was agreed with an upstream. Throws `no_room` (503) where none can make room. */
  async begin(
    session: ClientSession,
    server: McpServer,
    caller: McpCaller,
    upstream: LegacySession | null,
  ): Promise<void> {
    const principal = principalOf(caller)
    await this.#makeRoom(principal)
    const now = this.#services.now()
    const at = isoTime(now)
    await this.#services.sessions.put({
      id_hash: hashOf(session.id),
      principal_kind: caller.kind,
      principal_id: principal,
      organisation_id: caller.organisation_id,
      workspace_id: server.workspace_id,
      mcp_server_id: server.id,
      version: session.version,
      client_info: session.client_info,
      client_capabilities: session.client_capabilities,
      log_level: null,
      subscriptions: '[]',
      upstream_sealed: upstream && this.#sealed(session.id, caller, upstream),
      created_at: at,
      used_at: at,
    })
    this.#known.set(session.id, {session, principal, created_ms: now, used_ms: now, noted_ms: now})
  }

  /** The session that an id names. Throws `session_unknown` (404), also for that of another principal or server. */
  async find(id: string, server: McpServer, caller: McpCaller): Promise<ClientSession> {
    const known = this.#known.get(id) ?? (await this.#restored(id, server, caller))
    const now = this.#services.now()
    if (!known || known.session.server_id !== server.id || known.principal !== principalOf(caller))
      throw new McpFault('session_unknown')
    if (this.#hasEnded(known, now) && (await this.#isOver(known, now))) {
      await this.end(known.session)
      throw new McpFault('session_unknown')
    }
    known.used_ms = now
    this.#known.delete(id)
    this.#known.set(id, known)
    this.#noteUse(known, now)
    return known.session
  }

  /** Writes what a session changed of itself. */
  async changed({id, log_level, subscriptions}: ClientSession): Promise<void> {
    await this.#services.sessions.change(hashOf(id), {log_level, subscriptions: JSON.stringify([...subscriptions])})
  }

  async end(session: ClientSession): Promise<void> {
    this.#known.delete(session.id)
    session.end()
    this.#onEnd(session)
    await this.#services.sessions.remove(hashOf(session.id))
  }

  /** Ends their streams: clients come back to another process. Open calls come to their own end. */
  endStreams(): void {
    for (const {session} of this.#known.values()) session.stream?.close()
  }

  /** Ends what this process has of them; their rows stay. */
  close(): void {
    this.#callOff()
    for (const {session} of this.#known.values()) session.end()
    this.#known.clear()
  }

  async #restored(id: string, server: McpServer, caller: McpCaller): Promise<KnownSession | undefined> {
    const row = await this.#services.sessions.find(hashOf(id))
    if (!row || row.mcp_server_id !== server.id || row.principal_id !== principalOf(caller)) return undefined
    const capabilities = parsed(row.client_capabilities)
    const session = new ClientSession({
      id,
      version: versionOf(row),
      server,
      client_info: row.client_info,
      client_capabilities: row.client_capabilities,
      capabilities: isObject(capabilities) ? (capabilities as JsonObject) : {},
      log_level: isLogLevel(row.log_level) ? row.log_level : null,
      subscriptions: parsed(row.subscriptions) as string[],
      continued: row.upstream_sealed ? this.#opened(id, caller, row.upstream_sealed) : undefined,
    })
    const used_ms = Date.parse(row.used_at)
    const known = {
      session,
      principal: row.principal_id,
      created_ms: Date.parse(row.created_at),
      used_ms,
      noted_ms: used_ms,
    }
    const found = this.#known.get(id) ?? known
    this.#known.set(id, found)
    return found
  }

  /** Writes once a minute that a session is used. One that another process ended is over here as well. */
  #noteUse(known: KnownSession, now: number) {
    if (now - known.noted_ms < NOTED_EVERY_MS) return
    known.noted_ms = now
    const {session} = known
    void this.#services.sessions
      .change(hashOf(session.id), {used_at: isoTime(now)})
      .then(is_there => (is_there ? undefined : this.end(session)))
      .catch(fault => this.#services.log.warn({fault}, 'the use of an MCP session could not be noted'))
  }

  /** True for a session that is over: where this process did not see it used, another may have. */
  async #isOver(known: KnownSession, now: number): Promise<boolean> {
    if (!this.#hasEnded(known, now)) return false
    if (now - known.created_ms > LIFE_MS) return true
    const row = await this.#services.sessions.find(hashOf(known.session.id))
    if (row) known.used_ms = Math.max(known.used_ms, Date.parse(row.used_at))
    return !row || this.#hasEnded(known, now)
  }

  async #swept(known: KnownSession, now: number): Promise<void> {
    if (known.session.is_busy) {
      known.used_ms = now
      this.#noteUse(known, now)
    } else if (await this.#isOver(known, now)) await this.end(known.session)
  }

  #hasEnded({session, used_ms, created_ms}: KnownSession, now: number): boolean {
    return now - created_ms > LIFE_MS || (now - used_ms > IDLE_MS && !session.is_busy)
  }

  async #makeRoom(principal: string): Promise<void> {
    const own = [...this.#known.values()].filter(each => each.principal === principal)
    const full = own.length >= MOST_OF_PRINCIPAL ? own : this.#known.size >= MOST ? [...this.#known.values()] : null
    if (!full) return
    const idle = full.find(({session}) => !session.is_busy)
    if (!idle) throw new McpFault('no_room', {what: 'another MCP session', retry_after_s: RETRY_AFTER_S})
    await this.end(idle.session)
  }

  #sweep() {
    this.#callOff = this.#services.after(SWEEP_MS, () => {
      const now = this.#services.now()
      for (const known of [...this.#known.values()])
        void this.#swept(known, now).catch(fault =>
          this.#services.log.warn({fault}, 'an MCP session could not be ended in the database'),
        )
      this.#sweep()
    })
  }

  #sealed(id: string, caller: McpCaller, upstream: LegacySession): Buffer {
    return this.#services.seal.close(JSON.stringify(upstream), placeOf(id, caller))
  }

  #opened(id: string, caller: McpCaller, sealed: Uint8Array): LegacySession | undefined {
    try {
      return JSON.parse(this.#services.seal.open(sealed, placeOf(id, caller))) as LegacySession
    } catch (fault) {
      this.#services.log.warn({fault}, 'the upstream of an MCP session could not be read; a new one is made')
      return undefined
    }
  }
}

function versionOf({version}: McpSessionsTable): LegacyVersion {
  return isLegacyVersion(version) ? version : LEGACY_VERSIONS[0]
}

function principalOf({kind, id, user_id}: McpCaller): string {
  return `${kind} ${id} ${user_id ?? ''}`
}

function hashOf(id: string): string {
  return hash('sha256', id)
}

function placeOf(id: string, {organisation_id}: McpCaller) {
  return {table: 'mcp_sessions', column: 'upstream_sealed', row: hashOf(id), organisation_id}
}
