import {readdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {Exported} from '../schema/log-exports.ts'
import type {Store} from '../store/database.ts'
import {exportById, forgetFile} from '../store/log-exports.ts'
import type {LogExportsTable} from '../store/tables/analytics.ts'
import type {RetentionDays} from './retain-logs.ts'
import type {Job} from './schedule.ts'

/** A file is kept this long, and never longer than what it holds is kept in the log. */
const MAX_DAYS = 7
const DAY_MS = 86_400_000
const FILE = /^([0-9a-f-]{36})\.jsonl$/

export interface RetainExports extends Omit<RetentionDays, 'metrics_retention_days'> {
  readonly store: Store
  /** The folder of this process's files. */
  readonly folder: string
}

/**
 * Deletes files of exports past their time; such an export is stopped, and can be started again. Each process has files
 * of its own. What no finished export knows of, a cut off deletion left behind.
 */
export function exportsJob({store, folder, ...days}: RetainExports): Job {
  return {
    name: 'export-retention',
    every_ms: 3_600_000,
    each_process: true,
    async run({now_ms, lost}) {
      for (const file of await namesIn(folder)) {
        const id = FILE.exec(file)?.[1]
        if (lost.aborted) return
        if (id === undefined) continue
        const row = await exportById(store.db, id)
        if (row?.status === 'in_progress') continue
        if (row?.status === 'success') {
          const kept_days = daysOf(row, days)
          if (Date.parse(row.last_updated_at) + kept_days * DAY_MS > now_ms) continue
          const sentence = `The file was deleted after ${kept_days === 1 ? 'a day' : `${kept_days} days`}. Start the export again to have it written anew.`
          const is_ours = await store.write(db => forgetFile(db, row, sentence, new Date(now_ms).toISOString()))
          if (!is_ours) continue
        }
        await rm(join(folder, file), {force: true})
      }
    },
  }
}

function daysOf(
  {requested_data}: LogExportsTable,
  {log_retention_days, log_body_retention_days}: Omit<RetentionDays, 'metrics_retention_days'>,
) {
  const fields = JSON.parse(requested_data) as Exported[]
  const has_bodies = fields.includes('request') || fields.includes('response')
  return Math.min(MAX_DAYS, log_retention_days, has_bodies ? log_body_retention_days : MAX_DAYS)
}

/** None where nothing was exported yet. */
function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return []
    throw fault
  })
}
