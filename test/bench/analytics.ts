import {existsSync, mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openStore} from '../../src/store/dialect/index.ts'
import {openReads} from '../../src/workers/reader.ts'
import {callsBeside} from './analytics/beside.ts'
import {fillLog, type Place} from './analytics/fill.ts'
import {askAll} from './analytics/graphs.ts'
import {listMany} from './analytics/many.ts'
import {endOnSignals} from './processes.ts'
import {gatewayCommand, serve} from './subjects/gateway.ts'

/**
 * How long graphs over 30 days take on SQLite, lists of the log, calls while graphs are drawn, and lists of many keys:
 * `node test/bench/analytics.ts [rows [folder]]`, a million without it. A folder that is named is kept, and taken as it
 * is where it has been filled; else one is made on the disk of TMPDIR.
 */
endOnSignals()
const count = Number(process.argv[2] ?? 1_000_000)
const kept = process.argv[3]
const folder = kept ?? mkdtempSync(join(tmpdir(), 'gateway-bench-analytics-'))
try {
  const is_new = !existsSync(join(folder, 'gateway.db'))
  if (is_new) await (await serve(gatewayCommand(false), folder)).program.stop()
  const options = {kind: 'sqlite', folder, role: 'server'} as const
  const store = await openStore(options)
  const reads = await openReads(options, console)
  try {
    const {id, organisation_id} = await store.db
      .selectFrom('workspaces')
      .select(['id', 'organisation_id'])
      .executeTakeFirstOrThrow()
    const place: Place = {organisation_id, workspace_id: id}
    if (is_new) await fillLog(store, options, place, count)
    await askAll(reads.db, place)
  } finally {
    await reads.close()
    await store.close()
  }
  await callsBeside(join(import.meta.dirname, '../../.bench'), folder)
  await listMany()
} finally {
  if (kept === undefined) rmSync(folder, {recursive: true})
}
