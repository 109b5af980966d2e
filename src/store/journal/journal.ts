import {join} from 'node:path'
import {IdMap} from '../../base/id-map.ts'
import {endTurn} from '../../base/turn-end.ts'
import {Batch} from './batch.ts'
import {Space} from './disk-space.ts'
import {JournalFault} from './errors.ts'
import {type Mark, type RecordKind, segmentName} from './format.ts'
import {GroupSync} from './group-sync.ts'
import type {JournalSettings} from './settings.ts'

/** An attempt that was begun and not settled; `payload` is its intent. */
export interface OpenIntent {
  /** `<call id>:<attempt>`. */
  readonly id: string
  /** Not to be changed while the intent is open. */
  readonly payload: Buffer | string
}

/**
 * Called once for each record, in the order of the appends, at the end of the turn and never inside the append: without
 * an error the record is written and outlives kill -9.
 */
export type AppendCallback = (error?: JournalFault) => void

export interface JournalStatus {
  /** True when an intent would be accepted now. */
  readonly accepting: boolean
  readonly open_intents: number
  /** Reserved bytes not yet written, those kept for settlements included. */
  readonly free_bytes: number
  readonly segments: number
  /** How often the file being written was found removed or replaced from outside. */
  readonly files_removed: number
}

interface TrackedIntent extends OpenIntent {
  /** The segment that holds it; 0 while it is gathered. */
  segment: number
}

interface Waiting {
  readonly kind: RecordKind
  readonly intent: TrackedIntent | undefined
  readonly done: AppendCallback | undefined
  error: JournalFault | undefined
}

const WRITE_AT_ONCE_BYTES = 1024 * 1024
const LOST = 'The file of the journal that is being written was removed or replaced from outside.'

/**
 * The writer of the journal: records of one turn of the event loop go out in one write at its end (group commit), then
 * their callers are notified. Lives on the main thread of the one process that owns the data directory. Made by
 * `openJournal`.
 */
export class Journal {
  readonly #settings: JournalSettings
  readonly #space: Space
  readonly #sync: GroupSync
  readonly #batch = new Batch()
  readonly #open = new IdMap<TrackedIntent>()
  /** Records whose callers were not called back yet; from `#unwritten` on they are in the batch (or refused). */
  #waiting: Waiting[] = []
  #unwritten = 0
  #scheduled = false
  #moved = false
  #closed = false
  #files_removed = 0
  /** The file being written is missing, and could not be written again. */
  #is_lost = false
  #retiring: Promise<unknown> = Promise.resolve()

