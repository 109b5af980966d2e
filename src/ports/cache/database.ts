import {setImmediate as turn} from 'node:timers/promises'
import type {KeptEntry, KeptFilter} from '../../schema/cache.ts'
import type {Page, Paged} from '../../schema/paging.ts'
import {isAlive} from './age.ts'
import type {Cache, CacheEntry, CacheKey, FoundEntry, KeptAnswers} from './index.ts'

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
    readonly model: string | null
    readonly namespace: string | null
    readonly stored_at_ms: number
    readonly expires_at_ms: number
    readonly bytes: number
    readonly body: Uint8Array
  }): Promise<void>
  delete(workspace_id: string, digest: string): Promise<void>
  purge(workspace_id: string): Promise<boolean>
  prune(now_ms: number, most_bytes: number): Promise<boolean>
  list(filter: KeptFilter, now_ms: number, page: Page): Promise<Paged<KeptEntry>>
  clear(filter: KeptFilter): Promise<number>
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
export function createDatabaseCache(options: DatabaseCacheOptions): Cache & KeptAnswers {
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
    set({workspace_id, digest, about}: CacheKey, {body, stored_at_ms}: CacheEntry, ttl_ms: number): Promise<void> {
      const bytes = body.length
      if (bytes > most_entry_bytes || waiting_bytes + bytes > MAX_WAITING_BYTES) {
        return inTurn(() => table.delete(workspace_id, digest)) // what is there was meant to be replaced
      }
      waiting_bytes += bytes
      unpruned_bytes += bytes
      const row = {
        workspace_id,
        digest,
        model: about?.model ?? null,
        namespace: about?.namespace ?? null,
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
    list: (filter, page) => table.list(filter, now(), page),
    clear: filter => inTurn(() => clearAll(filter)),
    close: () => inTurn(async () => undefined),
  }

  async function clearAll(filter: KeptFilter): Promise<number> {
    let all = 0
    for (let some = await table.clear(filter); some > 0; some = await table.clear(filter)) {
      all += some
      await turn()
    }
    return all
  }

  function pruneWhenDue() {
    if (now() < prunes_at_ms && unpruned_bytes < most_bytes * PRUNE_AFTER) return
    prunes_at_ms = now() + PRUNE_EVERY_MS
    unpruned_bytes = 0
    inTurn(() => untilDone(() => table.prune(now(), most_bytes))).catch(onFault)
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => undefined).then(() => turn())
    return done
  }
}

async function untilDone(slice: () => Promise<boolean>) {
  while (await slice()) await turn()
}
