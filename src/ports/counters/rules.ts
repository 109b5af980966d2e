import type {Spent} from '../../schema/spent.ts'
import type {CounterBounds} from './bounded.ts'
import type {Claim, Counted, Reserved} from './index.ts'

/** How many counters there may be in all, and of one policy. */
export const BOUNDS: CounterBounds = {most_counters: 500_000, most_of_group: 100_000}

/** As much as a shared store holds. */
export const most64 = (used: bigint): bigint => (used > MOST_64 ? MOST_64 : used)
const MOST_64 = 2n ** 63n - 1n

/** How long after its deadline a reservation can still be corrected by its true settlement. */
export const CORRECTABLE_MS = 24 * 60 * 60 * 1000

/** The most that may be used before, for the claim still to fit. Below zero nothing fits. */
export const most = ({limit, amount}: Claim): bigint => limit - BigInt(Math.max(1, amount))

/**
 * The amount that settling adds to a counter of which `held` was taken: the request stays taken, the rest becomes the
 * real usage.
 */
export function correction(type: Counted, held: number, actual: Spent): number {
  if (type === 'requests') return 0
  return (type === 'tokens' ? actual.tokens : actual.cost_nanousd) - held
}

/**
 * The outcome for the claims of a store that does not answer: strict ones fail closed, all others open (core rule 12).
 */
export function unanswered<C extends Claim>(claims: readonly C[]): Reserved<C> {
  const claim = claims.find(each => each.mode === 'strict')
  return claim ? {outcome: 'closed', claim} : {outcome: 'open'}
}
