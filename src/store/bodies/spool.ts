import {rm, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {sql} from 'kysely'
import type {Db, Store} from '../database.ts'
import type {StoreOptions} from '../dialect/index.ts'
import {findLogObjects, insertLogObjects, type RowOfBodies, rowsOfBodies} from '../log-objects.ts'
import type {LogBodiesTable, LogObjectsTable} from '../tables/traffic.ts'
import {decompress, openPack, read} from './find.ts'
import {BATCH_HEAD_BYTES, COMPRESSED, listPacks, PACKS_FOLDER, PLAIN} from './packs.ts'
import {readRows} from './rows.ts'

/** The bodies of a row that is in the log, to be put into a store of objects. */
export interface WaitingBodies {
  readonly bodies: LogBodiesTable
  readonly of: RowOfBodies
}

export interface WaitingBatch {
  readonly waiting: readonly WaitingBodies[]
  /** Notes where bodies of the batch lie now, and lets go of them here. Before the next batch is requested. */
  settle(objects: readonly LogObjectsTable[]): Promise<void>
}

/** Bodies that wait here until a store of objects has them. */
export interface BodySpool {
  /** The waiting bodies, batch by batch. `packs` are files that are not written to any more; a table needs none. */
  batches(packs: readonly string[]): AsyncGenerator<WaitingBatch>
  /** The bytes of all that waits. */
  bytes(): Promise<number>
}

export interface SpoolOptions {
  readonly store_options: StoreOptions
  readonly store: Pick<Store, 'db' | 'write'>
  readonly now: () => number
  /** A file of bodies that cannot be read to its end; the bodies before are put, and the file stays. */
  readonly onUnreadable: (path: string) => void
}

/** Packs beside SQLite, a table of PostgreSQL. */
export function openSpool({store_options, store, now, onUnreadable}: SpoolOptions): BodySpool {
  if (store_options.kind === 'postgres') {
    return {batches: () => tableBatches(store), bytes: () => tableBytes(store.db)}
  }
  const folder = join(store_options.folder, PACKS_FOLDER)
  const known = {set_aside: new Map<string, number>(), settled_to: new Map<string, number>()}
  return {
    batches: packs => packBatches(packs, store.db, {...known, now, onUnreadable}),
    async bytes() {
      const sizes = listPacks(folder).map(({path}) =>
        stat(path)
          .then(({size}) => size)
          .catch(() => 0),
      )
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    },
  }
}

const TABLE_ROWS = 50
const SET_ASIDE_MS = 600_000

/** Bodies whose row is not in the log yet are passed over: another gateway's, which has not flushed it. */
async function* tableBatches({db, write}: Pick<Store, 'db' | 'write'>): AsyncGenerator<WaitingBatch> {
  for (let after = ''; ; ) {
    const found = await db
      .selectFrom('traffic.log_bodies as bodies')
      .innerJoin('traffic.logs as logs', 'logs.id', 'bodies.log_id')
      .selectAll('bodies')
      .where('bodies.log_id', '>', after)
      .orderBy('bodies.log_id')
      .limit(TABLE_ROWS)
      .execute()
    const last = found.at(-1)
    if (!last) return
    after = last.log_id
    yield {
      waiting: withRows(found, await rowsOfBodies(db, idsOf(found))),
      settle: objects =>
        write(async transaction => {
          await insertLogObjects(transaction, objects)
          const ids = idsOf(objects)
          if (ids.length > 0) await transaction.deleteFrom('traffic.log_bodies').where('log_id', 'in', ids).execute()
        }),
    }
  }
}

async function tableBytes(db: Db): Promise<number> {
  const weight = sql<number>`coalesce(sum(coalesce(octet_length(request_body), 0) + coalesce(octet_length(response_body), 0)), 0)`
  const {bytes} = await db.selectFrom('traffic.log_bodies').select(weight.as('bytes')).executeTakeFirstOrThrow()
  return Number(bytes)
}

interface PackWays {
  /** Packs with bodies that no store takes, and when to try them again. */
  readonly set_aside: Map<string, number>
  /** How far from its beginning nothing of a pack waits any more. */
  readonly settled_to: Map<string, number>
  readonly now: () => number
  readonly onUnreadable: (path: string) => void
}

/** A pack is deleted once all of its bodies are put. Bodies without a row in the log have no owner. */
async function* packBatches(
  packs: readonly string[],
  db: Db,
  {set_aside, settled_to, now, onUnreadable}: PackWays,
): AsyncGenerator<WaitingBatch> {
  for (const path of packs) {
    if ((set_aside.get(path) ?? 0) > now()) continue
    let left = 0
    try {
      for await (const {rows, end} of readPack(path, settled_to.get(path) ?? 0)) {
        const ids = idsOf(rows)
        const known = new Set(idsOf(await findLogObjects(db, ids)))
        const waiting = withRows(
          rows.filter(({log_id}) => !known.has(log_id)),
          await rowsOfBodies(db, ids),
        )
        if (waiting.length > 0) {
          left += waiting.length
          yield {
            waiting,
            async settle(objects) {
              await insertLogObjects(db, objects)
              left -= objects.length
              if (left === 0) settled_to.set(path, end)
            },
          }
        } else if (left === 0) settled_to.set(path, end)
      }
    } catch (fault) {
      if (!(fault instanceof UnreadablePackFault)) throw fault
      left++
      if (!set_aside.has(path)) onUnreadable(path)
    }
    if (left > 0) set_aside.set(path, now() + SET_ASIDE_MS)
    else {
      await rm(path, {force: true})
      set_aside.delete(path)
      settled_to.delete(path)
    }
  }
}

class UnreadablePackFault extends Error {}

function unreadable(cause: unknown): never {
  throw new UnreadablePackFault('', {cause})
}

/**
 * The batches of a pack behind `from`, and where each ends. One that is torn at the end is what a kill left; a pack
 * that was deleted has none.
 */
async function* readPack(path: string, from: number): AsyncGenerator<{rows: LogBodiesTable[]; end: number}> {
  const file = await openPack(path)
  if (!file) return
  try {
    for (let at = from; ; ) {
      const head = await read(file, at, BATCH_HEAD_BYTES)
      if (head.length < BATCH_HEAD_BYTES) return
      const magic = head.readUInt32LE(0)
      if (magic !== PLAIN && magic !== COMPRESSED) throw new UnreadablePackFault()
      const bytes = head.readUInt32LE(8)
      const kept = await read(file, at + BATCH_HEAD_BYTES, bytes)
      if (kept.length < bytes) return
      const plain =
        magic === PLAIN ? kept : await decompress(kept, {maxOutputLength: head.readUInt32LE(12)}).catch(unreadable)
      at += BATCH_HEAD_BYTES + bytes
      yield {rows: readRows(plain, head.readUInt32LE(4)), end: at}
    }
  } finally {
    await file.close()
  }
}

function withRows(found: readonly LogBodiesTable[], rows: readonly RowOfBodies[]): WaitingBodies[] {
  const byId = new Map(rows.map(row => [row.id, row]))
  return found.flatMap(bodies => {
    const of = byId.get(bodies.log_id)
    return of ? [{bodies, of}] : []
  })
}

const idsOf = (rows: readonly {readonly log_id: string}[]) => rows.map(({log_id}) => log_id)
