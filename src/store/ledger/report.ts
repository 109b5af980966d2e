import type {Db} from '../database.ts'

/** Runs reads that must be of one moment. */
export type AtOnce = <T>(work: (db: Db) => Promise<T>) => Promise<T>

/** A break of the ledger. */
export interface LedgerBreak {
  /** A chain of hashes, an hourly sum, a row of the log, or a record that was set aside and not kept. */
  readonly kind: 'chain' | 'sum' | 'log' | 'record'
  /** Of a chain: the writer whose it is. */
  readonly writer: string | null
  /**
   * The entry that is not what its writer linked; null where one is missing at the end, or where what breaks is no
   * entry.
   */
  readonly entry: {
    readonly sequence: number
    readonly call_id: string
    readonly attempt: number
    readonly settled_at: string
  } | null
  /** A sentence for the operator. */
  readonly text: string
}

/** Usage that counts as an estimate, for the process that made the calls ended before they did. */
export interface Recovered {
  readonly entries: number
  readonly cost_nanousd: bigint
  readonly prompt_tokens: bigint
  /** The last hundred, newest first. */
  readonly newest: readonly {
    readonly call_id: string
    readonly attempt: number
    readonly admitted_at: string
    readonly provider: string
    readonly model: string | null
    readonly cost_nanousd: number
  }[]
}

export interface LedgerReport {
  readonly entries: number
  readonly writers: number
  readonly recovered: Recovered
  /** Hourly sums that were held against their entries, and from when on (ISO 8601); null when there are none. */
  readonly sums: {
    readonly checked: number
    readonly from: string | null
    /** Sums that have reached the largest value of 64 bits: usage beyond it is not counted. */
    readonly at_bound: number
  }
  /** The same of rows of the log. */
  readonly logs: {readonly checked: number; readonly from: string | null}
  readonly set_aside: SetAsideSums
  /** In the order of the ledger; sums and rows after it. */
  readonly breaks: readonly LedgerBreak[]
}

/** Records of the journal that no database took as they are. */
export interface SetAsideSums {
  readonly records: number
  /** Those of them whose cost the ledger does not have. */
  readonly uncharged: number
  /** The newest. */
  readonly last_at: string | null
}

/** How far a verification has come. */
export interface LedgerProgress {
  readonly part: 'entries' | 'sums' | 'logs'
  readonly done: number
  readonly total: number
}
