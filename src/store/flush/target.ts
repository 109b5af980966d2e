import {isValueFault} from '../../base/value-fault.ts'
import {addUsage, type Usage} from '../../schema/usage.ts'
import type {PackedBodies} from '../bodies/index.ts'
import type {Db} from '../database.ts'
import type {Mark} from '../journal/index.ts'
import type {SetAsideTable} from '../tables/traffic.ts'
import {counted, type Unpriced} from './encode.ts'
import type {LedgerLine} from './lines.ts'
import {type FlushedRow, type FlushRecord, isCount, type RowCost} from './record.ts'

/** Consecutive records of the journal: everything behind `from` and before `end`. */
export interface Slice {
  readonly from: Mark
  /** Read as they are gone through, within the transaction, and again each time. */
  readonly records: Iterable<FlushRecord>
  /** Known once all records were gone through. */
  end(): Mark
  /** Those of them that are not entered as they are: known then too. */
  asides?(): readonly SetAsideRecord[]
}

/** The database's note of a record that it refuses: no content of the record. */
export type SetAsideRecord = Omit<SetAsideTable, 'writer'>

export const ASIDE_COLUMNS = [
  'segment',
  'position',
  'record',
  'reason',
  'is_charged',
  'is_kept',
  'set_aside_at',
] as const satisfies readonly (keyof SetAsideRecord)[]

/** A database as a writer flushes into it, on a connection of its own (core rule 7). */
export interface FlushTarget {
  /** The same connection for what is not in a hurry: retention. */
  readonly db: Db
  /** Removes some of the bodies packed before `before_ms`; true when there may be more. */
  dropBodies(before_ms: number): Promise<boolean>
  /** How far this writer's journal is applied. */
  readMark(): Promise<Mark>
  /**
   * Applies a slice and moves the mark from `from` to its end, in one transaction (core rule 2). An entry that is there
   * already, and a log row that is, stay as they are and count once; a row whose entry is there already is not added,
   * as another row has its content. Throws MarkMovedFault when the mark is not at `from`: nothing was applied.
   */
  apply(slice: Slice): Promise<void>
  /** Stores bodies of log rows, once each; returns how many could not be stored permanently, and reports why. */
  keepBodies(bodies: PackedBodies, onRefused: (fault: unknown) => void): Promise<number>
  /** The files of bodies there are, none of which is written to from now on; a table has none. */
  sealBodies(): Promise<readonly string[]>
  /** Brings what was written out of the write-ahead log, where the database leaves that to us. */
  checkpoint(): Promise<void>
  close(): Promise<void>
}

/**
 * The mark is not where this process left it: another one writes under the same writer id, or a commit was not heard
 * of.
 */
export class MarkMovedFault extends Error {
  constructor(writer: string, expected: Mark, found: Mark | undefined) {
    const placeName = (mark: Mark | undefined) => (mark ? `${mark.segment}/${mark.position}` : 'nowhere')
    super(
      `The journal of writer ${writer} is applied up to ${placeName(expected)}, but its mark in the database stands at ${placeName(found)}. ` +
        'Two processes seem to use copies of one data directory: each needs its own run/writer-id.',
    )
    this.name = 'MarkMovedFault'
  }
}

/**
 * True when a database refused the values of one record (a type, a constraint, a bound), so that trying the same again
 * cannot help. All other faults, such as a lock, a full disk or a lost connection, pass.
 */
export function isRowFault(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : ''
  if (fault instanceof TypeError || fault instanceof RangeError || isValueFault(fault)) return true
  if (code.startsWith('SQLITE_CONSTRAINT')) return true
  return OF_ROW.test(code) && code !== UNIQUE_VIOLATION // a key taken in between is found by the next try
}

/** Classes of SQLSTATE about a row: cardinality, constraints, exceptions of functions and triggers, checks of views. */
const OF_ROW = /^(?:21|23|38|39|44|P0)[0-9A-Z]{3}$/
const UNIQUE_VIOLATION = '23505'

/** A ledger entry as far as a log row sums it. */
export interface EarlierEntry {
  readonly usage: string
  readonly cost_nanousd: number
  readonly unpriced: number
}

/**
 * The attempts at the same target before this one, first and last; undefined when there was none (core rule 2: a row
 * covers its retries).
 */
export function earlierAttempts({attempt}: Pick<LedgerLine, 'attempt'>, {values}: FlushedRow) {
  const [, , , , , , , retry_count, , covers] = values
  if (Array.isArray(covers) && covers[0] >= 1 && covers[1] >= covers[0])
    return {first: covers[0] as number, last: covers[1] as number}
  if (attempt < 2 || !(retry_count >= 1)) return undefined
  return {first: Math.max(1, attempt - Math.trunc(retry_count)), last: attempt - 1}
}

/** Paths that an entry or a row names. */
const MAX_UNKNOWN = 8

/** The amounts of the row of `entry`, the earlier attempts at its target included. */
export function spentOver(entry: LedgerLine, earlier: readonly EarlierEntry[]): RowCost {
  if (earlier.length === 0) return entry
  const each = [entry, ...earlier].map(({usage}) => JSON.parse(usage) as Partial<Usage> & Unpriced)
  const sum = counted(each.reduce(addUsage, {}), {
    unpriced_units: [...new Set(each.flatMap(({unpriced_units}) => unpriced_units ?? []))],
    mode_unpriced: each.find(({mode_unpriced}) => mode_unpriced)?.mode_unpriced,
    usage_unknown: [...new Set(each.flatMap(({usage_unknown}) => usage_unknown ?? []))].slice(0, MAX_UNKNOWN),
    unanswered: each.find(({unanswered}) => unanswered)?.unanswered,
    hops: each.flatMap(({hops}) => hops ?? []),
  })
  if (!isCount(sum.prompt_tokens) || !isCount(sum.completion_tokens))
    throw new RangeError('usage is not in non-negative safe integers')
  return {
    ...sum,
    cost_nanousd: Math.min(
      Number.MAX_SAFE_INTEGER,
      earlier.reduce((sum, each) => sum + each.cost_nanousd, entry.cost_nanousd),
    ),
    unpriced: entry.unpriced || earlier.some(each => each.unpriced === 1) ? 1 : 0,
  }
}
