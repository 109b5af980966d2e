import {join} from 'node:path'
import {type FirstRun, firstRun} from '../admin/first-run.ts'
import {mountAdmin} from '../admin/http.ts'
import {ExportJobs} from '../admin/log-exports/jobs.ts'
import {OPERATIONS} from '../admin/registry.ts'
import type {AdminServices} from '../admin/services.ts'
import {after} from '../base/delay.ts'
import type {Governor} from '../base/ingress/governor.ts'
import type {Log} from '../base/log.ts'
import {sqliteBinding, version} from '../base/runtime.ts'
import {createSeal, type Seal} from '../base/seal.ts'
import type {Pricing} from '../pricing/open.ts'
import {changeable, databaseSettings, type Settings, type SettingsChanges} from '../settings/index.ts'
import {backUp} from '../store/backup.ts'
import {bodyFinder, manyBodiesFinder} from '../store/bodies/index.ts'
import {checkAfterUncleanEnd, checkPresent, damageFault} from '../store/damage.ts'
import {type DataDir, DataDirFault, findDataDir, ownDataDir, sealingKey} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import {openStore, type StoreOptions} from '../store/dialect/index.ts'
import {MigrationFault, migrate, migrationState} from '../store/migrate.ts'
import {forgetCaches, forgetRows} from '../store/remembered.ts'
import {checkSeal} from '../store/seal-check.ts'
import {openReads} from '../workers/reader.ts'
import {storedBodies} from '../workers/stored-bodies.ts'
import {type Background, openBackground} from './background.ts'
import {openGovernor} from './connections.ts'
import {type DataPlane, type DataPlaneParts, openDataPlane} from './data-plane.ts'
import {DemoFault, makeDemo} from './demo.ts'
import {openExplaining} from './explain-services.ts'
import {openChecking} from './guardrail-checks.ts'
import {type LogStore, openLogStore} from './log-store.ts'
import {openLogStoreWork} from './log-store-work.ts'
import {type InjectedRequest, injectInto, openOperatorServer} from './operator-server.ts'
import {openSources, prepareSources} from './price-sources.ts'
import {openClock} from './process-clock.ts'
import {reload} from './reload.ts'
import {Revocations} from './revocations.ts'
import {createServer} from './server.ts'
import {shutDown} from './shutdown.ts'

export interface AppOptions {
  /**
   * A `server` owns the data directory; an `operator` works beside it: no journal, no workers, no data plane (core rule
   * 3).
   */
  readonly role: 'server' | 'operator'
  readonly log: Log
  /** Adds the provider `@demo`, which answers in this process. */
  readonly demo?: boolean
  /** A ledger that is gone begins again; else its absence refuses the start. */
  readonly accepts_loss?: boolean
  /** The clock of this machine. */
  readonly now?: () => number
  /** A clock that is never set; milliseconds since any moment. */
  readonly steady?: () => number
  readonly ports?: DataPlaneParts['ports']
  /** How long lists and reports wait for PostgreSQL. @default 60000 */
  readonly list_timeout_ms?: number
}

/** A gateway put together: serving, or open for the operator's commands. */
export interface App {
  readonly role: AppOptions['role']
  readonly settings: Settings
  /** Keys of the first run, shown once; undefined on every later one. */
  readonly first_run: FirstRun | undefined
  /** Backups and steps of the migration, in sentences for the operator. */
  readonly notes: readonly string[]
  /** Calls an operation with the operator's rights. */
  inject(request: InjectedRequest): Promise<{readonly status: number; readonly body: unknown}>
  /** Takes connections; says where. */
  listen(): Promise<{readonly url: string}>
  /** Resolves when the log holds every call that has ended. */
  flushed(): Promise<void>
  /**
   * Has those of these settings hold that may change while it serves. Throws SettingsFault, and nothing has changed
   * then.
   */
  reload(next: Settings): SettingsChanges
  /**
   * Takes no more calls and begins nothing, waits for calls in progress up to DRAIN_TIMEOUT_MS, and ends all
   * connections.
   */
  drain(): Promise<void>
  close(): Promise<void>
}

/** The caller of a flush waits for a busy machine, too. */
const FLUSHED_MS = 60_000

/**
 * Puts everything together; the one place that knows every implementation. Throws with a sentence for the operator:
 * DataDirFault, MigrationFault, SealFault.
 */
