import type {Log} from '../base/log.ts'
import type {BodySpool} from '../store/bodies/index.ts'
import type {Records} from './records.ts'
import type {Job} from './schedule.ts'
import type {Uploader} from './uploader.ts'

const UPLOAD_EVERY_MS = 5_000
const MEASURE_EVERY_MS = 10_000
const REMOVE_EVERY_MS = 3_600_000
const TELL_EVERY_MS = 600_000
const MB = 1024 * 1024

/** The work of this process for the log store, for /metrics. */
export interface LogStoreCounts {
  put: number
  put_bytes: number
  refused: number
  /** Turns that the store brought to an early end. */
  failures: number
  removed: number
  spool_bytes: number
  is_available: boolean
}

export interface LogStoreParts {
  readonly uploader: Pick<Uploader, 'upload' | 'remove'>
  readonly records: Pick<Records, 'flushed' | 'sealBodies' | 'shutBodies'>
  readonly spool: Pick<BodySpool, 'bytes'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly now: () => number
  /** How long bodies are kept. */
  readonly body_days: number
  /** LOG_STORE_SPOOL_MAX_MB; without it there is no bound. */
  readonly spool_max_mb: number | undefined
}

/**
 * The jobs of a log store that is not this machine: bodies go there, objects past their time go from there, what waits
 * here is measured.
 */
export function logStoreJobs(parts: LogStoreParts): {jobs: readonly Job[]; counts: Readonly<LogStoreCounts>} {
  const counts: LogStoreCounts = {
    put: 0,
    put_bytes: 0,
    refused: 0,
    failures: 0,
    removed: 0,
    spool_bytes: 0,
    is_available: true,
  }
  return {jobs: [uploadJob(parts, counts), removeJob(parts, counts), measureJob(parts, counts)], counts}
}

/** Puts what waits into the store. While that fails no further files are begun: they would be many small ones. */
function uploadJob({uploader, records, spool, log, now}: LogStoreParts, counts: LogStoreCounts): Job {
  let sealed: readonly string[] = []
  let told_ms = 0
  return {
    name: 'log-upload',
    every_ms: UPLOAD_EVERY_MS,
    async run({lost}) {
      while (!lost.aborted) {
        if (counts.is_available) {
          await records.flushed()
          sealed = await records.sealBodies()
        }
        const report = await uploader.upload(sealed).catch(endedBy(lost))
        if (!report) return
        const {put, put_bytes, refused, fault, is_done} = report
        counts.put += put
        counts.put_bytes += put_bytes
        counts.refused += refused.length
        for (const one of refused) log.error(one, 'the log store does not take the bodies of a call; they stay here')
        if (fault !== null) {
          counts.failures++
          if (counts.is_available || now() >= told_ms + TELL_EVERY_MS) {
            told_ms = now()
            counts.spool_bytes = await spool.bytes()
            log.error(
              {reason: fault, spool_bytes: counts.spool_bytes},
              'the log store takes no bodies now; they wait here and nothing is lost',
            )
          }
        } else if (!counts.is_available) log.info({put}, 'the log store takes bodies again')
        counts.is_available = fault === null
        if (fault !== null || is_done) return
      }
    },
  }
}

/** Work that the end of the process cut off is no failure: it is done again. */
function endedBy(lost: AbortSignal) {
  return (fault: unknown): undefined => {
    if (!lost.aborted) throw fault
  }
}

function removeJob({uploader, log, now, body_days}: LogStoreParts, counts: LogStoreCounts): Job {
  return {
    name: 'log-objects',
    every_ms: REMOVE_EVERY_MS,
    async run({lost}) {
      for (let is_done = false; !is_done && !lost.aborted; ) {
        const report = await uploader.remove(now() - body_days * 86_400_000).catch(endedBy(lost))
        if (!report) return
        counts.removed += report.removed
        if (report.kept > 0) {
          const facts = {kept: report.kept, ...(report.fault !== null && {reason: report.fault})}
          log.warn(
            facts,
            'the log store did not remove objects that are past their time; they are asked for again in the next hour',
          )
        }
        is_done = report.is_done || report.fault !== null
      }
    },
  }
}

/** Each process has its own bodies to refuse where there is no room for them. */
function measureJob({records, spool, log, spool_max_mb}: LogStoreParts, counts: LogStoreCounts): Job {
  let was_full = false
  return {
    name: 'log-spool',
    every_ms: MEASURE_EVERY_MS,
    each_process: true,
    async run() {
      counts.spool_bytes = await spool.bytes()
      const is_full = spool_max_mb !== undefined && counts.spool_bytes >= spool_max_mb * MB
      records.shutBodies(is_full)
      const {spool_bytes} = counts
      if (is_full && !was_full)
        log.error(
          {spool_bytes, spool_max_mb},
          'bodies that wait for the log store fill LOG_STORE_SPOOL_MAX_MB: bodies of new calls are dropped',
        )
      if (!is_full && was_full) log.info({spool_bytes}, 'there is room again for bodies that wait for the log store')
      was_full = is_full
    },
  }
}
