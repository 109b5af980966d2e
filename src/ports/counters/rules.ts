import type {Actual, Claim, Counted, Reserved} from './index.ts'

/** How long after its deadline a reservation can still be corrected by its true settlement. */
export const CORRECTABLE_MS = 24 * 60 * 60 * 1000

/** The most that may be used before, for the claim still to fit. Below zero nothing fits. */
export const most = ({limit, amount}: Claim): bigint => limit - BigInt(Math.max(1, amount))

/** What settling adds to a counter of which `held` was taken: the request stays taken, the rest becomes true. */
export function correction(type: Counted, held: number, actual: Actual): number {
  if (type === 'requests') return 0
  return (type === 'tokens' ? actual.tokens : actual.cost_nanousd) - held
}

/** What a store that does not answer means for the claims: strict ones fail closed, all others open (core rule 12). */
export function unanswered<C extends Claim>(claims: readonly C[]): Reserved<C> {
  const claim = claims.find(each => each.mode === 'strict')
  return claim ? {outcome: 'closed', claim} : {outcome: 'open'}
}
