import type {After} from '../base/delay.ts'
import type {ClientRequest} from '../base/ingress/request.ts'
import type {JsonObject} from '../base/json-member.ts'
import type {Log} from '../base/log.ts'
import type {MaybePromise} from '../base/maybe-promise.ts'
import type {Seal} from '../base/seal.ts'
import type {ChargeServices} from '../charge/ports.ts'
import type {KnownKey} from '../identity/api-keys.ts'
import type {OAuthCaller, OAuthRefusal} from '../identity/mcp-oauth/caller.ts'
import type {EntityLimit} from '../limits/claims.ts'
import type {CounterReservation, LimitClaim} from '../limits/index.ts'
import type {Policies} from '../limits/policies.ts'
import type {Principal} from '../schema/principal.ts'
import type {McpLogDetail} from '../schema/records.ts'
import type {Spent} from '../schema/spent.ts'
import type {McpServerNames} from '../store/oauth-servers.ts'
import type {McpSessionsTable} from '../store/tables/mcp.ts'
import type {McpIntegrationsTable} from '../store/tables/registry.ts'
import type {McpServer, ServerPlace} from './call/server.ts'
import type {ToolGuardServices} from './call/tool-guards.ts'
import type {ListMethod} from './content/entries.ts'
import type {McpCredentials} from './credentials/credentials.ts'
import type {EraFinding, UpstreamServices} from './upstream/upstream.ts'

/** A principal in a workspace, as calls of tools need it. */
export interface McpCaller extends Principal {
  readonly organisation_id: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly user_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** Of the credential and its workspace. */
  readonly limits: readonly EntityLimit[]
  readonly email: string | null
  readonly username: string | null
  /** Of a token of our own authorization server. */
  readonly oauth: {readonly client_id: string; readonly scopes: readonly string[]} | null
}

/** A key or token, and the caller that it makes; null for one of no workspace. */
export interface KnownMcpCaller extends KnownKey {
  readonly caller: Omit<McpCaller, 'email' | 'username' | 'oauth'> | null
}

/** Claims of one call. */
export interface McpAdmission {
  readonly counter_keys: readonly string[]
  readonly strict_claims: readonly LimitClaim[] | null
  settle(actual: Spent): void
  release(): void
}

export interface McpLimits {
  /** Takes one request from every limit, or refuses and takes nothing. */
  admit(limits: readonly EntityLimit[], call_id: string, now_ms: number): MaybePromise<McpAdmission | null>
  /** Holds `first` of each strict limit for one attempt, or refuses. */
  hold(claims: readonly LimitClaim[], call_id: string, attempt: number, first: Spent): MaybePromise<CounterReservation>
}

/** Eras of upstreams, as probes of calls and syncs found them. */
export interface EraBook {
  /** At once, of those that this process knows. */
  get(integration: McpIntegrationsTable): EraFinding | null
  /** The same, read where this process does not know it. */
  find(integration: McpIntegrationsTable): Promise<EraFinding | null>
  note(integration: McpIntegrationsTable, finding: EraFinding): void
  forget(integration: McpIntegrationsTable): void
}

/** Rows of the sessions of legacy clients, by the SHA-256 of their ids. */
export interface SessionRows {
  find(id_hash: string): Promise<McpSessionsTable | undefined>
  put(row: McpSessionsTable): Promise<void>
  /** False where there is no such row. */
  change(id_hash: string, change: Partial<McpSessionsTable>): Promise<boolean>
  remove(id_hash: string): Promise<void>
}

/** One request that ended, for /metrics. */
export interface EndedMessage {
  /** The slug of its server; null where the request was refused before a server was found. */
  readonly server: string | null
  readonly method: string
  readonly outcome: McpLogDetail['outcome'] | 'unauthenticated'
  readonly duration_ms: number
}

export interface McpMetrics {
  ended(message: EndedMessage): void
}

/** All services of the plane of MCP; the composition root gives it. */
export interface McpServices extends ChargeServices {
  readonly mcp_metrics: McpMetrics
  readonly settings: {
    readonly mcp_request_timeout_ms: number
    readonly charge_unanswered: boolean
    readonly service_name: string
    readonly mcp_pool_enabled: boolean
    readonly mcp_pool_max_connections: number
    readonly mcp_pool_max_idle_ms: number
    readonly mcp_pool_max_lifetime_ms: number
    readonly mcp_pool_cleanup_interval_ms: number
  }
  readonly version: string
  readonly log: Log
  readonly limits: McpLimits
  /** The caller of a key or a token; null when there is none. Refuses one that ended. `client`: its request. */
  findCaller(credential: string, client: ClientRequest): MaybePromise<KnownMcpCaller | null>
  /** The server that a caller means; null where it sees none of this name. */
  findServer(place: ServerPlace): MaybePromise<McpServer | null>
  /** The policies of a workspace for calls of tools; null where it has none. */
  findPolicies(workspace_id: string): MaybePromise<Policies | null>
  /** The caller who shows a token of our own authorization server, at the server that his path names. */
  findOAuthCaller(token: string, path: McpServerNames, now_ms: number): Promise<OAuthCaller | OAuthRefusal>
  /** Limits of a workspace, for callers that are no key. */
  findWorkspaceLimits(organisation_id: string, workspace_id: string): Promise<readonly EntityLimit[]>
  /** Headers and credentials for upstreams. */
  readonly credentials: Pick<McpCredentials, 'headersFor' | 'after401' | 'secondToken' | 'succeeded'>
  /** When sign-ins of people at servers were made (ISO 8601), by `SERVER_ID USER_ID`; without those that are over. */
  signInTimes(
    of: readonly {readonly server_id: string; readonly user_id: string}[],
  ): Promise<ReadonlyMap<string, string>>
  /** Takes entries of a list that passed, which the rows do not have. Never throws. */
  sighted(integration: McpIntegrationsTable, method: ListMethod, entries: readonly JsonObject[]): void
  /** A server gave notice that one of its lists is another. Never throws. */
  noticed(integration_id: string): void
  /** Definitions of the tools of an integration as they were read last, those that are gone left out. */
  storedTools(integration_id: string): Promise<readonly JsonObject[]>
  /** Guardrails of calls of tools; null where they are switched off. */
  readonly guards: ToolGuardServices | null
  readonly upstream: UpstreamServices
  readonly eras: EraBook
  readonly sessions: SessionRows
  /**
   * Takes one round of a call that waits for nothing in a process: true once, of all processes and requests, until the
   * state of the round ends.
   */
  takeRound(call_id: string, round: number, expires_ms: number): Promise<boolean>
  readonly seal: Pick<Seal, 'close' | 'open' | 'derived'>
  /** Scheme and host that clients reach us by, without a slash at the end. */
  readonly base_url: string
  /** Origins of browsers that may call, beside our own. */
  readonly allowed_origins: readonly string[]
  /** Runs `run` once in `ms`; the function it gives calls that off. */
  readonly after: After
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds of a clock that is never set. */
  steady(): number
}

/** The part of the services that a file uses. */
export type McpUses<Name extends keyof McpServices> = Pick<McpServices, Name>
