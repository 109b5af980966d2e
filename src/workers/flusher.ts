import type {PackedBodies} from '../store/bodies/index.ts'
import {decodeRecord, type FlushRecord, type FlushTarget, isEntry, isRowFault, nameOf} from '../store/flush/index.ts'
import {type JournalRecord, type Mark, type Owner, readJournal} from '../store/journal/index.ts'

/** Something the operator should read in the log. */
export interface FlusherReport {
  readonly level: 'info' | 'warn' | 'error'
  readonly text: string
  readonly facts?: Readonly<Record<string, string | number>>
  readonly fault?: unknown
}

export interface FlusherOptions {
  readonly target: FlushTarget
  readonly folder: string
  readonly owner: Owner
  /** Where the writer's mark stands in the database. */
  readonly mark: Mark
  readonly report: (report: FlusherReport) => void
  /** Keeps the payload of a record that no ledger takes, for the operator to look into. */
  readonly setAside: (id: string, payload: Buffer) => void
  readonly sleep: (ms: number) => Promise<void>
}

const SLICE_RECORDS = 1000
const SLICE_BYTES = 4 * 1024 * 1024
const FIRST_DELAY_MS = 10
const MOST_DELAY_MS = 2_000
/** A lock is soon gone and not worth a line; what lasts longer is told, and told again. */
const QUIET_TRIES = 5
const TRIES_PER_REPORT = 30

interface Pending {
  readonly record: FlushRecord
  readonly payload: Buffer
  readonly end: Mark
}

/**
 * Follows the journal and applies it to the database, slice by slice, in order. What hinders the database is waited for, as long as it
 * takes: the journal keeps everything. A record that can never be applied is set aside with a report, and stops nobody.
 */
export class Flusher {
  readonly #options: FlusherOptions
  /** The mark in the database. */
  #committed: Mark
  /** Read and of no effect on the database: up to here nothing waits. */
  #read: Mark
  /** Where the mark stands if a commit succeeded whose answer was lost. */
  #attempted: Mark | undefined
  #turn: Promise<unknown> = Promise.resolve()
  readonly #said = new Set<string>()

  constructor(options: FlusherOptions) {
    this.#options = options
    this.#committed = options.mark
    this.#read = options.mark
  }

  get committed(): Mark {
    return this.#committed
  }

