import {type FileHandle, open, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {zstdDecompress} from 'node:zlib'
import type {Db} from '../database.ts'
import type {StoreOptions} from '../dialect/index.ts'
import type {LogBodiesTable} from '../tables/traffic.ts'
import {BATCH_HEAD_BYTES, COMPRESSED, dayOf, listPacks, PACKS_FOLDER, PLAIN} from './packs.ts'
import {findRow} from './rows.ts'

/** The identity of a row whose bodies are requested. */
export interface BodiesOf {
  readonly id: string
  readonly created_at: string
  /** How long the call took: its bodies were kept when it ended. */
  readonly last_byte_ms: number
  /** Of work elsewhere: its bodies were kept when it came. */
  readonly received_at?: string | undefined
}

/** About when the bodies of a row were kept. */
export function keptAtMs({created_at, last_byte_ms, received_at}: BodiesOf): number {
  return received_at === undefined ? Date.parse(created_at) + last_byte_ms : Date.parse(received_at)
}

/** Finds the bodies of a row; undefined when none were kept, or are kept no longer. */
export type FindBodies = (row: BodiesOf) => Promise<LogBodiesTable | undefined>

/** Bodies are in a table of PostgreSQL, or in packs beside SQLite's files. */
export function bodyFinder(options: StoreOptions, db: Db): FindBodies {
  if (options.kind === 'sqlite') return row => findInPacks(join(options.folder, PACKS_FOLDER), row)
  return ({id}) => db.selectFrom('traffic.log_bodies').selectAll().where('log_id', '=', id).executeTakeFirst()
}

/** Bodies go out with the next tick; a thread that has to be started again takes longer. */
export const LATEST_MS = 60_000
/** Clocks are set, and a call's time is rounded. */
export const EARLIEST_MS = -2_000
const WINDOW_BYTES = 64 * 1024

/**
 * Looks through the batches that were packed about when the call ended; no more than their heads is read of the others.
 */
export async function findInPacks(folder: string, row: BodiesOf): Promise<LogBodiesTable | undefined> {
  const {id} = row
  const kept_ms = keptAtMs(row)
  const from_ms = kept_ms + EARLIEST_MS
  const to_ms = kept_ms + LATEST_MS
  const packs = listPacks(folder, dayOf(from_ms - DAY_MS), dayOf(to_ms)).filter(({begun_ms}) => begun_ms <= to_ms)
  for (const {path} of packs) {
    if ((await modified(path)) < from_ms) continue
    const found = await search(path, id, from_ms, to_ms)
    if (found) return found
  }
  return undefined
}

export const DAY_MS = 86_400_000

async function search(path: string, id: string, from_ms: number, to_ms: number): Promise<LogBodiesTable | undefined> {
  const file = await openPack(path)
  if (!file) return undefined
  try {
    let window = await read(file, 0, WINDOW_BYTES)
    let at = 0
    for (let start = 0; ; ) {
      if (at + BATCH_HEAD_BYTES > start + window.length) {
        start = at
        window = await read(file, start, WINDOW_BYTES)
        if (window.length < BATCH_HEAD_BYTES) return undefined
      }
      const head = at - start
      const magic = window.readUInt32LE(head)
      if (magic !== PLAIN && magic !== COMPRESSED) return undefined
      const rows = window.readUInt32LE(head + 4)
      const bytes = window.readUInt32LE(head + 8)
      const packed_ms = window.readDoubleLE(head + 16)
      if (packed_ms > to_ms) return undefined
      const begin = head + BATCH_HEAD_BYTES
      if (packed_ms >= from_ms) {
        const kept =
          begin + bytes <= window.length
            ? window.subarray(begin, begin + bytes)
            : await read(file, at + BATCH_HEAD_BYTES, bytes)
        if (kept.length < bytes) return undefined
        const maxOutputLength = window.readUInt32LE(head + 12)
        const found = findRow(magic === PLAIN ? kept : await decompress(kept, {maxOutputLength}), rows, id)
        if (found) return found
      }
      at += BATCH_HEAD_BYTES + bytes
    }
  } finally {
    await file.close()
  }
}

export const decompress = promisify(zstdDecompress)

export async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const {buffer, bytesRead} = await file.read(Buffer.allocUnsafe(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** Undefined for a pack that is deleted by now: it was past its time, or a store of objects has what was in it. */
export async function openPack(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault
  }
}

/** A pack may be deleted while it is looked for. */
export async function modified(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0
}
