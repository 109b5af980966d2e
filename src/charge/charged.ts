/** The cost of charged work, and the parts of it that have no price or no known meaning. */
export interface Charged {
  readonly cost_nanousd: number
  readonly unpriced: boolean
  readonly unpriced_units: readonly string[]
  readonly mode_unpriced: string | null
  /** Paths of numbers in the report of usage that no reader knows. */
  readonly usage_unknown: readonly string[]
}

/** The charge when nothing was used, or all of it was paid for before. */
export const NOTHING_OWED: Charged = {
  cost_nanousd: 0,
  unpriced: false,
  unpriced_units: [],
  mode_unpriced: null,
  usage_unknown: [],
}

/** A cost, with the unknown numbers in its report of usage; `flags`: they may cost something there. */
export function charged(
  cost: Omit<Charged, 'usage_unknown'>,
  usage_unknown: readonly string[],
  flags: boolean,
): Charged {
  const {cost_nanousd, unpriced, unpriced_units, mode_unpriced} = cost
  return {cost_nanousd, unpriced: unpriced || flags, unpriced_units, mode_unpriced, usage_unknown}
}

/** A charge of which only the sum is known: `cost_nanousd`, of usage in unknown units. */
export function chargedSum(cost_nanousd: number): Charged {
  return {cost_nanousd, unpriced: false, unpriced_units: [], mode_unpriced: null, usage_unknown: []}
}
