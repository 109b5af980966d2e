import {type After, after as inReal} from '../base/delay.ts'
import {newId} from '../base/ids.ts'
import type {Log} from '../base/log.ts'
import {startWorker} from '../base/runtime.ts'
import type {Settlement} from '../schema/records.ts'
import type {Settings} from '../settings/index.ts'
import type {DataDir} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import type {TargetOptions} from '../store/flush/index.ts'
import {type JournalEvent, type JournalStatus, openJournal} from '../store/journal/index.ts'
import {openMark} from '../store/journal-marks.ts'
import {readOwner} from '../store/owner.ts'
import {BodyQueue} from './bodies.ts'
import {FlusherLink} from './flusher-client.ts'
import type {FlusherSetup} from './flusher-messages.ts'
import {createRecorder, type RecorderCounts} from './recorder.ts'
import {applyPending, type RecoveryReport, settleOpen, writerId} from './recovery.ts'
import type {RetentionDays} from './retain-logs.ts'
import {type JournalFollower, Retirement} from './retirement.ts'

export interface StartRecords {
  readonly directory: Pick<DataDir, 'folder' | 'journal'>
  /** How `store` was opened; the flusher opens a connection of its own. */
  readonly store_options: StoreOptions
  /** Open and migrated. */
  readonly store: Store
  readonly log: Log
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly settings: Pick<Settings, keyof RetentionDays>
  /** How long `close` waits for the database; the next start applies what is left. @default 10000 */
  readonly close_ms?: number
  /**
   * How long `flushed` waits for the database, and a start for one that takes nothing (DB_QUERY_TIMEOUT_MS). @default
   * 5000
   */
  readonly wait_ms?: number
  /** How much may wait of the bodies of calls; beyond it they are dropped and counted. @default 32 MB */
  readonly most_body_bytes?: number
  readonly segment_bytes?: number
  readonly after?: After
  readonly follower?: JournalFollower | undefined
}

export interface RecordsStatus extends JournalStatus, RecorderCounts {
  /** How long something has been waiting for the database; 0 when nothing is. */
  readonly lag_ms: number
  /** Bytes of the journal that the database does not have. */
  readonly waiting_bytes: number
  /** Why the database took nothing for longer than callers wait; null while it does. */
  readonly behind: string | null
  /** Bytes of bodies that wait for the database. */
  readonly body_bytes: number
  /** Log rows that lost their bodies for want of room. */
  readonly bodies_dropped: number
  /** Records that the database did not take as they are, in this process. */
  readonly records_set_aside: number
}

/** The way of every call into the ledger and the log: journal first, then the database, by a thread of its own. */
export interface Records {
  /** The recorder of the data plane. */
  readonly recorder: Pick<ReturnType<typeof createRecorder>, 'begin' | 'settle' | 'note'>
  /** The findings and repairs of this start. */
  readonly report: RecoveryReport
  /** The attempts that this start ended, for the counters that they claimed and that outlive a process. */
  readonly recovered: readonly Settlement[]
  status(): RecordsStatus
  /** False while calls come faster than the database takes them: the journal should not grow further. */
  takesCalls(): boolean
  /**
   * Resolves when everything recorded before is in the database. Rejects (StoreSilentFault) when that cannot be written
   * for too long.
   */
  flushed(most_ms?: number): Promise<void>
  /** Deletes bodies, rows and sums that are past their time, for one turn; true when all of them are gone. */
  retain(): Promise<boolean>
  /** Has no file of bodies written to that there is now, and gives their paths; a table has none. */
  sealBodies(): Promise<readonly string[]>
  /** Takes no bodies, for want of room, or takes them again. */
  shutBodies(is_shut: boolean): void
  /** Flushes, checkpoints and closes. Records that come later are refused. */
  close(): Promise<void>
}

const MB = 1024 * 1024
/** The settlements of a start may be many rows on a slow disk. */
const START_MS = 60_000
/** How long calls may be written to a file that was removed before it is noticed. */
const CHECK_MS = 500

/**
 * Opens the journal of a data directory that this process owns. Before it resolves, the database holds everything that
 * the process before recorded, attempts that were cut off included. Refuses (DataDirFault) databases that do not belong
 * together.
 */
