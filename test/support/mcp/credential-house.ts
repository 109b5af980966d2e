import {randomBytes} from 'node:crypto'
import {Egress} from '../../../src/base/egress/pools.ts'
import {readTrusted} from '../../../src/base/egress/trust.ts'
import {createSeal} from '../../../src/base/seal.ts'
import {
  type CredentialOutcome,
  type CredentialRequest,
  McpCredentials,
  type UpstreamCredential,
} from '../../../src/mcp/credentials/credentials.ts'
import type {CredentialCaller, CredentialServices} from '../../../src/mcp/credentials/services.ts'
import {upstreamAuth, upstreamCallbackReply} from '../../../src/mcp/credentials/upstream-pages.ts'
import {walledFetch} from '../../../src/mcp/credentials/walled-fetch.ts'
import type {Store} from '../../../src/store/database.ts'
import {findMcpConnection} from '../../../src/store/mcp-connections.ts'
import {insertMcpIntegration, sealConfigurations} from '../../../src/store/mcp-integrations.ts'
import {insertMcpServer} from '../../../src/store/mcp-servers.ts'
import {insertOrganisation} from '../../../src/store/organisations.ts'
import type {McpIntegrationsTable} from '../../../src/store/tables/registry.ts'
import {insertWorkspace} from '../../../src/store/workspaces.ts'
import {NO_SECRETS} from '../no-secrets.ts'
import {type StoreKind, testStore} from '../stores.ts'
import {Timers} from '../timers.ts'

const AT = '2026-11-01T08:00:00.000Z'
export const BASE_URL = 'https://gateway.example.com'

export const PERSON: CredentialCaller = {
  ...{principal_id: 'key-1', user_id: 'mia', email: 'mia@example.com', username: 'Mia Köln'},
  ...{workspace_id: 'w', organisation_id: 'o', client_id: null, scopes: ['mcp.invoke'], credential_kind: 'api_key'},
}

/** One process: its credentials, and the time that it sees. */
export interface CredentialProcess {
  readonly services: CredentialServices
  readonly credentials: McpCredentials
}

/** A database with one organisation, and processes on it that share a clock. */
export async function openCredentialHouse(kind: StoreKind) {
  const opened = await testStore(kind)
  const {db} = opened.store
  const times = {created_at: AT, last_updated_at: AT}
  await insertOrganisation(db, {id: 'o', slug: 'o', name: 'O', ...times})
  const none = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
  const workspace = {
    id: 'w',
    slug: 'team',
    organisation_id: 'o',
    name: 'Team',
    is_default: 0,
    status: 'active',
  } as const
  await insertWorkspace(db, {...workspace, ...none, ...times})
  const egress = new Egress({trusted: readTrusted(['127.0.0.1'])})
  const seal = createSeal(Buffer.alloc(32, 7))
  const clock = {wall_ms: Date.parse(AT)}
  const timers = new Timers(0)
  let number = 0

  function processOn(store: Store, own: Partial<CredentialServices> = {}): CredentialProcess {
    const after: CredentialServices['after'] = (ms, run) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    }
    const services: CredentialServices = {
      ...{store, seal, after, random_bytes: randomBytes, base_url: BASE_URL},
      log: {warn: () => undefined},
      secrets: NO_SECRETS,
      fetch: walledFetch({egress, after}),
      wall: () => clock.wall_ms,
      steady: () => performance.now(),
      settings: {mcp_allow_token_passthrough: false, mcp_pool_token_expiry_buffer_ms: 300_000},
      ...own,
    }
    return {services, credentials: new McpCredentials(services)}
  }

  return {
    ...{store: opened.store, clock, timers, seal, egress, processOn},
    again: () => opened.again(),
    /** A process on the first connection. */
    process: (own: Partial<CredentialServices> = {}) => processOn(opened.store, own),
    /** An integration of `url`, with a server of the same number. */
    async target(url: string, own: Partial<McpIntegrationsTable> = {}, configurations: object = {}) {
      const own_number = ++number
      const id = `i${own_number}`
      const row: McpIntegrationsTable = {
        ...{id, slug: id, name: id, organisation_id: 'o', workspace_id: null, description: null, url},
        ...{auth_type: 'oauth_auto', transport: 'http', secret_mappings: '[]', global_access_enabled: 1},
        ...{trusts_host: 0, metadata: null, owner_id: null, status: 'active', ...times},
        ...sealConfigurations(seal, {id, organisation_id: 'o'}, configurations, {}),
        ...own,
      }
      await insertMcpIntegration(db, row)
      const server = {
        id: `s${own_number}`,
        slug: `docs-${own_number}`,
        name: 's',
        organisation_id: 'o',
        workspace_id: 'w',
      }
      const more = {description: null, default_user_access: 'allow', owner_id: null, status: 'active'} as const
      await insertMcpServer(db, {...server, ...more, mcp_integration_id: id, ...times})
      return {integration: row, server: {id: server.id, slug: server.slug, workspace_slug: 'team', workspace_id: 'w'}}
    },
    connection: ({integration, server}: Pick<CredentialRequest, 'integration' | 'server'>, user_id = 'mia') =>
      findMcpConnection(db, {
        ...{mcp_integration_id: integration.id, mcp_server_id: server.id, user_id, organisation_id: 'o'},
      }),
    async close() {
      await egress.destroy()
      await opened.close()
    },
  }
}
export type CredentialHouse = Awaited<ReturnType<typeof openCredentialHouse>>

/** A call of a person without headers of his own. */
export function requestOf(
  target: Pick<CredentialRequest, 'integration' | 'server'>,
  more: Partial<CredentialRequest> = {},
): CredentialRequest {
  return {caller: PERSON, client_headers: {}, ...target, ...more}
}

/** The link of an outcome that wants a sign-in. */
export function linkIn(outcome: CredentialOutcome): string {
  if (!('sign_in_needed' in outcome)) throw new Error(`no sign-in: ${JSON.stringify(outcome)}`)
  return outcome.sign_in_needed.authorization_url
}

export function headersIn(outcome: CredentialOutcome): UpstreamCredential {
  if (!('headers' in outcome)) throw new Error(`no headers: ${JSON.stringify(outcome)}`)
  return outcome
}

export function refusedIn(outcome: CredentialOutcome) {
  if (!('refused' in outcome)) throw new Error(`not refused: ${JSON.stringify(outcome)}`)
  const {status, code, message} = outcome.refused
  return {status, code, message}
}

export const queryOf = (url: string) => new URL(url).searchParams

/** The browser of a person who opens a link and agrees at the authorization server; ends with our last page. */
export async function signedIn({services}: CredentialProcess, link: string, user_id = 'mia') {
  const sent = await upstreamAuth(services, queryOf(link), {user_id})
  if (sent.status !== 302) return sent
  return upstreamCallbackReply(services, await answeredBy(sent.headers.location!), {user_id})
}

/** The query with which the authorization server sends a person back. */
export async function answeredBy(authorization_url: string): Promise<URLSearchParams> {
  const {headers} = await fetch(authorization_url, {redirect: 'manual'})
  return queryOf(headers.get('location')!)
}