export async function createApp(given: Settings, options: AppOptions): Promise<App> {
  const kept = changeable(given)
  const {settings} = kept
  const {role, log} = options
  const binding = sqliteBinding()
  const directory = role === 'server' ? ownDataDir(settings.data_dir, binding) : findDataDir(settings.data_dir)
  const clock = openClock(
    {...(options.now && {wall: options.now}), ...(options.steady && {steady: options.steady})},
    log,
  )
  const {now} = clock
  const opened: {close(): Promise<void>}[] = [{close: async () => directory.release()}, clock]
  const close = async () => {
    for (const part of opened.splice(0).reverse()) await part.close()
  }
  try {
    const store_options = storeOptions(settings, directory, options, binding)
    const found = store_options.kind === 'sqlite' ? lookAt(directory, options, binding) : []
    const seal = openSeal(settings, directory, role)
    const store = await openStore(store_options, role === 'server' ? 'calls' : 'lists')
    opened.push(store)
    const notes = [
      ...found,
      ...(role === 'server' ? await migrateWithBackup(store, directory, now, binding) : await assertMigrated(store)),
    ]
    await checkSeal(store, seal)
    if (role === 'server') await clock.goOn(store.db)
    const first_run = role === 'server' ? await openFirstRun(store, settings, now) : undefined
    const sources = await openSources({settings, db: store.db, log, now})
    opened.push(sources)
    const {pricing} = sources
    if (role === 'server') await prepareSources(pricing, store.db)
    const steady = options.steady ?? (() => performance.now())
    const revocations = new Revocations({store, log, after, ...revocationLimits(settings), steady})
    const plane =
      role === 'server'
        ? await openDataPlane({
            ...{settings, directory, store, store_options, seal, pricing, log, ...clock, steady, binding, revocations},
            ports: options.ports,
          })
        : undefined
    if (plane) opened.push(plane)
    const explaining = openExplaining({settings, store, seal, now, prices: pricing, log})
    const remembered = [...(plane?.remembered ?? []), ...explaining.remembered]
    store.onWrite(changed => {
      forgetRows(remembered, changed)
      revocations.wrote(changed)
    })
    const exports_folder = join(directory.folder, 'exports')
    const log_store_work = plane && openLogStoreWork({settings, store, store_options, records: plane.records, log, now})
    const background =
      plane &&
      openBackground({
        ...{settings, store, records: plane.records, log_store: log_store_work, log, now, exports_folder},
        refreshPrices: sources.refreshes,
        reconciler: plane.limits.reconciler,
        ask_again: plane.ask_again,
      })
    if (background) opened.push(background)
    const reads = role === 'server' ? await openReads(store_options, log) : undefined
    if (reads) opened.push(reads)
    const log_store = openLogStore(settings, clock.wall)
    if (log_store) opened.push(log_store)
    const checking = openChecking(settings)
    opened.push(checking)
    const without_exports = {
      ...adminServices({store, store_options, settings, seal, pricing, log, now, plane, explaining, log_store}),
      check_services: checking.check_services,
      ...(reads && {reads: reads.db}),
    }
    const exports = exportJobs(without_exports, exports_folder, role, log)
    opened.push(exports)
    if (role === 'server' && settings.data_exports_enabled) await exports.resume()
    const services: AdminServices = {...without_exports, exports}
    const operator = openOperatorServer(store, services, settings, log)
    opened.push(operator)
    if (role === 'operator') await operator.open()
    if (plane) {
      opened.push({close: async () => revocations.close()})
      await revocations.start(moved => forgetCaches(remembered, moved))
    }
    if (options.demo && role === 'server') await makeDemo(async request => injectInto(await operator.open(), request))
    const governor = plane && openGovernor(settings, log)
    const server = plane && openServer({settings, log, governor, plane, services, background})
    if (server) opened.push({close: () => server.close()})
    return {
      role,
      settings,
      first_run,
      notes,
      inject: async request => injectInto(await operator.open(), request),
      async listen() {
        if (!server) throw new Error('An operator does not listen.')
        const url = await server.listen({host: settings.host, port: settings.port})
        return {url: settings.tls_key && settings.tls_cert ? url.replace('http:', 'https:') : url}
      },
      reload: next => reload(next, {kept, log, server: server?.server, governor}),
      flushed: async () => plane?.records.flushed(FLUSHED_MS),
      async drain() {
        void background?.schedule.close()
        if (plane && server) await shutDown({server, proxy: plane.proxy, limit_ms: settings.drain_timeout_ms})
      },
      close,
    }
  } catch (fault) {
    const damage = damageFault(fault, directory.folder, binding, fault instanceof DemoFault)
    await close().catch(() => undefined)
    throw damage ?? fault
  }
}

