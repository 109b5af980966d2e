import {randomBytes} from 'node:crypto'
import type {FastifyInstance} from 'fastify'
import {Registry} from 'prom-client'
import {mcpBase} from '../admin/link-base.ts'
import type {McpPort} from '../admin/services.ts'
import {after} from '../base/delay.ts'
import {newId} from '../base/ids.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import {looksLikeToken} from '../identity/jwt/read.ts'
import {hashKey} from '../identity/keys.ts'
import type {EntityLimit} from '../limits/claims.ts'
import {createPolicyLookup} from '../limits/policy-lookup.ts'
import {McpCredentials} from '../mcp/credentials/credentials.ts'
import type {CredentialServices} from '../mcp/credentials/services.ts'
import {walledFetch} from '../mcp/credentials/walled-fetch.ts'
import {createDoor, type McpDoor} from '../mcp/door.ts'
import {createToolGuardLookup} from '../mcp/guards/find-guards.ts'
import {mcpGauges, mcpMetrics} from '../mcp/records/metrics.ts'
import type {McpServices} from '../mcp/services.ts'
import type {McpSyncs} from '../mcp/sync/syncs.ts'
import type {ProxyServices} from '../proxy/services.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import {mcpConnectionTimes} from '../store/mcp-connections.ts'
import {mcpServersForCalls} from '../store/mcp-for-call.ts'
import {takeLease} from '../store/mcp-leases.ts'
import {changeMcpSession, findMcpSession, insertMcpSession, removeMcpSession} from '../store/mcp-sessions.ts'
import type {Remembered} from '../store/remembered.ts'
import {storedTools} from '../store/stored-tools.ts'
import {findWorkspace} from '../store/workspaces.ts'
import {openEgress} from './egress.ts'
import {eraBook} from './mcp-eras.ts'
import {openedServers} from './mcp-opened-servers.ts'
import {openMcpSyncs} from './mcp-syncs.ts'

export interface McpParts {
  readonly settings: Settings
  readonly store: Store
  readonly seal: Seal
  readonly log: Log
  readonly now: () => number
  readonly wall: () => number
  readonly steady: () => number
  /** Of calls of models: both planes know callers, count limits and write records by the same services. */
  readonly findOAuthCaller: McpServices['findOAuthCaller']
  readonly calls: Pick<
    ProxyServices,
    'secrets' | 'findCaller' | 'findCallerByCredential' | 'guardrails' | 'limits' | 'recorder' | 'metrics' | 'version'
  >
}

export interface McpPlane {
  readonly door: McpDoor
  readonly syncs: McpSyncs
  /** For the administration. */
  readonly port: McpPort
  readonly credentials: McpCredentials
  readonly credential_services: CredentialServices
  readonly remembered: readonly Remembered[]
  /** Its part of the text of /metrics. */
  metrics(): Promise<string>
  close(): Promise<void>
}

/** Standing streams of one upstream. */
const STREAMS = 2_000

