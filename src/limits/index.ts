import {Refusal} from '../base/errors.ts'
import type {Actual, Counters, Reserved, Soon} from '../ports/counters/index.ts'
import {Admission} from './admission.ts'
import {countedBy, type EntityLimit, type LimitClaim, refusalOf} from './claims.ts'
import {createClaims} from './parsed.ts'
import {createRebuild, type ReadUsage} from './rebuild.ts'

export type {Admission} from './admission.ts'
export type {EntityLimit, LimitClaim} from './claims.ts'
export {canHold} from './enforcement.ts'
export type {ReadUsage, UsageScope, Used} from './rebuild.ts'

export interface LimitsOptions {
  readonly counters: Counters
  /** What the ledger knows of a scope since a time (`usageSince`); it has to know all that was settled before it is asked. */
  readonly usage: ReadUsage
  /** Epoch milliseconds. */
  readonly now: () => number
  /** False: limits are neither checked nor counted. */
  readonly enabled: boolean
  /** Told of each shadow limit that a call was over. */
  readonly onShadow?: (limit: LimitClaim, call_id: string) => void
  /** Told of what went wrong beside a call: a settlement or a rebuild that failed. */
  readonly onFault?: (fault: unknown) => void
}

/** How a budget stands. Cost is in nano-dollars. */
export interface Reading {
  readonly type: 'tokens' | 'cost'
  readonly label: string
  readonly used: bigint
  readonly limit: bigint
  /** When it starts again; Infinity when it does not. */
  readonly ends_at_ms: number
}

export interface Limits {
  /**
   * Claims one request of every rate limit, and the right to go on of every budget: all, or none and a refusal (429, 412, 503). Null
   * when nothing limits the call. A promise only where counters are shared, or one has to be rebuilt first.
   */
  admit(limits: readonly EntityLimit[], call_id: string, now_ms: number): Soon<Admission | null>
  /** How the budgets of an entity stand now, for replies and alerts. */
  read(limit: EntityLimit): Promise<readonly Reading[]>
  /** Adds what a call of a former process used to the counters its intent names (core rule 11). Never rejects. */
  recover(counter_keys: readonly string[], actual: Actual): Promise<void>
}

/** How long a hold may be extended. Without strict holds it only decides how long a lost reservation is remembered. */
const HOLD_MS = 60 * 60 * 1000
/** How often counters may be missing again, once restored, before the store counts as silent. */
const MOST_REBUILDS = 3

/** Admission to everything that is limited, over the counters of the installation. */
export function createLimits({counters, usage, now, enabled, onShadow, onFault = () => undefined}: LimitsOptions): Limits {
  const claimsOf = createClaims()
  const rebuild = createRebuild({counters, usage, onFault})
  let admissions = 0

  function decide(asked: Asked, reserved: Reserved<LimitClaim>): Soon<Admission> {
    switch (reserved.outcome) {
      case 'taken':
        for (const claim of reserved.over) onShadow?.(claim, asked.call_id)
        return new Admission(counters, asked.id, asked.claims, onFault)
      case 'refused':
        throw refusalOf(reserved.claim, asked.time_ms)
      case 'missing':
        return afterRebuild(asked, reserved.claims, reserved.generation)
      case 'closed':
        throw new Refusal('limit.unavailable', {limit: reserved.claim.label})
      default:
        return new Admission(counters, asked.id, asked.claims, onFault)
    }
  }

  /** Restores what is missing and claims again. What cannot be restored fails open, or closed when it is strict. */
  async function afterRebuild(asked: Asked, missing: readonly LimitClaim[], generation: string): Promise<Admission> {
    const lost = asked.rebuilds < MOST_REBUILDS ? await rebuild(missing, generation) : missing
    const strict = lost.find(claim => claim.mode === 'strict')
    if (strict) throw new Refusal('limit.unavailable', {limit: strict.label})
    const again = {...asked, claims: asked.claims.filter(claim => !lost.includes(claim)), rebuilds: asked.rebuilds + 1}
    return decide(again, await counters.reserve(again.id, again.claims, again.time_ms + HOLD_MS))
  }

  return {
    admit(limits, call_id, now_ms) {
      if (!enabled || limits.length === 0) return null
      const time_ms = counters.time(now_ms)
      const claims = claimsOf(limits, time_ms)
      if (claims.length === 0) return null
      // A call is admitted by its key and again by each target: each admission is a reservation of its own.
      const asked: Asked = {id: `${call_id}/${++admissions}`, call_id, claims, time_ms, rebuilds: 0}
      const reserved = counters.reserve(asked.id, claims, time_ms + HOLD_MS)
      return reserved instanceof Promise ? reserved.then(answer => decide(asked, answer)) : decide(asked, reserved)
    },
    async read(limit) {
      if (!enabled) return []
      const budgets = claimsOf([limit], counters.time(now())).filter(claim => claim.kind === 'budget')
      const values = await counters.read(budgets.map(({key}) => key))
      return Promise.all(
        budgets.map(async (claim, place) => {
          const type = claim.type === 'tokens' ? 'tokens' : 'cost'
          const used = values[place] ?? (await rebuild.used(claim))
          return {type, label: claim.label, used, limit: claim.limit, ends_at_ms: claim.ends_at_ms}
        }),
      )
    },
    async recover(counter_keys, {tokens, cost_nanousd}) {
      const amounts = {requests: 0, tokens, cost: cost_nanousd}
      const changes = counter_keys.flatMap(key => {
        const type = countedBy(key)
        return type && amounts[type] > 0 ? [{key, amount: amounts[type]}] : []
      })
      try {
        await counters.adjust(changes)
      } catch (fault) {
        onFault(fault)
      }
    },
  }
}

interface Asked {
  readonly id: string
  readonly call_id: string
  readonly claims: readonly LimitClaim[]
  readonly time_ms: number
  readonly rebuilds: number
}
