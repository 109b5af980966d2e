import type {After} from '../../base/delay.ts'
import type {Asker} from '../../base/egress/target.ts'
import type {Log} from '../../base/log.ts'
import type {Seal} from '../../base/seal.ts'
import type {MappedSecrets} from '../../secrets/port.ts'
import type {Store} from '../../store/database.ts'
import type {McpIntegrationsTable, McpServersTable} from '../../store/tables/registry.ts'
import type {WalledFetch} from './walled-fetch.ts'

/** Needs of what makes headers and credentials for MCP servers. */
export interface CredentialServices {
  readonly store: Pick<Store, 'db' | 'write'>
  readonly seal: Seal
  /** Secrets of managers, for fields that are mapped to references. */
  readonly secrets: MappedSecrets
  readonly log: Pick<Log, 'warn'>
  /** The way to servers of keys, tokens and sign-ins. */
  readonly fetch: WalledFetch
  /** Epoch milliseconds. */
  readonly wall: () => number
  /** Milliseconds of a clock that is never set. */
  readonly steady: () => number
  readonly after: After
  readonly random_bytes: (length: number) => Buffer
  /** The public address, without a slash at its end. */
  readonly base_url: string
  readonly settings: CredentialSettings
}

export interface CredentialSettings {
  /** PEM of an RSA key. */
  readonly jwt_private_key?: string | undefined
  readonly mcp_allow_token_passthrough: boolean
  readonly mcp_pool_token_expiry_buffer_ms: number
}

/** An integration as calls need it; its secrets are sealed. */
export type CalledIntegration = Pick<
  McpIntegrationsTable,
  | 'id'
  | 'organisation_id'
  | 'workspace_id'
  | 'url'
  | 'auth_type'
  | 'configurations'
  | 'configurations_sealed'
  | 'secret_mappings'
  | 'trusts_host'
>

/** A server as calls name it. */
export type CalledServer = Pick<McpServersTable, 'id' | 'slug'> & {
  readonly workspace_slug: string
  /** Null: of no workspace but the integration's own, as its integration is read in the background. */
  readonly workspace_id: string | null
}

export interface CalledTarget {
  readonly integration: CalledIntegration
  readonly server: CalledServer
}

/** The caller of a server, authenticated. */
export interface CredentialCaller {
  /** Of the key, or of a token's subject and client. */
  readonly principal_id: string
  /** Null: no person. */
  readonly user_id: string | null
  readonly email?: string | null
  readonly username?: string | null
  readonly workspace_id: string
  readonly organisation_id: string
  readonly client_id?: string | null
  readonly scopes: readonly string[]
  readonly credential_kind: 'api_key' | 'jwt' | 'oauth'
}

/** In the name of an integration: its own host may be private where its author was trusted, no other. */
export function askerOf({id, url, trusts_host}: Pick<CalledIntegration, 'id' | 'url' | 'trusts_host'>): Asker {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, '$1')
  return Number(trusts_host) === 1 && host ? {kind: 'integration', id, host} : {kind: 'caller'}
}
