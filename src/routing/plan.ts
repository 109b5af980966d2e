import type {ConfigTarget} from '../schema/configs.ts'

/**
 * A config compiled: inheritance applied, conditions parsed, every value checked. Immutable and shared by all calls
 * that say the same.
 */
export interface Plan {
  readonly root: PlanNode
  /** The id of the saved config; null for one sent with a call. */
  readonly config_id: string | null
  /** Keys that are known and have no effect (decisions: configs); shown in `x-gateway-config-warning`. */
  readonly warnings: readonly string[]
  /** A list of models is that of the integrations, also when one target could list its own. */
  readonly lists_integrated: boolean
}

export type PlanNode = PlanTarget | Branch

interface Common {
  /** The path of the node: `config`, `config.targets[0].targets[1]`. */
  readonly path: string
  readonly name: string | null
  readonly weight: number
  readonly breaker: BreakerRule | null
}

/** A place to ask, with what it inherits. */
export interface PlanTarget extends Common {
  readonly kind: 'leaf'
  readonly target: TargetSpec
}

/**
 * The settings of a leaf, inheritance applied: provider, credentials and name its own, the rest nearest or merged
 * (docs/configs.md, Inheritance).
 */
export interface TargetSpec extends ConfigTarget {
  readonly retry?: RetryRule
  readonly cache?: CacheRule
}

export interface RetryRule {
  /** Retries after the first try, 0-5. */
  readonly attempts: number
  readonly on_status_codes: readonly number[]
  readonly use_retry_after_header: boolean
}

export interface CacheRule {
  readonly mode: 'simple' | 'semantic'
  readonly max_age_s: number | null
  /** The least cosine that the config asks for. */
  readonly threshold?: number
}

export type Branch = SingleBranch | FallbackBranch | LoadBalanceBranch | ConditionalBranch

interface BranchCommon extends Common {
  readonly kind: 'branch'
  readonly children: readonly PlanNode[]
}

export interface SingleBranch extends BranchCommon {
  readonly mode: 'single'
}

export interface FallbackBranch extends BranchCommon {
  readonly mode: 'fallback'
  /** Null: whatever is not 2xx. */
  readonly on_status_codes: ReadonlySet<number> | null
}

export interface LoadBalanceBranch extends BranchCommon {
  readonly mode: 'loadbalance'
  readonly sticky: {readonly hash_fields: readonly string[]; readonly ttl_s: number} | null
}

export interface ConditionalBranch extends BranchCommon {
  readonly mode: 'conditional'
  /**
   * In order; the first that holds wins. `then` is an index of `children`; `models` are names of models that it
   * compares with.
   */
  readonly conditions: readonly {
    readonly holds: (facts: RoutingFacts) => boolean
    readonly then: number
    readonly text: string
    readonly models: readonly string[]
  }[]
  /** An index of `children`; null: no match is refused. */
  readonly otherwise: number | null
}

/** The facts of a call that conditions and sticky hashes may read. */
export interface RoutingFacts {
  readonly metadata: Readonly<Record<string, string>>
  /** The top level of the JSON body; empty for forms and streams. */
  readonly params: Readonly<Record<string, unknown>>
  readonly pathname: string
}

/** When a circuit opens, and for how long (docs/configs.md, Circuit breaker). */
export interface BreakerRule {
  readonly failure_threshold: number | null
  readonly failure_threshold_percentage: number | null
  readonly minimum_requests: number | null
  readonly cooldown_interval_ms: number
  /** Null: 5xx. */
  readonly failure_status_codes: ReadonlySet<number> | null
}
