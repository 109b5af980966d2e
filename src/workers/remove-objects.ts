import {BlobFault, type Blobs} from '../ports/blobs/index.ts'
import type {Db} from '../store/database.ts'
import {forgetLogObjects, oldLogObjects} from '../store/log-objects.ts'

export interface RemoveParts {
  readonly db: Db
  readonly blobs: Blobs
  readonly now: () => number
  readonly budget_ms: number
}

export interface RemoveReport {
  readonly removed: number
  /** Objects that the store does not let go of; they are tried again in the next period. */
  readonly kept: number
  readonly fault: string | null
  readonly is_done: boolean
}

const AT_ONCE = 16

/** Removes the objects of rows made before `before_ms`: bodies past their time (`LOG_BODY_RETENTION_DAYS`). */
export async function removeObjects(
  before_ms: number,
  {db, blobs, now, budget_ms}: RemoveParts,
): Promise<RemoveReport> {
  const until_ms = now() + budget_ms
  let [removed, kept] = [0, 0]
  for (let after = ''; ; ) {
    const old = await oldLogObjects(db, before_ms, after, AT_ONCE)
    const last = old.at(-1)
    if (!last) return {removed, kept, fault: null, is_done: true}
    const gone = await Promise.allSettled(old.map(({key}) => blobs.remove(key)))
    const done = old.filter((_, at) => gone[at]!.status === 'fulfilled').map(({log_id}) => log_id)
    await forgetLogObjects(db, done)
    removed += done.length
    kept += old.length - done.length
    const faults = gone.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []))
    const fault = faults.find(each => !(each instanceof BlobFault && each.kind === 'object'))
    if (fault !== undefined && !(fault instanceof BlobFault)) throw fault
    if (fault || now() >= until_ms) return {removed, kept, fault: fault?.message ?? null, is_done: false}
    after = last.log_id
  }
}
