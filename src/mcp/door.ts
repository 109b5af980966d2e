import {headerText} from '../base/header-values.ts'
import {newId} from '../base/ids.ts'
import {type ClientRequest, FastRequest} from '../base/ingress/request.ts'
import {parsedObject} from '../base/json-object.ts'
import {challengeOf} from '../identity/mcp-oauth/challenge.ts'
import {DEFAULT_SCOPES} from '../identity/mcp-oauth/scopes.ts'
import {ownHeaders} from '../schema/headers.ts'
import type {ServerTools} from '../schema/server-tools.ts'
import {corsHeadersOf, preflightHeaders} from './call/cors.ts'
import {checkScopes} from './call/needed-scopes.ts'
import {checkPlaces, type KnownPlaces} from './call/origins.ts'
import type {McpServer} from './call/server.ts'
import {HeldCalls} from './held/held-calls.ts'
import {UpstreamPool} from './pool/pool.ts'
import {UpstreamSource} from './pool/source.ts'
import {Cursors} from './relay/cursors.ts'
import {TaskIds} from './relay/task-ids.ts'
import {ToolBook} from './relay/tool-book.ts'
import {admittedCaller} from './serve/callers.ts'
import {ClientReply, type ReplyTarget} from './serve/client-reply.ts'
import {faultOf, headersOfFault} from './serve/end.ts'
import {EndedSignIns} from './serve/ended-sign-ins.ts'
import type {McpExchange, ServingParts} from './serve/exchange.ts'
import type {HeldRelay} from './serve/held-relay.ts'
import {serveDelete, serveHandshake, serveLegacy} from './serve/legacy.ts'
import {ListChanges} from './serve/list-changes.ts'
import {serveModern} from './serve/modern.ts'
import {readBodyText} from './serve/read-body.ts'
import {noteRefused} from './serve/refused.ts'
import {secondToken} from './serve/second-token.ts'
import {serveStream} from './serve/stream.ts'
import type {McpCaller, McpServices} from './services.ts'
import {Sessions} from './sessions/sessions.ts'
import {serverTools} from './tools/server-tools.ts'
import {type ClientPost, clientEra, sessionOfStream} from './wire/client-era.ts'
import {errorText, McpFault} from './wire/faults.ts'
import {type RpcMessage, readBody} from './wire/messages.ts'

/** The server that a path names, and its workspace where it names one. */
export interface McpPath {
  readonly workspace: string | null
  readonly server: string
}

/** The face of the plane: it takes the requests of MCP endpoints. */
export interface McpDoor {
  handle(path: McpPath, request: ClientRequest, response: ReplyTarget): Promise<void>
  /** Tools for runs of models: each list and each call is a request at this door. */
  readonly tools: ServerTools
  /** Rows of MCP servers were written, here or in another process. */
  changed(): void
  /** The connections, sessions and calls that this process holds now. */
  sizes(): {readonly connections: number; readonly sessions: number; readonly held_calls: number}
  /** Rows of sign-ins at MCP servers were written, here or in another process. */
  signInsChanged(): void
  /** Refuses new requests, and waits for those that are open. */
  drain(limit_ms: number): Promise<void>
  close(): Promise<void>
}

