import type {FlushRecord, SetAsideRecord} from '../store/flush/index.ts'
import type {JournalRecord, Mark} from '../store/journal/index.ts'
import type {JournalWalk} from './journal-walk.ts'

export interface JournalSliceOptions {
  /** Of the journal whose payloads are lent. */
  readonly walk: JournalWalk
  readonly from: Mark
  /** The end of the journal that is read, if known. */
  readonly up_to: Mark | undefined
  readonly most_records: number
  readonly most_bytes: number
  /** Undefined for what cannot be read; notes what is not entered as it is. */
  readonly decode: (record: JournalRecord, note: (aside: SetAsideRecord) => void) => FlushRecord | undefined
}

/**
 * The next records of the journal for the database. They are read and decoded as they are gone through, and again each
 * time: held all at once they would grow old in memory, to be collected at length.
 */
export class JournalSlice implements Iterable<FlushRecord> {
  /** Behind what was gone through so far. */
  end: Mark
  /** Records gone through, and those of them that could be read. */
  seen = 0
  readable = 0
  /** There is nothing behind it. */
  is_last = false
  /** The records of it that are not entered as they are. */
  asides: SetAsideRecord[] = []
  readonly #options: JournalSliceOptions

  constructor(options: JournalSliceOptions) {
    this.#options = options
    this.end = options.from
  }

  *[Symbol.iterator](): Generator<FlushRecord> {
    const {walk, from, up_to, most_records, most_bytes, decode} = this.#options
    this.end = from
    this.seen = 0
    this.readable = 0
    this.is_last = false
    this.asides = []
    let bytes = 0
    while (this.seen < most_records && bytes < most_bytes) {
      const next = walk.next(this.end)
      if (!next) {
        this.end = up_to ?? this.end
        this.is_last = true
        return
      }
      this.end = next.end
      if (!isForDatabase(next.record)) continue
      this.seen++
      bytes += next.record.payload.length
      const decoded = decode(next.record, aside => this.asides.push(aside))
      if (!decoded) continue
      this.readable++
      yield decoded
    }
  }
}

/** An empty settlement ends an attempt of which nothing could be known. */
function isForDatabase({kind, payload}: JournalRecord): boolean {
  return (kind === 'settlement' || kind === 'log_row') && payload.length > 0
}
