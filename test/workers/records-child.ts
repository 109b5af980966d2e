import {createLog} from '../../src/base/log.ts'
import {ownDataDir} from '../../src/store/data-dir.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {migrate} from '../../src/store/migrate.ts'
import {startRecords} from '../../src/workers/records.ts'
import {intent, logBodies, logRecord, settlement} from '../support/records.ts'
import {say} from '../support/say.ts'

/**
 * Records calls for ever and prints each acknowledgement, until it is killed. Arguments: data directory, name of this
 * run.
 */
const [folder, run] = process.argv.slice(2) as [string, string]
const directory = ownDataDir(folder)
const store_options = {kind: 'sqlite', folder, role: 'server'} as const
const store = await openStore(store_options)
await migrate(store, {now: () => new Date()})
const settings = {log_retention_days: 36_500, log_body_retention_days: 36_500, metrics_retention_days: 36_500}
const log = createLog('info', 'gateway')
const {recorder, report} = await startRecords({
  directory,
  store_options,
  store,
  log,
  now: Date.now,
  settings,
  segment_bytes: 64 * 1024,
})
say(`recovered ${report.recovered}`)

let calls = 0
setImmediate(function turn() {
  for (let n = 0; n < 3; n++) {
    const number = calls++
    const call_id = `${run}-${number}`
    const began = intent({call_id})
    recorder.begin(began, fault => {
      if (fault) return
      say(`began ${call_id}`)
      if (number % 100 === 99) return
      const log_id = `log-${call_id}`
      const said = settlement(began, {log: logRecord({id: log_id})})
      recorder.settle(said, logBodies(log_id), failed => void (failed ?? say(`settled ${call_id}`)))
    })
  }
  setTimeout(turn, 1)
})
