import {createClock} from '../../../src/base/clock.ts'
import {Refusal} from '../../../src/base/errors.ts'
import type {MaybePromise} from '../../../src/base/maybe-promise.ts'
import {type CounterReservation, createLimits, type EntityLimit, type Limits} from '../../../src/limits/index.ts'
import type {Counters} from '../../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../../src/ports/counters/memory.ts'
import type {Settlement} from '../../../src/schema/records.ts'
import {usedSince} from '../../../src/store/usage.ts'
import {ORGANISATION} from '../../support/budgets.ts'
import {callAt, type openFlush} from '../../support/flushed.ts'
import type {TestStore} from '../../support/stores.ts'
import {HELD, RECOVERED, USED} from './model.ts'

/** Where counters of a run are kept, and how they are lost. */
export interface Place {
  /** A connection of a process; in memory, where each has its own. */
  open(now: () => number): Promise<Counters>
  readonly is_shared: boolean
  lose(): Promise<void>
}

/** The ledger of a run. */
export interface Ledger {
  readonly database: TestStore
  readonly flush: Awaited<ReturnType<typeof openFlush>>
}

/** A machine whose clock may be set. */
export class Machine {
  wall_ms: number
  #steady_ms = 0
  #waiting: {readonly at_ms: number; readonly run: () => void}[] = []

  constructor(wall_ms: number) {
    this.wall_ms = wall_ms
  }

  readonly wall = () => this.wall_ms
  readonly steady = () => this.#steady_ms
  readonly after = (ms: number, run: () => void) => {
    const timer = {at_ms: this.#steady_ms + ms, run}
    this.#waiting.push(timer)
    return () => {
      this.#waiting = this.#waiting.filter(each => each !== timer)
    }
  }

  pass(ms: number) {
    this.wall_ms += ms
    this.#steady_ms += ms
    const due = this.#waiting.filter(({at_ms}) => at_ms <= this.#steady_ms)
    this.#waiting = this.#waiting.filter(each => !due.includes(each))
    for (const {run} of due) run()
  }
}

/** What one call is: who made it, and how it ends. */
export interface Open {
  readonly at_ms: number
  readonly id: string
  readonly process: Process
  /** Recorded and counted, at once or, in a shared store, when that has taken it. */
  end(): void
}

interface Journal {
  /** Settled, and not in the ledger yet. */
  settled: Settlement[]
  open: Map<string, {readonly intent: Settlement; readonly held_keys: readonly string[]}>
}

/**
 * A gateway's end of limits: its counters, its journal, its clock. What it knows beside the ledger and shared counters
 * dies with it.
 */
export class Process {
  readonly limits: Limits
  readonly counters: Counters
  readonly now: () => number
  readonly journal: Journal
  is_alive = true

  constructor(limits: Limits, counters: Counters, now: () => number, journal: Journal) {
    this.limits = limits
    this.counters = counters
    this.now = now
    this.journal = journal
  }
}

let calls = 0

/** Processes of one installation on one machine. */
export class House {
  readonly machine: Machine
  readonly #place: Place
  readonly #ledger: Ledger
  readonly #ids: {readonly workspace_id: string; readonly [id: string]: string}
  readonly faults: unknown[] = []
  readonly #pending = new Set<Promise<unknown>>()
  #seen_ms = 0
  processes: Process[] = []

  constructor(
    machine: Machine,
    place: Place,
    ledger: Ledger,
    ids: {readonly workspace_id: string; readonly [id: string]: string},
  ) {
    this.machine = machine
    this.#place = place
    this.#ledger = ledger
    this.#ids = ids
  }

