import {crc32} from 'node:zlib'

/**
 * The bytes of a journal segment, little-endian throughout.
 *
 * A segment is a header of 64 bytes, then records, then zeros up to its preallocated size:
 *   header magic 8 · format version u32 · epoch u32 · store id 16 · segment number u64 · created_ms u64 · previous_end
 *   u64 · zeros 4 · crc32 u32 record length u32 · crc32 u32 · kind u8 · id_bytes u8 · id (UTF-8) · payload (length
 *   counts id and payload) The crc32 of a record covers everything behind it and is seeded with the length, so every
 *   byte of the head is covered too. A head of zeros is the end of the data.
 */
export const HEADER_BYTES = 64
export const HEAD_BYTES = 10
/** The longest id a record carries, and the longest payload; a reader's memory is bounded by the second. */
export const MAX_ID_BYTES = 255
export const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
export const MAX_RECORD_BYTES = HEAD_BYTES + MAX_ID_BYTES + MAX_PAYLOAD_BYTES

/**
 * The kinds of record. `intent` and `carried` (an intent copied forward out of a retiring segment) open an attempt,
 * `settlement` ends it; these three have an id, `<call id>:<attempt>`. `sealed` is the last record of a segment that
 * was closed in order.
 */
export const KINDS = ['intent', 'settlement', 'log_row', 'carried', 'sealed', 'other'] as const
export type RecordKind = (typeof KINDS)[number]

/** A place in the journal: everything before it is meant. `{segment: 0, position: 0}` is the beginning. */
export interface Mark {
  readonly segment: number
  readonly position: number
}

/** The owner of a journal: the id of the store (a UUID) and its epoch, which a restore raises (core rule 4). */
export interface JournalOwner {
  readonly store_id: string
  readonly epoch: number
}

export interface SegmentHeader extends JournalOwner {
  readonly segment: number
  readonly created_ms: number
  /** The end of the data in the segment before, known when the same process wrote both; 0 when not known. */
  readonly previous_end: number
}

const MAGIC = Buffer.from('GWJOURNL', 'latin1')
const VERSION = 1
const SEGMENT_NAME = /^(\d{16})\.seg$/

/** The file name of a segment: its number in 16 digits, so that names sort as numbers. */
export function segmentName(segment: number): string {
  return `${String(segment).padStart(16, '0')}.seg`
}

/** The number in a segment's file name; undefined for any other file. */
export function segmentNumber(name: string): number | undefined {
  const digits = SEGMENT_NAME.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * Refuses (TypeError) a store id that is not a UUID in lower case: read back it would differ, and the journal be
 * foreign to itself.
 */
export function checkStoreId(store_id: string): void {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(store_id))
    throw new TypeError(`store_id: expected a lower-case UUID, got ${JSON.stringify(store_id)}`)
}

export function encodeHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(VERSION, 8)
  bytes.writeUInt32LE(header.epoch, 12)
  bytes.write(header.store_id.replaceAll('-', ''), 16, 'hex')
  bytes.writeBigUInt64LE(BigInt(header.segment), 32)
  bytes.writeBigUInt64LE(BigInt(header.created_ms), 40)
  bytes.writeBigUInt64LE(BigInt(header.previous_end), 48)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4)
  return bytes
}

/**
 * Reads the header in `bytes` although some of it changed, when it still identifies segment `segment` of `owner`: its
 * identifying fields are as expected, or would be with one of them corrected. The end of the segment before is not
 * known then.
 */
export function mendedHeader(bytes: Buffer, owner: JournalOwner, segment: number): SegmentHeader | undefined {
  if (bytes.length < HEADER_BYTES) return undefined
  const wanted = {...owner, segment, created_ms: 0, previous_end: 0}
  const expected = encodeHeader(wanted)
  const differing = IDENTITY.filter(([from, to]) => !bytes.subarray(from, to).equals(expected.subarray(from, to)))
  if (differing.length === 0) return wanted
  const [field] = differing
  if (differing.length > 1 || !field) return undefined
  const mended = Buffer.from(bytes)
  expected.copy(mended, field[0], field[0], field[1])
  return typeof decodeHeader(mended) === 'string' ? undefined : wanted
}

