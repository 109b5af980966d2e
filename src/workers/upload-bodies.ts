import {BlobFault, type Blobs} from '../ports/blobs/index.ts'
import {objectKey, type PathFormat} from '../ports/blobs/paths.ts'
import {type BodySpool, toObject, type WaitingBodies} from '../store/bodies/index.ts'
import type {LogObjectsTable} from '../store/tables/traffic.ts'

export interface UploadParts {
  readonly spool: Pick<BodySpool, 'batches'>
  readonly blobs: Blobs
  readonly format: PathFormat
  readonly retention_days: number
  readonly now: () => number
  /** No batch is begun once this much time has passed. */
  readonly budget_ms: number
}

/** The result of a turn. */
export interface UploadReport {
  readonly put: number
  readonly put_bytes: number
  /** Rows whose bodies the store does not take, though it takes others; they stay here. */
  readonly refused: readonly {readonly log_id: string; readonly reason: string}[]
  /** Why it ended early: the store, in a sentence. */
  readonly fault: string | null
  /** False where time was up before everything was put. */
  readonly is_done: boolean
}

const AT_ONCE = 64
const MAX_REFUSALS = 20
const DAY_MS = 86_400_000

/**
 * Puts waiting bodies into the store, one object a row, and lets go of each here once the database says where it lies.
 * The first of a turn goes alone: a store that is away is called once. After an end of the process at any moment what
 * was not noted is put again, under the same key.
 */
export async function uploadBodies(packs: readonly string[], parts: UploadParts): Promise<UploadReport> {
  const until_ms = parts.now() + parts.budget_ms
  const report = {put: 0, put_bytes: 0, refused: [] as {log_id: string; reason: string}[], fault: null as string | null}
  let width = 1
  for await (const {waiting, settle} of parts.spool.batches(packs)) {
    const objects: LogObjectsTable[] = []
    let next = 0
    const work = async () => {
      while (next < waiting.length && report.fault === null) {
        const row = waiting[next++]!
        try {
          objects.push(await putOne(row, parts))
        } catch (fault) {
          const reason = fault instanceof Error ? fault.message : String(fault)
          if (fault instanceof BlobFault && fault.kind !== 'object') report.fault = reason
          else if (report.refused.length < MAX_REFUSALS) report.refused.push({log_id: row.of.id, reason})
        }
        if (width === 1 && report.fault === null) {
          width = AT_ONCE
          await Promise.all(Array.from({length: width - 1}, work))
        }
      }
    }
    await Promise.all(Array.from({length: width}, work))
    await settle(objects)
    report.put += objects.length
    report.put_bytes += objects.reduce((sum, {bytes}) => sum + bytes, 0)
    if (report.fault !== null || parts.now() >= until_ms) return {...report, is_done: false}
  }
  return {...report, is_done: true}
}

async function putOne(
  {bodies, of}: WaitingBodies,
  {blobs, format, retention_days, now}: UploadParts,
): Promise<LogObjectsTable> {
  const {id: log_id, organisation_id, workspace_slug, created_at} = of
  const key = objectKey(format, {log_id, organisation_id, workspace_slug, created_at, retention_days})
  const body = await toObject(bodies, {organisation_id, workspace_slug, created_at, format})
  const keep_until_ms = Date.parse(created_at) + retention_days * DAY_MS
  await blobs.put(key, {body, content_type: 'application/json', keep_until_ms})
  return {log_id, key, format, bytes: body.length, created_at: new Date(now()).toISOString()}
}
