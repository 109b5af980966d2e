import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {Spent} from '../../schema/spent.ts'

/** The quantity of a counter. Cost is in nano-dollars. */
export type Counted = 'requests' | 'tokens' | 'cost'

/**
 * One counter that a call takes from. It fits while what was used, plus `amount` and at least one, is no more than
 * `limit`. Compatible claims of tokens and cost take nothing in advance (`amount` 0): they fit while the limit is not
 * reached, and what was really used is added at the end. A strict claim takes its hold. A shadow claim never refuses;
 * it is reported instead.
 */
export interface Claim {
  /** Says entity, kind and period: a new period is a new key, and no counter is ever set to zero. */
  readonly key: string
  /** For people: `10 requests per minute of the API key blue`. */
  readonly label: string
  readonly type: Counted
  readonly mode: 'compatible' | 'strict' | 'shadow'
  /** Taken at once: a safe integer, 0 or more. */
  readonly amount: number
  readonly limit: bigint
  /** Epoch milliseconds; Infinity when the period never ends. The counter may be forgotten from then on. */
  readonly ends_at_ms: number
  /**
   * True when a missing counter is not zero but unknown, and has to be restored from the ledger first (core rule 11).
   */
  readonly rebuilds: boolean
  /** Counters of one group are bounded in number: those of a policy, which calls name the entities of. */
  readonly group?: string | undefined
}

/** The answer to a claim; anything but `taken` took nothing. */
export type Reserved<C extends Claim> =
  /** `over` are shadow claims that did not fit. */
  | {readonly outcome: 'taken'; readonly over: readonly C[]}
  /**
   * These have to be restored, under this generation, before the claims are made again; this comes before any refusal.
   */
  | {readonly outcome: 'missing'; readonly claims: readonly C[]; readonly generation: string}
  /** The first claim, in the order given, that did not fit. */
  | {readonly outcome: 'refused'; readonly claim: C}
  /** No further counter finds room in this one's group: calls of the entities that it counts already continue. */
  | {readonly outcome: 'full'; readonly claim: C}
  /** Nothing to extend: no reservation of this id is open. */
  | {readonly outcome: 'unknown'}
  /** The store did not answer in time. `open`: no claim is strict, the call may proceed. `closed`: this one is. */
  | {readonly outcome: 'open'}
  | {readonly outcome: 'closed'; readonly claim: C}

/** The ledger's value for a missing counter. */
export interface Base {
  readonly key: string
  readonly used: bigint
  readonly ends_at_ms: number
  readonly group?: string | undefined
}

/** The value of a restored counter at one moment. */
export interface CounterValue {
  readonly used: bigint
  /** The part of it that open reservations hold in advance. */
  readonly held: bigint
  /** Another after each restoration and each correction. */
  readonly revision: string
}

/**
 * Counters that are claimed before a call and made true after it (core rule 10). All methods are atomic; keys within
 * one call of a method are distinct.
 *
 * A hold counts as used from the start, so one that is never settled simply stays used: `recovered` spend (core rule
 * 12). Until its deadline a reservation can be extended; for a day more a late settlement still corrects what was held.
 */
export interface Counters {
  /**
   * The time that periods are cut by: does not run back with a clock that does (`SeenTime`), and is the store's, as
   * last heard, where counters are shared.
   */
  time(now_ms: number): number
  /** Takes from every counter or from none. Claims under an id that is open already are added to it. */
  reserve<C extends Claim>(id: string, claims: readonly C[], deadline_ms: number): MaybePromise<Reserved<C>>
  /** Takes more under an open reservation: all or none. */
  extend<C extends Claim>(id: string, claims: readonly C[]): MaybePromise<Reserved<C>>
  /**
   * Puts what was really used in place of what was held; requests stay taken. False, and nothing done, when the id is
   * not known (any more).
   */
  settle(id: string, actual: Spent): MaybePromise<boolean>
  /** Gives everything back, requests too: the call never left. False when the id is not known (any more). */
  release(id: string): MaybePromise<boolean>
  /** The usage, in the order of `keys`; null when there is no counter. */
  read(keys: readonly string[]): MaybePromise<readonly (bigint | null)[]>
  /**
   * Gives missing counters their value; those that exist keep theirs. Does nothing when the store has lost its counters
   * since `generation`.
   */
  restore(bases: readonly Base[], generation: string): MaybePromise<void>
  /** Adds to counters that exist; never creates one (core rule 11). */
  adjust(changes: readonly {readonly key: string; readonly amount: number}[]): MaybePromise<void>
  /** The keys of all counters that were restored, as far as they are still there. */
  restored(): MaybePromise<readonly string[]>
  /** The values, in the order of `keys`, all at one moment; null when there is none that was restored. */
  standings(keys: readonly string[]): MaybePromise<readonly (CounterValue | null)[]>
  /**
   * Adds to a counter what it differed by, unless it was restored or corrected since that `revision` was read; what
   * calls took and settled meanwhile does not change what it differed by. False when it was.
   */
  correct(key: string, amount: bigint, revision: string): MaybePromise<boolean>
  close(): Promise<void>
}