/** The bytes of a header that identify its owner: magic, version, epoch, store id, number. */
const IDENTITY = [
  [0, 8],
  [8, 12],
  [12, 16],
  [16, 32],
  [32, 40],
] as const

/** The header in `bytes`, or the reason why there is none. */
export function decodeHeader(bytes: Buffer): SegmentHeader | string {
  if (bytes.length < HEADER_BYTES) return `the file has ${bytes.length} bytes, a header has ${HEADER_BYTES}`
  if (isZero(bytes, 0, HEADER_BYTES)) return 'the header is blank'
  if (bytes.readUInt32LE(HEADER_BYTES - 4) !== crc32(bytes.subarray(0, HEADER_BYTES - 4)))
    return 'the checksum of the header is wrong'
  if (!bytes.subarray(0, 8).equals(MAGIC)) return 'the file is not a journal segment'
  if (bytes.readUInt32LE(8) !== VERSION)
    return `the format version is ${bytes.readUInt32LE(8)}, this program reads ${VERSION}`
  const hex = bytes.toString('hex', 16, 32)
  return {
    epoch: bytes.readUInt32LE(12),
    store_id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    segment: Number(bytes.readBigUInt64LE(32)),
    created_ms: Number(bytes.readBigUInt64LE(40)),
    previous_end: Number(bytes.readBigUInt64LE(48)),
  }
}

/**
 * Writes the head of the record whose id and payload are already at `at + HEAD_BYTES`; returns the size of the whole
 * record. `at` is the beginning of the record in `buffer`.
 */
export function encodeHead(
  buffer: Buffer,
  at: number,
  kind: RecordKind,
  id_bytes: number,
  payload_bytes: number,
): number {
  const length = id_bytes + payload_bytes
  const end = at + HEAD_BYTES + length
  buffer.writeUInt32LE(length, at)
  buffer[at + 8] = KINDS.indexOf(kind) + 1
  buffer[at + 9] = id_bytes
  buffer.writeUInt32LE(crc32(buffer.subarray(at + 8, end), length), at + 4)
  return end - at
}

/** The length field of the record at `at`: bytes of id and payload, as claimed. */
export function claimedLength(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at)
}

/** The kind of the record at `at`, as claimed. */
export function claimedKind(buffer: Buffer, at: number): RecordKind | undefined {
  return KINDS[buffer[at + 8]! - 1]
}

/**
 * True when the bytes at `at` may be the head of a record, by the features that every head has: cheap, and seldom
 * wrong.
 */
export function mayBeHead(buffer: Buffer, at: number): boolean {
  if (buffer[at + 3] !== 0) return false // a length above 16 MB
  const kind = buffer[at + 8]!
  return kind >= 1 && kind <= KINDS.length && claimedLength(buffer, at) <= MAX_RECORD_BYTES - HEAD_BYTES
}

/** True when the record at `at`, to its claimed end, has the checksum it was written with. */
export function isWhole(buffer: Buffer, at: number): boolean {
  const length = claimedLength(buffer, at)
  return crc32(buffer.subarray(at + 8, at + HEAD_BYTES + length), length) === buffer.readUInt32LE(at + 4)
}

/**
 * The kind, id and payload (a copy, or lent: a view) of the whole record at `at`; undefined when it is not what was
 * written there.
 */
export function decodeRecord(
  buffer: Buffer,
  at: number,
  lends = false,
): {kind: RecordKind; id: string; payload: Buffer} | undefined {
  if (!isWhole(buffer, at)) return undefined
  const length = claimedLength(buffer, at)
  const end = at + HEAD_BYTES + length
  const kind = claimedKind(buffer, at)
  const id_bytes = buffer[at + 9]!
  if (kind === undefined || id_bytes > length) return undefined
  const body = at + HEAD_BYTES + id_bytes
  const payload = buffer.subarray(body, end)
  return {kind, id: buffer.toString('utf8', at + HEAD_BYTES, body), payload: lends ? payload : Buffer.from(payload)}
}

export function isZero(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== 0) return false
  return true
}
