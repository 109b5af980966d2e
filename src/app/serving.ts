import type {FastifyInstance} from 'fastify'
import {type FirstRun, firstRun} from '../admin/first-run.ts'
import {mountAdmin} from '../admin/http.ts'
import {mcpBase} from '../admin/link-base.ts'
import {mountMcpRegistry} from '../admin/mcp/registry.ts'
import {OPERATIONS} from '../admin/registry.ts'
import type {AdminServices} from '../admin/services.ts'
import {after} from '../base/delay.ts'
import type {Governor} from '../base/ingress/governor.ts'
import type {Log} from '../base/log.ts'
import {version} from '../base/runtime.ts'
import type {ConnectionSource} from '../identity/connections.ts'
import {mountOAuth} from '../oauth/http.ts'
import type {OAuthServices} from '../oauth/services.ts'
import {mountScim} from '../scim/http.ts'
import type {ScimServices} from '../scim/services.ts'
import {lokiSettings, type Settings, telemetrySettings} from '../settings/index.ts'
import {mountSignIn} from '../sign-in/http.ts'
import type {SignInServices} from '../sign-in/services.ts'
import {backUp} from '../store/backup.ts'
import {checkAfterUncleanEnd} from '../store/damage.ts'
import type {DataDir} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import {migrate} from '../store/migrate.ts'
import {forgetCaches, forgetRows} from '../store/remembered.ts'
import {openReads} from '../workers/reader.ts'
import {exportsFolder, openAdministration} from './administration.ts'
import type {AuditSinkWork} from './audit-sinks.ts'
import {openBackground} from './background.ts'
import {openGovernor} from './connections.ts'
import {type DataPlane, openDataPlane} from './data-plane.ts'
import {makeDemo} from './demo.ts'
import {environmentConnection} from './environment-connection.ts'
import {endSessionsOfBefore} from './environment-sessions.ts'
import {openExplaining} from './explain-services.ts'
import {type Ingest, openIngest} from './ingest.ts'
import type {LogPush} from './log-push.ts'
import {openLogStoreWork} from './log-store-work.ts'
import {type McpPlane, mountMcp, openMcp} from './mcp.ts'
import {createMcpListener} from './mcp-listener.ts'
import {plainMcp} from './mcp-plain.ts'
import {externalStarts, mountUpstreamSignIn, upstreamLinks} from './mcp-sign-in.ts'
import {openOAuth} from './oauth.ts'
import {OpenAnswers} from './open-answers.ts'
import {begunAnew, type DataAccess, type OpenedData, openData} from './opened-data.ts'
import {injectInto} from './operator-server.ts'
import {openSources, prepareSources} from './price-sources.ts'
import {reload} from './reload.ts'
import {Revocations} from './revocations.ts'
import type {App, RootParts} from './root.ts'
import {scimServices} from './scim.ts'
import {createServer} from './server.ts'
import {shutDown} from './shutdown.ts'
import {openSignIn, watchOf} from './sign-in.ts'
import type {TelemetryWork} from './telemetry.ts'
import {openTokens} from './tokens.ts'

/** The caller of a flush waits for a busy machine, too. */
const FLUSHED_MS = 60_000
/**
 * How many connections may wait to be taken. The system drops what is beyond it, and a client of a crowd tries again
 * only a second later: Node's own 511 is too few. The bound of the system (net.core.somaxconn) applies as well.
 */
const BACKLOG = 4096