  /** `past`: this journal's segments of earlier processes. `open`: what they left open. */
  constructor(
    settings: JournalSettings,
    next_number: number,
    past: readonly number[],
    open: readonly (OpenIntent & {segment: number})[],
  ) {
    this.#settings = settings
    this.#sync = new GroupSync({
      files: settings.files,
      folder: settings.folder,
      every_ms: settings.sync_ms,
      after: settings.after,
      onFault: (segment, cause) => this.#syncFailed(segment?.number, cause),
    })
    this.#space = new Space(settings, this.#sync, next_number, past)
    for (const {id, payload, segment} of open) this.#open.set(id, {id, payload, segment})
  }

  /** Reserves room and begins the first segment. On a full disk the journal refuses appends until there is room. */
  async begin(): Promise<void> {
    await this.#space.prepare()
    this.#space.advance(0)
    this.#stock()
  }

  /** An attempt is about to leave. Taken only while every open intent, this one too, has room for its settlement. */
  appendIntent(id: string, payload: Buffer | string, done: AppendCallback): void {
    if (this.#is_lost) this.#wait({kind: 'intent', intent: undefined, done, error: new JournalFault('fault', LOST)})
    else if (!this.#open.has(id)) this.#put('intent', id, payload, done, {id, payload, segment: 0})
    else
      this.#wait({
        kind: 'intent',
        intent: undefined,
        done,
        error: new JournalFault('duplicate', `the intent ${id} is open already`),
      })
  }

  /**
   * An attempt has ended. Within `settlement_bytes` it has its room, whatever the disk; when it fails, the intent stays
   * open.
   */
  appendSettlement(id: string, payload: Buffer | string, done: AppendCallback): void {
    this.#put('settlement', id, payload, done, this.#open.get(id))
  }

  /** A record that neither opens nor ends an attempt. It never takes room that settlements wait for. */
  append(kind: 'log_row' | 'other', payload: Buffer | string, done: AppendCallback): void {
    this.#put(kind, '', payload, done, undefined)
  }

  /** The end of the written records: a reader may read up to here. */
  position(): Mark {
    return this.#space.end
  }

  status(): JournalStatus {
    const {slot_bytes, full} = this.#space
    const fits = this.#space.judge(slot_bytes, this.#open.size + 1, this.#batch.bytes) !== 'nowhere'
    return {
      // while the disk is not known to be full, more room is reserved when needed
      accepting: !this.#closed && !this.#is_lost && (fits || !full),
      open_intents: this.#open.size,
      free_bytes: this.#space.free(this.#batch.bytes),
      segments: this.#space.past.size + (this.#space.current ? 1 : 0),
      files_removed: this.#files_removed,
    }
  }

  /**
   * Checks that the file being written is still where readers find it; if not, its content is written again and the
   * next segment begun. To be called about twice a second: records written meanwhile are in no file that a next process
   * would find.
   */
  check(): void {
    if (this.#closed) return
    this.flush()
    const segment = this.#space.current?.number ?? 0
    try {
      const restored = this.#space.restore()
      if (restored || this.#is_lost) this.#found(segment, restored)
    } catch (cause) {
      if (!this.#is_lost) {
        this.#files_removed++
        this.#settings.report({
          code: 'removed',
          segment,
          text: `${LOST} Calls are refused until it can be written.`,
          cause,
        })
      }
      this.#is_lost = true
    }
  }

  #found(segment: number, restored: boolean): void {
    if (!this.#is_lost) this.#files_removed++
    this.#is_lost = false
    const how = restored ? 'What it held was written anew and nothing is lost.' : 'It is there again.'
    this.#settings.report({code: 'restored', segment, text: `${LOST} ${how}`})
  }

  /**
   * Writes what is gathered now; the callers are called back at the end of the turn as ever. For the last moments of a
   * process.
   */
  flush(): void {
    const {bytes} = this.#batch
    if (bytes === 0) return
    let error = this.#write()
    if (error && this.#space.advance(bytes)) error = this.#write()
    if (error) this.#undo(error)
    else this.#conclude()
    this.#batch.clear()
    this.#unwritten = this.#waiting.length
    this.#stock()
  }

  /** Everything appended before is on the disk when this resolves. */
  sync(): Promise<void> {
    this.flush()
    return this.#sync.sync()
  }

  /**
   * Removes the segments before the one that `mark` is in: the flusher's mark, from a commit that is itself on the
   * disk. Intents still open in them are copied forward and synced first; a segment whose intents cannot be copied
   * stays, and so do those behind it. Gives the removed numbers.
   */
  retire(mark: Mark): Promise<number[]> {
    const run = this.#retiring.then(() => this.#retire(mark))
    this.#retiring = run.catch(() => {})
    return run
  }

  /**
   * Writes and syncs what is gathered, seals the segment and gives unused room back. Appends are refused from now on.
   */
  async close(): Promise<void> {
    if (this.#closed) return
    this.flush()
    this.#closed = true
    await this.#retiring
    await this.#space.close()
    await this.#sync.sync().catch(() => {}) // reported; no caller is left to try again
    this.#tell()
  }

  #put(
    kind: RecordKind,
    id: string,
    payload: Buffer | string,
    done: AppendCallback | undefined,
    intent: TrackedIntent | undefined,
  ): Waiting {
    const record: Waiting = {kind, intent, done, error: undefined}
    try {
      if (this.#closed) throw new JournalFault('closed', 'the journal is closed')
      const size = this.#batch.stage(kind, id, payload)
      if (!this.#place(size, this.#slotsAfter(record, size)))
        throw new JournalFault('full', 'the journal has no room for the record')
    } catch (error) {
      if (!(error instanceof JournalFault)) throw error
      record.error = error
      return this.#wait(record)
    }
    this.#batch.keep()
    if (kind === 'intent' && intent) this.#open.set(id, intent)
    if (kind === 'settlement') this.#open.take(id)
    this.#wait(record)
    if (this.#batch.bytes >= WRITE_AT_ONCE_BYTES) this.flush()
    return record
  }

  /** How many settlements must still have their room when the record is written. */
  #slotsAfter({kind, intent}: Waiting, size: number): number {
    if (kind === 'intent') return this.#open.size + 1
    if (kind !== 'settlement' || !intent) return this.#open.size
    return size <= this.#space.slot_bytes ? 0 : this.#open.size - 1
  }

  /** Makes sure that the staged record fits behind the batch in the current segment. */
  #place(size: number, slots: number): boolean {
    for (let tries = 0; tries < 4; tries++) {
      const where = this.#space.judge(size, slots, this.#batch.bytes)
      if (where === 'here') return true
      if (where === 'nowhere' && !this.#space.makeRoom(size, slots, this.#batch.bytes)) break
      if (where === 'next' && this.#batch.bytes > 0) this.flush()
      else if (where === 'next') this.#space.advance(size)
    }
    this.#stock()
    return false
  }

  #wait(record: Waiting): Waiting {
    this.#waiting.push(record)
    if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => {
        this.#scheduled = false
        this.flush()
        endTurn(() => this.#tell()) // calls whose intents are written leave in this turn
      })
    }
    return record
  }

  #write(): JournalFault | undefined {
    const {current} = this.#space
    if (!current) return new JournalFault('full', 'the journal has no segment to write to')
    const {bytes, buffer} = this.#batch
    let written = 0
    let cause: unknown
    try {
      written = this.#settings.files.writeSync(current.fd, buffer, 0, bytes, current.offset)
    } catch (fault) {
      cause = fault
    }
    if (written === bytes) {
      current.offset += bytes
      this.#sync.touch(current)
      return undefined
    }
    this.#space.abandon(bytes)
    const text = `The disk took ${written} of ${bytes} bytes; the journal goes on in a new segment.`
    this.#settings.report({code: 'write_failed', segment: current.number, text, cause})
    return new JournalFault('fault', `the disk took ${written} of ${bytes} bytes`, {cause})
  }

  #conclude(): void {
    const segment = this.#space.current!.number
    for (let at = this.#unwritten; at < this.#waiting.length; at++) {
      const {error, kind, intent} = this.#waiting[at]!
      if (intent && !error && kind !== 'settlement') intent.segment = segment
    }
    this.#moved = true
  }

  /**
   * The batch was not written: its intents never were, its settlements are still to come. Backwards, for one may hold
   * both of a call.
   */
  #undo(error: JournalFault): void {
    for (let at = this.#waiting.length - 1; at >= this.#unwritten; at--) {
      const record = this.#waiting[at]!
      if (record.error) continue
      record.error = error
      if (record.kind === 'intent') this.#open.take(record.intent!.id)
      if (record.kind === 'settlement' && record.intent) this.#open.set(record.intent.id, record.intent)
    }
  }

  #tell(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#unwritten = 0
    for (const {done, error} of waiting) {
      try {
        done?.(error)
      } catch (fault) {
        setImmediate(() => {
          throw fault // the caller's fault must not keep the others waiting, nor go unheard
        })
      }
    }
    if (!this.#moved) return
    this.#moved = false
    this.#settings.onWritten(this.#space.end)
  }

  async #retire(mark: Mark): Promise<number[]> {
    this.flush()
    const covered: number[] = []
    let carried = false
    for (const segment of [...this.#space.past].sort((a, b) => a - b)) {
      if (segment >= mark.segment) break
      const held = [...this.#open.values()].filter(intent => intent.segment === segment)
      if (!this.#carry(held)) break
      carried ||= held.length > 0
      covered.push(segment)
    }
    if (carried) await this.#sync.sync()
    const {files, folder} = this.#settings
    for (const segment of covered) {
      await files.remove(join(folder, segmentName(segment))).catch(unlessGone)
      this.#space.past.delete(segment)
    }
    return covered
  }

  /** False when one of the intents could not be copied into the current segment. */
  #carry(intents: readonly TrackedIntent[]): boolean {
    const copies = intents.map(intent => this.#put('carried', intent.id, intent.payload, undefined, intent))
    this.flush()
    return copies.every(copy => copy.error === undefined)
  }

  #stock(): void {
    this.#space.stock(this.#open.size, this.#batch.bytes)
  }

  /** The kernel may forget pages that it could not write to the disk: later records go to another segment. */
  #syncFailed(segment: number | undefined, cause: unknown): void {
    this.#settings.report({
      code: 'sync_failed',
      segment: segment ?? 0,
      text: 'Journal records may not be on the disk yet.',
      cause,
    })
    if (this.#closed || segment !== this.#space.current?.number) return
    this.flush()
    this.#space.advance(0)
  }
}

function unlessGone(fault: NodeJS.ErrnoException): void {
  if (fault.code !== 'ENOENT') throw fault
}
