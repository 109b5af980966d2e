import type {LogBodiesTable} from '../tables/traffic.ts'

/**
 * Bodies of log rows in one piece of memory, so that another thread takes them without a copy, and a file in one write.
 */
export interface PackedBodies {
  /** The rows, one behind the other; what follows `used_bytes` is of no meaning. */
  readonly bytes: SharedArrayBuffer
  readonly used_bytes: number
  readonly rows: number
  /** Their weight until they are written. */
  readonly weight_bytes: number
  /** When the last of them was added, milliseconds since 1970. */
  readonly packed_ms: number
}

/** A row begins with the lengths of its seven fields and whether it was cut, each in four bytes, little endian. */
const HEAD_BYTES = 8 * 4
const CUT_AT = 7 * 4
const NONE = -1
/** UTF-8 takes at most three bytes for one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

/** The fields of a row, in order. */
export type RowFields = readonly [
  log_id: string,
  created_at: string,
  request_headers: string,
  request_body: Uint8Array | null,
  response_headers: string,
  response_body: Uint8Array | null,
  response_encoding: string | null,
]

/** The most bytes that `writeRow` takes for them. */
export function mostRowBytes(fields: RowFields): number {
  let bytes = HEAD_BYTES
  for (const field of fields)
    if (field !== null) bytes += typeof field === 'string' ? field.length * MAX_BYTES_PER_UNIT : field.length
  return bytes
}

/** Writes a row at `start`; gives where it ends. */
export function writeRow(buffer: Buffer, start: number, fields: RowFields, cut: boolean): number {
  let at = start + HEAD_BYTES
  for (let field = 0; field < fields.length; field++) {
    const value = fields[field]!
    let length = NONE
    if (typeof value === 'string') length = buffer.write(value, at)
    else if (value !== null) {
      length = value.length
      // ten times sooner done than `set`, which goes byte by byte in shared memory
      if (length > 0) buffer.fill(value, at, at + length)
    }
    buffer.writeInt32LE(length, start + field * 4)
    if (length > 0) at += length
  }
  buffer.writeInt32LE(cut ? 1 : 0, start + CUT_AT)
  return at
}

/** The rows of what was packed. Their bodies are views, not copies. */
export function readRows(buffer: Buffer, rows: number): LogBodiesTable[] {
  let at = 0
  return Array.from({length: rows}, () => {
    const row = readRow(buffer, at)
    at = endOf(buffer, at)
    return row
  })
}

/** The row of `log_id` among them; undefined when it is not there. */
export function findRow(buffer: Buffer, rows: number, log_id: string): LogBodiesTable | undefined {
  const id = Buffer.from(log_id)
  let at = 0
  for (let row = 0; row < rows && at + HEAD_BYTES <= buffer.length; row++) {
    const begin = at + HEAD_BYTES
    if (buffer.readInt32LE(at) === id.length && buffer.compare(id, 0, id.length, begin, begin + id.length) === 0)
      return readRow(buffer, at)
    at = endOf(buffer, at)
  }
  return undefined
}

function readRow(buffer: Buffer, start: number): LogBodiesTable {
  let at = start + HEAD_BYTES
  const take = (field: number): Buffer | null => {
    const length = buffer.readInt32LE(start + field * 4)
    if (length === NONE) return null
    at += length
    return buffer.subarray(at - length, at)
  }
  const text = (field: number) => take(field)?.toString() ?? null
  return {
    log_id: text(0)!,
    created_at: text(1)!,
    request_headers: text(2)!,
    request_body: take(3),
    response_headers: text(4)!,
    response_body: take(5),
    response_encoding: text(6),
    cut: buffer.readInt32LE(start + CUT_AT),
  }
}

function endOf(buffer: Buffer, start: number): number {
  let at = start + HEAD_BYTES
  for (let field = 0; field < 7; field++) at += Math.max(0, buffer.readInt32LE(start + field * 4))
  return at
}
