import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {Cache} from './index.ts'

export interface LenientOptions {
  readonly now: () => number
  /** How long a look-up waits for the store. */
  readonly timeout_ms?: number
  /** Called with a fault, once a minute at most; how many there were since the last. */
  readonly onFault: (fault: unknown, times: number) => void
}

/** For so long nothing is looked up in a store that failed: a dead store costs one call its wait, not every call. */
const PAUSE_MS = 1_000
const TELL_EVERY_MS = 60_000

/**
 * A store whose failures are misses: nothing that it does, or does not, is an error of a call. A purge that fails
 * rejects.
 */
export function lenient(cache: Cache, {now, timeout_ms = 250, onFault}: LenientOptions): Cache {
  let silent_until_ms = Number.NEGATIVE_INFINITY
  let reported_at_ms = Number.NEGATIVE_INFINITY
  let times = 0

  return {
    peek: key => cache.peek(key),
    get(key) {
      if (now() < silent_until_ms) return undefined
      return quiet(() => {
        const found = cache.get(key)
        return found instanceof Promise ? within(found) : found
      })
    },
    set: (key, entry, ttl_ms) => (now() < silent_until_ms ? undefined : quiet(() => cache.set(key, entry, ttl_ms))),
    delete: key => quiet(() => cache.delete(key)),
    purge: workspace_id => cache.purge(workspace_id),
    close: async () => quiet(() => cache.close()),
  }

  function quiet<T>(work: () => MaybePromise<T>): MaybePromise<T | undefined> {
    try {
      const result = work()
      return result instanceof Promise ? result.catch(failed) : result
    } catch (fault) {
      return failed(fault)
    }
  }

  function failed(fault: unknown): undefined {
    silent_until_ms = now() + PAUSE_MS
    times++
    if (now() - reported_at_ms < TELL_EVERY_MS) return
    reported_at_ms = now()
    onFault(fault, times)
    times = 0
  }

  async function within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`The cache did not answer within ${timeout_ms} ms.`)), timeout_ms)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
