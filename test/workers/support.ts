import {onTestFinished} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import type {Settlement} from '../../src/schema/records.ts'
import {ownDataDir} from '../../src/store/data-dir.ts'
import {type Records, type StartRecords, startRecords} from '../../src/workers/records.ts'
import {keptBodies} from '../support/bodies.ts'
import {intent, logBodies, logRecord, settlement} from '../support/records.ts'
import {type TestStore, testStore} from '../support/stores.ts'

/** Keeps everything. */
export const settings = {log_retention_days: 36_500, log_body_retention_days: 36_500, metrics_retention_days: 36_500}

/** A data directory beside the database of a test, and the way to start on it as often as wanted. */
export async function setUp(kind: 'sqlite' | 'postgres') {
  const database = await testStore(kind)
  const directory = ownDataDir(database.folder)
  const lines: {level: string; msg: string}[] = []
  const log = createLog('info', 'gateway', line => void lines.push(JSON.parse(line)))
  const running: Records[] = []
  onTestFinished(async () => {
    for (const records of running) await records.close()
    directory.release()
    await database.close()
  })
  const start = async (given: Partial<StartRecords> = {}) => {
    const {store, options: store_options} = database
    const records = await startRecords({directory, store_options, store, log, now: Date.now, settings, ...given})
    running.push(records)
    return records
  }
  return {...database, directory, lines, start}
}

/** The recorder with promises of the fault; undefined when written. */
export function asking({recorder}: Records) {
  const promise = (ask: (done: (fault?: Error) => void) => void) =>
    new Promise<Error | undefined>(resolve => ask(resolve))
  return {
    begin: (call_id: string) => promise(done => recorder.begin(intent({call_id}), done)),
    settle: (call_id: string, given: Partial<Settlement> = {}) =>
      promise(done =>
        recorder.settle(
          settlement(intent({call_id}), {log: logRecord({id: call_id}), ...given}),
          logBodies(call_id),
          done,
        ),
      ),
  }
}

export const outcomes = async ({store}: Pick<TestStore, 'store'>) => {
  const rows = await store.db
    .selectFrom('traffic.ledger_entries')
    .select(['call_id', 'outcome'])
    .orderBy('sequence')
    .execute()
  return rows.map(({call_id, outcome}) => `${call_id} ${outcome}`)
}
export const ids = async (database: Pick<TestStore, 'store' | 'folder'>, kept: 'logs' | 'bodies') => {
  const {store} = database
  if (kept === 'bodies') return (await keptBodies(database)).map(({log_id}) => log_id)
  return (await store.db.selectFrom('traffic.logs').select('id').orderBy('id').execute()).map(({id}) => id)
}