/** Puts the plane of MCP together. */
export function openMcp({settings, store, seal, log, now, wall, steady, findOAuthCaller, calls}: McpParts): McpPlane {
  const base_url = mcpBase({settings})
  const egress = openEgress(settings)
  const stream_egress = openEgress(settings, {connections: STREAMS})
  const credential_services: CredentialServices = {
    ...{store, seal, log, wall, steady, after, base_url, settings, secrets: calls.secrets},
    fetch: walledFetch({egress, after}),
    random_bytes: randomBytes,
  }
  const credentials = new McpCredentials(credential_services)
  const {
    syncs,
    port,
    close: closeSyncs,
  } = openMcpSyncs({
    ...{settings, store, seal, log, now, steady, secrets: calls.secrets},
  })
  const registry = new Registry()
  const servers = mcpServersForCalls(store.db)
  const policies = createPolicyLookup({db: store.db, target: 'mcp_tools', enabled: settings.policy_enabled})
  const guards = createToolGuardLookup({db: store.db, seal})
  const services: McpServices = {
    settings,
    log,
    seal,
    now,
    steady,
    after,
    version: calls.version,
    recorder: calls.recorder,
    metrics: calls.metrics,
    mcp_metrics: mcpMetrics(registry),
    limits: calls.limits,
    findCaller: (credential, client) =>
      looksLikeToken(credential)
        ? (calls.findCallerByCredential(credential, client) ?? null)
        : calls.findCaller(hashKey(credential), client),
    findServer: openedServers({servers, seal, log}),
    findPolicies: policies.find,
    guards: calls.guardrails && {
      find: guards.find,
      checkServices: calls.guardrails.checkServices,
      beside: calls.guardrails.beside,
    },
    findOAuthCaller,
    findWorkspaceLimits: (organisation_id, workspace_id) => workspaceLimits(store, organisation_id, workspace_id),
    credentials,
    signInTimes: of =>
      mcpConnectionTimes(
        store.db,
        of.map(({server_id}) => server_id),
      ),
    sighted: (integration, method, entries) =>
      void syncs
        .sighted(integration, method, entries)
        .catch(fault => log.warn({fault}, 'a list of tools was not noted')),
    noticed: id =>
      void syncs.request(id, 'notice').catch(fault => log.warn({fault}, 'the notice of an MCP server was not noted')),
    storedTools: integration_id => storedTools(store.db, integration_id),
    upstream: {egress, stream_egress, steady, wall, after},
    eras: eraBook({store, log, wall}),
    sessions: {
      find: id_hash => findMcpSession(store.db, id_hash),
      put: row => store.write(db => insertMcpSession(db, row)),
      change: (id_hash, change) => store.write(db => changeMcpSession(db, id_hash, change)),
      remove: id_hash => store.write(db => removeMcpSession(db, id_hash)),
    },
    takeRound: (call_id, round, expires_ms) => takeRound(store, {call_id, round, expires_ms, now_ms: now()}),
    base_url,
    allowed_origins: [...settings.mcp_allowed_origins, ...settings.cors_allowed_origins].filter(each => each !== '*'),
  }
  const door = createDoor(services, {is_local: isLoopback(settings.host)})
  mcpGauges(registry, () => door.sizes())
  return {
    metrics: () => registry.metrics(),
    ...{door, credentials, credential_services, syncs, port},
    remembered: [
      {of: new Set(['mcp_connections']), forget: () => door.signInsChanged()},
      ...policies.remembered,
      ...guards.remembered,
      ...servers.remembered.map(({of, forget}) => ({
        of,
        forget(ids: readonly string[] | null) {
          forget(ids)
          door.changed()
        },
      })),
    ],
    async close() {
      await door.close()
      await closeSyncs()
      await egress.destroy()
      await stream_egress.destroy()
    },
  }
}

/** Mounts the endpoints. What is read of a body, and how an answer leaves, is the plane's own. */
export function mountMcp(server: FastifyInstance, door: McpDoor): void {
  server.register(async scope => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.hijack()
      const {workspace = null, server: slug} = request.params as {workspace?: string; server: string}
      await door.handle({workspace, server: slug}, request.raw, reply.raw)
    })
    for (const path of ['/:server/mcp', '/:workspace/:server/mcp', '/:server/mcp/', '/:workspace/:server/mcp/'])
      scope.route({method: ['GET', 'POST', 'DELETE', 'OPTIONS'], url: path, handler: async () => undefined})
  })
}

interface RoundTaken {
  readonly call_id: string
  readonly round: number
  readonly expires_ms: number
  readonly now_ms: number
}

/** A lease that is kept until the state ends: then no request can bring it any more. */
function takeRound({write}: Store, {call_id, round, expires_ms, now_ms}: RoundTaken): Promise<boolean> {
  const lease = {name: `round ${round} of ${call_id}`, holder: newId(), expires_at: new Date(expires_ms).toISOString()}
  return write(db => takeLease(db, lease, new Date(now_ms).toISOString()))
}

/** The budgets and rates of a workspace, for callers that are none of its keys. */
async function workspaceLimits(
  {db}: Store,
  organisation_id: string,
  workspace_id: string,
): Promise<readonly EntityLimit[]> {
  const workspace = await findWorkspace(db, organisation_id, workspace_id)
  if (!workspace || workspace.usage_limits === null) return []
  const {id, name, usage_limits: usage} = workspace
  return [{entity: 'workspace', id, name, workspace_id: id, usage, rates: null, last_reset_at: null}]
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '127.0.0.1' || host === '::1'
}
