import type {Claim, Counters} from '../../../src/ports/counters/index.ts'

export interface Counts {
  tokens: number
  cost_nanousd: number
}

/** What the attempts under way reserved, and what they used in the end. */
export const counted: {reserved: Counts; used: Counts | null} = {reserved: {tokens: 0, cost_nanousd: 0}, used: null}

export function countAnew() {
  counted.reserved = {tokens: 0, cost_nanousd: 0}
  counted.used = null
}

/** The same counters; what passes through them is added up. */
export function listening(counters: Counters): Counters {
  const take =
    (work: Counters['reserve'] | Counters['extend']) => (id: string, claims: readonly Claim[], deadline_ms: number) => {
      for (const {amount, type} of claims) {
        if (type === 'tokens') counted.reserved.tokens += amount
        else if (type === 'cost') counted.reserved.cost_nanousd += amount
      }
      return work(id, claims, deadline_ms)
    }
  const settle: Counters['settle'] = (id, actual) => {
    const {tokens, cost_nanousd} = actual as Counts
    if (!counted.used || tokens + cost_nanousd > 0) counted.used = {tokens, cost_nanousd}
    return counters.settle(id, actual)
  }
  return {
    ...counters,
    reserve: take(counters.reserve) as Counters['reserve'],
    extend: take(counters.extend) as Counters['extend'],
    settle,
  }
}
