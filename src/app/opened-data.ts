import type {Log} from '../base/log.ts'
import {createSeal, type Seal} from '../base/seal.ts'
import {databaseSettings, type Settings} from '../settings/index.ts'
import {checkPresent} from '../store/damage.ts'
import {type DataDir, DataDirFault, sealingKey} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import {openStore, type StoreOptions} from '../store/dialect/index.ts'
import {checkSeal} from '../store/seal-check.ts'
import {openClock} from './process-clock.ts'
import type {RootParts} from './root.ts'

/** How a root opens the data: the two differ in what they may do beside another process. */
export interface DataAccess {
  readonly patience: 'calls' | 'lists'
  /** True where a sealing key may be made. */
  readonly may_make_key: boolean
  /** Sentences about the files of the databases, before they are opened: SQLite would make those that are missing. */
  look(directory: DataDir, binding: object | undefined): readonly string[]
  /** Has the tables as this version needs them. */
  migrate(store: Store, directory: DataDir, now: () => number): Promise<readonly string[]>
}

/** The data of a gateway, opened: its clock, its database and the seal of its secrets. */
export interface OpenedData {
  readonly directory: DataDir
  readonly settings: Settings
  readonly log: Log
  readonly clock: ReturnType<typeof openClock>
  readonly now: () => number
  readonly store_options: StoreOptions
  readonly store: Store
  readonly seal: Seal
  /** For the operator: what was found, and what was migrated. */
  readonly notes: readonly string[]
}

export async function openData(
  directory: DataDir,
  {kept: {settings}, options, binding, stack}: RootParts,
  access: DataAccess,
): Promise<OpenedData> {
  const {log, now: wall, steady} = options
  const clock = openClock({...(wall && {wall}), ...(steady && {steady})}, log)
  stack.defer(() => clock.close())
  const {now} = clock
  const store_options = storeOptions(settings, directory, options, binding)
  const found = store_options.kind === 'sqlite' ? access.look(directory, binding) : []
  const seal = openSeal(settings, directory, access.may_make_key)
  const store = await openStore(store_options, access.patience)
  stack.defer(() => store.close())
  const notes = [...found, ...(await access.migrate(store, directory, now))]
  await checkSeal(store, seal)
  return {directory, settings, log, clock, now, store_options, store, seal, notes}
}

/**
 * Refuses a database that is gone, unless its loss was accepted: then a new one is made. Returns sentences about that.
 */
export function begunAnew(directory: DataDir, binding: object | undefined, accepts_loss = false): string[] {
  return checkPresent({...directory, binding}, accepts_loss)
}

function storeOptions(
  settings: Settings,
  {folder}: DataDir,
  {role, list_timeout_ms}: RootParts['options'],
  binding: object | undefined,
): StoreOptions {
  const database = databaseSettings(settings)
  return database
    ? {kind: 'postgres', ...database, ...(list_timeout_ms !== undefined && {list_timeout_ms})}
    : {kind: 'sqlite', folder, role, binding, query_timeout_ms: settings.db_query_timeout_ms}
}

function openSeal(settings: Settings, directory: DataDir, may_make_key: boolean): Seal {
  if (settings.sealing_key) return createSeal(settings.sealing_key)
  if (databaseSettings(settings))
    throw new DataDirFault(
      'A shared database needs the same sealing key in every process: set GATEWAY_SEALING_KEY or GATEWAY_SEALING_KEY_FILE (openssl rand -base64 32).',
    )
  return createSeal(sealingKey(directory, may_make_key && directory.is_new))
}
