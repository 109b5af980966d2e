import type {MaybePromise} from '../base/maybe-promise.ts'
import type {Counters} from '../ports/counters/index.ts'
import type {Spent} from '../schema/spent.ts'
import {Admission} from './admission.ts'
import {countedBy, type EntityLimit, groupOf, type LimitClaim, readBudgetKey} from './claims.ts'
import {type CounterReservation, reserveCounters} from './counter-reservation.ts'
import {createClaims} from './create-claims.ts'
import {createReserve} from './create-reserve.ts'
import {createRebuild, type ReadUsage} from './rebuild.ts'
import {type Corrected, createReconciler, type Reconciler, type ReconcilerOptions} from './reconciler.ts'

export type {Admission} from './admission.ts'
export type {EntityLimit, LimitClaim} from './claims.ts'
export type {CounterReservation} from './counter-reservation.ts'
export {isStrict} from './enforcement.ts'
export type {LedgerUsage, ReadUsage, UsageScope} from './rebuild.ts'
export type {Corrected} from './reconciler.ts'

export interface LimitsOptions {
  readonly counters: Counters
  /** Reads the usage of a scope since a time from the ledger (`usageSince`). */
  readonly usage: ReadUsage
  /** Has the ledger know all that was settled before; absent where it always does. */
  readonly flushed?: () => Promise<void>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** False: limits are neither checked nor counted, but those of policies, which are a matter of their own. */
  readonly enabled: boolean
  /** Called with each shadow limit that a call was over. */
  readonly onShadow?: (limit: LimitClaim, call_id: string) => void
  /** Called with each limit of a policy that had no room for a further entity. */
  readonly onFull?: (limit: LimitClaim) => void
  /** Called with what went wrong beside a call: a settlement or a rebuild that failed. */
  readonly onFault?: (fault: unknown) => void
  /** Keeps counters equal to the ledger; without it they are as they were restored and settled. */
  readonly reconcile?: ReconcileOptions
}

export interface ReconcileOptions extends Pick<ReconcilerOptions, 'after' | 'onDrift' | 'settles_ms' | 'flushes_ms'> {
  /** The workspace of what has a limit; null when it is gone. */
  readonly workspaceOf: (of: Pick<EntityLimit, 'entity' | 'id'>) => Promise<string | null>
}

/** The state of a budget. Cost is in nano-dollars. */
export interface Reading {
  readonly type: 'tokens' | 'cost'
  readonly label: string
  readonly used: bigint
  readonly limit: bigint
  /** Usage since then counts. */
  readonly since_ms: number
  /** When it starts again; Infinity when it does not. */
  readonly ends_at_ms: number
  readonly mode: LimitClaim['mode']
  /** The last correction of its counter in this process. */
  readonly corrected?: Corrected
}

/** The state of a rate in the window that is open. `used` is null where no counter knows it. */
export interface RateReading extends Omit<Reading, 'type' | 'used'> {
  readonly type: 'requests' | 'tokens'
  readonly used: bigint | null
}

/** The claims on budgets that an attempt of a former process held. */
export interface HeldWork {
  readonly call_id: string
  readonly attempt: number
  readonly held_keys: readonly string[]
  readonly held: Spent
}

export interface Limits {
  /**
   * Claims one request of every rate limit, and the right to proceed of every budget: all, or none and a refusal (429,
   * 412, 503). Null when nothing limits the call. A promise only where counters are shared, or one has to be rebuilt
   * first.
   */
  admit(limits: readonly EntityLimit[], call_id: string, now_ms: number): MaybePromise<Admission | null>
  /**
   * Holds `first` of each strict limit of tokens or cost (`Admission.strict_claims`) for one attempt of a call, all or
   * none and a refusal. The hold grows with the answer, and ends with what it used.
   */
  hold(claims: readonly LimitClaim[], call_id: string, attempt: number, first: Spent): MaybePromise<CounterReservation>
  /**
   * Holds again what attempts of a former process held for work that continues behind them, where counters ended with
   * it. Refuses nothing, and never rejects.
   */
  holdAgain(works: readonly HeldWork[]): Promise<void>
  /** The current state of an entity's budgets, for replies and alerts. */
  read(limit: EntityLimit): Promise<readonly Reading[]>
  readRates(limit: EntityLimit): Promise<readonly RateReading[]>
  /** Adds what an attempt of a former process used to the counters its intent names (core rule 11). Never rejects. */
  recover(intent: RecoveredCharge, actual: Spent): Promise<void>
  /** Adds what was used beside a call to the counters that its intent names, without another request. Never rejects. */
  add(counter_keys: readonly string[], actual: Spent): Promise<void>
  /** Makes counters equal the ledger again; null where that is not wanted. */
  readonly reconciler: Pick<Reconciler, 'run' | 'counts'> | null
  /** Looks at no counter any more. */
  close(): void
}

/** The counters in the intent of an attempt. */
export interface RecoveredCharge {
  readonly call_id: string
  readonly attempt: number
  readonly counter_keys: readonly string[]
  /** Those of them that a hold of the attempt took from. */
  readonly held_keys?: readonly string[]
}

/** No counter comes so far: what was held before is held again whatever the limit is by now. */
const UNREACHED = 2n ** 62n
/** Work in the background is given up after so long; the counter is summed from the ledger again then. */
const HELD_AGAIN_MS = 35 * 86_400_000

/** How long a lost reservation is remembered, so that a late settlement still counts. */
const REMEMBERED_MS = 60 * 60 * 1000

