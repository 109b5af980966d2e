import type {After} from '../../base/delay.ts'
import type {Files} from './files.ts'
import type {JournalOwner, Mark} from './format.ts'

/**
 * Something the operator should know. `no_room` and `room` come in turn, as do `removed` and `restored`: between them
 * calls may be refused.
 */
export interface JournalEvent {
  readonly code: 'no_room' | 'room' | 'write_failed' | 'sync_failed' | 'segment_failed' | 'removed' | 'restored'
  readonly segment: number
  readonly text: string
  readonly cause?: unknown
}

export interface JournalSettings extends JournalOwner {
  /** `<data dir>/journal`; made when it is not there. This process must own the data directory (core rule 3). */
  readonly folder: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The size of a segment. Two are reserved at least: the one being written, and the next. @default 16 MB */
  readonly segment_bytes: number
  /**
   * The room that an open intent keeps free for its settlement, id and payload together; a larger one may be refused on
   * a full disk. @default 4096
   */
  readonly settlement_bytes: number
  /**
   * The room that the journal leaves free on the disk, so that the databases can be flushed and segments retired.
   * @default 32 MB
   */
  readonly headroom_bytes: number
  /** How long written records wait for their group's sync at most: what a power cut may cost. @default 100 */
  readonly sync_ms: number
  /** How long after a failure to reserve room it is tried again. @default 1000 */
  readonly retry_ms: number
  /** Runs `run` once in `ms`; the function it gives calls that off. */
  readonly after: After
  /** Called once a turn in which records were written: the flusher may read up to `mark`. */
  readonly onWritten: (mark: Mark) => void
  /** Must not touch the journal. */
  readonly report: (event: JournalEvent) => void
  readonly files: Files
}
