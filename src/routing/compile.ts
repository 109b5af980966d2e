import {parseQuery} from '../schema/config-conditions.ts'
import type {BreakerSaid, CacheSaid, RetrySaid} from '../schema/config-rules.ts'
import {MIN_COOLDOWN_MS, RETRIED, STICKY_TTL_S} from '../schema/config-rules.ts'
import {CONFIG_LIMITS, type ConfigIssue, type GatewayConfig, type Strategy} from '../schema/configs.ts'
import {holdsOf, modelsIn, textOf} from './conditions.ts'
import type {Branch, BreakerRule, CacheRule, ConditionalBranch, Plan, PlanNode, RetryRule, TargetSpec} from './plan.ts'

/**
 * A config that was read, compiled: inheritance applied, conditions parsed, defaults filled in, everything frozen; what
 * the config holds is frozen with it. `config_id` is null for a config sent with a call, whose circuit breakers do not
 * count. `warnings` are those of the reading. Throws for what `readConfig` refuses.
 */
export function compile(
  config: GatewayConfig,
  about: {readonly config_id: string | null; readonly warnings?: readonly ConfigIssue[]},
): Plan {
  const {config_id, warnings = []} = about
  const root = compileNode(config, 'config', {inherited: {}, breaker: null, is_saved: config_id !== null})
  const lists_integrated = config.fetch_integrated_models === true
  return freeze({root, config_id, warnings: warnings.map(({path, message}) => `${path}: ${message}`), lists_integrated})
}

/** The values that a node inherits from those above it. */
interface Above {
  readonly inherited: Inherited
  readonly breaker: BreakerRule | null
  readonly is_saved: boolean
}

type Inherited = Pick<TargetSpec, (typeof NEAREST)[number] | (typeof MERGED)[number] | (typeof SIDES)[number][number]>

/** The nearest one counts, whole. */
const NEAREST = [
  ...([
    'retry',
    'cache',
    'request_timeout',
    'custom_host',
    'forward_headers',
    'strict_open_ai_compliance',
    'drop_params',
  ] as const),
  ...(['default_input_guardrails', 'default_output_guardrails'] as const),
] as const satisfies readonly (keyof TargetSpec)[]
/** Laid over one another key by key, the nearest on top. */
const MERGED = ['override_params', 'default_params'] as const satisfies readonly (keyof TargetSpec)[]
/** A node that says any of a side says all of it. */
const SIDES = [
  ['before_request_hooks', 'input_guardrails', 'input_mutators'],
  ['after_request_hooks', 'output_guardrails', 'output_mutators'],
] as const satisfies readonly (readonly (keyof TargetSpec)[])[]

function compileNode(node: GatewayConfig, path: string, above: Above): PlanNode {
  const {strategy, targets, weight = 1, retry, cache, cb_config, ...rest} = node
  const {is_saved} = above
  const own: TargetSpec = {...rest, ...(retry && {retry: retryRule(retry)}), ...(cache && {cache: cacheRule(cache)})}
  const breaker = is_saved && cb_config ? breakerRule(cb_config) : above.breaker
  const inherited = inherit(own, above.inherited)
  const common = {path, name: rest.name ?? null, weight, breaker}
  if (!targets) return {...common, kind: 'leaf', target: {...own, ...inherited}}
  const below = {
    inherited,
    is_saved,
    breaker: is_saved && strategy?.cb_config ? breakerRule(strategy.cb_config) : breaker,
  }
  const children = targets.map((target, index) => compileNode(target, `${path}.targets[${index}]`, below))
  return branch({...common, kind: 'branch', children}, strategy ?? {mode: 'single'}, targets)
}

function inherit(own: TargetSpec, above: Inherited): Inherited {
  const from: Record<string, unknown> = {}
  const take = (key: keyof Inherited, holder: Inherited) => {
    if (holder[key] !== undefined) from[key] = holder[key]
  }
  for (const key of NEAREST) take(key, own[key] === undefined ? above : own)
  for (const key of MERGED) {
    if (own[key] && above[key]) from[key] = {...above[key], ...own[key]}
    else take(key, own[key] ? own : above)
  }
  for (const side of SIDES) {
    const says_any = side.some(key => own[key] !== undefined)
    for (const key of side) take(key, says_any ? own : above)
  }
  return from
}

type Common = Omit<Extract<Branch, {mode: 'single'}>, 'mode'>

function branch(common: Common, strategy: Strategy, targets: readonly GatewayConfig[]): Branch {
  switch (strategy.mode) {
    case 'single':
      return {...common, mode: 'single'}
    case 'fallback':
      return {
        ...common,
        mode: 'fallback',
        on_status_codes: strategy.on_status_codes ? new Set(strategy.on_status_codes) : null,
      }
    case 'loadbalance': {
      const {enabled = false, hash_fields = [], ttl = STICKY_TTL_S} = strategy.sticky ?? {}
      return {...common, mode: 'loadbalance', sticky: enabled && hash_fields.length ? {hash_fields, ttl_s: ttl} : null}
    }
    case 'conditional':
      return {...common, mode: 'conditional', breaker: null, ...conditional(strategy, common.path, targets)}
  }
}

function conditional(
  strategy: Extract<Strategy, {mode: 'conditional'}>,
  path: string,
  targets: readonly GatewayConfig[],
): Pick<ConditionalBranch, 'conditions' | 'otherwise'> {
  const places = new Map(targets.flatMap(({name}, index) => (name === undefined ? [] : [[name, index] as const])))
  const place = (name: string) => {
    const index = places.get(name)
    if (index === undefined) throw new Error(`${path}.strategy names a target that is not there`)
    return index
  }
  const found = {issues: [], warnings: [], limits: CONFIG_LIMITS, saved: true, regex_size: 0, nested: 0}
  const conditions = strategy.conditions.map(condition => {
    const query = parseQuery(condition.query, path, found)
    if (!query) throw new Error(`${path}.strategy holds a condition that cannot be read`)
    // biome-ignore lint/suspicious/noThenProperty: an index, as the plan has it; it is never awaited.
    return {holds: holdsOf(query), then: place(condition.then), text: textOf(query), models: modelsIn(query)}
  })
  return {conditions, otherwise: strategy.default === undefined ? null : place(strategy.default)}
}

function retryRule({attempts, on_status_codes = RETRIED, use_retry_after_header = false}: RetrySaid): RetryRule {
  return {attempts, on_status_codes, use_retry_after_header}
}

function cacheRule({mode, max_age, threshold}: CacheSaid): CacheRule {
  return {mode, max_age_s: max_age ?? null, ...(threshold !== undefined && {threshold})}
}

function breakerRule(rule: BreakerSaid): BreakerRule {
  return {
    failure_threshold: rule.failure_threshold ?? null,
    failure_threshold_percentage: rule.failure_threshold_percentage ?? null,
    minimum_requests: rule.minimum_requests ?? null,
    cooldown_interval_ms: rule.cooldown_interval ?? MIN_COOLDOWN_MS,
    failure_status_codes: rule.failure_status_codes ? new Set(rule.failure_status_codes) : null,
  }
}

/** Freezes an object and all in it. Sets are read-only by their type. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
  return value
}
