import {parentPort, workerData} from 'node:worker_threads'
import {redacted} from '../base/log.ts'
import {sqliteBinding} from '../base/runtime.ts'
import {yieldToAnswers} from '../base/thread-priority.ts'
import type {Settings} from '../settings/index.ts'
import {openSpool} from '../store/bodies/index.ts'
import {openStore, type StoreOptions} from '../store/dialect/index.ts'
import {removeObjects} from '../workers/remove-objects.ts'
import {bodyDays} from '../workers/retain-logs.ts'
import {uploadBodies} from '../workers/upload-bodies.ts'
import type {UploaderCommand, UploaderEvent} from '../workers/uploader-messages.ts'
import {openLogStore} from './log-store.ts'

/** The thread that carries bodies to the log store: what that costs is not felt by calls. */

export interface UploaderSetup {
  readonly settings: Settings
  readonly store_options: StoreOptions
}

const BUDGET_MS = 10_000

yieldToAnswers()
const port = parentPort!
const {settings, store_options: given} = workerData as UploaderSetup
const store_options: StoreOptions =
  given.kind === 'sqlite' ? {...given, role: 'operator', binding: sqliteBinding()} : {...given, pool_size: 2}
const {blobs} = openLogStore(settings, Date.now)!
const store = openStore(store_options, 'lists')
const tell = (news: UploaderEvent) => port.postMessage(news)

port.on('message', (order: UploaderCommand) => {
  obey(order).then(tell, fault =>
    tell({news: 'failed', message: redacted(fault instanceof Error ? fault.message : String(fault))}),
  )
})

const spool = store.then(opened =>
  openSpool({store_options, store: opened, now: Date.now, onUnreadable: path => tell({news: 'unreadable', path})}),
)

async function obey(order: UploaderCommand): Promise<UploaderEvent> {
  if (order.order === 'remove') {
    const {db} = await store
    return {
      news: 'removed',
      report: await removeObjects(order.before_ms, {db, blobs, now: Date.now, budget_ms: BUDGET_MS}),
    }
  }
  const parts = {
    spool: await spool,
    blobs,
    format: settings.log_store_file_path_format,
    retention_days: bodyDays(settings),
    now: Date.now,
    budget_ms: BUDGET_MS,
  }
  return {news: 'uploaded', report: await uploadBodies(order.packs, parts)}
}