/** The root of a gateway that serves: it owns the data directory, its journal and its jobs. */
export async function openServing(directory: DataDir, parts: RootParts): Promise<App> {
  const {kept, options, binding, stack} = parts
  const log_push = await openLogPushOf(parts)
  const data = await openData(directory, parts, accessOf(options.accepts_loss, binding))
  const {settings, log, store, store_options, seal, clock, now, notes} = data
  await clock.goOn(store.db)
  const first_run = await openFirstRun(store, settings, now)
  const started_at = new Date(now()).toISOString()
  const of_environment = await environmentConnection(settings, store, started_at)
  await endSessionsOfBefore(of_environment, {store, log, now: started_at})
  const connections: ConnectionSource = {
    seal,
    of_environment,
    is_off: settings.auth_mode === 'NO_AUTH',
  }
  const sources = await openSources({settings, db: store.db, log, now})
  stack.defer(() => sources.close())
  const {pricing} = sources
  await prepareSources(pricing, store.db)
  const steady = options.steady ?? (() => performance.now())
  const revocations = new Revocations({store, log, after, ...revocationLimits(settings), steady})
  const {tokens, sign_in_needs, close: closeTokens} = openTokens({settings, store, log, ...clock, steady})
  stack.defer(closeTokens)
  const telemetry = await openTelemetryOf(data, stack)
  const plane = await openDataPlane({
    ...{settings, directory, store, store_options, seal, pricing, log, ...clock, steady, binding, revocations, tokens},
    ...{sign_in_needs, follower: telemetry?.follower, ports: options.ports},
  })
  stack.defer(() => plane.close())
  const oauth = openOAuth({settings, store, seal, log, sign_in_needs, now})
  stack.defer(oauth.close)
  const {findOAuthCaller} = oauth
  const mcp = openMcp({...{settings, store, seal, log, ...clock, steady, findOAuthCaller}, calls: plane.services})
  stack.defer(() => mcp.close())
  if (settings.mcp_enabled) plane.proxy.serveTools(mcp.door.tools)
  const explaining = openExplaining({settings, store, seal, now, prices: pricing, log})
  const remembered = [...plane.remembered, ...mcp.remembered, ...explaining.remembered]
  store.onWrite(changed => {
    forgetRows(remembered, changed)
    revocations.wrote(changed)
  })
  const {records} = plane
  const log_store = openLogStoreWork({settings, store, store_options, records, log, now})
  const {services: sign_in, providers, close} = openSignIn({settings, store, seal, log, ...clock, steady, connections})
  stack.defer(close)
  const audit_sinks = await openAuditSinksOf(data)
  const background = openBackground({
    ...{settings, store, records, log_store, audit_sinks, telemetry, log_push, log, now},
    exports_folder: exportsFolder(data),
    refreshPrices: sources.refreshes,
    reconciler: plane.limits.reconciler,
    ask_again: plane.ask_again,
    ...(settings.mcp_enabled && {mcp: mcp.syncs}),
    certificates: watchOf({settings, store, connections, saml: providers.saml}),
  })
  stack.defer(() => background.close())
  const reads = await openReads(store_options, log)
  if (reads) stack.defer(() => reads.close())
  const serving = {plane, reads: reads?.db, mcp: mcp.port}
  const environment_connection = connections.of_environment
  const {services, exports, operator} = await openAdministration(
    {...data, sources, explaining, tokens, sign_in_needs, providers, environment_connection, serving},
    parts,
  )
  if (settings.data_exports_enabled) await exports.resume()
  stack.defer(() => revocations.close())
  await revocations.start(moved => forgetCaches(remembered, moved))
  if (options.demo) await makeDemo(async request => injectInto(await operator.open(), request))
  const governor = openGovernor(settings, log)
  const scim = scimServices({settings, store, log, now})
  const answers = new OpenAnswers()
  const ingest = openIngest({plane, store, log})
  const faces = {services, scim, sign_in, oauth: oauth.services, ingest}
  const page = shared(async () => bytesOf([...(await plane.metrics()), ...(await textsOf(mcp, background, ingest))]))
  const parts_of_servers = {settings, log, governor, answers, plane, mcp, ...faces, page}
  await openMetricsPushOf({settings, log, page, registry: plane.registry, stack})
  const mcp_server = settings.mcp_port === undefined ? null : openMcpServer(parts_of_servers)
  const server = openServer(parts_of_servers, mcp_server)
  const servers = [server, ...(mcp_server ? [mcp_server] : [])]
  stack.defer(async () => {
    await Promise.all(servers.map(each => each.close()))
  })
  return {
    role: 'server',
    settings,
    first_run,
    notes,
    inject: async request => injectInto(await operator.open(), request),
    async listen() {
      const {host, port, mcp_port} = settings
      const at = {host, backlog: BACKLOG}
      // the probes of the first port pass when both take connections
      const mcp_url = mcp_server && secured(await mcp_server.listen({...at, port: mcp_port!}), settings)
      const url = secured(await server.listen({...at, port}), settings)
      return {url, ...(mcp_url !== null && {mcp_url})}
    },
    reload: next => reload(next, {kept, log, servers: servers.map(each => each.server), governor}),
    async warmUp() {
      const {warmUp} = await import('./warm-up.ts')
      const pause = (ms: number) => new Promise<void>(done => void after(ms, done))
      const isIdle = () => plane.proxy.live === 0 && !plane.proxy.draining
      return warmUp({services: plane.services, isIdle, pause})
    },
    flushed: () => records.flushed(FLUSHED_MS),
    async drain() {
      void background.schedule.close()
      const limit_ms = settings.drain_timeout_ms
      const both = (ms: number) => Promise.all([plane.proxy.drain(ms), mcp.door.drain(ms)])
      await shutDown({servers, calls: {drain: both}, answers, limit_ms})
    },
    close: () => stack.disposeAsync(),
  }
}