export function createDoor(services: McpServices, options: {readonly is_local: boolean}): McpDoor {
  const {settings} = services
  const pool = new UpstreamPool(
    {
      keeps: settings.mcp_pool_enabled,
      max_connections: settings.mcp_pool_max_connections,
      max_idle_ms: settings.mcp_pool_max_idle_ms,
      max_lifetime_ms: settings.mcp_pool_max_lifetime_ms,
      cleanup_interval_ms: settings.mcp_pool_cleanup_interval_ms,
    },
    services,
  )
  const source = new UpstreamSource(pool, services)
  const held = new HeldCalls<HeldRelay>(services.after)
  const sessions = new Sessions(services, session => source.end(session.id))
  const draining = new AbortController()
  const parts: ServingParts = {
    ...{services, source, held, sessions, draining: draining.signal},
    tools: new ToolBook(),
    cursors: new Cursors(services.seal.derived('mcp cursors')),
    task_ids: new TaskIds(services.seal.derived('mcp tasks')),
    process_id: newId(),
    list_changes: new ListChanges(services),
    work: new Set(),
  }
  const exchanges = new Exchanges(parts, options)
  const ended = new EndedSignIns(parts, services)
  return {
    handle: (path, request, response) => exchanges.serve(path, request, response, false),
    tools: serverTools(
      (server, request, reply) => exchanges.serve({workspace: null, server}, request, reply, true),
      services,
    ),
    changed: () => parts.list_changes.changed(),
    sizes: () => ({connections: pool.size, sessions: sessions.size, held_calls: held.size}),
    signInsChanged: () => ended.changed(),
    drain(limit_ms) {
      draining.abort()
      return exchanges.drain(limit_ms)
    },
    async close() {
      await ended.settled()
      held.close()
      sessions.close()
      await Promise.allSettled(parts.work)
      await pool.close()
    },
  }
}

/** The requests of clients, from the first check to the last byte. */
class Exchanges {
  readonly #parts: ServingParts
  readonly #places: KnownPlaces
  readonly #open = new Set<Promise<void>>()

  constructor(parts: ServingParts, {is_local}: {readonly is_local: boolean}) {
    this.#parts = parts
    const {base_url, allowed_origins} = parts.services
    this.#places = {base: new URL(base_url), allowed_origins, is_local}
  }

