import {mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {isoTime} from '../base/clock.ts'
import {newTimeId} from '../base/ids.ts'
import type {Log} from '../base/log.ts'
import {storeRefusal} from '../base/store-fault.ts'
import {chargedSum} from '../charge/charged.ts'
import {logRow} from '../charge/log-row.ts'
import {settlement, type WorkEnd} from '../charge/settlement.ts'
import type {Intent, Settlement} from '../schema/records.ts'
import {encodeSettlement, openTarget, type TargetOptions} from '../store/flush/index.ts'
import {type Journal, type JournalOwner, type Mark, type RecoveredIntent, recover} from '../store/journal/index.ts'
import {Flusher, type FlusherReport} from './flusher.ts'
import {decodeIntent} from './intent-record.ts'
import {setAsideIn} from './quarantine.ts'

/** A start's findings of what the process before left. */
export interface RecoveryReport {
  /** Records that the journal held and the database did not. */
  readonly applied: number
  /** Attempts that were cut off and now count as `recovered`, at what their prompts cost. */
  readonly recovered: number
  /** Sentences for the operator. */
  readonly warnings: readonly string[]
}

export interface ApplyPending {
  readonly target: TargetOptions
  readonly folder: string
  readonly owner: JournalOwner
  readonly writer: string
  readonly mark: Mark
  readonly log: Log
  /** How long a database that takes nothing is tried again. */
  readonly wait_ms: number
}

/**
 * Brings the database up to the end of the journal, before a writer opens it. Gives the attempts that no settlement
 * followed.
 */
export async function applyPending({
  target: options,
  folder,
  owner,
  writer,
  mark,
  log,
  wait_ms,
}: ApplyPending): Promise<{
  applied: number
  mark: Mark
  open: readonly RecoveredIntent[]
  warnings: readonly string[]
  set_aside: number
}> {
  const {open, pending, warnings} = recover({folder, ...owner, mark})
  const sentences = warnings.map(({text}) => text)
  for (const sentence of sentences) log.warn(sentence)
  if (pending === 0) return {applied: 0, mark, open, warnings: sentences, set_aside: 0}
  const target = await openTarget(options, writer, owner.epoch)
  try {
    let set_aside = 0
    const report = ({level, text, facts, fault, sets_aside}: FlusherReport) => {
      if (sets_aside) set_aside++
      if (!sentences.includes(text)) log[level]({...facts, ...(fault === undefined ? {} : {fault})}, text)
    }
    let hindered: {readonly since_ms: number; readonly committed: Mark} | undefined
    const flusher = new Flusher({
      ...{target, folder, owner, mark, report},
      setAside: setAsideIn(folder, report),
      sleep: ms => sleep(ms),
      givesUp(fault) {
        if (!storeRefusal(fault)) return false
        if (hindered?.committed !== flusher.committed)
          hindered = {since_ms: performance.now(), committed: flusher.committed}
        return performance.now() - hindered.since_ms > wait_ms
      },
    })
    const applied = await flusher.flush()
    return {applied, mark: flusher.committed, open, warnings: sentences, set_aside}
  } finally {
    await target.close()
  }
}

/**
 * Ends every attempt that the process before left open: its prompt was paid for, further usage cannot be known. A log
 * row of its own reports it. Returns those that were written; the others stay open for the next start.
 */
export async function settleOpen(
  journal: Journal,
  open: readonly RecoveredIntent[],
  now_ms: number,
  log: Log,
): Promise<readonly Settlement[]> {
  const recovered: Settlement[] = []
  for (const {id, payload} of open) {
    const intent = decodeIntent(payload)
    if (!intent) log.error({record: id}, 'an attempt that was cut off cannot be read and is not charged')
    const ended = intent && recoveredSettlement(intent, now_ms)
    const text = ended ? encodeSettlement(ended) : ''
    const fault = await new Promise<Error | undefined>(resolve => journal.appendSettlement(id, text, resolve))
    if (fault)
      log.error({fault, record: id}, 'an attempt that was cut off could not be settled; the next start tries again')
    else if (ended) recovered.push(ended)
  }
  return recovered
}

/** The id under which this data directory's journal is known to the database, made on first use: `run/writer-id`. */
export function writerId(data_folder: string, new_id: () => string): string {
  const path = join(data_folder, 'run', 'writer-id')
  try {
    const known = readFileSync(path, 'utf8').trim()
    if (/^[0-9a-f-]{36}$/.test(known)) return known
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault
  }
  const id = new_id()
  mkdirSync(dirname(path), {recursive: true, mode: 0o700})
  writeFileSync(`${path}.new`, `${id}\n`, {mode: 0o600, flush: true})
  renameSync(`${path}.new`, path)
  return id
}

const WHY =
  'The gateway ended before this call did. It is charged the estimate of its prompt; whether more was used is not known.'

function recoveredSettlement(intent: Intent, now_ms: number): Settlement {
  const {admitted_at, hold_nanousd, model} = intent
  const end: WorkEnd = {
    outcome: 'recovered',
    status: null,
    model,
    usage: {},
    usage_source: 'recovered',
    charged: chargedSum(hold_nanousd),
    delivered: false,
  }
  const log = logRow({id: newTimeId(Date.parse(admitted_at)), created_at: admitted_at, error: WHY})
  return settlement(intent, end, log, isoTime(now_ms))
}
