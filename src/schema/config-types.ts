import type {ConditionSaid} from './config-conditions.ts'
import type {CREDENTIAL_KEYS} from './config-credentials.ts'
import type {BreakerSaid, CacheSaid, RetrySaid, StickySaid} from './config-rules.ts'

type Opaque = Readonly<Record<string, unknown>>

export interface Deployment {
  readonly deployment_id: string
  readonly alias?: string
  readonly api_version?: string
  readonly is_default?: boolean
}

type Credentials = {readonly [Key in keyof typeof CREDENTIAL_KEYS]?: string}

/**
 * The destination and handling of a call: one node of a config, but for its strategy and its compiled parts. Settings
 * beside a provider's key are texts; `vertex_service_account_json` is JSON, `anthropic_beta` words by commas.
 */
export interface ConfigTarget extends Credentials {
  readonly name?: string
  /** A kind of provider, or `@slug`. */
  readonly provider?: string
  /** A provider's slug under its older name, without `@`. When a kind is beside it, this one counts. */
  readonly virtual_key?: string
  /** The provider is the one that the call names. */
  readonly passthrough?: boolean
  readonly prompt_id?: string
  readonly custom_host?: string
  /** Set in the body, whatever the call says. */
  readonly override_params?: Opaque
  /** Set in the body where the call says nothing. */
  readonly default_params?: Opaque
  /** Paths into the body: `a.b`, `tools[0].x`, `messages[*].y`. */
  readonly drop_params?: readonly string[]
  /** Lower case. */
  readonly forward_headers?: readonly string[]
  /** Milliseconds. */
  readonly request_timeout?: number
  readonly strict_open_ai_compliance?: boolean
  readonly vertex_skip_ptu_cost_attribution?: boolean
  readonly mistral_fim_completion?: boolean
  readonly deployments?: readonly Deployment[]
  readonly before_request_hooks?: readonly Opaque[]
  readonly after_request_hooks?: readonly Opaque[]
  readonly input_guardrails?: readonly (string | Opaque)[]
  readonly output_guardrails?: readonly (string | Opaque)[]
  readonly input_mutators?: readonly (string | Opaque)[]
  readonly output_mutators?: readonly (string | Opaque)[]
  readonly default_input_guardrails?: readonly (string | Opaque)[]
  readonly default_output_guardrails?: readonly (string | Opaque)[]
  /** `/models` lists the models of the integrations that the targets name. */
  readonly fetch_integrated_models?: boolean
}

/** How a node chooses among its targets. */
export type Strategy = {readonly cb_config?: BreakerSaid} & (
  | {readonly mode: 'single'}
  | {readonly mode: 'fallback'; readonly on_status_codes?: readonly number[]}
  | {readonly mode: 'loadbalance'; readonly sticky?: StickySaid}
  | {readonly mode: 'conditional'; readonly conditions: readonly ConditionSaid[]; readonly default?: string}
)

/** A config in its normal form: keys in snake_case, every value checked, nothing in it without effect. */
export interface GatewayConfig extends ConfigTarget {
  readonly strategy?: Strategy
  readonly targets?: readonly GatewayConfig[]
  /** Of a target of a load balance; 1 by default. */
  readonly weight?: number
  readonly retry?: RetrySaid
  readonly cache?: CacheSaid
  readonly cb_config?: BreakerSaid
}
