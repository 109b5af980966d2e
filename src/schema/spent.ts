/** The amounts that count against limits: tokens of every class, and nano-dollars. Non-negative safe integers. */
export interface Spent {
  readonly tokens: number
  readonly cost_nanousd: number
}

export const NOTHING_SPENT: Spent = {tokens: 0, cost_nanousd: 0}

export function spent(tokens: number, cost_nanousd: number): Spent {
  return {tokens, cost_nanousd}
}

export function addSpent(one: Spent, other: Spent): Spent {
  return spent(one.tokens + other.tokens, one.cost_nanousd + other.cost_nanousd)
}
