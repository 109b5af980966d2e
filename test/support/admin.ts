import {join} from 'node:path'
import fastify from 'fastify'
import {type FirstRun, firstRun} from '../../src/admin/first-run.ts'
import {type MountOptions, mountAdmin} from '../../src/admin/http.ts'
import {ExportJobs} from '../../src/admin/log-exports/jobs.ts'
import {newKey} from '../../src/admin/new-key.ts'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import type {AdminServices, McpPort} from '../../src/admin/services.ts'
import {cachePortBeside} from '../../src/app/cache-port.ts'
import {openDomainProofs} from '../../src/app/domain-proofs.ts'
import {openChecking} from '../../src/app/guardrail-checks.ts'
import {ROUTING} from '../../src/app/server.ts'
import {openTokens} from '../../src/app/tokens.ts'
import {after} from '../../src/base/delay.ts'
import {newId} from '../../src/base/ids.ts'
import {createLog} from '../../src/base/log.ts'
import {createSeal} from '../../src/base/seal.ts'
import {makeKey} from '../../src/identity/keys.ts'
import {scopesOf} from '../../src/identity/scopes.ts'
import {readSettings} from '../../src/settings/index.ts'
import {insertKey} from '../../src/store/api-keys.ts'
import {bodyFinder} from '../../src/store/bodies/index.ts'
import type {CacheName, Db} from '../../src/store/database.ts'
import {insertOrganisation} from '../../src/store/organisations.ts'
import {forgetRows} from '../../src/store/remembered.ts'
import type {ApiKeysTable, AuditLogsTable, WorkspacesTable} from '../../src/store/tables/identity.ts'
import {cachesOf} from '../../src/store/tables/invalidation.ts'
import {insertWorkspace} from '../../src/store/workspaces.ts'
import {testStore} from './stores.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The reply as JSON; undefined when it has no body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
}

interface Options {
  readonly kind?: 'sqlite' | 'postgres'
  readonly env?: Record<string, string>
  readonly operations?: readonly AnyOperation[]
  readonly actorOf?: MountOptions['actorOf']
  /** Where reads that take time are made, of the folder of the database. @default its own connection */
  readonly readsOf?: (folder: string) => Db
  /** Tries and reads MCP servers. @default none of them answers */
  readonly mcp?: McpPort
}

const NO_MCP: McpPort = {
  tried: async () => ({
    ...{success: false, status_code: null, response_time_ms: 1, server_name: null, protocol_version: null},
    error: 'the connection was refused',
  }),
  wake: () => undefined,
  givenTokens: (_, {access_token}) => ({access_token}),
  revokeTokens: () => undefined,
}

/** No manager of secrets is near. */
const UNREACHED = {
  ...{reachable: false, allowed: false, key_present: null, age_s: null, version: null, response_time_ms: 0},
  ...{error: 'it does not answer', warning: null},
}

/**
 * A control plane on loopback over a new database with one organisation; its clock stands at
 * `2026-03-04T05:06:07.000Z`.
 */
