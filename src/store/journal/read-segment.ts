import type {ReadableFiles} from './files.ts'
import {
  claimedKind,
  claimedLength,
  decodeRecord,
  HEAD_BYTES,
  HEADER_BYTES,
  isWhole,
  isZero,
  MAX_RECORD_BYTES,
  mayBeHead,
  type RecordKind,
} from './format.ts'

/**
 * A record as it was written. `payload` is the reader's own copy; lent, it is good until the next record is read. The
 * mark behind it is `{segment, position: end_position}`.
 */
export interface SegmentRecord {
  readonly kind: Exclude<RecordKind, 'sealed'>
  /** `<call id>:<attempt>` of an intent, a settlement or a carried intent; empty for the others. */
  readonly id: string
  readonly payload: Buffer
  readonly position: number
  readonly end_position: number
}

/**
 * Why reading stopped at `position`. `end`: nothing more is written there (yet). `sealed`: the segment was closed in
 * order. `torn`: the last record is not whole, as kill -9 or a power cut in the middle of a write leaves it: it was not
 * acknowledged, or not yet synced. `damaged`: the bytes there are not those that were written, and no whole record
 * follows it in this segment.
 */
export interface SegmentEnd {
  readonly reason: 'end' | 'sealed' | 'torn' | 'damaged'
  readonly position: number
}

/** Bytes between two records, or before the first, that are not what was written. */
export interface Gap {
  readonly position: number
  readonly end_position: number
}

export interface ReadSegment {
  readonly files: ReadableFiles
  readonly path: string
  readonly from: number
  /**
   * A place known to be the end of a record (the writer's position): nothing behind it is looked at, and stopping
   * before it is damage.
   */
  readonly up_to?: number | undefined
  /** A kind of record that is gone past, whatever it holds. */
  readonly without?: RecordKind | undefined
  /** Payloads are lent: good until the next record is read. */
  readonly lends?: boolean | undefined
  /** Called with what had to be gone past to reach a record. */
  readonly onGap?: (gap: Gap) => void
}

const SLICE_BYTES = 256 * 1024
const NOTHING = Buffer.alloc(0)
/** The flusher reads ten to twenty times a second, and V8 is in no hurry to give so much memory back. */
let spare: Buffer | undefined

/**
 * The records of the segment at `path` from `from` on, in order; it returns why it stopped. Only the damaged record is
 * skipped: reading continues at the next one that is whole. Reads slices of 256 KB; holds no more than one slice or one
 * record.
 */
export function* readSegment({
  files,
  path,
  from,
  up_to,
  without,
  lends = false,
  onGap,
}: ReadSegment): Generator<SegmentRecord, SegmentEnd> {
  const fd = files.openSync(path, 'r')
  let window: Window | undefined
  try {
    window = new Window(files, fd, Math.max(from, HEADER_BYTES), up_to)
    for (;;) {
      if (without) window.pass(without)
      const {position} = window
      const record = window.next(lends)
      if (typeof record === 'string') {
        if (record !== 'end' && window.seek(position)) onGap?.({position, end_position: window.position})
        else return {reason: up_to !== undefined && position < up_to ? 'damaged' : record, position}
        continue
      }
      const {kind, id, payload} = record
      if (kind === 'sealed') return {reason: 'sealed', position: window.position}
      yield {kind, id, payload, position, end_position: window.position}
    }
  } finally {
    window?.close()
    files.closeSync(fd)
  }
}

/** A view of some bytes of the file, moved forward record by record. */
class Window {
  position: number
  readonly #files: ReadableFiles
  readonly #fd: number
  readonly #limit: number
  #bytes: Buffer
  #at = 0
  #filled = 0

  constructor(files: ReadableFiles, fd: number, position: number, up_to: number | undefined) {
    this.#files = files
    this.#fd = fd
    this.position = position
    this.#limit = Math.min(files.size(fd), up_to ?? Number.MAX_SAFE_INTEGER)
    this.#bytes = spare ?? Buffer.allocUnsafeSlow(SLICE_BYTES)
    spare = undefined
  }

