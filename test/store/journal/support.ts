import {mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {onTestFinished} from 'vitest'
import {
  type Files,
  type Journal,
  type JournalEvent,
  type JournalFault,
  type JournalRecord,
  nodeFiles,
  type OpenJournal,
  openJournal,
  type ReadableFiles,
  readJournal,
  recover,
} from '../../../src/store/journal/index.ts'

export const STORE = '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3d'
export const OWNER = {store_id: STORE, epoch: 3}
export const START = {segment: 0, position: 0}
export const SEGMENT_BYTES = 16 * 1024
export const SETTLEMENT_BYTES = 500

/** A folder that is removed when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-journal-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  return folder
}

/** The real file system with a disk that can be filled and calls that can be made to fail once. */
export function faultyFiles() {
  const disk = {
    /** No block can be taken any more; what is reserved can still be written over. */
    full: false,
    /** The next writes of records: how many bytes they take, or what they throw. */
    faults: [] as (number | Error)[],
    /** The next syncs throw this. */
    syncFaults: [] as Error[],
    /** Sizes of the writes of records, in order. */
    writes: [] as number[],
    syncs: 0,
    /** Calls off the loop that have not come back. */
    pending: 0,
    /** From now on no block can be taken; resolves when what was being reserved is reserved or given up. */
    async fill() {
      disk.full = true
      await until(() => disk.pending === 0)
    },
  }
  const counted = async <T>(call: () => Promise<T>) => {
    disk.pending++
    try {
      return await call()
    } finally {
      disk.pending--
    }
  }
  const files: Files = {
    ...nodeFiles,
    openSync(path, flags) {
      if (flags === 'wx+' && disk.full) throw noSpace()
      return nodeFiles.openSync(path, flags)
    },
    open: (path, flags) => counted(() => nodeFiles.open(path, flags)),
    write: (fd, from, offset, length, position) =>
      counted(async () => {
        if (disk.full) throw noSpace()
        return nodeFiles.write(fd, from, offset, length, position)
      }),
    writeSync(fd, from, offset, length, position) {
      if (from.length < 1024 * 1024 || from.every(byte => byte === 0))
        return nodeFiles.writeSync(fd, from, offset, length, position)
      disk.writes.push(length)
      const fault = disk.faults.shift()
      if (fault instanceof Error) throw fault
      return nodeFiles.writeSync(fd, from, offset, Math.min(length, fault ?? length), position)
    },
    datasync: fd =>
      counted(async () => {
        disk.syncs++
        const fault = disk.syncFaults.shift()
        if (fault) throw fault
        return nodeFiles.datasync(fd)
      }),
  }
  return {disk, files}
}

/** Timers that run when told. */
export function handTimers() {
  let waiting: {ms: number; run: () => void}[] = []
  return {
    after(ms: number, run: () => void) {
      const timer = {ms, run}
      waiting.push(timer)
      return () => {
        waiting = waiting.filter(each => each !== timer)
      }
    },
    waits: () => waiting.map(({ms}) => ms),
    /** Runs the timers set to `ms`. */
    fire(ms: number) {
      const due = waiting.filter(timer => timer.ms === ms)
      waiting = waiting.filter(timer => timer.ms !== ms)
      for (const {run} of due) run()
    },
  }
}

/** A journal with small segments in a folder of its own (or `folder`), closed after the test. */
export async function testJournal(settings: Partial<OpenJournal> = {}) {
  const {disk, files} = faultyFiles()
  const timers = handTimers()
  const folder = settings.folder ?? temporaryFolder()
  const events: JournalEvent[] = []
  const journal = await openJournal({
    ...OWNER,
    mark: START,
    open: [],
    segment_bytes: SEGMENT_BYTES,
    settlement_bytes: SETTLEMENT_BYTES,
    now: () => 1_700_000_000_000,
    after: timers.after,
    report: event => events.push(event),
    files,
    ...settings,
    folder,
  })
  onTestFinished(() => journal.close())
  return {journal, folder, disk, timers, events}
}

/** The appends of `journal` as promises of their error; undefined when written. */
export function asking(journal: Journal) {
  const promise = (append: (done: (error?: JournalFault) => void) => void) =>
    new Promise<JournalFault | undefined>(resolve => append(resolve))
  return {
    intent: (id: string, payload = id) => promise(done => journal.appendIntent(id, payload, done)),
    settle: (id: string, payload = id) => promise(done => journal.appendSettlement(id, payload, done)),
    log: (payload: string | Buffer) => promise(done => journal.append('log_row', payload, done)),
  }
}

/** Everything in `folder` as `kind id payload`, and the codes of the warnings. */
export function readAll(
  folder: string,
  {from = START, files}: {from?: {segment: number; position: number}; files?: ReadableFiles} = {},
) {
  const warnings: string[] = []
  const reading = readJournal({
    folder,
    ...OWNER,
    from,
    warn: warning => warnings.push(`${warning.code} ${warning.segment}`),
    files,
  })
  const records = [...reading].map(said)
  return {records, warnings}
}

export const said = ({kind, id, payload}: JournalRecord) => `${kind} ${id} ${payload}`

/** The ids a start would find open. */
export const openIds = (folder: string) => recover({folder, ...OWNER, mark: START}).open.map(({id}) => id)

export const segmentFiles = (folder: string) =>
  readdirSync(folder)
    .filter(name => name.endsWith('.seg'))
    .sort()

/** Resolves when what was begun in this turn off the loop had its time: checked again and again until `true_now`. */
export async function until(true_now: () => boolean): Promise<void> {
  while (!true_now()) await new Promise(resolve => setImmediate(resolve))
}

const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device, write'), {code: 'ENOSPC'})