/** Nothing of it is loaded where nothing is sent. */
async function openTelemetryOf(
  {settings, store, store_options, log}: OpenedData,
  stack: AsyncDisposableStack,
): Promise<TelemetryWork | undefined> {
  const telemetry = telemetrySettings(settings)
  if (!telemetry) return undefined
  const {openTelemetry} = await import('./telemetry.ts')
  const work = openTelemetry({telemetry, settings, store, store_options, log})
  stack.defer(() => work.close())
  return work
}

/** Likewise. It is opened first, so that it is closed last. */
async function openLogPushOf({kept: {settings}, options: {log}, stack}: RootParts): Promise<LogPush | undefined> {
  const loki = lokiSettings(settings)
  if (!loki) return undefined
  const {openLogPush} = await import('./log-push.ts')
  const push = openLogPush({loki, settings, log})
  stack.defer(() => push.close())
  return push
}

/** Likewise. */
async function openMetricsPushOf(
  parts: Parameters<typeof import('./metrics-push.ts').openMetricsPush>[0] & {readonly stack: AsyncDisposableStack},
): Promise<void> {
  if (!parts.settings.prometheus_push_enabled) return
  const push = (await import('./metrics-push.ts')).openMetricsPush(parts)
  if (push) parts.stack.defer(() => push.close())
}

/** Likewise. */
async function openAuditSinksOf({settings, store, log, now}: OpenedData): Promise<AuditSinkWork | undefined> {
  if (settings.audit_sinks.length === 0) return undefined
  const {openAuditSinks} = await import('./audit-sinks.ts')
  return openAuditSinks({settings, store, log, now})
}

function accessOf(accepts_loss: boolean | undefined, binding: object | undefined): DataAccess {
  return {
    patience: 'calls',
    may_make_key: true,
    look: directory => [
      ...begunAnew(directory, binding, accepts_loss),
      ...checkAfterUncleanEnd(directory.folder, binding),
    ],
    migrate: (store, directory, now) => migrateWithBackup(store, directory, now, binding),
  }
}

function revocationLimits({db_query_timeout_ms, caller_cache_max_stale_s}: Settings) {
  return {query_timeout_ms: db_query_timeout_ms, max_stale_s: caller_cache_max_stale_s}
}

/** Migrates, after a backup where there is something to lose. */
async function migrateWithBackup(
  store: Store,
  directory: DataDir,
  now: () => number,
  binding: object | undefined,
): Promise<string[]> {
  const notes: string[] = []
  const onBeforeUpgrade = async () => {
    if (store.kind === 'postgres')
      return void notes.push('The database is migrated without a backup: back up PostgreSQL with its own tools.')
    const folder = await backUp({
      data_folder: directory.folder,
      backups: directory.backups,
      now: new Date(now()),
      version,
      binding,
    })
    notes.push(`The databases were copied to ${folder} before the migration.`)
  }
  const steps = await migrate(store, {now: () => new Date(now()), onBeforeUpgrade})
  if (steps.length && !directory.is_new) notes.push(`The database was migrated: ${steps.join(', ')}.`)
  return notes
}

