import type {PackedBodies} from '../store/bodies/index.ts'
import {
  decodeRecord,
  type FlushRecord,
  type FlushTarget,
  isEntry,
  isRowFault,
  nameOf,
  type SetAsideRecord,
} from '../store/flush/index.ts'
import {
  type JournalOwner,
  type JournalRecord,
  type JournalWarning,
  type Mark,
  readJournal,
  SegmentMissingFault,
} from '../store/journal/index.ts'
import {JournalSlice} from './journal-slice.ts'
import {JournalWalk} from './journal-walk.ts'

/** Something the operator should read in the log. */
export interface FlusherReport {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
  readonly facts?: Readonly<Record<string, string | number>>
  readonly fault?: unknown
  /** A record was set aside. */
  readonly sets_aside?: true
}

export interface FlusherOptions {
  readonly target: FlushTarget
  readonly folder: string
  readonly owner: JournalOwner
  /** The writer's mark in the database. */
  readonly mark: Mark
  readonly report: (report: FlusherReport) => void
  /** Keeps the payload of a record that no ledger takes, for the operator to look into; false where that failed. */
  readonly setAside: (id: string, payload: Buffer) => boolean
  readonly sleep: (ms: number) => Promise<void>
  /** True when what hinders the database is waited for no longer; without it that is never so. */
  readonly givesUp?: (fault: unknown) => boolean
}

/** SQLite's lock is held while they are read and written. */
const SLICE_RECORDS = 800
const SLICE_BYTES = 4 * 1024 * 1024
const FIRST_DELAY_MS = 10
const MAX_DELAY_MS = 2_000
/** A lock is soon gone and not worth a line; what lasts longer is reported, again and again. */
const QUIET_TRIES = 5
const TRIES_PER_REPORT = 30
/** Some three seconds: by then the writer has written a removed segment again, if it can. */
const MISSING_TRIES = 8

type Note = (aside: SetAsideRecord) => void
type Decode = (record: JournalRecord, note: Note) => FlushRecord | undefined

interface Way {
  readonly walk: JournalWalk
  /** The end of the journal, if known. */
  readonly up_to: Mark | undefined
}

/**
 * Follows the journal and applies it to the database, slice by slice, in order. A fault of the database is waited out,
 * as long as it takes: the journal keeps everything. A record that can never be applied is set aside with a report, and
 * stops no other.
 */
export class Flusher {
  readonly #options: FlusherOptions
  /** The mark in the database. */
  #committed: Mark
  /** Read and of no effect on the database: up to here nothing waits. */
  #read: Mark
  /** The mark that holds if a commit succeeded whose answer was lost. */
  #attempted: Mark | undefined
  #turn: Promise<unknown> = Promise.resolve()
  readonly #reported = new Set<string>()
  readonly #asides = new Map<string, SetAsideRecord>()
  /** How often in a row a segment was not there. */
  #missing = 0

  constructor(options: FlusherOptions) {
    this.#options = options
    this.#committed = options.mark
    this.#read = options.mark
  }

  get committed(): Mark {
    return this.#committed
  }

