import {SeenTime} from '../../base/clock.ts'
import {Refusal} from '../../base/errors.ts'
import {isValueFault} from '../../base/value-fault.ts'
import type {Claim, Reserved} from './index.ts'
import {unanswered} from './rules.ts'

export interface RemoteOptions {
  /** Epoch milliseconds of this machine. */
  readonly now: () => number
  /** A clock that is never set; milliseconds. */
  readonly steady?: () => number
  /** How long a call waits for an answer. */
  readonly timeout_ms?: number
  /** Called with every fault of the store; the calls themselves proceed, or are refused. */
  readonly onFault?: (fault: unknown) => void
}

/** For so long no claim asks a store that did not answer: a dead store costs one call its wait, not every call. */
const PAUSE_MS = 1_000

/** A timer that is later than this was held up by work of this process. */
const BUSY_MS = 10

/**
 * A strict claim that is not answered refuses its call: it waits out a store that has much to do. So does the usage of
 * a call, which no client waits for: it must not be taken for lost while it is being written.
 */
export const PATIENT_MS = 5_000

/**
 * Rejects when the store has had `most_ms`. Time in which this process was busy is not the store's: an answer that
 * waits to be read is read first, so that a crowd of calls does not open the limits that hold it. At most
 * `in_all_ms`.
 */
function lateness(most_ms: number, in_all_ms: number) {
  const {promise: late, reject} = Promise.withResolvers<never>()
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  let reading: NodeJS.Immediate | undefined
  const wait = (ms: number) => {
    const due = performance.now() + ms
    timer = setTimeout(() => {
      const now = performance.now()
      const busy_ms = Math.min(now - due, most_ms, began + in_all_ms - now)
      if (busy_ms > BUSY_MS) return wait(busy_ms)
      reading = setImmediate(() => reject(new Error(`The counters did not answer within ${most_ms} ms.`)))
    }, ms)
  }
  wait(most_ms)
  return {
    late,
    cancel() {
      clearTimeout(timer)
      if (reading) clearImmediate(reading)
    },
  }
}

/**
 * The common part of the shared stores: a bound on waiting, the store's clock, and open or closed when it does not
 * answer.
 */
export function createRemote({now, steady, timeout_ms = 250, onFault = () => undefined}: RemoteOptions) {
  let ahead_ms = 0
  /** Ours until the store's is heard, and then that from its beginning: ours may be wrong. */
  let seen = new SeenTime(steady)
  let is_heard = false
  let silent_until_ms = 0
  const patient_ms = Math.max(PATIENT_MS, timeout_ms)

  async function within<T>(work: Promise<T>, most_ms = timeout_ms): Promise<T> {
    const {late, cancel} = lateness(most_ms, Math.max(most_ms, PATIENT_MS))
    try {
      return await Promise.race([work, late])
    } finally {
      cancel()
    }
  }

  return {
    within,
    patiently: <T>(work: Promise<T>) => within(work, patient_ms),
    timeout_ms,
    time: (now_ms: number) => seen.at(now_ms + ahead_ms),
    /** Learns the store's clock from an answer that has just come. */
    heard(store_ms: number) {
      ahead_ms = store_ms - now()
      if (is_heard) return
      is_heard = true
      seen = new SeenTime(steady)
    },
    async claim<C extends Claim>(claims: readonly C[], work: () => Promise<Reserved<C>>): Promise<Reserved<C>> {
      if (now() < silent_until_ms) return unanswered(claims)
      try {
        return await within(work(), claims.some(({mode}) => mode === 'strict') ? patient_ms : timeout_ms)
      } catch (fault) {
        if (isValueFault(fault)) throw new Refusal('value.unfit', {}, {cause: fault}) // this call's own: the store is well
        silent_until_ms = now() + PAUSE_MS
        onFault(fault)
        return unanswered(claims)
      }
    },
  }
}