/** The organisation and its keys, made at the first start. */
function openFirstRun(store: Store, settings: Settings, now: () => number): Promise<FirstRun | undefined> {
  const {bootstrap_admin_key: admin, bootstrap_workspace_key: workspace} = settings
  return firstRun(store, new Date(now()), {admin, workspace})
}

interface ServerParts {
  readonly settings: Settings
  readonly log: Log
  readonly governor: Governor
  readonly answers: OpenAnswers
  readonly plane: DataPlane
  readonly mcp: McpPlane
  readonly services: AdminServices
  readonly scim: ScimServices
  readonly sign_in: SignInServices
  readonly oauth: OAuthServices
  readonly ingest: Ingest
  /** The page of metrics, but for the governor's part. */
  readonly page: () => Promise<Buffer>
}

/** Mounts what clients of MCP reach: servers, their OAuth, their registry. */
function mountMcpPlane(instance: FastifyInstance, {mcp, services, oauth}: ServerParts) {
  mountMcpRegistry(instance, {...services, base_url: mcpBase(services)})
  mountOAuth(instance, {...oauth, upstreamLink: upstreamLinks(mcp), externalStart: externalStarts(mcp)})
  mountMcp(instance, mcp.door)
  mountUpstreamSignIn(instance, mcp, oauth)
}

function openMcpServer(parts: ServerParts) {
  const {settings, log, governor, answers} = parts
  return createMcpListener({
    ...{settings, log, version, governor, answers},
    mount: instance => mountMcpPlane(instance, parts),
  })
}

function secured(url: string, {tls_key, tls_cert}: Settings): string {
  return tls_key && tls_cert ? url.replace('http:', 'https:') : url
}

/** The server of both planes; of MCP alone with SERVER_MODE=mcp. */
function openServer(parts: ServerParts, mcp_server: FastifyInstance | null) {
  const {settings, log, governor, answers, plane, mcp, services, scim, sign_in, ingest, page} = parts
  const is_whole = settings.server_mode !== 'mcp'
  const lacking = () => (mcp_server?.server.listening === false ? 'MCP_PORT takes no connections' : null)
  return createServer({
    settings,
    log,
    governor,
    answers,
    version,
    is_whole,
    admin(instance) {
      if (is_whole) {
        mountAdmin(instance, OPERATIONS, services)
        mountScim(instance, scim)
        ingest.mount(instance)
      }
      // people sign in here for MCP clients as well
      mountSignIn(instance, sign_in)
      if (settings.mcp_enabled) mountMcpPlane(instance, parts)
    },
    ...(is_whole && {proxy: plane.proxy}),
    ...(settings.mcp_enabled && {plain: plainMcp(mcp.door)}),
    metrics: page,
    unready: async () => (await plane.unready()) ?? lacking(),
    degraded: () => plane.degraded(),
  })
}
/** The parts of the page of metrics that are short. */
function textsOf(...parts: readonly {metrics(): Promise<string>}[]): Promise<string[]> {
  return Promise.all(parts.map(part => part.metrics()))
}

/** The bytes of slices of a text; others have their turn between two. */
async function bytesOf(slices: readonly string[]): Promise<Buffer> {
  const all: Buffer[] = []
  for (const slice of slices) {
    all.push(Buffer.from(slice))
    await new Promise(resolve => setImmediate(resolve))
  }
  return Buffer.concat(all)
}

/** Runs `work` once for all callers while it is in progress: a page of metrics takes megabytes. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let under_way: Promise<T> | null = null
  return () => {
    under_way ??= work().finally(() => {
      under_way = null
    })
    return under_way
  }
}
