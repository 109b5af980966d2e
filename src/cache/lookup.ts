import type {Cache, CacheEntry, CacheKey} from '../ports/cache/index.ts'
import type {Coalescer, Participation} from './coalesce.ts'

/**
 * A call at the cache. One of `onHit` and `onMiss` is called, unless `outcome` has it already or the call left before.
 */
export interface CacheListener {
  /** The answer was kept, or another's call has just brought it. */
  onHit(entry: CacheEntry): void
  /** The provider is to be called; then `store`, `fail`, `decline` or `passLead`. */
  onMiss(): void
  /** Of a call that left and carried on: no call waits any more, the provider's call is to be aborted. */
  onAbandoned(): void
}

/** The handle of a call on the cache. */
export interface CacheLookup {
  /** Known at once: an answer, or `miss`; else `pending` until the visitor is called. */
  readonly outcome: CacheEntry | 'miss' | 'pending'
  /** See `Participation.followed`. */
  readonly followed: boolean
  /** At the beginning another's call was waited for. */
  readonly follows: boolean
  /**
   * An answer that may be kept: keeps it, and gives it to all that wait. One that was kept before for another request
   * ends with that.
   */
  store(entry: CacheEntry, most_ms?: number): void
  /** Gives an answer to all that wait, and keeps nothing. */
  give(entry: CacheEntry): void
  /** There is no answer of the provider. */
  fail(): void
  /** The provider's answer is good, and may not be kept. */
  decline(): void
  /** This call is not going to ask the provider after all (it was refused): another takes its place. */
  passLead(): void
  /** The client is gone. True when the provider's call has to be carried on, see `Participation.leave`. */
  leave(): boolean
}

export interface CacheParts {
  readonly cache: Cache
  readonly flights: Coalescer<CacheEntry>
  /** Called with what a visitor throws. */
  readonly onFault?: (fault: unknown) => void
}

export interface VisitOptions {
  /** Nothing is looked up, but those that refresh at the same time share one call. */
  readonly refresh: boolean
  readonly max_age_ms: number
}

/**
 * Takes a call to the cache: what is in this process comes at once; else the call joins the flight of its key first and
 * only the leader looks further, so that of many that ask the same one goes to the store, and one to the provider.
 */
export function lookUp(
  on: CacheParts,
  key: CacheKey,
  {refresh, max_age_ms}: VisitOptions,
  visitor: CacheListener,
): CacheLookup {
  const near = refresh ? undefined : on.cache.peek(key)
  if (near)
    return {
      outcome: near,
      followed: false,
      follows: false,
      store: () => undefined,
      give: () => undefined,
      fail: () => undefined,
      decline: () => undefined,
      passLead: () => undefined,
      leave: () => false,
    }

  /** The leader asks the store; its client may leave meanwhile. */
  let lookup: 'none' | 'under way' | 'left' = 'none'
  const participation: Participation<CacheEntry> = on.flights.join(refresh ? `${key.digest} refresh` : key.digest, {
    onLead: () => visitor.onMiss(),
    onAnswer: entry => visitor.onHit(entry),
    onProceed: () => visitor.onMiss(),
    onAbandoned: () => visitor.onAbandoned(),
  })
  const looked = participation.role === 'leader' && !refresh ? on.cache.get(key) : undefined
  if (looked instanceof Promise) {
    lookup = 'under way'
    looked
      .then(found, () => found(undefined))
      .catch((fault: unknown) => {
        participation.passLead()
        on.onFault?.(fault)
      })
  } else if (looked) {
    participation.complete(looked)
  }

  return {
    outcome:
      looked && !(looked instanceof Promise)
        ? looked
        : looked || participation.role === 'follower'
          ? 'pending'
          : 'miss',
    follows: participation.role === 'follower',
    get followed() {
      return participation.followed
    },
    store(entry, most_ms = max_age_ms) {
      // Kept before it is given: who comes after the flight finds it.
      void Promise.resolve(on.cache.set(key, entry, Math.min(max_age_ms, most_ms))).catch(() => undefined)
      participation.complete(entry)
    },
    give: entry => participation.complete(entry),
    fail: () => participation.fail(),
    decline: () => participation.decline(),
    passLead: () => participation.passLead(),
    leave() {
      if (lookup !== 'under way') return participation.leave()
      lookup = 'left'
      return false
    },
  }

  function found(entry: CacheEntry | undefined) {
    const has_left = lookup === 'left'
    lookup = 'none'
    if (entry) {
      participation.complete(entry)
      if (!has_left) visitor.onHit(entry)
    } else if (has_left) participation.passLead()
    else visitor.onMiss()
  }
}