export async function startAdmin({mcp = NO_MCP, ...given}: Options = {}) {
  const {kind = 'sqlite', env = {}, operations = OPERATIONS, actorOf, readsOf} = given
  const {store, folder, options, again, close} = await testStore(kind)
  let now = new Date('2026-03-04T05:06:07.000Z')
  const published: CacheName[] = []
  const faults: {cause: unknown; operation: string; request_id: string}[] = []
  const {settings} = readSettings({env})
  const checking = openChecking(settings)
  const seal = createSeal(Buffer.alloc(32, 7))
  const {
    tokens,
    sign_in_needs,
    close: closeTokens,
  } = openTokens({
    ...{settings, store, log: createLog('silent', 'gateway', () => undefined)},
    ...{now: () => now.getTime(), wall: () => now.getTime(), steady: () => performance.now()},
  })
  store.onWrite(changed => forgetRows(tokens.remembered, changed))
  const services: AdminServices = {
    store,
    settings,
    tokens,
    sign_in_needs,
    check_services: checking.check_services,
    mcp,
    domain_proofs: openDomainProofs({settings, log: createLog('silent', 'gateway', () => undefined), after}),
    seal,
    bodies: bodyFinder(options, store.db),
    testReference: async () => UNREACHED,
    cache: cachePortBeside({settings, store, store_options: options, seal, now: () => now.getTime()}),
    ...(readsOf && {reads: readsOf(folder)}),
    now: () => now,
    failed: (cause, where) => void faults.push({cause, ...where}),
  }
  const exports = new ExportJobs({
    folder: join(folder, 'exports'),
    store,
    reads: store.db,
    bodies: services.bodies,
    settled: async () => undefined,
    now: () => now,
    failed: cause => void faults.push({cause, operation: 'export', request_id: ''}),
    waits: true,
  })
  Object.assign(services, {exports})
  const first = (await firstRun(store, now)) as FirstRun
  store.onWrite(({tables}) => void published.push(...cachesOf(tables)))
  const server = fastify({routerOptions: ROUTING})
  mountAdmin(server, operations, services, {checks_replies: true, ...(actorOf && {actorOf})})
  const url = await server.listen({host: '127.0.0.1', port: 0})

  const send = async (
    key: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const sent = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key && {'x-gateway-api-key': key}),
        ...(body !== undefined && {'content-type': 'application/json'}),
        ...headers,
      },
      ...(body !== undefined && {body: typeof body === 'string' ? body : JSON.stringify(body)}),
    })
    const text = await sent.text()
    return {
      status: sent.status,
      headers: sent.headers,
      text,
      body: text && sent.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : undefined,
    }
  }
  const seedWorkspace = async (
    organisation_id: string,
    row: Partial<WorkspacesTable> = {},
  ): Promise<WorkspacesTable> => {
    const at = now.toISOString()
    const id = newId()
    const empty = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
    const workspace: WorkspacesTable = {
      id,
      slug: `ws-${id.slice(0, 6)}`,
      organisation_id,
      name: 'Seeded',
      is_default: 0,
      status: 'active',
      created_at: at,
      last_updated_at: at,
      ...empty,
      ...row,
    }
    await insertWorkspace(store.db, workspace)
    return workspace
  }
  /** A key with all scopes of its kind, or those given; straight into the database. */
  const seedKey = async (
    place: {organisation_id: string; workspace_id?: string | null},
    row: Partial<Omit<ApiKeysTable, 'scopes'>> & {scopes?: string[]} = {},
  ) => {
    const made = makeKey()
    const kind = row.kind ?? (place.workspace_id ? 'workspace-service' : 'organisation-service')
    const {scopes = [...scopesOf(kind)], ...rest} = row
    const {organisation_id, workspace_id = null} = place
    const whole = {
      ...newKey(
        {organisation_id, workspace_id, kind, name: 'Seeded key', creation_mode: 'api'},
        made,
        scopes,
        now.toISOString(),
      ),
      ...rest,
    }
    await insertKey(store.db, whole)
    return {key: made.key, id: whole.id}
  }
  return {
    url,
    store,
    folder,
    options,
    /** Another connection to its database, as another process would hold. */
    again,
    services,
    published,
    faults,
    admin_key: first.admin_key.key,
    workspace_key: first.workspace_key.key,
    organisation_id: first.organisation_id,
    workspace_id: first.workspace_id,
    workspace_slug: first.workspace_slug,
    send,
    /** Sends as the first admin key. */
    asAdmin: (method: string, path: string, body?: unknown) => send(first.admin_key.key, method, path, body),
    /** Sends as the first workspace key. */
    asWorkspace: (method: string, path: string, body?: unknown) => send(first.workspace_key.key, method, path, body),
    seedWorkspace,
    seedKey,
    /** Another organisation with a workspace and keys of its own. */
    async foreign() {
      const at = now.toISOString()
      const organisation_id = newId()
      await insertOrganisation(store.db, {
        id: organisation_id,
        slug: organisation_id,
        name: 'Other',
        created_at: at,
        last_updated_at: at,
      })
      const workspace = await seedWorkspace(organisation_id)
      const admin = await seedKey({organisation_id})
      const key = await seedKey({organisation_id, workspace_id: workspace.id})
      return {organisation_id, workspace, admin, key}
    },
    auditLog: (): Promise<AuditLogsTable[]> =>
      store.db.selectFrom('audit_logs').selectAll().orderBy('at').orderBy('id').execute(),
    /** Sets the clock. */
    at(time: string) {
      now = new Date(time)
    },
    async close() {
      await server.close()
      await checking.close()
      await closeTokens()
      await close()
    },
  }
}

export type Admin = Awaited<ReturnType<typeof startAdmin>>

/** The body of a refusal. */
export const refusal = (errorCode: string, message: string) => ({success: false, data: {message, errorCode}})
