import type {Cache, CacheEntry, CacheKey} from '../ports/cache/index.ts'
import type {Coalescer, Participation} from './coalesce.ts'

/** A call at the cache. One of `onHit` and `onMiss` is called, unless `enter` said it already or the call left before. */
export interface CacheListener {
  /** The answer was kept, or another's call has just brought it. */
  onHit(entry: CacheEntry): void
  /** The provider is to be asked; then `store`, `fail` or `handOver`. */
  onMiss(): void
  /** Of a call that left and carried on: nobody waits any more, the provider's call is to be aborted. */
  onDeserted(): void
}

/** What a call holds while it is at the cache. */
export interface CacheLookup {
  /** Known at once: an answer, or `miss`; else `pending` until the visitor is called. */
  readonly outcome: CacheEntry | 'miss' | 'pending'
  /** See `Seat.followed`. */
  readonly followed: boolean
  /** At the beginning another's call was waited for. */
  readonly follows: boolean
  /** The provider's answer, which may be kept: keeps it, and gives it to all that wait. */
  store(entry: CacheEntry): void
  /** The provider's answer may not be kept, or there is none. */
  fail(): void
  /** This call is not going to ask the provider after all (it was refused): another takes its place. */
  handOver(): void
  /** The client is gone. True when the provider's call has to be carried on, see `Seat.leave`. */
  leave(): boolean
}

export interface CacheParts {
  readonly cache: Cache
  readonly flights: Coalescer<CacheEntry>
  /** Told of what a visitor throws. */
  readonly onFault?: (fault: unknown) => void
}

export interface VisitOptions {
  /** Nothing is looked up, but those that refresh at the same time share one call. */
  readonly refresh: boolean
  readonly max_age_ms: number
}

/**
 * Takes a call to the cache: what is in this process is said at once; else the call joins the flight of its key first and only the
 * leader looks further, so that of many that ask the same one goes to the store, and one to the provider.
 */
export function lookUp(on: CacheParts, key: CacheKey, {refresh, max_age_ms}: VisitOptions, visitor: CacheListener): CacheLookup {
  const near = refresh ? undefined : on.cache.peek(key)
  if (near)
    return {
      outcome: near,
      followed: false,
      follows: false,
      store: () => undefined,
      fail: () => undefined,
      handOver: () => undefined,
      leave: () => false,
    }

  /** The leader asks the store; its client may leave meanwhile. */
  let lookup: 'none' | 'under way' | 'left' = 'none'
  const seat: Participation<CacheEntry> = on.flights.join(refresh ? `${key.digest} refresh` : key.digest, {
    onLead: () => visitor.onMiss(),
    onAnswer: entry => visitor.onHit(entry),
    onAlone: () => visitor.onMiss(),
    onDeserted: () => visitor.onDeserted(),
  })
  const looked = seat.role === 'leader' && !refresh ? on.cache.get(key) : undefined
  if (looked instanceof Promise) {
    lookup = 'under way'
    looked
      .then(found, () => found(undefined))
      .catch((fault: unknown) => {
        seat.handOver()
        on.onFault?.(fault)
      })
  } else if (looked) {
    seat.land(looked)
  }

  return {
    outcome: looked && !(looked instanceof Promise) ? looked : looked || seat.role === 'waiter' ? 'pending' : 'miss',
    follows: seat.role === 'waiter',
    get followed() {
      return seat.followed
    },
    store(entry) {
      // Kept before it is given: who comes after the flight finds it.
      void Promise.resolve(on.cache.set(key, entry, max_age_ms)).catch(() => undefined)
      seat.land(entry)
    },
    fail: () => seat.fail(),
    handOver: () => seat.handOver(),
    leave() {
      if (lookup !== 'under way') return seat.leave()
      lookup = 'left'
      return false
    },
  }

  function found(entry: CacheEntry | undefined) {
    const has_left = lookup === 'left'
    lookup = 'none'
    if (entry) {
      seat.land(entry)
      if (!has_left) visitor.onHit(entry)
    } else if (has_left) seat.handOver()
    else visitor.onMiss()
  }
}