/** Faults of the databases' files are reported before they are opened: SQLite would make those that are missing. */
function lookAt(directory: DataDir, {role, accepts_loss = false}: AppOptions, binding: object | undefined): string[] {
  const begun_anew = checkPresent({...directory, binding}, accepts_loss)
  return role === 'server' ? [...begun_anew, ...checkAfterUncleanEnd(directory.folder, binding)] : begun_anew
}

function storeOptions(
  settings: Settings,
  {folder}: DataDir,
  {role, list_timeout_ms}: AppOptions,
  binding: object | undefined,
): StoreOptions {
  const database = databaseSettings(settings)
  return database
    ? {kind: 'postgres', ...database, ...(list_timeout_ms !== undefined && {list_timeout_ms})}
    : {kind: 'sqlite', folder, role, binding}
}

function revocationLimits({db_query_timeout_ms, caller_cache_max_stale_s}: Settings) {
  return {query_timeout_ms: db_query_timeout_ms, max_stale_s: caller_cache_max_stale_s}
}

function openSeal(settings: Settings, directory: DataDir, role: AppOptions['role']): Seal {
  if (settings.sealing_key) return createSeal(settings.sealing_key)
  if (databaseSettings(settings))
    throw new DataDirFault(
      'A shared database needs the same sealing key in every process: set GATEWAY_SEALING_KEY or GATEWAY_SEALING_KEY_FILE (openssl rand -base64 32).',
    )
  return createSeal(sealingKey(directory, role === 'server' && directory.is_new))
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

async function assertMigrated(store: Store): Promise<string[]> {
  const {pending} = await migrationState(store)
  if (pending.length)
    throw new MigrationFault(
      `The database lacks ${pending.length} migration(s) of this version. Run gateway migrate, or start gateway serve once.`,
    )
  return []
}

interface AdminParts {
  readonly store: Store
  readonly store_options: StoreOptions
  readonly settings: Settings
  readonly seal: Seal
  readonly pricing: Pricing
  readonly log: Log
  readonly now: () => number
  readonly plane: DataPlane | undefined
  readonly explaining: Pick<AdminServices, 'explain' | 'replay'>
  readonly log_store: LogStore | undefined
}

function adminServices({
  store,
  store_options,
  settings,
  seal,
  pricing,
  log,
  now,
  plane,
  explaining,
  log_store,
}: AdminParts): AdminServices {
  const here = {find: bodyFinder(store_options, store.db), findMany: manyBodiesFinder(store_options, store.db)}
  const kept = log_store ? storedBodies(here, log_store.blobs, store.db) : here
  return {
    store,
    explain: explaining.explain,
    replay: explaining.replay,
    bodies: kept.find,
    many_bodies: kept.findMany,
    settings,
    seal,
    now: () => new Date(now()),
    failed: (fault, where) => log.error({fault, ...where}, 'an operation failed inside the gateway'),
    settled: async () => plane?.records.flushed(),
    pricing,
    ...(plane ? {limits: plane.limits, insert_log: (row, bodies) => plane.records.recorder.note(row, bodies)} : {}),
  }
}

/** The organisation and its keys, made at the first start. */
function openFirstRun(store: Store, settings: Settings, now: () => number): Promise<FirstRun | undefined> {
  const {bootstrap_admin_key: admin, bootstrap_workspace_key: workspace} = settings
  return firstRun(store, new Date(now()), {admin, workspace})
}

interface ServerParts {
  readonly settings: Settings
  readonly log: Log
  readonly governor: Governor | undefined
  readonly plane: DataPlane
  readonly services: AdminServices
  readonly background: Background | undefined
}

/** The server of both planes. */
function openServer({settings, log, governor, plane, services, background}: ServerParts) {
  return createServer({
    settings,
    log,
    governor,
    version,
    admin: instance => mountAdmin(instance, OPERATIONS, services),
    proxy: plane.proxy,
    metrics: shared(async () => (await plane.metrics()) + (await background?.metrics())),
    unready: () => plane.unready(),
    degraded: () => plane.degraded(),
  })
}

function exportJobs(services: AdminServices, folder: string, role: AppOptions['role'], log: Log): ExportJobs {
  const {store, reads = store.db, bodies, many_bodies, settled, now} = services
  return new ExportJobs({
    folder,
    store,
    reads,
    bodies,
    many_bodies,
    settled: async () => settled?.(),
    now,
    failed: (fault, export_id) => log.error({fault, export_id}, 'an export of the log failed'),
    waits: role === 'operator',
  })
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
