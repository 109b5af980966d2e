import {join} from 'node:path'
import {JournalFault} from './errors.ts'
import {HEAD_BYTES, HEADER_BYTES, type Mark, segmentName} from './format.ts'
import type {GroupSync} from './group-sync.ts'
import {restoreSegment} from './restore.ts'
import {
  beginSegment,
  discardSpare,
  type PreallocatedSegment,
  prepareSpare,
  prepareSpareNow,
  type Segment,
  type SegmentDirectory,
  usableBytes,
  wipe,
  writeSeal,
} from './segment.ts'
import type {JournalSettings} from './settings.ts'

const MIN_URGENT_BYTES = 1024 * 1024

/**
 * The room of the journal: the segment being written and the spares behind it.
 * Room is counted in *slots*, each the most that one settlement takes, for a segment's last bytes are lost when a
 * record does not fit: a room of `n` bytes surely takes `floor(n / slot)` settlements, whatever their sizes.
 */
export class Space {
  current: Segment | undefined
  /** The numbers of this journal's segments that are no longer written and not yet removed. */
  readonly past: Set<number>
  /** Bytes of one slot. */
  readonly slot_bytes: number
  readonly #settings: JournalSettings
  readonly #place: SegmentDirectory
  readonly #sync: GroupSync
  #next_number: number
  #ended: Mark | undefined
  #spares: PreallocatedSegment[] = []
  #spare_bytes = 0
  #spare_slots = 0
  #serial = 0
  #preparing: Promise<void> | undefined
  #rest: (() => void) | undefined
  #full = false
  #closed = false

  constructor(settings: JournalSettings, sync: GroupSync, next_number: number, past: Iterable<number>) {
    this.#settings = settings
    this.#place = settings
    this.#sync = sync
    this.#next_number = next_number
    this.past = new Set(past)
    this.slot_bytes = HEAD_BYTES + settings.settlement_bytes
  }

  /** The end of the written data. */
  get end(): Mark {
    if (this.current) return {segment: this.current.number, position: this.current.offset}
    return this.#ended ?? {segment: this.#next_number, position: 0}
  }

  /** True when the last attempt to reserve room failed. */
  get full(): boolean {
    return this.#full
  }