/** Admission to everything that is limited, over the counters of the installation. */
export function createLimits(options: LimitsOptions): Limits {
  const {
    counters,
    usage,
    now,
    enabled,
    onShadow,
    onFull,
    onFault = () => undefined,
    reconcile,
    flushed = async () => undefined,
  } = options
  const claimsOf = createClaims()
  const onDoubt = (claims: readonly LimitClaim[]) => reconciler?.doubt(claims.filter(({rebuilds}) => rebuilds))
  const rebuild = createRebuild({counters, usage, flushed, onRestored: onDoubt, onFault})
  const reconciler =
    reconcile &&
    createReconciler({...reconcile, counters, flushed, used: rebuild.usedAsFlushed, counterOf, now, onFault})
  const reserve = createReserve({counters, rebuild, onShadow, onFull})
  const settling = {counters, onFault, onDoubt}
  const holds = {...settling, reserve, now}
  let admissions = 0

  /** Null for what the counters do not know, and for all of them when they do not answer. */
  async function valuesOf(claims: readonly LimitClaim[]): Promise<readonly (bigint | null)[]> {
    try {
      return await counters.read(claims.map(({key}) => key))
    } catch (fault) {
      onFault(fault)
      return claims.map(() => null)
    }
  }

  async function counterOf(key: string) {
    const budget = readBudgetKey(key)
    const workspace_id = budget && (await reconcile!.workspaceOf(budget))
    if (!budget || workspace_id === null) return null
    return {
      key,
      counts: budget.counts,
      since_ms: budget.since_ms,
      of: {entity: budget.entity, id: budget.id, workspace_id},
    }
  }

  /** Of a budget; what a rate held is over. */
  async function claimAgain(key: string): Promise<LimitClaim | null> {
    const budget = reconcile && readBudgetKey(key)
    const workspace_id = budget && (await reconcile.workspaceOf(budget))
    if (!budget || !workspace_id || budget.counts === 'requests') return null
    const {counts, since_ms, entity, id} = budget
    const of = {entity, id, name: id, workspace_id, usage: null, rates: null, last_reset_at: null}
    const of_claim = {key, label: key, type: counts, counts, of, kind: 'budget', since_ms, group: groupOf(of)} as const
    return {...of_claim, mode: 'shadow', amount: 0, limit: UNREACHED, ends_at_ms: now() + HELD_AGAIN_MS, rebuilds: true}
  }

  /** Never rejects. */
  async function addTo(counter_keys: readonly string[], {tokens, cost_nanousd}: Spent): Promise<void> {
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
  }

  return {
    admit(limits, call_id, now_ms) {
      if (limits.length === 0) return null
      const time_ms = counters.time(now_ms)
      const claims = claimsOf(enabled ? limits : limits.filter(({entity}) => entity === 'policy'), time_ms)
      if (claims.length === 0) return null
      // A call is admitted by its key and again by each target: each admission is a reservation of its own. Numbers as
      // decimal text are kept in a cache by V8, thousands of them, and so grow old; others are not.
      const request = {
        id: `${call_id}/${(++admissions).toString(36)}`,
        call_id,
        claims,
        time_ms,
        deadline_ms: time_ms + REMEMBERED_MS,
      }
      const taken = reserve(request)
      const make = (made: readonly LimitClaim[]) => new Admission(request.id, made, settling)
      return taken instanceof Promise ? taken.then(make) : make(taken)
    },
    hold(claims, call_id, attempt, first) {
      return reserveCounters(holds, {id: holdId(call_id, attempt), call_id, claims}, first)
    },
    async holdAgain(works) {
      for (const {call_id, attempt, held_keys, held} of works) {
        try {
          const claims = (await Promise.all(held_keys.map(claimAgain))).flatMap(claim => claim ?? [])
          if (claims.length > 0) await reserveCounters(holds, {id: holdId(call_id, attempt), call_id, claims}, held)
        } catch (fault) {
          onFault(fault)
        }
      }
    },
    async read(limit) {
      if (!enabled && limit.entity !== 'policy') return []
      const budgets = claimsOf([limit], counters.time(now())).filter(claim => claim.kind === 'budget')
      const values = await valuesOf(budgets)
      return Promise.all(
        budgets.map(async (claim, place) => {
          const type = claim.counts === 'tokens' ? 'tokens' : 'cost'
          const used = values[place] ?? (await rebuild.used(claim))
          const corrected = reconciler?.corrected(claim.key)
          return {...readingOf(claim), type, used, ...(corrected && {corrected})}
        }),
      )
    },
    async readRates(limit) {
      if (!enabled && limit.entity !== 'policy') return []
      const rates = claimsOf([limit], counters.time(now())).filter(claim => claim.kind === 'rate')
      const values = await valuesOf(rates)
      return rates.map((claim, place) => {
        const type = claim.counts === 'tokens' ? 'tokens' : 'requests'
        return {...readingOf(claim), type, used: values[place] ?? null}
      })
    },
    add: addTo,
    reconciler: reconciler ?? null,
    close: () => reconciler?.close(),
    async recover({call_id, attempt, counter_keys, held_keys = []}, actual) {
      try {
        const is_known = held_keys.length > 0 && (await counters.settle(holdId(call_id, attempt), actual))
        await addTo(is_known ? counter_keys.filter(key => !held_keys.includes(key)) : counter_keys, actual)
      } catch (fault) {
        onFault(fault)
      }
    },
  }
}

function readingOf({label, limit, since_ms, ends_at_ms, mode}: LimitClaim) {
  return {label, limit, since_ms, ends_at_ms, mode}
}

/** Known to the process after this one too: it settles what this one held when it died. */
function holdId(call_id: string, attempt: number): string {
  return `${call_id}/hold/${attempt}`
}