  /** Applies everything before `up_to`, or all there is when no writer runs. Gives the number of records applied. */
  flush(up_to?: Mark): Promise<number> {
    return this.#inTurn(async () => {
      let applied = 0
      await this.#patiently(async () => {
        await this.#checkMark()
        applied += await this.#pass(up_to)
      })
      return applied
    })
  }

  /** Keeps bodies of log rows; gives how many could not be. */
  keepBodies(bodies: PackedBodies): Promise<number> {
    return this.#inTurn(async () => {
      let refused = 0
      await this.#patiently(async () => {
        refused = await this.#options.target.keepBodies(bodies, fault => {
          const text = 'The bodies of some log rows could not be written and are dropped.'
          this.#options.report({level: 'error', text, fault})
        })
      })
      return refused
    })
  }

  /** Seals what bodies are kept in, behind all that were handed over before; gives the files. */
  sealBodies(): Promise<readonly string[]> {
    return this.#inTurn(() => this.#options.target.sealBodies())
  }

  /** Resolves when everything asked for before is done. */
  idle(): Promise<void> {
    return this.#inTurn(async () => {})
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #patiently(work: () => Promise<void>): Promise<void> {
    const {report, sleep} = this.#options
    for (let tries = 1; ; tries++) {
      try {
        await work()
        if (tries > QUIET_TRIES) report({level: 'info', text: 'The database takes what the journal holds again.'})
        return
      } catch (fault) {
        if (tries === QUIET_TRIES || tries % TRIES_PER_REPORT === 0)
          report({level: 'error', text: 'The journal cannot be flushed to the database now; nothing is lost, it is tried again.', fault})
        await sleep(Math.min(MOST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(tries - 1, 10)))
      }
    }
  }

  /** After a failure: a commit may have succeeded without our hearing of it. Anywhere else the mark is found out by the next slice. */
  async #checkMark(): Promise<void> {
    const attempted = this.#attempted
    if (!attempted) return
    if (isSame(await this.#options.target.readMark(), attempted)) this.#moved(attempted)
    this.#attempted = undefined
  }

  async #pass(up_to: Mark | undefined): Promise<number> {
    const {folder, owner} = this.#options
    if (up_to && !isBefore(this.#read, up_to)) return 0
    let applied = 0
    let pending: Pending[] = []
    let bytes = 0
    let end = this.#read
    const commit = async () => {
      const records = pending
      pending = []
      bytes = 0
      await this.#apply(records, end)
      applied += records.length
    }
    // where no writer runs, the end of what it left is found by looking at every record
    const through = up_to && {up_to, without: 'intent' as const}
    for (const record of readJournal({folder, ...owner, from: this.#read, ...through, warn: warning => this.#warn(warning)})) {
      end = {segment: record.segment, position: record.end_position}
      const decoded = this.#decode(record)
      if (decoded) {
        pending.push({record: decoded, payload: record.payload, end})
        bytes += record.payload.length
      }
      if (pending.length >= SLICE_RECORDS || bytes >= SLICE_BYTES) await commit()
    }
    end = up_to ?? end
    // a new segment is worth a commit of its own: it lets the ones before go
    if (pending.length > 0 || end.segment > this.#committed.segment) await commit()
    this.#read = end
    return applied
  }

  async #apply(records: readonly Pending[], to: Mark): Promise<void> {
    this.#attempted = to
    try {
      await this.#options.target.apply({from: this.#committed, to, records: records.map(({record}) => record)})
    } catch (fault) {
      if (!isRowFault(fault) || records.length === 0) throw fault
      if (records.length === 1) return this.#applyRefused(records[0]!, to, fault)
      const half = records.length >> 1
      await this.#apply(records.slice(0, half), records[half - 1]!.end)
      return this.#apply(records.slice(half), to)
    }
    this.#moved(to)
  }

  /** The money counts, though the log row be wrong. */
  async #applyRefused({record, payload, end}: Pending, to: Mark, fault: unknown): Promise<void> {
    this.#setAside(nameOf(record), payload, 'the database refuses it', end, fault)
    await this.#apply(record.row && isEntry(record) ? [{record: {...record, row: null}, payload, end}] : [], to)
  }

  #moved(to: Mark): void {
    this.#attempted = undefined
    this.#committed = to
    this.#read = to
  }

  #decode({kind, id, payload, segment, end_position}: JournalRecord): FlushRecord | undefined {
    if (kind !== 'settlement' && kind !== 'log_row') return undefined
    if (payload.length === 0) return undefined // ends an attempt of which nothing could be known
    const at = {segment, position: end_position}
    try {
      return decodeRecord(payload)
    } catch (fault) {
      this.#setAside(id, payload, fault instanceof SyntaxError ? 'it is not JSON' : (fault as Error).message, at)
      return undefined
    }
  }

  #setAside(id: string, payload: Buffer, why: string, {segment, position}: Mark, fault?: unknown): void {
    if (!this.#isNew(`aside ${segment} ${position}`)) return // read again after a failure
    const text = `A record of the journal cannot be entered as it is and was set aside: ${why}.`
    this.#options.setAside(id, payload)
    this.#options.report({level: 'error', text, facts: {record: id, segment, position}, fault})
  }

  /** Once each: a warning stands in the journal until it is read past. */
  #warn({code, segment, position, text}: {code: string; segment: number; position: number; text: string}): void {
    if (this.#isNew(`${code} ${segment} ${position}`)) this.#options.report({level: 'warn', text})
  }

  #isNew(said: string): boolean {
    return this.#said.size < this.#said.add(said).size
  }
}

/** Whether `one` stands before `other` in the journal. */
export function isBefore(one: Mark, other: Mark): boolean {
  return one.segment < other.segment || (one.segment === other.segment && one.position < other.position)
}

const isSame = (one: Mark, other: Mark) => one.segment === other.segment && one.position === other.position
