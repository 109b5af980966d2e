import {join} from 'node:path'
import type {Db} from '../database.ts'
import type {StoreOptions} from '../dialect/index.ts'
import type {LogBodiesTable} from '../tables/traffic.ts'
import {type BodiesOf, DAY_MS, decompress, EARLIEST_MS, keptAtMs, LATEST_MS, modified, openPack, read} from './find.ts'
import {BATCH_HEAD_BYTES, COMPRESSED, dayOf, listPacks, PACKS_FOLDER, PLAIN} from './packs.ts'
import {readRows} from './rows.ts'

/**
 * Finds the bodies of many rows in one pass and hands each to `found`, in no order; of those that were not kept it says
 * nothing. A row's bodies are views on what was read: who keeps them keeps all of it.
 */
export type FindManyBodies = (rows: readonly BodiesOf[], found: (row: LogBodiesTable) => void) => Promise<void>

const WINDOW_BYTES = 1 << 20
const MAX_IDS = 500

/** As `bodyFinder`, for a page of rows. */
export function manyBodiesFinder(options: StoreOptions, db: Db): FindManyBodies {
  if (options.kind === 'sqlite')
    return (rows, found) => findManyInPacks(join(options.folder, PACKS_FOLDER), rows, found)
  return async (rows, found) => {
    const ids = rows.map(({id}) => id)
    for (let at = 0; at < ids.length; at += MAX_IDS) {
      const some = ids.slice(at, at + MAX_IDS)
      for (const row of await db.selectFrom('traffic.log_bodies').selectAll().where('log_id', 'in', some).execute())
        found(row)
    }
  }
}

interface Wanted {
  readonly ids: Set<string>
  /** When the calls ended, or came, ascending. */
  readonly ended_ms: readonly number[]
  readonly from_ms: number
  readonly to_ms: number
  readonly found: (row: LogBodiesTable) => void
}

async function findManyInPacks(
  folder: string,
  rows: readonly BodiesOf[],
  found: (row: LogBodiesTable) => void,
): Promise<void> {
  if (!rows.length) return
  const ended_ms = rows.map(keptAtMs).sort((one, other) => one - other)
  const [from_ms, to_ms] = [ended_ms[0]! + EARLIEST_MS, ended_ms.at(-1)! + LATEST_MS]
  const wanted = {ids: new Set(rows.map(({id}) => id)), ended_ms, from_ms, to_ms, found}
  for (const {path, begun_ms} of listPacks(folder, dayOf(from_ms - DAY_MS), dayOf(to_ms))) {
    if (begun_ms <= to_ms && (await modified(path)) >= from_ms) await search(path, wanted)
    if (!wanted.ids.size) return
  }
}

/** One pack, from its beginning; what cannot be read there ends it. */
async function search(path: string, wanted: Wanted): Promise<void> {
  const file = await openPack(path)
  if (!file) return
  try {
    let start = 0
    let window = await read(file, 0, WINDOW_BYTES)
    for (let at = 0; wanted.ids.size; ) {
      if (at + BATCH_HEAD_BYTES > start + window.length) {
        start = at
        window = await read(file, start, WINDOW_BYTES)
        if (window.length < BATCH_HEAD_BYTES) return
      }
      const head = at - start
      const magic = window.readUInt32LE(head)
      const rows = window.readUInt32LE(head + 4)
      const bytes = window.readUInt32LE(head + 8)
      const packed_ms = window.readDoubleLE(head + 16)
      if ((magic !== PLAIN && magic !== COMPRESSED) || packed_ms > wanted.to_ms) return
      if (mayHold(wanted, packed_ms)) {
        const begin = head + BATCH_HEAD_BYTES
        const kept =
          begin + bytes <= window.length
            ? window.subarray(begin, begin + bytes)
            : await read(file, at + BATCH_HEAD_BYTES, bytes)
        if (kept.length < bytes) return
        const plain = magic === PLAIN ? kept : await decompress(kept, {maxOutputLength: window.readUInt32LE(head + 12)})
        for (const row of readRows(plain, rows)) if (wanted.ids.delete(row.log_id)) wanted.found(row)
      }
      at += BATCH_HEAD_BYTES + bytes
    }
  } finally {
    await file.close()
  }
}

/** True when one of the calls ended so that its bodies may have been packed then. */
function mayHold({ended_ms}: Wanted, packed_ms: number): boolean {
  let [low, high] = [0, ended_ms.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ended_ms[middle]! < packed_ms - LATEST_MS) low = middle + 1
    else high = middle
  }
  return low < ended_ms.length && ended_ms[low]! <= packed_ms - EARLIEST_MS
}
