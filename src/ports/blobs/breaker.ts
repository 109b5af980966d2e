import {BlobFault, type Blobs} from './index.ts'

export interface BreakerBlobs extends Blobs {
  /** True when it is called now: false between its failures and the next try. */
  readonly is_open: boolean
}

export interface GuardOptions {
  /** LOG_STORE_CONNECTION_FAILURE_THRESHOLD: so many failures in a row are enough. */
  readonly threshold: number
  /** LOG_STORE_CONNECTION_BACKOFF_MS: how long it is left alone then. */
  readonly backoff_ms: number
  readonly now: () => number
}

/**
 * Leaves a store alone that fails again and again: requests to it then fail at once, and say so. After the pause it is
 * called again; the first failure is enough for the next one, a success ends all of it.
 */
export function withBreaker(blobs: Blobs, {threshold, backoff_ms, now}: GuardOptions): BreakerBlobs {
  let failures = 0
  let closed_until_ms = 0
  let last = ''
  const run = async <T>(ask: () => Promise<T>): Promise<T> => {
    const left_ms = closed_until_ms - now()
    if (left_ms > 0) {
      const left_s = Math.ceil(left_ms / 1000)
      throw new BlobFault(
        'paused',
        `${blobs.place} failed ${failures} times in a row and is asked again in ${left_s} s. ${last}`,
      )
    }
    try {
      const result = await ask()
      failures = 0
      closed_until_ms = 0
      return result
    } catch (fault) {
      if (fault instanceof BlobFault && fault.kind === 'object') throw fault
      failures++
      last = fault instanceof Error ? fault.message : ''
      if (failures >= threshold) closed_until_ms = now() + backoff_ms
      throw fault
    }
  }
  return {
    place: blobs.place,
    get is_open() {
      return closed_until_ms <= now()
    },
    put: (key, object) => run(() => blobs.put(key, object)),
    get: key => run(() => blobs.get(key)),
    remove: key => run(() => blobs.remove(key)),
  }
}
