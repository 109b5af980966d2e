import type {PackedBodies} from '../store/bodies/index.ts'
import type {TargetOptions} from '../store/flush/index.ts'
import type {JournalOwner, Mark} from '../store/journal/index.ts'
import type {FlusherReport} from './flusher.ts'
import type {RetentionDays} from './retain-logs.ts'

/** The start data of the flusher's thread. */
export interface FlusherSetup {
  readonly target: TargetOptions
  readonly folder: string
  readonly owner: JournalOwner
  readonly writer: string
  readonly retention: RetentionDays
}

/** The orders of the main thread to the flusher's. */
export type FlusherOrder =
  | {readonly order: 'flush'; readonly up_to: Mark}
  | ({readonly order: 'bodies'} & PackedBodies)
  /** Delete what is past its time, for as long as one turn may take. */
  | {readonly order: 'retain'; readonly now_ms: number}
  /** Write to no file of bodies that there is now any more, and name them. */
  | {readonly order: 'seal'}
  /** Finish what was requested, bring it out of the write-ahead log, and end. */
  | {readonly order: 'close'}

/** Bodies were written, but for those that were refused; their memory comes back to be used again. */
export interface WrittenBodies extends PackedBodies {
  readonly news: 'bodies'
  readonly refused: number
}

/** The messages of the flusher's thread. */
export type FlusherNews =
  | {readonly news: 'flushed'; readonly up_to: Mark; readonly committed: Mark}
  | WrittenBodies
  /** The result of a turn of retention: whether all is done, or why it is not. */
  | {readonly news: 'retained'; readonly done: boolean; readonly fault?: unknown}
  | {readonly news: 'sealed'; readonly packs: readonly string[]; readonly fault?: unknown}
  | {readonly news: 'report'; readonly report: FlusherReport}
