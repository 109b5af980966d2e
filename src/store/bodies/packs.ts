import {randomBytes} from 'node:crypto'
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writevSync,
} from 'node:fs'
import {join} from 'node:path'
import {constants, zstdCompressSync} from 'node:zlib'
import type {PackedBodies} from './rows.ts'

/** The folder of the data directory that holds the packs. */
export const PACKS_FOLDER = 'bodies'

/**
 * A pack is a file of batches, one behind the other: what one tick of the flusher brought, behind a head of 24 bytes
 * (`GBP1`, or `GBZ1` where it is compressed with zstd; rows, bytes that follow, bytes of the rows, and when it was
 * packed: milliseconds since 1970 as a double). A torn batch at the end is what a kill leaves, and is passed over.
 * `<folder>/<day>/<milliseconds when it was begun>-<random>.pack`: age is in the name, and deleting what is old deletes
 * files.
 */
export const BATCH_HEAD_BYTES = 24
export const PLAIN = 0x3150_4247
export const COMPRESSED = 0x315a_4247

const MAX_BYTES = 64 * 1024 * 1024
const MAX_MS = 600_000
const SUFFIX = '.pack'
/** A few small rows are not worth the making of a compressor. */
const COMPRESSED_FROM_BYTES = 16 * 1024
const FAST = {params: {[constants.ZSTD_c_compressionLevel]: 1}}

export interface Packs {
  /** Appends a batch; gives how many rows were refused: all of them, and `onFault` gets the reason, or none. */
  append(batch: PackedBodies, onFault: (fault: unknown) => void): number
  /** Writes to none of the packs there are any more; gives their paths, oldest first. */
  seal(): string[]
  /** Removes packs that were last written before `before_ms`. */
  deleteOlder(before_ms: number): void
  close(): void
}

/**
 * For the one process that owns the data directory. Nothing is synced: bodies may be lost with the power, and with
 * nothing else.
 */
export function openPacks(folder: string, {most_bytes = MAX_BYTES, most_ms = MAX_MS} = {}): Packs {
  let open: {readonly fd: number; readonly begun_ms: number; bytes: number} | undefined
  const head = Buffer.alloc(BATCH_HEAD_BYTES)
  const begin = (begun_ms: number) => {
    const day = join(folder, dayOf(begun_ms))
    mkdirSync(day, {recursive: true, mode: 0o700})
    const name = `${String(begun_ms).padStart(13, '0')}-${randomBytes(4).toString('hex')}${SUFFIX}`
    open = {fd: openSync(join(day, name), 'ax', 0o600), begun_ms, bytes: 0}
    return open
  }
  const close = () => {
    if (open) closeSync(open.fd)
    open = undefined
  }
  return {
    append({bytes, used_bytes, rows, packed_ms}, onFault) {
      try {
        if (open && (open.bytes >= most_bytes || packed_ms - open.begun_ms >= most_ms || packed_ms < open.begun_ms))
          close()
        const pack = open ?? begin(Math.trunc(packed_ms))
        head.writeUInt32LE(rows, 4)
        const plain = new Uint8Array(bytes, 0, used_bytes)
        const is_plain = used_bytes < COMPRESSED_FROM_BYTES
        const kept = is_plain ? plain : zstdCompressSync(plain, FAST)
        head.writeUInt32LE(is_plain ? PLAIN : COMPRESSED, 0)
        head.writeUInt32LE(kept.length, 8)
        head.writeUInt32LE(used_bytes, 12)
        head.writeDoubleLE(packed_ms, 16)
        const whole = BATCH_HEAD_BYTES + kept.length
        const written = writevSync(pack.fd, [head, kept])
        if (written === whole) pack.bytes += whole
        else {
          ftruncateSync(pack.fd, pack.bytes)
          throw new Error(`the disk took ${written} of ${whole} bytes`)
        }
        return 0
      } catch (fault) {
        onFault(fault)
        close()
        return rows
      }
    },
    seal() {
      close()
      return listPacks(folder).map(({path}) => path)
    },
    deleteOlder(before_ms) {
      for (const pack of listPacks(folder)) {
        if (
          pack.begun_ms >= before_ms ||
          (statSync(pack.path, {throwIfNoEntry: false})?.mtimeMs ?? before_ms) >= before_ms
        )
          continue
        rmSync(pack.path, {force: true})
      }
      for (const day of daysIn(folder)) if (day < dayOf(before_ms)) removeEmpty(join(folder, day))
    },
    close,
  }
}

/** A pack and the time in its name. */
export interface Pack {
  readonly path: string
  readonly begun_ms: number
}

/** The packs of the days from `from_day` to `to_day` (2026-01-31), or of all days, oldest first. */
export function listPacks(folder: string, from_day = '', to_day = '~'): Pack[] {
  return daysIn(folder)
    .filter(day => day >= from_day && day <= to_day)
    .flatMap(day =>
      namesIn(join(folder, day))
        .filter(name => name.endsWith(SUFFIX))
        .sort()
        .map(name => ({path: join(folder, day, name), begun_ms: Number(name.split('-', 1)[0])})),
    )
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function daysIn(folder: string): string[] {
  return namesIn(folder)
    .filter(name => /^\d{4}-\d\d-\d\d$/.test(name))
    .sort()
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw fault
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // packs of it are kept still
  }
}
