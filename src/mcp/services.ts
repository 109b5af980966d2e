import type {After} from '../base/delay.ts'
import type {ClientRequest} from '../base/ingress/request.ts'
import type {Log} from '../base/log.ts'
import type {MaybePromise} from '../base/maybe-promise.ts'
import type {Seal} from '../base/seal.ts'
import type {ChargeServices} from '../charge/ports.ts'
import type {KnownKey} from '../identity/api-keys.ts'
import type {EntityLimit} from '../limits/claims.ts'
import type {CounterReservation, LimitClaim} from '../limits/index.ts'
import type {Policies} from '../limits/policies.ts'
import type {Principal} from '../schema/principal.ts'
import type {Spent} from '../schema/spent.ts'
import type {McpSessionsTable} from '../store/tables/mcp.ts'
import type {McpServer, ServerPlace} from './call/server.ts'
import type {EraFinding, UpstreamServices} from './upstream/upstream.ts'
import type {HeaderFields} from './wire/header-values.ts'
import type {ProbeCredential} from './wire/upstream-era.ts'

/** A principal in a workspace, as calls of tools need it. */
export interface McpCaller extends Principal {
  readonly organisation_id: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly user_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** Of the credential and its workspace. */
  readonly limits: readonly EntityLimit[]
}

/** A key or token, and the caller that it makes; null for one of no workspace. */
export interface KnownMcpCaller extends KnownKey {
  readonly caller: McpCaller | null
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

/** The headers that carry a credential to an upstream, and the things that make a connection with it another one. */
export interface UpstreamCredentials {
  readonly headers: Readonly<Record<string, string>>
  readonly kind: ProbeCredential
  /** Connections with another digest are never shared. */
  readonly digest: string
  /** True where it is of one person: what comes back is his alone. */
  readonly is_per_user: boolean
}

/** Eras that were found before, by integration. */
export interface EraBook {
  get(integration_id: string): EraFinding | null
  note(integration_id: string, finding: EraFinding): void
  forget(integration_id: string): void
}

/** Rows of the sessions of legacy clients, by the SHA-256 of their ids. */
export interface SessionRows {
  find(id_hash: string): Promise<McpSessionsTable | undefined>
  put(row: McpSessionsTable): Promise<void>
  change(id_hash: string, change: Partial<McpSessionsTable>): Promise<void>
  remove(id_hash: string): Promise<void>
}

/** All services of the plane of MCP; the composition root gives it. */
export interface McpServices extends ChargeServices {
  readonly settings: {
    readonly mcp_request_timeout_ms: number
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
  /** The credential of a caller for a server. */
  credentialsFor(server: McpServer, caller: McpCaller, headers: HeaderFields): MaybePromise<UpstreamCredentials>
  readonly upstream: UpstreamServices
  readonly eras: EraBook
  readonly sessions: SessionRows
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