export async function startRecords({
  directory,
  store_options,
  store,
  log,
  now,
  settings,
  close_ms = 10_000,
  wait_ms = 5_000,
  most_body_bytes = 32 * MB,
  segment_bytes,
  after = inReal,
  follower,
}: StartRecords): Promise<Records> {
  const folder = directory.journal
  const owner = await readOwner(store, newId)
  const writer = writerId(directory.folder, newId)
  const found = await openMark(store, writer, owner.epoch)
  const retirement = new Retirement({follower, after, log})
  await follower?.begin({folder, owner, writer, mark: found, onMoved: () => retirement.moved()})
  const target = {...targetOf(store_options), binding: 'binding' in store_options ? store_options.binding : undefined}
  const {applied, mark, open, warnings, set_aside} = await applyPending({
    target,
    folder,
    owner,
    writer,
    mark: found,
    log,
    wait_ms,
  })
  const bodies = new BodyQueue(most_body_bytes)
  let closed: Promise<void> | undefined
  const journal = await openJournal({
    folder,
    ...owner,
    mark,
    open,
    now,
    ...(segment_bytes === undefined ? {} : {segment_bytes}),
    onWritten: written => link.written(written),
    report(event) {
      if (event.code === 'no_room' || event.code === 'room') retirement.shorten(event.code === 'no_room')
      tell(log, event)
    },
  })
  retirement.open(journal, mark)
  const {log_retention_days, log_body_retention_days, metrics_retention_days} = settings
  const setup: FlusherSetup = {
    target: targetOf(store_options), // the thread has SQLite's library from elsewhere
    folder,
    owner,
    writer,
    retention: {log_retention_days, log_body_retention_days, metrics_retention_days},
  }
  const link = new FlusherLink({
    start: () => startWorker('flusher', setup),
    mark,
    bodies,
    log,
    now,
    after,
    onCommitted(committed) {
      follower?.committed(committed)
      retirement.committed(committed)
    },
  })
  let uncheck = after(CHECK_MS, check)
  function check() {
    journal.check()
    uncheck = after(CHECK_MS, check)
  }
  const recorder = createRecorder({journal, bodies, log, onBodies: () => link.bodiesWait()})
  const flushed = (most_ms = wait_ms) => {
    journal.flush()
    // bodies are handed on when their settlement is written, which is known at the end of the turn
    return new Promise<void>(resolve => setImmediate(resolve)).then(() => link.flush(journal.position(), most_ms))
  }
  const recovered = await settleOpen(journal, open, now(), log)
  // else the database holds everything already, and the thread need not be waited for
  if (open.length > 0) await flushed(Math.max(wait_ms, START_MS))
  return {
    recorder,
    report: {applied, recovered: recovered.length, warnings},
    recovered,
    status: () => ({
      ...journal.status(),
      ...recorder.counts,
      lag_ms: link.lag_ms,
      waiting_bytes: link.waiting_bytes,
      behind: link.lag_ms > wait_ms ? link.hindrance : null,
      body_bytes: bodies.weight_bytes,
      bodies_dropped: bodies.dropped,
      records_set_aside: set_aside + link.set_aside,
    }),
    takesCalls: () => !link.is_outrun,
    flushed,
    retain: () => link.retain(),
    sealBodies: () => link.seal(),
    shutBodies(is_shut) {
      bodies.is_shut = is_shut
    },
    close() {
      closed ??= (async () => {
        uncheck()
        journal.check()
        await new Promise(resolve => setImmediate(resolve))
        await link.close(journal.position(), close_ms)
        await journal.close()
      })()
      return closed
    },
  }
}

function targetOf(options: StoreOptions): TargetOptions {
  return options.kind === 'postgres' ? options : {kind: options.kind, folder: options.folder}
}

function tell(log: Log, {code, text, segment, cause}: JournalEvent): void {
  const facts = {code, segment, ...(cause === undefined ? {} : {fault: cause})}
  if (code === 'room') log.info(facts, text)
  else log.error(facts, text)
}
