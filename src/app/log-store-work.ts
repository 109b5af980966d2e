import type {Registry} from 'prom-client'
import type {Log} from '../base/log.ts'
import {startWorker} from '../base/runtime.ts'
import type {Settings} from '../settings/index.ts'
import {openSpool} from '../store/bodies/index.ts'
import type {Store} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import {logStoreJobs} from '../workers/log-store.ts'
import {logStoreMetrics} from '../workers/log-store-metrics.ts'
import type {Records} from '../workers/records.ts'
import {bodyDays} from '../workers/retain-logs.ts'
import type {Job} from '../workers/schedule.ts'
import {Uploader} from '../workers/uploader.ts'
import type {UploaderSetup} from './uploader-thread.ts'

/** The background work for a log store. */
export interface LogStoreWork {
  readonly jobs: readonly Job[]
  measure(registry: Registry): void
  close(): Promise<void>
}

export interface LogStoreWorkParts {
  readonly settings: Settings
  readonly store: Store
  /** How `store` was opened: the thread that carries bodies has a connection of its own. */
  readonly store_options: StoreOptions
  readonly records: Pick<Records, 'flushed' | 'sealBodies' | 'shutBodies' | 'status'>
  readonly log: Log
  readonly now: () => number
}

/**
 * The jobs of a store of objects; undefined where bodies stay with the log. The thread is started with its first order.
 */
export function openLogStoreWork({
  settings,
  store,
  store_options,
  records,
  log,
  now,
}: LogStoreWorkParts): LogStoreWork | undefined {
  if (settings.log_store === 'local') return undefined
  const setup: UploaderSetup = {
    settings: {...settings},
    // it has SQLite's library from elsewhere
    store_options: store_options.kind === 'sqlite' ? {...store_options, binding: undefined} : store_options,
  }
  const uploader = new Uploader({start: () => startWorker('uploader', setup), log})
  const spool = openSpool({store_options, store, now, onUnreadable: () => undefined})
  const body_days = bodyDays(settings)
  const {jobs, counts} = logStoreJobs({
    uploader,
    records,
    spool,
    log,
    now,
    body_days,
    spool_max_mb: settings.log_store_spool_max_mb,
  })
  return {
    jobs,
    measure: registry => logStoreMetrics(registry, counts, () => records.status().bodies_dropped),
    close: () => uploader.close(),
  }
}
