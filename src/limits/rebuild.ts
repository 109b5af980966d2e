import type {Base, Counters} from '../ports/counters/index.ts'
import type {EntityLimit, LimitClaim} from './claims.ts'

export type UsageScope = Pick<EntityLimit, 'entity' | 'id' | 'workspace_id'>

export interface Used {
  readonly tokens: bigint
  readonly cost_nanousd: bigint
}

/** What the ledger knows that the calls of a scope, admitted since then, have used. */
export type ReadUsage = (scope: UsageScope, since_at: string) => Promise<Used>

export interface Rebuild {
  /** Restores counters from the ledger; gives the claims whose counters could not be restored. Never rejects. */
  (claims: readonly LimitClaim[], generation: string): Promise<readonly LimitClaim[]>
  used(claim: LimitClaim): Promise<bigint>
}

const MOST_WAIT_MS = 2_000

/** Each missing counter is read from the ledger once, however many calls wait for it. */
export function createRebuild({
  counters,
  usage,
  onFault,
}: {
  counters: Counters
  usage: ReadUsage
  onFault: (fault: unknown) => void
}): Rebuild {
  const reading = new Map<string, Promise<Base>>()

  async function used({of: {entity, id, workspace_id}, type, since_ms}: LimitClaim): Promise<bigint> {
    const sums = await usage({entity, id, workspace_id}, new Date(since_ms).toISOString())
    return type === 'tokens' ? sums.tokens : sums.cost_nanousd
  }

  function baseOf(claim: LimitClaim, generation: string): Promise<Base> {
    const name = `${generation} ${claim.key}`
    let base = reading.get(name)
    if (!base) {
      base = bounded(used(claim)).then(sum => ({key: claim.key, used: sum, ends_at_ms: claim.ends_at_ms}))
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
    return claims.filter((_, place) => read[place]!.status === 'rejected')
  }

  return Object.assign(rebuild, {used})
}

async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The ledger did not say within ${MOST_WAIT_MS} ms what was used.`)), MOST_WAIT_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
