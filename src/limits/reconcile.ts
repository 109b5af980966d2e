import type {Counters} from '../ports/counters/index.ts'
import type {LimitClaim} from './claims.ts'

/** A budget's counter, and the query of the ledger for it. */
export type CounterOf = Pick<LimitClaim, 'key' | 'counts' | 'since_ms'> & {
  readonly of: Pick<LimitClaim['of'], 'entity' | 'id' | 'workspace_id'>
}

/** The excess of a counter over the ledger, negative when it has less. */
export interface CounterDifference {
  readonly counter: CounterOf
  readonly by: bigint
  /** The revision of the counter that differs. */
  readonly revision: string
}

export interface LookParts {
  readonly counters: Pick<Counters, 'standings'>
  /** Has the ledger know all that this process settled. */
  readonly flushed: () => Promise<void>
  readonly used: (counter: CounterOf) => Promise<bigint>
  readonly pause: (ms: number) => Promise<void>
  /** The longest delay of a settlement before it reaches the counters, once the ledger has it. */
  readonly settles_ms: number
  /** How long one that the counters have may wait for the ledger, in the journal of whatever process. */
  readonly flushes_ms: number
}

/**
 * The certain differences between counters and the ledger. Calls continue meanwhile, and other processes write to the
 * ledger later than to the counters: so the ledger is read before a counter and once more after it. The settlements
 * that the counter had when it was read are between the two, and a counter with such a value, held claims included, may
 * be right. Below the first value, or above the second, it is wrong by the difference, whatever is settled from then
 * on.
 */
export async function look(parts: LookParts, counters: readonly CounterOf[]): Promise<readonly CounterDifference[]> {
  const before = await ledger(parts, counters)
  await parts.pause(parts.settles_ms)
  const standings = await parts.counters.standings(counters.map(({key}) => key))
  const differences: CounterDifference[] = []
  const above: {readonly counter: CounterOf; readonly settled: bigint; readonly revision: string}[] = []
  counters.forEach((counter, place) => {
    const standing = standings[place]
    if (!standing) return
    const {used, held, revision} = standing
    const settled = used - held
    if (settled < before[place]!) differences.push({counter, by: settled - before[place]!, revision})
    else if (settled > before[place]!) above.push({counter, settled, revision})
  })
  if (above.length === 0) return differences
  await parts.pause(parts.flushes_ms)
  const after = await ledger(
    parts,
    above.map(({counter}) => counter),
  )
  above.forEach(({counter, settled, revision}, place) => {
    if (settled > after[place]!) differences.push({counter, by: settled - after[place]!, revision})
  })
  return differences
}

/** One after another: calls go first. */
async function ledger({flushed, used}: LookParts, counters: readonly CounterOf[]): Promise<bigint[]> {
  await flushed()
  const sums: bigint[] = []
  for (const counter of counters) sums.push(await used(counter))
  return sums
}