  /** Applies everything before `up_to`, or all there is when no writer runs. Gives the number of records applied. */
  flush(up_to?: Mark): Promise<number> {
    return this.#inTurn(async () => {
      let applied = 0
      await this.#patiently(async () => {
        await this.#checkMark()
        applied += await this.#pass(up_to)
      })
      return applied
    })
  }

  /** Keeps bodies of log rows; gives how many could not be. */
  keepBodies(bodies: PackedBodies): Promise<number> {
    return this.#inTurn(async () => {
      let refused = 0
      await this.#patiently(async () => {
        refused = await this.#options.target.keepBodies(bodies, fault => {
          const text = 'The bodies of some log rows could not be written and are dropped.'
          this.#options.report({level: 'error', text, fault})
        })
      })
      return refused
    })
  }

  /** Seals what bodies are kept in, behind all that were handed over before; gives the files. */
  sealBodies(): Promise<readonly string[]> {
    return this.#inTurn(() => this.#options.target.sealBodies())
  }

  /** Resolves when everything requested before is done. */
  idle(): Promise<void> {
    return this.#inTurn(async () => {})
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #patiently(work: () => Promise<void>): Promise<void> {
    const {report, sleep} = this.#options
    for (let tries = 1; ; tries++) {
      try {
        await work()
        if (tries > QUIET_TRIES) report({level: 'info', text: 'The database takes what the journal holds again.'})
        return
      } catch (fault) {
        if (this.#options.givesUp?.(fault)) throw fault
        if (tries === QUIET_TRIES || tries % TRIES_PER_REPORT === 0)
          report({
            level: 'error',
            text: 'The journal cannot be flushed to the database now; nothing is lost, it is tried again.',
            fault,
          })
        await sleep(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(tries - 1, 10)))
      }
    }
  }

  /**
   * After a failure: a commit may have succeeded without our hearing of it. Anywhere else the mark is found out by the
   * next slice.
   */
  async #checkMark(): Promise<void> {
    const attempted = this.#attempted
    if (!attempted) return
    if (isSame(await this.#options.target.readMark(), attempted)) this.#moved(attempted)
    this.#attempted = undefined
  }

  async #pass(up_to: Mark | undefined): Promise<number> {
    if (up_to && !isBefore(this.#read, up_to)) return 0
    const {folder, owner} = this.#options
    // where no writer runs, the end of what it left is found by looking at every record
    const through = up_to && {up_to, without: 'intent' as const}
    const warn = (warning: JournalWarning) => this.#warn(warning)
    const waits = this.#missing < MISSING_TRIES
    const walk = new JournalWalk(from => readJournal({folder, ...owner, from, ...through, waits, lends: true, warn}))
    try {
      const applied = await this.#follow({walk, up_to})
      this.#missing = 0
      return applied
    } catch (fault) {
      if (fault instanceof SegmentMissingFault) this.#missing++
      throw fault
    } finally {
      walk.close()
    }
  }

  async #follow(way: Way): Promise<number> {
    const first = this.#slice(way, 1)
    for (const _ of first) break
    if (first.seen === 0) {
      // a new segment is worth a commit of its own: it lets the ones before go
      if (first.end.segment > this.#committed.segment) await this.#apply(first, way)
      this.#read = first.end
      return 0
    }
    let applied = 0
    for (;;) {
      const slice = this.#slice(way, SLICE_RECORDS)
      applied += await this.#apply(slice, way)
      if (slice.is_last && isSame(slice.end, this.#read)) return applied
    }
  }

  /** The records behind `#read`. */
  #slice(way: Way, most_records: number, decode: Decode = (record, note) => this.#decode(record, note)): JournalSlice {
    return new JournalSlice({...way, from: this.#read, most_records, most_bytes: SLICE_BYTES, decode})
  }

  /**
   * Gives how many of its records could be read. `is_refused`: it is of one record, without its row, which the database
   * refused.
   */
  async #apply(slice: JournalSlice, way: Way, is_refused = false): Promise<number> {
    try {
      await this.#options.target.apply({
        from: this.#committed,
        records: slice,
        end: () => slice.end,
        asides: () => slice.asides,
      })
    } catch (fault) {
      this.#attempted = slice.end
      const {seen, readable} = slice
      if (!isRowFault(fault) || readable === 0) throw fault
      if (seen === 1) return this.#applyRefused(way, fault, !is_refused)
      const half = seen >> 1
      return (await this.#apply(this.#slice(way, half), way)) + (await this.#apply(this.#slice(way, seen - half), way))
    }
    this.#moved(slice.end)
    return slice.readable
  }

  /** The money counts, though the log row be wrong. */
  #applyRefused(way: Way, fault: unknown, tries_money: boolean): Promise<number> {
    const withoutRow: Decode = (record, note) => {
      const decoded = this.#decode(record, note)
      if (!decoded) return undefined
      const left = tries_money && decoded.row && isEntry(decoded) ? {...decoded, row: null} : undefined
      const is_charged = left !== undefined || !isEntry(decoded)
      note(
        this.#setAside({...record, id: nameOf(decoded)}, `the database refuses it${codeOf(fault)}`, is_charged, fault),
      )
      return left
    }
    return this.#apply(this.#slice(way, 1, withoutRow), way, true)
  }

  #moved(to: Mark): void {
    this.#attempted = undefined
    this.#committed = to
    this.#read = to
  }

  #decode(record: JournalRecord, note: Note): FlushRecord | undefined {
    try {
      return decodeRecord(record.payload)
    } catch (fault) {
      note(this.#setAside(record, fault instanceof SyntaxError ? 'it is not JSON' : (fault as Error).message, false))
      return undefined
    }
  }

  /** Keeps it and reports it once, however often it is read again after a failure. */
  #setAside(
    {id, payload, segment, end_position: position}: JournalRecord,
    reason: string,
    is_charged: boolean,
    fault?: unknown,
  ): SetAsideRecord {
    const place = `${segment} ${position}`
    const known = this.#asides.get(place)
    const is_kept = known ? known.is_kept === 1 : this.#options.setAside(id, payload)
    const set_aside_at = known?.set_aside_at ?? new Date().toISOString()
    const aside = {
      segment,
      position,
      record: id,
      reason,
      is_charged: is_charged ? 1 : 0,
      is_kept: is_kept ? 1 : 0,
      set_aside_at,
    }
    this.#asides.set(place, aside)
    const text = `A record of the journal cannot be entered as it is and was set aside: ${reason}.`
    if (!known)
      this.#options.report({level: 'error', text, facts: {record: id, segment, position}, fault, sets_aside: true})
    return aside
  }

  /** Once each: a warning is in the journal until it is read past. */
  #warn({code, segment, position, text}: JournalWarning): void {
    if (this.#isNew(`${code} ${segment} ${position}`)) this.#options.report({level: 'warn', text})
  }

  #isNew(sentence: string): boolean {
    return this.#reported.size < this.#reported.add(sentence).size
  }
}

/** True when `one` is before `other` in the journal. */
export function isBefore(one: Mark, other: Mark): boolean {
  return one.segment < other.segment || (one.segment === other.segment && one.position < other.position)
}

/** The database's own word for why, where it has one. */
function codeOf(fault: unknown): string {
  return fault instanceof Error && 'code' in fault && /^\w{1,64}$/.test(String(fault.code)) ? ` (${fault.code})` : ''
}

const isSame = (one: Mark, other: Mark) => one.segment === other.segment && one.position === other.position
