import {setImmediate as turn} from 'node:timers/promises'
import {isAlive} from './age.ts'
import type {Cache, CacheEntry, CacheKey, FoundEntry} from './index.ts'

/** The queries, as the store says them (`cacheTable`). */
export interface CacheTable {
  find(
    workspace_id: string,
    digest: string,
    now_ms: number,
  ): Promise<{readonly stored_at_ms: number; readonly expires_at_ms: number; readonly body: Uint8Array} | undefined>
  put(row: {
    readonly digest: string
    readonly workspace_id: string
    readonly stored_at_ms: number
    readonly expires_at_ms: number
    readonly bytes: number
    readonly body: Uint8Array
  }): Promise<void>
  delete(workspace_id: string, digest: string): Promise<void>
  purge(workspace_id: string): Promise<boolean>
  prune(now_ms: number, most_bytes: number): Promise<boolean>
}

export interface DatabaseCacheOptions {
  readonly table: CacheTable
  readonly now: () => number
  /** All rows together; passed by what is written between two prunings. */
  readonly most_bytes?: number
  /** A longer answer is not kept. */
  readonly most_entry_bytes?: number
  /** Called with a pruning that failed; it is tried again with the next. */
  readonly onFault?: (fault: unknown) => void
}

/** Answers that wait for the database; what comes when they are more is not kept. */
const MAX_WAITING_BYTES = 8 << 20
const PRUNE_EVERY_MS = 60_000
/** Written since the last pruning, as a part of the bound. */
const PRUNE_AFTER = 1 / 32

/**
 * Answers in a database: a file of our own beside the others, which a restart outlives, or PostgreSQL, which processes
 * share. Writes are made one after another, one in a turn of the event loop, so that a rush of them holds up no call.
 */
export function createDatabaseCache(options: DatabaseCacheOptions): Cache {
  const {table, now, most_bytes = 1 << 30, most_entry_bytes = 1 << 20, onFault = () => undefined} = options
  let last: Promise<unknown> = Promise.resolve()
  let waiting_bytes = 0
  let unpruned_bytes = 0
  let prunes_at_ms = now()

  return {
    peek: () => undefined,
    async get({workspace_id, digest}: CacheKey): Promise<FoundEntry | undefined> {
      const row = await table.find(workspace_id, digest, now())
      if (!row || !isAlive(row, now())) return undefined
      const {body, stored_at_ms, expires_at_ms} = row
      return {body: Buffer.from(body.buffer, body.byteOffset, body.byteLength), stored_at_ms, expires_at_ms}
    },
    set({workspace_id, digest}: CacheKey, {body, stored_at_ms}: CacheEntry, ttl_ms: number): Promise<void> {
      const bytes = body.length
      if (bytes > most_entry_bytes || waiting_bytes + bytes > MAX_WAITING_BYTES) {
        return inTurn(() => table.delete(workspace_id, digest)) // what is there was meant to be replaced
      }
      waiting_bytes += bytes
      unpruned_bytes += bytes
      const row = {
        workspace_id,
        digest,
        stored_at_ms: Math.trunc(stored_at_ms),
        expires_at_ms: Math.trunc(now() + ttl_ms),
        bytes,
        body,
      }
      const written = inTurn(() => table.put(row).finally(() => (waiting_bytes -= bytes)))
      pruneWhenDue()
      return written
    },
    delete: ({workspace_id, digest}) => inTurn(() => table.delete(workspace_id, digest)),
    purge: workspace_id => inTurn(() => untilDone(() => table.purge(workspace_id))),
    close: () => inTurn(async () => undefined),
  }

  function pruneWhenDue() {
    if (now() < prunes_at_ms && unpruned_bytes < most_bytes * PRUNE_AFTER) return
    prunes_at_ms = now() + PRUNE_EVERY_MS
    unpruned_bytes = 0
    inTurn(() => untilDone(() => table.prune(now(), most_bytes))).catch(onFault)
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work)
    last = done.catch(() => undefined).then(() => turn())
    return done
  }
}

async function untilDone(slice: () => Promise<boolean>) {
  while (await slice()) await turn()
}
