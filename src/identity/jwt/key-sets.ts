import {Refusal} from '../../base/errors.ts'
import {type JsonValue, listOf, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import {keysNamed} from '../../base/jwt/key-set.ts'
import {isFitKey} from '../../base/jwt/token.ts'
import type {Log} from '../../base/log.ts'

/** A reply of a key set's address, through the egress wall. */
export interface KeySetReply {
  readonly text: string
  /** `max-age` of its cache-control, in seconds; null without one. */
  readonly max_age_s: number | null
}

export interface KeySetsOptions {
  /** Asks once; rejects where no key set comes in time. */
  readonly fetch: (url: string) => Promise<KeySetReply>
  /** A clock that is never set; milliseconds. */
  readonly steady: () => number
  /** JWKS_REFETCH_MIN_INTERVAL_MS. */
  readonly refetch_min_interval_ms: number
  readonly log: Pick<Log, 'warn'>
}

/** The keys of one id, and the number of the set they are of: it moves whenever a key goes. */
export interface FoundKeys {
  readonly keys: readonly JsonValue[]
  readonly generation: number
}

/** The keys of a set as it came. */
export interface CameKeys {
  readonly keys: readonly JsonValue[]
  /** How many came after the last that counts. */
  readonly dropped: number
}

interface KeySet {
  readonly url: string
  /** Null: never read. */
  keys: readonly JsonValue[] | null
  generation: number
  /** Of `steady`: the last that brought keys, and the last that was tried. */
  read_ms: number
  tried_ms: number
  fresh_ms: number
  reading: Promise<void> | null
  /** The last warning of what is not used of it, as JSON; it is said again when it is another. */
  warned: string | null
}

const DEFAULT_FRESH_MS = 600_000
const MIN_FRESH_MS = 60_000
const MAX_FRESH_MS = 3_600_000
/** From there on a set is read again beside the calls, so that none of them waits. */
const REFRESH_AFTER = 0.8
/** How long a set is used whose address does not answer. */
const MAX_STALE_MS = 86_400_000
export const MAX_KEYS = 100
const MAX_SETS = 1_000
const MOST_NAMED = 10
const LONGEST_NAME = 64

/**
 * Key sets by URL, read when they are needed. However many tokens come with ids that no set has, an address gets one
 * request in JWKS_REFETCH_MIN_INTERVAL_MS.
 */
export class KeySets {
  readonly #options: KeySetsOptions
  /** In the order of their use. */
  readonly #sets = new Map<string, KeySet>()

  constructor(options: KeySetsOptions) {
    this.#options = options
  }

  /**
   * The keys of `kid`, all of the set where it is undefined; none where the set has no such key. Refuses with
   * `token.keys_silent` when it was never read.
   */
  async keysFor(url: string, kid: string | undefined): Promise<FoundKeys> {
    const set = this.#setOf(url)
    const age_ms = this.#options.steady() - set.read_ms
    if (set.keys === null || age_ms >= set.fresh_ms) await this.#readAgain(set)
    else if (age_ms >= set.fresh_ms * REFRESH_AFTER) void this.#readAgain(set)
    if (this.#namedIn(set, kid).length === 0) await this.#readAgain(set)
    const is_usable = set.keys !== null && this.#options.steady() - set.read_ms < MAX_STALE_MS
    if (!is_usable) throw new Refusal('token.keys_silent')
    return {keys: this.#namedIn(set, kid), generation: set.generation}
  }

  /** The keys of an address, asked now; rejects with what went wrong. For administrators who set it up. */
  async tried(url: string): Promise<CameKeys> {
    return keysIn((await this.#options.fetch(url)).text)
  }

  /**
   * The number of the set as it is now; a token that was verified with another number is verified again. Undefined
   * where the set is not known any more. Calls with known tokens have it read again in time, as others do.
   */
  generationOf(url: string): number | undefined {
    const set = this.#sets.get(url)
    if (!set) return undefined
    const age_ms = this.#options.steady() - set.read_ms
    if (age_ms >= set.fresh_ms * REFRESH_AFTER) void this.#readAgain(set)
    return age_ms < MAX_STALE_MS ? set.generation : undefined
  }

  #namedIn({keys}: KeySet, kid: string | undefined): readonly JsonValue[] {
    return keys ? keysNamed(keys, kid) : []
  }

  #setOf(url: string): KeySet {
    const known = this.#sets.get(url)
    const set: KeySet = known ?? {
      ...{url, keys: null, generation: 0, reading: null, warned: null},
      read_ms: Number.NEGATIVE_INFINITY,
      tried_ms: Number.NEGATIVE_INFINITY,
      fresh_ms: DEFAULT_FRESH_MS,
    }
    this.#sets.delete(url)
    this.#sets.set(url, set)
    if (this.#sets.size > MAX_SETS) this.#sets.delete(this.#sets.keys().next().value!)
    return set
  }

  /** One at a time, and none too soon after the last. Never rejects: what was read before stays. */
  #readAgain(set: KeySet): Promise<void> {
    if (set.reading) return set.reading
    const now_ms = this.#options.steady()
    if (now_ms - set.tried_ms < this.#options.refetch_min_interval_ms) return Promise.resolve()
    set.tried_ms = now_ms
    set.reading = this.#read(set).finally(() => {
      set.reading = null
    })
    return set.reading
  }

  async #read(set: KeySet): Promise<void> {
    const {fetch, steady} = this.#options
    try {
      const {text, max_age_s} = await fetch(set.url)
      const {keys, dropped} = keysIn(text)
      if (set.keys?.some(key => !keys.some(each => isSame(each, key)))) set.generation++
      set.keys = keys
      set.read_ms = steady()
      const fresh_ms = max_age_s === null ? DEFAULT_FRESH_MS : max_age_s * 1000
      set.fresh_ms = Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, fresh_ms))
      this.#warn(set, dropped)
    } catch (fault) {
      const url = new URL(set.url).origin
      this.#options.log.warn({fault, url}, 'a key set for tokens could not be read; the one before stays')
    }
  }

  /** Says once what of a set is not used: a token of such a key is refused, and its sender does not know why. */
  #warn(set: KeySet, dropped: number) {
    const unfit = set.keys!.filter(key => !isFitKey(key))
    const unfit_keys = unfit.slice(0, MOST_NAMED).map(kidOf)
    const facts = {dropped, unfit: unfit.length, unfit_keys}
    const text = dropped + unfit.length > 0 ? JSON.stringify(facts) : null
    if (text !== null && text !== set.warned)
      this.#options.log.warn({...facts, url: new URL(set.url).origin}, 'not all keys of a key set for tokens are used')
    set.warned = text
  }
}

/** `max-age` of a cache-control header, in seconds; null without one. */
export function maxAge(cache_control: string | undefined): number | null {
  const found = /(?:^|[,\s])max-age=(\d{1,9})(?:$|[,\s])/i.exec(cache_control ?? '')?.[1]
  return found === undefined ? null : Number(found)
}

function keysIn(text: string): CameKeys {
  const found = own(parsed(text), 'keys')
  if (!Array.isArray(found)) throw new Error('it answered with no key set')
  const keys = listOf(found as JsonValue)
  return {keys: keys.slice(0, MAX_KEYS), dropped: Math.max(0, keys.length - MAX_KEYS)}
}

/** The name of a key for administrators: short. */
export function kidOf(key: JsonValue): string {
  const kid = own(key, 'kid')
  return typeof kid === 'string' ? kid.slice(0, LONGEST_NAME) : 'not named'
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
