import type {PackedBodies} from '../store/bodies/index.ts'
import type {TargetOptions} from '../store/flush/index.ts'
import type {JournalOwner, Mark} from '../store/journal/index.ts'
import type {FlusherReport} from './flusher.ts'
import type {RetentionDays} from './retain-logs.ts'

/** What the flusher's thread is started with. */
export interface FlusherSetup {
  readonly target: TargetOptions
  readonly folder: string
  readonly owner: JournalOwner
  readonly writer: string
  readonly retention: RetentionDays
}

/** What the main thread asks of the flusher's. */
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

/** What the flusher's thread says. */
export type FlusherNews =
  | {readonly news: 'flushed'; readonly up_to: Mark; readonly committed: Mark}
  | WrittenBodies
  /** What came of a turn of retention: whether all is done, or why it is not. */
  | {readonly news: 'retained'; readonly done: boolean; readonly fault?: unknown}
  | {readonly news: 'sealed'; readonly packs: readonly string[]; readonly fault?: unknown}
  | {readonly news: 'report'; readonly report: FlusherReport}
