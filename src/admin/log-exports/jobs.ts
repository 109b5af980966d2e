import {mkdirSync, rmSync, writeFileSync} from 'node:fs'
import {access, open, rename, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import {type Exported, type ExportFilters, MAX_EXPORTED, readFilters} from '../../schema/log-exports.ts'
import type {FindBodies, FindManyBodies} from '../../store/bodies/index.ts'
import type {Db, Store} from '../../store/database.ts'
import {exportById, exportsUnderWay, updateExport} from '../../store/log-exports.ts'
import {type LogFilter, type LogRow, logsBehind} from '../../store/logs.ts'
import type {LogExportsTable} from '../../store/tables/analytics.ts'
import type {LogBodiesTable} from '../../store/tables/traffic.ts'
import {filterOf} from '../logs.ts'
import type {Visible} from '../visible.ts'
import {exportedRow} from './rows.ts'

export interface ExportParts {
  /** The folder of the files. */
  readonly folder: string
  readonly store: Store
  readonly reads: Db
  readonly bodies: FindBodies
  readonly many_bodies?: FindManyBodies | undefined
  /** Waits until the log holds every call that had ended. */
  readonly settled: () => Promise<void>
  readonly now: () => Date
  readonly failed: (fault: unknown, export_id: string) => void
  /** True when the caller that starts a job waits for it: a command, after which no process is left to continue. */
  readonly waits: boolean
}

const PAGE_ROWS = 250

/** The jobs that write rows of the log into files, one at a time. */
export class ExportJobs {
  readonly #parts: ExportParts
  #last: Promise<void> = Promise.resolve()
  #closing = false

  constructor(parts: ExportParts) {
    this.#parts = parts
  }

  /** Makes the place of a file, so that a job which is cut off is found again here. Before its status is written. */
  reserve(id: string): void {
    mkdirSync(this.#parts.folder, {recursive: true, mode: 0o700})
    writeFileSync(this.#part(id), '', {mode: 0o600})
  }

  /** Runs the job after those before it. */
  async start(id: string, run: string): Promise<void> {
    this.#last = this.#last.then(() => this.#work(id, run))
    if (this.#parts.waits) await this.#last
  }

  /**
   * Continues the exports that the process before had begun: from the beginning, into a new file. Another gateway's are
   * left to it.
   */
  async resume(): Promise<void> {
    const {store, now} = this.#parts
    for (const {id} of await exportsUnderWay(store.db)) {
      const is_ours = store.kind === 'sqlite' || (await exists(this.#part(id)))
      if (!is_ours) continue
      this.reserve(id)
      const run = newId()
      await store.write(db => updateExport(db, id, {run, last_updated_at: now().toISOString()}))
      void this.start(id, run)
    }
  }

  /** The finished file; undefined where it is not here. */
  async file(id: string): Promise<string | undefined> {
    return (await exists(this.#file(id))) ? this.#file(id) : undefined
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#last
  }

  async #work(id: string, run: string): Promise<void> {
    if (this.#closing) return
    const {store, now, failed} = this.#parts
    const record = (change: Partial<LogExportsTable>) =>
      store.write(db => updateExport(db, id, {...change, last_updated_at: now().toISOString()}, run))
    try {
      const rows = await this.#write(id, run)
      if (rows === undefined) return
      await rename(this.#part(id), this.#file(id))
      await record({status: 'success', rows, error: null})
    } catch (fault) {
      failed(fault, id)
      rmSync(this.#part(id), {force: true})
      await record({status: 'failed', rows: null, error: sentenceOf(fault)}).catch(again => failed(again, id))
    }
  }

  /** How many rows were written; undefined where the job was called off, or the process ends. */
  async #write(id: string, run: string): Promise<number | undefined> {
    const {store, reads, settled} = this.#parts
    const first = await exportById(store.db, id)
    if (!first || first.run !== run || first.status !== 'in_progress') return undefined
    await settled()
    const {filter, limit, offset} = questionOf(first)
    const fields = JSON.parse(first.requested_data) as Exported[]
    const with_bodies = fields.includes('request') || fields.includes('response')
    const file = await open(this.#part(id), 'w', 0o600)
    try {
      let written = 0
      for (let after: LogRow | undefined; written < limit; ) {
        const page = {limit: Math.min(PAGE_ROWS, limit - written), ...(after ? {} : {offset})}
        const rows = await logsBehind(reads, filter, after, page)
        const bodies = with_bodies ? await this.#bodiesOf(rows) : undefined
        let text = ''
        for (const row of rows) text += `${JSON.stringify(await exportedRow(row, fields, bodies?.get(row.id)))}\n`
        await file.write(text)
        written += rows.length
        after = rows.at(-1)
        if (this.#closing) return undefined
        const standing = await exportById(store.db, id)
        if (standing?.run !== run || standing.status !== 'in_progress') return undefined
        if (rows.length < page.limit) break
      }
      await file.sync()
      return written
    } finally {
      await file.close()
      const standing = await exportById(store.db, id)
      if (standing?.status === 'stopped') await rm(this.#part(id), {force: true})
    }
  }

  async #bodiesOf(rows: readonly LogRow[]): Promise<ReadonlyMap<string, LogBodiesTable>> {
    const {bodies, many_bodies} = this.#parts
    const found = new Map<string, LogBodiesTable>()
    if (many_bodies) await many_bodies(rows, row => void found.set(row.log_id, row))
    else
      for (const row of rows) {
        const kept = await bodies(row)
        if (kept) found.set(row.id, kept)
      }
    return found
  }

  #part(id: string): string {
    return join(this.#parts.folder, `${id}.part`)
  }

  #file(id: string): string {
    return join(this.#parts.folder, `${id}.jsonl`)
  }
}

/** The rows of an export. */
export function questionOf(row: Pick<LogExportsTable, 'organisation_id' | 'workspace_id' | 'filters' | 'visible'>): {
  filter: LogFilter
  limit: number
  offset: number
} {
  const {organisation_id, workspace_id} = row
  const filters = JSON.parse(row.filters) as ExportFilters
  const visible = JSON.parse(row.visible) as Visible
  const limit = filters.page_size ?? MAX_EXPORTED
  const filter = filterOf({organisation_id, workspace_id, ...visible}, readFilters(filters).data!)
  return {filter, limit, offset: limit * (filters.current_page ?? 0)}
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Why a job failed, without what it was about. */
function sentenceOf(fault: unknown): string {
  if (fault instanceof Refusal) return fault.message
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : ''
  return code === 'ENOSPC'
    ? 'The disk is full.'
    : `The rows could not be written${code ? ` (${code})` : ''}. The log of the gateway has the cause.`
}
