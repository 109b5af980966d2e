import {setTimeout as sleep, setImmediate as turn} from 'node:timers/promises'
import {parentPort, workerData} from 'node:worker_threads'
import {restAfterLoad} from '../base/idle-memory.ts'
import {sqliteBinding} from '../base/runtime.ts'
import {yieldToAnswers} from '../base/thread-priority.ts'
import {type FlushTarget, openTarget} from '../store/flush/index.ts'
import {Flusher, type FlusherReport} from './flusher.ts'
import type {FlusherNews, FlusherOrder, FlusherSetup} from './flusher-messages.ts'
import {setAsideIn} from './quarantine.ts'
import {retainLogs} from './retain-logs.ts'

/**
 * The thread that writes the ledger and the log: it alone follows the journal, and deletes what is past its time on
 * command.
 */

const CHECKPOINT_EVERY_MS = 30_000
const RETENTION_BUDGET_MS = 20_000
const OPEN_AGAIN_MS = 500

const port = parentPort!
const {target: options, folder, owner, writer, retention} = workerData as FlusherSetup
const tell = (news: FlusherNews) => port.postMessage(news)
const report = (details: FlusherReport) => tell({news: 'report', report: {...details, fault: plain(details.fault)}})
let target: FlushTarget | undefined
let wrote = false

const refused = yieldToAnswers()
if (refused)
  report({
    level: 'debug',
    text: 'The system does not let threads have a lower priority; all are alike.',
    fault: refused,
  })
const opened = open()
port.on('message', (order: FlusherOrder) => void obey(order))
setInterval(() => void checkpoint(), CHECKPOINT_EVERY_MS).unref()
restAfterLoad()

async function open(): Promise<Flusher> {
  for (let tries = 1; ; tries++) {
    try {
      target ??= await openTarget(
        options.kind === 'sqlite' ? {...options, binding: sqliteBinding()} : options,
        writer,
        owner.epoch,
      )
      const mark = await target.readMark()
      return new Flusher({
        target,
        folder,
        owner,
        mark,
        report,
        setAside: setAsideIn(folder, report),
        sleep: ms => sleep(ms),
      })
    } catch (fault) {
      if (tries % 10 === 1)
        report({level: 'error', text: 'The ledger cannot be opened for writing; it is tried again.', fault})
      await sleep(OPEN_AGAIN_MS)
    }
  }
}

async function obey(order: FlusherOrder): Promise<void> {
  const flusher = await opened
  if (order.order === 'flush') {
    const applied = await flusher.flush(order.up_to)
    wrote ||= applied > 0
    tell({news: 'flushed', up_to: order.up_to, committed: flusher.committed})
  } else if (order.order === 'bodies') {
    const refused = await flusher.keepBodies(order)
    const {order: _, ...packed} = order
    tell({news: 'bodies', ...packed, refused})
  } else if (order.order === 'seal') {
    tell({news: 'sealed', ...(await seal(flusher))})
  } else if (order.order === 'retain') {
    await retain(order.now_ms)
  } else {
    await flusher.idle()
    wrote = true
    await checkpoint()
    await target?.close()
    port.close()
  }
}

async function seal(flusher: Flusher): Promise<{packs: readonly string[]; fault?: unknown}> {
  try {
    return {packs: await flusher.sealBodies()}
  } catch (fault) {
    return {packs: [], fault: plain(fault)}
  }
}

/** Keeps the write-ahead log short also when readers never leave a gap for SQLite to do it on its own (core rule 8). */
async function checkpoint(): Promise<void> {
  if (!wrote || !target) return
  wrote = false
  try {
    await target.checkpoint()
  } catch (fault) {
    report({level: 'warn', text: 'The write-ahead log of the ledger could not be checkpointed now.', fault})
  }
}

async function retain(now_ms: number): Promise<void> {
  try {
    const done = await retainLogs({
      target: target!,
      now_ms,
      clock: Date.now,
      budget_ms: RETENTION_BUDGET_MS,
      rest: () => turn(),
      ...retention,
    })
    wrote = true
    tell({news: 'retained', done})
  } catch (fault) {
    tell({news: 'retained', done: false, fault: plain(fault)})
  }
}

/** An error that is sent to another thread would lose its code. */
function plain(fault: unknown): unknown {
  if (!(fault instanceof Error)) return fault === undefined ? undefined : String(fault)
  const {name, message, stack} = fault
  return {name, message, stack, ...('code' in fault ? {code: String(fault.code)} : {})}
}