  serve(path: McpPath, request: ClientRequest, response: ReplyTarget, is_of_run: boolean): Promise<void> {
    const served = this.#serve(path, request, response, is_of_run)
    this.#open.add(served)
    return served.finally(() => this.#open.delete(served))
  }

  /** Waits for what is open: streams end at once, calls end by themselves or with the process. */
  async drain(limit_ms: number): Promise<void> {
    const {after} = this.#parts.services
    this.#parts.sessions.endStreams()
    let callOff = () => {}
    const late = new Promise<void>(resolve => {
      callOff = after(limit_ms, resolve)
    })
    await Promise.race([Promise.allSettled([...this.#open, ...this.#parts.work]), late])
    callOff()
  }

  async #serve(path: McpPath, request: ClientRequest, response: ReplyTarget, is_of_run: boolean): Promise<void> {
    const {services} = this.#parts
    const started = services.steady()
    const accepts_events = /text\/event-stream|\*\/\*/i.test(request.headers.accept ?? '')
    const reply = new ClientReply(response, {
      after: services.after,
      may_stream: accepts_events,
      headers: corsHeadersOf(request.headers),
    })
    try {
      if (this.#parts.draining.aborted) throw new McpFault('unavailable', {reason: 'The gateway is shutting down.'})
      if (!is_of_run) checkPlaces(request.headers, this.#places)
      if (request.method === 'OPTIONS') return reply.empty(204, preflightHeaders(request.headers))
      const exchange = await this.#admitted(path, request, reply, is_of_run)
      await this.#dispatched(exchange)
    } catch (thrown) {
      const fault = faultOf(thrown, services.log)
      if (fault.reason === 'unauthenticated') {
        const duration_ms = services.steady() - started
        services.mcp_metrics.ended({server: null, method: '', outcome: 'unauthenticated', duration_ms})
      }
      reply.end(fault.http, errorText(fault.id_text, fault), {
        ...headersOfFault(fault),
        ...this.#challenge(fault, path),
      })
      if (!(request instanceof FastRequest)) request.resume()
    }
  }

  async #dispatched(exchange: McpExchange): Promise<void> {
    const {request, server, caller} = exchange
    const {services} = this.#parts
    const {method} = request
    if (method === 'GET') return this.#stream(sessionOfStream('GET', request.headers), exchange)
    if (method === 'DELETE') return serveDelete(sessionOfStream('DELETE', request.headers), exchange, this.#parts)
    let body: RpcMessage | readonly RpcMessage[] = []
    try {
      if (!server.admits(caller.user_id))
        throw new McpFault('forbidden', {reason: 'This person may not use this MCP server. An admin can allow it.'})
      exchange.validated = await secondToken(exchange, this.#parts.services)
      body = readBody(await readBodyText(request))
      if (caller.oauth) checkScopes(caller.oauth.scopes, [body].flat())
      await this.#post(clientEra(request.headers, body), exchange)
    } catch (thrown) {
      await noteRefused([body].flat()[0], exchange, thrown, this.#parts)
      const fault = faultOf(thrown, services.log)
      if ('kind' in body && body.kind === 'request') fault.id_text ??= body.id_text
      throw fault
    }
  }

  async #stream(session_id: string, exchange: McpExchange): Promise<void> {
    if (!exchange.server.virtual) return serveStream(session_id, exchange, this.#parts)
    const {serveVirtualStream} = await import('./virtual/stream.ts')
    return serveVirtualStream(session_id, exchange, this.#parts)
  }

  async #post(post: ClientPost, exchange: McpExchange): Promise<void> {
    if (exchange.server.virtual && !(post.era === 'modern' && post.kind === 'notification')) {
      const {serveVirtual} = await import('./virtual/serve-virtual.ts')
      return serveVirtual(post, exchange, this.#parts)
    }
    if (post.era === 'legacy')
      return post.kind === 'initialize'
        ? serveHandshake(post, exchange, this.#parts)
        : serveLegacy(post, exchange, this.#parts)
    if (post.kind === 'notification') return exchange.reply.empty(202)
    return serveModern(post, exchange, this.#parts)
  }

  /** The order of checks: places, credential, scope, server, person (mcp.md, section 2). */
  async #admitted(path: McpPath, request: ClientRequest, reply: ClientReply, is_of_run: boolean): Promise<McpExchange> {
    const {services} = this.#parts
    const at_ms = services.now()
    const started = services.steady()
    const {method, headers} = request
    if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
      throw new McpFault('method_not_allowed', {method: method ?? '', reason: ''})
    const {caller, auth} = await admittedCaller(request, path, services)
    const server = await this.#server(path, caller)
    const own = ownHeaders(headers)
    return {
      ...{request, caller, server, auth, reply, at_ms, started, is_of_run, validated: undefined},
      metadata: {...textsOf(own.values.metadata), ...caller.metadata},
      masked_headers: kept(headers),
      keeps_bodies: own.values.debug !== 'false',
    }
  }

  async #server({workspace, server}: McpPath, caller: McpCaller): Promise<McpServer> {
    const {organisation_id, workspace_id} = caller
    const found = await this.#parts.services.findServer({organisation_id, workspace_id, workspace, server})
    if (!found || found.workspace_id !== workspace_id) throw new McpFault('not_found')
    return found
  }

  #challenge(fault: McpFault, path: McpPath): Record<string, string> {
    const {reason, facts, data} = fault
    if (reason !== 'unauthenticated' && reason !== 'insufficient_scope') return {}
    const is_dead = data?.error === 'invalid_token'
    const scopes = reason === 'insufficient_scope' ? String(facts.scope).split(' ') : DEFAULT_SCOPES
    const error = is_dead ? 'invalid_token' : reason === 'insufficient_scope' ? reason : undefined
    return {'www-authenticate': challengeOf({base: this.#parts.services.base_url, path, error, scopes})}
  }
}

/** Metadata of a header: texts by name; anything else is left out. */
function textsOf(text: string | undefined): Record<string, string> {
  const given = text === undefined ? {} : (parsedObject(text) ?? {})
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** Headers that name the protocol and the client; none that may hold a credential. */
const KEPT = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'user-agent'] as const

function kept(headers: ClientRequest['headers']): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of KEPT) {
    const value = headers[name]
    if (typeof value === 'string') found[name] = headerText(value)
  }
  return found
}