  /** The record at `position`, which moves behind it; or why there is none. */
  next(lends: boolean): NonNullable<ReturnType<typeof decodeRecord>> | 'end' | 'torn' | 'damaged' {
    if (!this.#have(HEAD_BYTES)) return this.#isBlankBehind(0) ? 'end' : 'damaged'
    if (isZero(this.#bytes, this.#at, this.#at + HEAD_BYTES)) return this.#isBlankBehind(0) ? 'end' : 'damaged'
    const length = claimedLength(this.#bytes, this.#at)
    const size = HEAD_BYTES + length
    if (size > MAX_RECORD_BYTES) return 'damaged'
    if (!this.#have(size)) return 'damaged' // no writer goes past the end of its segment
    const record = decodeRecord(this.#bytes, this.#at, lends)
    // a write cut short leaves zeros where the end of its last record should be, and a record of ours never ends in one
    if (!record) return this.#isBlankBehind(size - 1) ? 'torn' : 'damaged'
    this.#at += size
    this.position += size
    return record
  }

  /** Moves behind a whole record of `kind` at `position`: an untrue length would skip others. */
  pass(kind: RecordKind): void {
    while (this.#have(HEAD_BYTES) && claimedKind(this.#bytes, this.#at) === kind) {
      const size = HEAD_BYTES + claimedLength(this.#bytes, this.#at)
      if (size > MAX_RECORD_BYTES || !this.#have(size) || !isWhole(this.#bytes, this.#at)) return
      this.#at += size
      this.position += size
    }
  }

  /**
   * Moves to the next whole record behind `damaged`; false when there is none. What a payload holds is never taken for
   * one: it is JSON, which has no byte of zero, and the length of a record has.
   */
  seek(damaged: number): boolean {
    this.#moveTo(damaged + 1)
    for (; this.#have(HEAD_BYTES); this.#at++, this.position++) {
      if (!mayBeHead(this.#bytes, this.#at)) continue
      const size = HEAD_BYTES + claimedLength(this.#bytes, this.#at)
      if (this.#have(size) && isWhole(this.#bytes, this.#at)) return true
    }
    return false
  }

  #moveTo(position: number): void {
    this.position = position
    this.#at = 0
    this.#filled = 0
  }

  /** Leaves its memory to the next window. */
  close(): void {
    if (this.#bytes.length === SLICE_BYTES) spare = this.#bytes
    this.#bytes = NOTHING
  }

  /** Reads until `count` bytes are there; false when the file has fewer. */
  #have(count: number): boolean {
    if (this.#filled - this.#at >= count) return true
    if (this.position + count > this.#limit) return false
    const kept = this.#bytes.subarray(this.#at, this.#filled)
    const roomy = count > this.#bytes.length ? Buffer.allocUnsafeSlow(count) : this.#bytes
    kept.copy(roomy)
    this.#bytes = roomy
    this.#at = 0
    this.#filled = kept.length
    while (this.#filled < count) if (!this.#fill()) return false
    return true
  }

  #fill(): boolean {
    const start = this.position - this.#at + this.#filled
    const wanted = Math.min(this.#bytes.length - this.#filled, this.#limit - start)
    const got = wanted > 0 ? this.#files.readSync(this.#fd, this.#bytes, this.#filled, wanted, start) : 0
    this.#filled += got
    return got > 0
  }

  /**
   * True when only zeros follow from `skip` bytes behind `position` to the end. Moves the window, so it is called last.
   */
  #isBlankBehind(skip: number): boolean {
    let at = this.position + skip
    for (;;) {
      const wanted = Math.min(this.#bytes.length, this.#limit - at)
      const got = wanted > 0 ? this.#files.readSync(this.#fd, this.#bytes, 0, wanted, at) : 0
      if (got === 0) return true
      if (!isZero(this.#bytes, 0, got)) return false
      at += got
    }
  }
}
