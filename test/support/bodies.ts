import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {zstdDecompressSync} from 'node:zlib'
import {
  mostRowBytes,
  openPacks,
  PACKS_FOLDER,
  type PackedBodies,
  readRows,
  writeRow,
} from '../../src/store/bodies/index.ts'
import {BATCH_HEAD_BYTES, COMPRESSED, listPacks} from '../../src/store/bodies/packs.ts'
import type {LogBodiesTable} from '../../src/store/tables/traffic.ts'
import type {TestStore} from './stores.ts'

export type Row = Partial<LogBodiesTable> & {log_id: string}

export const PLAIN_ROW = {
  created_at: '2026-03-04T05:00:00.000Z',
  request_headers: '{}',
  request_body: null,
  response_headers: '{}',
  response_body: null,
  response_encoding: null,
  cut: 0,
}

/** Rows as they are handed from thread to thread. */
export function packedBodies(rows: readonly Row[], packed_ms: number): PackedBodies {
  const buffer = Buffer.alloc(rows.reduce((sum, row) => sum + mostRowBytes(fieldsOf({...PLAIN_ROW, ...row})), 8))
  const used_bytes = rows.reduce((at, row) => writeRow(buffer, at, fieldsOf({...PLAIN_ROW, ...row}), row.cut === 1), 0)
  const bytes = new SharedArrayBuffer(buffer.length)
  Buffer.from(bytes).set(buffer)
  return {bytes, used_bytes, rows: rows.length, weight_bytes: buffer.length, packed_ms}
}

/** Keeps bodies where the gateway keeps them. */
export async function keepBodies(
  {store, folder}: Pick<TestStore, 'store' | 'folder'>,
  row: Row,
  packed_ms: number,
): Promise<void> {
  if (store.kind === 'postgres') {
    await store.db
      .insertInto('traffic.log_bodies')
      .values({...PLAIN_ROW, ...row})
      .execute()
    return
  }
  const packs = openPacks(join(folder, PACKS_FOLDER))
  packs.append(packedBodies([row], packed_ms), fault => {
    throw fault
  })
  packs.close()
}

/** All bodies that are kept, by the id of their row. */
export async function keptBodies({store, folder}: Pick<TestStore, 'store' | 'folder'>): Promise<LogBodiesTable[]> {
  const rows =
    store.kind === 'postgres'
      ? await store.db.selectFrom('traffic.log_bodies').selectAll().execute()
      : listPacks(join(folder, PACKS_FOLDER)).flatMap(({path}) => rowsOf(readFileSync(path)))
  return rows.sort((one, other) => (one.log_id < other.log_id ? -1 : 1))
}

function rowsOf(pack: Buffer): LogBodiesTable[] {
  const found: LogBodiesTable[] = []
  for (let at = 0; at < pack.length; ) {
    const bytes = pack.readUInt32LE(at + 8)
    const kept = pack.subarray(at + BATCH_HEAD_BYTES, at + BATCH_HEAD_BYTES + bytes)
    found.push(
      ...readRows(pack.readUInt32LE(at) === COMPRESSED ? zstdDecompressSync(kept) : kept, pack.readUInt32LE(at + 4)),
    )
    at += BATCH_HEAD_BYTES + bytes
  }
  return found
}

function fieldsOf(row: LogBodiesTable) {
  const {log_id, created_at, request_headers, request_body, response_headers, response_body, response_encoding} = row
  return [
    log_id,
    created_at,
    request_headers,
    request_body,
    response_headers,
    response_body,
    response_encoding,
  ] as const
}
