import {LRUCache} from 'lru-cache'
import type {EntityLimit} from './claims.ts'
import {valueKeyOf} from './value-keys.ts'

/** A policy, as its row holds it. */
export interface Policy {
  readonly id: string
  readonly name: string | null
  readonly workspace_id: string
  readonly conditions: readonly PolicyCondition[]
  readonly group_by: readonly {readonly key: string}[]
  /** Column text of its limit: a budget or a rate. */
  readonly usage: string | null
  readonly rates: string | null
  /** When the usage of an entity was last set to zero by hand: value key → ISO 8601. */
  readonly resets: ReadonlyMap<string, string>
}

export interface PolicyCondition {
  readonly key: string
  readonly value: string | readonly string[]
  readonly excludes?: string | readonly string[] | undefined
}

/** The facts of a call that conditions and groups read. A missing value is null. */
export interface PolicyFacts {
  /** All names that a condition may call it by, its id too; a wildcard at the end matches among them (`@main/*`). */
  names(key: string): readonly string[] | null
  /** Its value in a group. */
  group(key: string): string | null
}

export interface Policies {
  /** The limits of the entities that a call is of, budgets and rates, in the order of the policies. */
  match(facts: PolicyFacts): readonly EntityLimit[]
  /** True when a policy asks what only the body of a call says. */
  readonly reads_body: boolean
}

const NONE: readonly EntityLimit[] = []
const ANY = '*'
/** The only entity of a policy that groups by nothing. */
const ALL = 'all'
/** Entities whose limits are kept read. */
const MAX_ENTITIES = 100_000
const OF_BODY: ReadonlySet<string> = new Set(['model', 'metadata._user'])

interface Compiled {
  readonly place: number
  readonly policy: Policy
  readonly conditions: readonly CompiledCondition[]
  readonly label: string
}

interface CompiledCondition {
  readonly key: string
  /** Null for any value. */
  readonly values: ReadonlySet<string> | null
  readonly excludes: ReadonlySet<string> | null
}

/**
 * Policies compiled once for all calls of a workspace. Each is found by the rarest of its named values, so that a call
 * looks at those alone that may well cover it, however many there are; a policy of nothing but wildcards is looked at
 * by every call.
 */
export function compilePolicies(policies: readonly Policy[]): Policies {
  const index = new Map<string, Map<string, Compiled[]>>()
  const general: Compiled[] = []
  const compiled = policies.map(compile)
  const populations = new Map<string, number>()
  for (const {conditions} of compiled)
    for (const name of namesOf(conditions)) populations.set(name, (populations.get(name) ?? 0) + 1)
  for (const each of compiled) {
    const condition = rarest(each.conditions, populations)
    if (!condition) {
      general.push(each)
      continue
    }
    const buckets = index.get(condition.key) ?? new Map<string, Compiled[]>()
    index.set(condition.key, buckets)
    for (const value of condition.values!) {
      const bucket = buckets.get(value)
      if (bucket) bucket.push(each)
      else buckets.set(value, [each])
    }
  }
  const entities = new LRUCache<string, EntityLimit>({max: MAX_ENTITIES})

  function limitOf({policy, label}: Compiled, value_key: string): EntityLimit {
    const id = `${policy.id}/${value_key}`
    const known = entities.get(id)
    if (known) return known
    const {workspace_id, usage, rates} = policy
    const limit = {
      entity: 'policy' as const,
      id,
      name: `${label} (${value_key})`,
      workspace_id,
      usage,
      rates,
      last_reset_at: policy.resets.get(value_key) ?? null,
    }
    entities.set(id, limit)
    return limit
  }

  return {
    reads_body: policies.some(({conditions, group_by}) =>
      [...conditions, ...group_by].some(({key}) => OF_BODY.has(key)),
    ),
    match(facts) {
      let found: Compiled[] | undefined
      const consider = (each: Compiled) => {
        if (found?.includes(each) || !covers(each, facts)) return
        found ??= []
        found.push(each)
      }
      for (const [key, buckets] of index) {
        for (const name of facts.names(key) ?? NO_NAMES)
          for (const each of buckets.get(name) ?? NO_POLICIES) consider(each)
      }
      for (const each of general) consider(each)
      if (!found) return NONE
      const limits: EntityLimit[] = []
      for (const each of found.sort((one, other) => one.place - other.place)) {
        const value_key = valueKey(each.policy.group_by, facts)
        if (value_key !== null) limits.push(limitOf(each, value_key))
      }
      return limits
    },
  }
}

const NO_NAMES: readonly string[] = []
const NO_POLICIES: readonly Compiled[] = []

/** The name of the entity that a call is of; null when the call has no value for one of the groups. */
export function valueKey(group_by: Policy['group_by'], facts: Pick<PolicyFacts, 'group'>): string | null {
  if (group_by.length === 0) return ALL
  const values: string[] = []
  for (const {key} of group_by) {
    const value = facts.group(key)
    if (value === null) return null
    values.push(value)
  }
  return valueKeyOf(
    group_by.map(({key}) => key),
    values,
  )
}

function compile(policy: Policy, place: number): Compiled {
  const conditions = policy.conditions.map(({key, value, excludes}) => {
    const values = listOf(value)
    return {
      key,
      values: values.includes(ANY) ? null : new Set(values),
      excludes: excludes === undefined ? null : new Set(listOf(excludes)),
    }
  })
  return {place, policy, conditions, label: policy.name ?? policy.id}
}

function covers({conditions}: Compiled, facts: PolicyFacts): boolean {
  for (const {key, values, excludes} of conditions) {
    const names = facts.names(key)
    if (!names) return false
    if (values && !names.some(name => values.has(name))) return false
    if (excludes && names.some(name => excludes.has(name))) return false
  }
  return true
}

function* namesOf(conditions: readonly CompiledCondition[]): Generator<string> {
  for (const {key, values} of conditions) for (const value of values ?? []) yield `${key}\n${value}`
}

/** The condition whose values the fewest other policies name too; undefined when none names values. */
function rarest(
  conditions: readonly CompiledCondition[],
  populations: ReadonlyMap<string, number>,
): CompiledCondition | undefined {
  let best: CompiledCondition | undefined
  let least = Number.POSITIVE_INFINITY
  for (const condition of conditions) {
    if (!condition.values) continue
    let most = 0
    for (const value of condition.values) most = Math.max(most, populations.get(`${condition.key}\n${value}`) ?? 0)
    if (most < least) {
      least = most
      best = condition
    }
  }
  return best
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}