  /** Starts a process, over the journal of one that ended: what that left open is charged. */
  async start(place: number, journal: Journal = {settled: [], open: new Map()}): Promise<void> {
    const clock = createClock(this.machine)
    clock.seen(this.#seen_ms)
    const inner = await this.#place.open(clock.now)
    // windows are cut by the clock of the test, not by that of a server
    const counters: Counters = {
      ...inner,
      time(now_ms) {
        inner.time(now_ms) // what ended before is forgotten
        return now_ms
      },
      settle: (id, actual) => this.#noted(inner.settle(id, actual)),
      adjust: changes => this.#noted(inner.adjust(changes)),
    }
    const limits = createLimits({
      counters,
      usage: async (scope, since_at) => {
        await this.flush(process)
        return usedSince(this.#ledger.database.store.db, scope, since_at)
      },
      now: clock.now,
      enabled: true,
      onFault: fault => this.faults.push(fault),
      reconcile: {
        settles_ms: 0,
        flushes_ms: 0,
        after: this.machine.after,
        workspaceOf: async () => this.#ids.workspace_id,
        onDrift: () => undefined,
      },
    })
    const process = new Process(limits, counters, clock.now, journal)
    const open = [...journal.open.values()]
    journal.open.clear()
    for (const {intent} of open)
      journal.settled.push({...intent, outcome: 'recovered', usage: {}, cost_nanousd: RECOVERED.cost_nanousd})
    await this.flush(process)
    for (const {intent, held_keys} of open) await limits.recover({...intent, held_keys}, RECOVERED)
    this.processes[place] = process
  }

  /** Resolves when the store has taken what calls used. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) {
      await Promise.allSettled(this.#pending)
      await new Promise(resolve => setImmediate(resolve)) // what comes of it may be another
    }
  }

  #noted<T>(work: MaybePromise<T>): MaybePromise<T> {
    if (!(work instanceof Promise)) return work
    this.#pending.add(work)
    const done = () => void this.#pending.delete(work)
    work.then(done, done)
    return work
  }

  /** Ends a process without a word: its journal is all that is left. */
  kill(place: number): Journal {
    const process = this.processes[place]!
    process.is_alive = false
    process.limits.close()
    return process.journal
  }

  async flush({journal}: Process): Promise<void> {
    const settled = journal.settled.splice(0)
    if (settled.length > 0) await this.#ledger.flush.apply(...settled)
  }

  /** A call by a process, up to where it has its answer; null when it is refused. */
  async call(process: Process, of: EntityLimit): Promise<Open | null> {
    const at_ms = process.now()
    this.#seen_ms = Math.max(this.#seen_ms, at_ms)
    const id = `call-${++calls}-${this.#ids.workspace_id}`
    let hold: CounterReservation | undefined
    try {
      const admission = (await process.limits.admit([of], id, at_ms))!
      try {
        if (admission.strict_claims) hold = await process.limits.hold(admission.strict_claims, id, 1, HELD)
      } catch (fault) {
        admission.release()
        throw fault
      }
      const at = new Date(at_ms).toISOString()
      const intent = callAt({
        ...this.#ids,
        organisation_id: ORGANISATION,
        call_id: id,
        at,
        settled_at: at,
        usage: {input_uncached_tokens: USED.tokens},
        cost_nanousd: USED.cost_nanousd,
        counter_keys: admission.counter_keys,
      })
      process.journal.open.set(id, {intent, held_keys: hold?.keys ?? []})
      const end = () => {
        process.journal.open.delete(id)
        process.journal.settled.push(intent)
        hold?.settle(USED)
        admission.settle(USED)
      }
      return {at_ms, id, process, end}
    } catch (fault) {
      if (fault instanceof Refusal && fault.code !== 'limit.unavailable') return null
      throw fault
    }
  }

  /** Journals are flushed, and the counters held against the ledger: what is more has to stay so for two minutes. */
  async calm(isRight: () => Promise<boolean>): Promise<void> {
    for (const process of this.processes) await this.flush(process)
    const {signal} = new AbortController()
    for (let n = 0; n < 3 && !(await isRight()); n++) {
      await this.processes[0]!.limits.reconciler!.run(signal)
      if (!(await isRight())) this.machine.pass(121_000)
    }
  }

  close() {
    for (const {limits} of this.processes) limits.close()
  }
}

/** Counters of each process alone; lost without it where they were too many. */
export function memoryPlace(machine: Machine): Place {
  const opened: {inner: Counters}[] = []
  const fresh = () => createMemoryCounters({steady: machine.steady})
  return {
    is_shared: false,
    async open() {
      const held = {inner: fresh()}
      opened.push(held)
      return {
        time: now_ms => held.inner.time(now_ms),
        reserve: (id, claims, deadline_ms) => held.inner.reserve(id, claims, deadline_ms),
        extend: (id, claims) => held.inner.extend(id, claims),
        settle: (id, actual) => held.inner.settle(id, actual),
        release: id => held.inner.release(id),
        read: keys => held.inner.read(keys),
        restore: (bases, generation) => held.inner.restore(bases, generation),
        adjust: changes => held.inner.adjust(changes),
        restored: () => held.inner.restored(),
        standings: keys => held.inner.standings(keys),
        correct: (key, amount, revision) => held.inner.correct(key, amount, revision),
        close: () => held.inner.close(),
      }
    },
    async lose() {
      for (const held of opened) held.inner = fresh()
    },
  }
}
