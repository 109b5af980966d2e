import type {FlushRecord} from '../store/flush/index.ts'
import type {JournalRecord, Mark} from '../store/journal/index.ts'

export interface JournalSliceOptions {
  /** The journal behind `from`, its payloads lent. */
  readonly read: () => Iterable<JournalRecord>
  readonly from: Mark
  /** Where the journal that is read ends, where that is known. */
  readonly up_to: Mark | undefined
  readonly most_records: number
  readonly most_bytes: number
  /** Undefined for what cannot be read. */
  readonly decode: (record: JournalRecord) => FlushRecord | undefined
}

/**
 * The next records of the journal that the database is told of. They are read and decoded as they are gone through, and again each time:
 * held all at once they would grow old in memory, to be collected at length.
 */
export class JournalSlice implements Iterable<FlushRecord> {
  /** Behind what was gone through so far. */
  end: Mark
  /** Records gone through, and those of them that could be read. */
  seen = 0
  readable = 0
  /** There is nothing behind it. */
  is_last = false
  readonly #options: JournalSliceOptions

  constructor(options: JournalSliceOptions) {
    this.#options = options
    this.end = options.from
  }

  *[Symbol.iterator](): Generator<FlushRecord> {
    const {read, from, up_to, most_records, most_bytes, decode} = this.#options
    this.end = from
    this.seen = 0
    this.readable = 0
    let bytes = 0
    for (const record of read()) {
      this.end = {segment: record.segment, position: record.end_position}
      if (!isForDatabase(record)) continue
      this.seen++
      bytes += record.payload.length
      const decoded = decode(record)
      if (decoded) {
        this.readable++
        yield decoded
      }
      if (this.seen >= most_records || bytes >= most_bytes) return
    }
    this.end = up_to ?? this.end
    this.is_last = true
  }
}

/** An empty settlement ends an attempt of which nothing could be known. */
function isForDatabase({kind, payload}: JournalRecord): boolean {
  return (kind === 'settlement' || kind === 'log_row') && payload.length > 0
}
