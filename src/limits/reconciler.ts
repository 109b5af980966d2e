import {LRUCache} from 'lru-cache'
import type {After} from '../base/delay.ts'
import type {Counters} from '../ports/counters/index.ts'
import {type CounterDifference, type CounterOf, type LookParts, look} from './reconcile.ts'

export interface ReconcilerOptions extends Omit<LookParts, 'counters' | 'pause'> {
  readonly counters: Counters
  readonly now: () => number
  /** Runs `run` in `ms`; the function it gives calls that off. */
  readonly after: After
  /** Finds the query of the ledger for a counter by its key; null where its entity is gone. */
  readonly counterOf: (key: string) => Promise<CounterOf | null>
  readonly onDrift: (corrected: readonly Corrected[]) => void
  readonly onFault: (fault: unknown) => void
}

/** The correction of a counter. */
export interface Corrected {
  readonly key: string
  /** The excess over the ledger, negative when it had less; nano-dollars or tokens. */
  readonly by: bigint
  readonly at_ms: number
}

export interface Reconciler {
  /**
   * These may differ: they were restored while calls went on, or a settlement was lost. They are looked at soon, until
   * they agree.
   */
  doubt(counters: readonly CounterOf[]): void
  /** Looks at all counters that were restored, those of other processes too. */
  run(lost: AbortSignal): Promise<void>
  /** The last correction of a counter by this process. */
  corrected(key: string): Corrected | null
  /** Corrections by this process. */
  readonly counts: {readonly under: number; readonly over: number}
  close(): void
}

/** After a restoration the other processes' journals are in the ledger within so much. */
const FIRST_MS = 1_000
const AGAIN_MS = 1_000
const LATEST_MS = 60_000
/**
 * A counter that agrees so often in a row is not doubted any more; nor one that was looked at so often: the schedule
 * looks again.
 */
const AGREES = 2
const MAX_LOOKS = 10
const MAX_DOUBTED = 10_000
const TOGETHER = 100
const MAX_A_RUN = 20_000
/** An excess stays for so long before it is subtracted: it may be in the journal of a process that starts again. */
const OVER_SOON_MS = 2_000
const OVER_MS = 120_000
const MAX_REMEMBERED = 10_000

interface Doubted {
  readonly counter: CounterOf
  looks: number
  agreed: number
}

/** Makes counters equal the ledger again (core rule 11): after each restoration within seconds, and on a schedule. */
export function createReconciler(options: ReconcilerOptions): Reconciler {
  const {counters, now, after, counterOf, onDrift, onFault} = options
  const doubted = new Map<string, Doubted>()
  const over = new LRUCache<string, {readonly since_ms: number; readonly revision: string; readonly by: bigint}>({
    max: MAX_REMEMBERED,
  })
  const corrected = new LRUCache<string, Corrected>({max: MAX_REMEMBERED})
  const counts = {under: 0, over: 0}
  const parts: LookParts = {
    ...options,
    pause: ms => (ms === 0 ? Promise.resolve() : new Promise(resolve => void after(ms, resolve))),
  }
  let cancel: (() => void) | undefined
  let failures = 0
  let is_closed = false
  let went_on_after: string | undefined

  /** Puts right what is sure; gives the keys of what differed. */
  async function putRight(some: readonly CounterOf[], over_ms: number): Promise<ReadonlySet<string>> {
    const found = await look(parts, some)
    const differing = new Set(found.map(({counter}) => counter.key))
    for (const {key} of some) if (!differing.has(key)) over.delete(key)
    const done: Corrected[] = []
    for (const difference of found) {
      const by = difference.by < 0n ? difference.by : stayed(difference, over_ms)
      const {key} = difference.counter
      if (by === 0n || is_closed || !(await counters.correct(key, -by, difference.revision))) continue
      over.delete(key)
      counts[by < 0n ? 'under' : 'over']++
      const each = {key, by, at_ms: now()}
      corrected.set(key, each)
      done.push(each)
    }
    if (done.length > 0) onDrift(done)
    return differing
  }

  /** The part of a counter's excess that has lasted so long already; 0 for none. */
  function stayed({counter: {key}, by, revision}: CounterDifference, over_ms: number): bigint {
    const before = over.get(key)
    if (before?.revision !== revision) {
      over.set(key, {since_ms: now(), revision, by})
      return 0n
    }
    const least = by < before.by ? by : before.by
    over.set(key, {...before, by: least})
    return now() - before.since_ms >= over_ms ? least : 0n
  }

  async function lookAgain() {
    const all = [...doubted.values()]
    for (let at = 0; at < all.length && !is_closed; at += TOGETHER) {
      const some = all.slice(at, at + TOGETHER)
      const differing = await putRight(
        some.map(({counter}) => counter),
        OVER_SOON_MS,
      )
      for (const each of some) {
        each.looks++
        each.agreed = differing.has(each.counter.key) ? 0 : each.agreed + 1
        if (each.agreed >= AGREES || each.looks >= MAX_LOOKS) doubted.delete(each.counter.key)
      }
    }
  }

  function soon(ms: number) {
    if (cancel || is_closed) return
    cancel = after(ms, () => {
      lookAgain()
        .then(
          () => {
            failures = 0
          },
          fault => {
            failures++
            onFault(fault)
          },
        )
        .finally(() => {
          cancel = undefined
          if (doubted.size > 0) soon(Math.min(LATEST_MS, AGAIN_MS * 2 ** failures))
        })
    })
  }

  return {
    counts,
    corrected: key => corrected.get(key) ?? null,
    doubt(some) {
      for (const counter of some) {
        if (doubted.size >= MAX_DOUBTED) break
        doubted.set(counter.key, {counter, looks: 0, agreed: 0})
      }
      if (doubted.size > 0) soon(FIRST_MS)
    },
    async run(lost) {
      const keys = (await counters.restored()).toSorted()
      const first =
        went_on_after === undefined
          ? 0
          : Math.max(
              0,
              keys.findIndex(key => key > went_on_after!),
            )
      const turn = [...keys.slice(first), ...keys.slice(0, first)].slice(0, MAX_A_RUN)
      for (let at = 0; at < turn.length && !lost.aborted && !is_closed; at += TOGETHER) {
        const some: CounterOf[] = []
        for (const key of turn.slice(at, at + TOGETHER)) {
          const counter = await counterOf(key)
          if (counter) some.push(counter)
        }
        await putRight(some, OVER_MS)
        went_on_after = turn[Math.min(at + TOGETHER, turn.length) - 1]
      }
    },
    close() {
      is_closed = true
      cancel?.()
    },
  }
}
