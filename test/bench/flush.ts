import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {performance} from 'node:perf_hooks'
import {newId, newTimeId} from '../../src/base/ids.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {decodeRecord, openTarget} from '../../src/store/flush/index.ts'
import {type Journal, openJournal, readJournal} from '../../src/store/journal/index.ts'
import {openMark} from '../../src/store/journal-marks.ts'
import {migrate} from '../../src/store/migrate.ts'
import {BodyQueue} from '../../src/workers/bodies.ts'
import {Flusher} from '../../src/workers/flusher.ts'
import {createRecorder} from '../../src/workers/recorder.ts'
import {intent, logRecord, settlement} from '../support/records.ts'

/**
 * What a call costs on its way from the journal into SQLite: an entry of the ledger, a row of the log, its share of the
 * hourly sums. `node test/bench/flush.ts [calls]`; the folder is on the disk of TMPDIR.
 */
const calls = Number(process.argv[2] ?? 50_000)
const keys = Array.from({length: 20}, (_, n) => `7c1d9a52-2b90-4c55-9a39-3ad4d17c8b${String(n).padStart(2, '0')}`)
const owner = {store_id: '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3d', epoch: 1}
const writer = '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3e'
const log = {trace() {}, debug() {}, info() {}, warn: console.error, error: console.error, fatal: console.error}
const each = (ms: number) => `${((ms * 1000) / calls).toFixed(1)} µs`

await measure('trace ids in order', now_ms => newTimeId(now_ms))
await measure('trace ids at random', () => newId())

async function measure(what: string, traceId: (now_ms: number) => string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-flush-'))
  const journal_folder = join(folder, 'journal')
  try {
    const store = await openStore({kind: 'sqlite', folder, role: 'server'})
    await migrate(store, {now: () => new Date()})
    const mark = await openMark(store, writer, owner.epoch)
    const journal = await openJournal({folder: journal_folder, ...owner, mark, open: []})
    const recorded_ms = await record(journal, traceId)
    const up_to = journal.position()
    await journal.close()

    const reading = process.cpuUsage()
    for (const {kind, payload} of readJournal({
      folder: journal_folder,
      ...owner,
      from: mark,
      up_to,
      without: 'intent',
      lends: true,
      warn: console.error,
    }))
      if (kind === 'settlement') decodeRecord(payload)
    const read = process.cpuUsage(reading)

    const target = await openTarget({kind: 'sqlite', folder}, writer, owner.epoch)
    const sleep = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms))
    const flusher = new Flusher({
      target,
      folder: journal_folder,
      owner,
      mark,
      report: console.error,
      setAside: () => false,
      sleep,
    })
    const flushing = process.cpuUsage()
    const began = performance.now()
    const applied = await flusher.flush(up_to)
    const took_ms = performance.now() - began
    const flushed = process.cpuUsage(flushing)
    await target.close()
    await store.close()
    console.log(
      `${applied} records, ${what}: recorded in ${each(recorded_ms)} (intent and settlement); flushed in ${each(took_ms)}, ` +
        `CPU ${each((flushed.user + flushed.system) / 1000)} (${each(flushed.system / 1000)} of it the system's), ` +
        `of which reading and decoding the journal ${each((read.user + read.system) / 1000)}`,
    )
  } finally {
    rmSync(folder, {recursive: true})
  }
}

/** Milliseconds spent inside the recorder. */
async function record(journal: Journal, traceId: (now_ms: number) => string): Promise<number> {
  const recorder = createRecorder({journal, bodies: new BodyQueue(0), log, onBodies: () => {}})
  const done = (fault?: Error) => {
    if (fault) throw fault
  }
  let inside_ms = 0
  for (let n = 0; n < calls; ) {
    for (let together = 0; together < 16 && n < calls; together++, n++) {
      const now_ms = Date.UTC(2026, 2, 4, 5) + n
      const admitted_at = new Date(now_ms).toISOString()
      const call = intent({
        call_id: newTimeId(now_ms),
        trace_id: traceId(now_ms),
        admitted_at,
        api_key_id: keys[n % keys.length]!,
      })
      const said = settlement(call, {log: logRecord({id: call.call_id, created_at: admitted_at})})
      const began = performance.now()
      recorder.begin(call, done)
      recorder.settle(said, null, done)
      inside_ms += performance.now() - began
    }
    await new Promise(resolve => setImmediate(resolve))
  }
  return inside_ms
}