  /** Free bytes behind `gathered` bytes not yet written, spares included, slots not taken off. */
  free(gathered: number): number {
    return Math.max(0, this.#room(gathered)) + this.#spare_bytes
  }

  /** The place for a record of `size` bytes, behind `gathered` others, so that `slots` settlements can still follow. */
  judge(size: number, slots: number, gathered: number): 'here' | 'next' | 'nowhere' {
    const room = this.#room(gathered) - size
    if (room >= 0 && this.#slotsIn(room) + this.#spare_slots >= slots) return 'here'
    const spare = this.#spares.find(each => usableBytes(each) >= size)
    if (!spare) return 'nowhere'
    const left = this.#slotsIn(usableBytes(spare) - size) + this.#spare_slots - this.#slotsIn(usableBytes(spare))
    return left >= slots ? 'next' : 'nowhere'
  }

  /**
   * Reserves at once what `judge` found missing: smaller than a usual spare, and not at all while the disk is known to
   * be full.
   */
  makeRoom(size: number, slots: number, gathered: number): boolean {
    const here = this.#room(gathered) - size
    const missing = Math.max(0, slots - this.#spare_slots - Math.max(0, this.#slotsIn(here)))
    // would hold the loop up; `stock` sees to it
    if (missing * this.slot_bytes > this.#settings.segment_bytes) return false
    return this.#reserveNow((here >= 0 ? 0 : size) + missing * this.slot_bytes)
  }

  /**
   * Ends the current segment and begins the next, with room for `size` bytes. False when there is none: the current one
   * stays.
   */
  advance(size: number): boolean {
    const ended = this.current
    const end = ended ? writeSeal(this.#settings.files, ended) : (this.#ended?.position ?? 0)
    if (ended && !this.#putBack(ended, end)) return false
    const next = this.#begin(size, end) ?? (this.#reserveNow(size) ? this.#begin(size, end) : undefined)
    if (!next) return false
    if (ended) this.#retireFromWriting(ended, end)
    this.current = next
    return true
  }

  /**
   * When the file of the current segment was removed or replaced from outside: writes it again from the data that the
   * descriptor still holds, and begins the next. Throws when it cannot; the current one stays, and is tried again.
   */
  restore(): boolean {
    const {current} = this
    const {files, folder} = this.#settings
    if (!current || this.#isThere(current)) return false
    files.makeFolder(folder)
    this.#rest?.()
    this.#rest = undefined
    for (const spare of this.#spares) void discardSpare(files, spare) // theirs are gone as well
    this.#count([])
    // the next one's room comes first: bytes that are written behind the seal of a copy would never be read
    if (!this.#reserveNow(0) || !this.advance(0)) throw new JournalFault('full', 'no room can be reserved')
    return true
  }

  /** The current segment failed a write of `bytes`: nothing behind its data counts, and it is written no more. */
  abandon(bytes: number): void {
    const failed = this.current
    if (!failed) return
    wipe(this.#settings.files, failed, Math.min(bytes, failed.bytes - failed.offset))
    this.#retireFromWriting(failed, failed.offset)
    this.current = undefined
  }

  /** Sees to it that, with `slots` settlements to come, a whole segment's room is free; prepares off the loop. */
  stock(slots: number, gathered: number): void {
    if (this.#preparing || this.#rest || this.#closed) return
    if (this.free(gathered) - slots * this.slot_bytes < this.#settings.segment_bytes) this.prepare()
  }

  /** Prepares one more spare; never rejects, but reports, rests and tries again. */
  prepare(): Promise<void> {
    this.#preparing ??= prepareSpare(this.#place, this.#serial++, this.#settings.segment_bytes)
      .then(
        spare => (this.#closed ? discardSpare(this.#settings.files, spare) : this.#stockWith([...this.#spares, spare])),
        cause => this.#fail(cause),
      )
      .finally(() => {
        this.#preparing = undefined
      })
    return this.#preparing
  }

  /** Seals the current segment and gives the spares back. */
  async close(): Promise<void> {
    this.#closed = true
    this.#rest?.()
    if (this.current) this.#retireFromWriting(this.current, writeSeal(this.#settings.files, this.current))
    this.current = undefined
    await this.#preparing
    await Promise.all(this.#spares.splice(0).map(spare => discardSpare(this.#settings.files, spare)))
  }

  #isThere({fd, number}: Segment): boolean {
    return this.#settings.files.isAt(fd, join(this.#settings.folder, segmentName(number)))
  }

  /** A segment that is written no more must be where readers find it: its descriptor is closed soon. */
  #putBack(ended: Segment, end: number): boolean {
    try {
      if (this.#isThere(ended)) return true
      this.#sync.finish(restoreSegment(this.#place, ended, end))
      this.#sync.named()
      return true
    } catch (cause) {
      this.#settings.report({
        code: 'segment_failed',
        segment: ended.number,
        text: 'A removed segment could not be written anew.',
        cause,
      })
      return false
    }
  }

  /** A spare with `room` bytes for records, or a little more; false when there is none to be had. */
  #reserveNow(room: number): boolean {
    const {segment_bytes} = this.#settings
    const wanted = HEADER_BYTES + room + HEAD_BYTES
    if (this.#rest || this.#closed) return false
    try {
      const bytes = Math.max(wanted, Math.min(segment_bytes, MIN_URGENT_BYTES))
      this.#stockWith([prepareSpareNow(this.#place, this.#serial++, bytes), ...this.#spares])
      return true
    } catch (cause) {
      this.#fail(cause)
      return false
    }
  }

  #room(gathered: number): number {
    return this.current ? this.current.bytes - this.current.offset - gathered - HEAD_BYTES : -1
  }

  #slotsIn(bytes: number): number {
    return Math.floor(bytes / this.slot_bytes)
  }

  #begin(size: number, previous_end: number): Segment | undefined {
    const {store_id, epoch, now, files} = this.#settings
    for (let spare = this.#take(size); spare; spare = this.#take(size)) {
      const segment = this.#next_number
      try {
        const begun = beginSegment(this.#place, spare, {store_id, epoch, segment, created_ms: now(), previous_end})
        this.#next_number = segment + 1
        this.#sync.named()
        this.#sync.touch(begun)
        return begun
      } catch (cause) {
        this.#settings.report({code: 'segment_failed', segment, text: 'A prepared segment could not be begun.', cause})
        void discardSpare(files, spare)
      }
    }
    return undefined
  }

  #take(size: number): PreallocatedSegment | undefined {
    const spare = this.#spares.find(each => usableBytes(each) >= size)
    if (spare) this.#count(this.#spares.filter(each => each !== spare))
    return spare
  }

  #retireFromWriting(segment: Segment, end: number): void {
    this.past.add(segment.number)
    this.#ended = {segment: segment.number, position: end}
    this.#sync.finish(segment)
  }

  #stockWith(spares: PreallocatedSegment[]): void {
    this.#count(spares)
    if (!this.#full) return
    this.#full = false
    this.#settings.report({code: 'room', segment: this.end.segment, text: 'The journal has room again.'})
  }

  /** Trying again at once would keep a full disk full and the loop busy. */
  #fail(cause: unknown): void {
    if (this.#closed) return
    const {after, retry_ms, report} = this.#settings
    this.#rest?.()
    this.#rest = after(retry_ms, () => {
      this.#rest = undefined
      void this.prepare()
    })
    if (this.#full) return
    this.#full = true
    report({
      code: 'no_room',
      segment: this.end.segment,
      text: 'No room can be reserved for the next journal segment.',
      cause,
    })
  }

  #count(spares: PreallocatedSegment[]): void {
    this.#spares = spares
    this.#spare_bytes = spares.reduce((sum, spare) => sum + usableBytes(spare), 0)
    this.#spare_slots = spares.reduce((sum, spare) => sum + this.#slotsIn(usableBytes(spare)), 0)
  }
}
