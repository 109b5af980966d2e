import type {Base, Counters} from '../ports/counters/index.ts'
import type {EntityLimit, LimitClaim} from './claims.ts'
import type {CounterOf} from './reconcile.ts'

export type UsageScope = Pick<EntityLimit, 'entity' | 'id' | 'workspace_id'>

export interface LedgerUsage {
  readonly tokens: bigint
  readonly cost_nanousd: bigint
}

/** Reads the usage of a scope's calls, admitted since then, from the ledger. */
export type ReadUsage = (scope: UsageScope, since_at: string) => Promise<LedgerUsage>

export interface Rebuild {
  /** Restores counters from the ledger; gives the claims whose counters could not be restored. Never rejects. */
  (claims: readonly LimitClaim[], generation: string): Promise<readonly LimitClaim[]>
  used(counter: CounterOf): Promise<bigint>
  /** As the ledger knew it when it was last flushed. */
  usedAsFlushed(counter: CounterOf): Promise<bigint>
}

const MAX_WAIT_MS = 2_000

/** Each missing counter is read from the ledger once, however many calls wait for it. */
export function createRebuild({
  counters,
  usage,
  flushed,
  onRestored,
  onFault,
}: {
  counters: Counters
  usage: ReadUsage
  flushed: () => Promise<void>
  /** Called with counters that were restored: calls went on while the ledger was read. */
  onRestored: (claims: readonly LimitClaim[]) => void
  onFault: (fault: unknown) => void
}): Rebuild {
  const reading = new Map<string, Promise<Base>>()

  async function usedAsFlushed({of: {entity, id, workspace_id}, counts, since_ms}: CounterOf): Promise<bigint> {
    const sums = await usage({entity, id, workspace_id}, new Date(since_ms).toISOString())
    return counts === 'tokens' ? sums.tokens : sums.cost_nanousd
  }

  async function used(counter: CounterOf): Promise<bigint> {
    await flushed()
    return usedAsFlushed(counter)
  }

  function baseOf(claim: LimitClaim, generation: string): Promise<Base> {
    const name = `${generation} ${claim.key}`
    let base = reading.get(name)
    if (!base) {
      base = bounded(used(claim)).then(sum => ({
        key: claim.key,
        used: sum,
        ends_at_ms: claim.ends_at_ms,
        group: claim.group,
      }))
      reading.set(name, base)
      const forget = () => reading.delete(name)
      base.then(forget, forget)
    }
    return base
  }

  async function rebuild(claims: readonly LimitClaim[], generation: string): Promise<readonly LimitClaim[]> {
    const read = await Promise.allSettled(claims.map(claim => baseOf(claim, generation)))
    const bases = read.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
    for (const each of read) if (each.status === 'rejected') onFault(each.reason)
    try {
      if (bases.length > 0) await counters.restore(bases, generation)
    } catch (fault) {
      onFault(fault)
      return claims
    }
    const lost = claims.filter((_, place) => read[place]!.status === 'rejected')
    onRestored(lost.length === 0 ? claims : claims.filter(claim => !lost.includes(claim)))
    return lost
  }

  return Object.assign(rebuild, {used, usedAsFlushed})
}

async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The ledger did not say within ${MAX_WAIT_MS} ms what was used.`)),
      MAX_WAIT_MS,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
