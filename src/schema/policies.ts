import {z} from 'zod'
import {CallTarget} from './call-targets.ts'
import {
  BUDGET,
  keepRateLimits,
  RATE_UNITS,
  RateLimit,
  type RateUnit,
  type StoredUsageLimit,
  TOOL_RATE_UNITS,
  UsageLimit,
} from './limits.ts'
import {Handle, Name} from './names.ts'
import {pageParams, wholeInQuery} from './paging.ts'

/** The facts of a call of a model that conditions and groups can read; `metadata.NAME` beside them. */
export const POLICY_KEYS = [
  'api_key',
  'workspace_id',
  'organisation_id',
  'virtual_key',
  'provider',
  'config',
  'prompt',
  'model',
] as const
/** Those of a call of a tool. */
export const TOOL_POLICY_KEYS = ['api_key', 'workspace_id', 'mcp_server', 'mcp_tool', 'user'] as const
const KEYS: Readonly<Record<CallTarget, readonly string[]>> = {llm: POLICY_KEYS, mcp_tools: TOOL_POLICY_KEYS}
const ALL_KEYS: readonly string[] = [...new Set([...POLICY_KEYS, ...TOOL_POLICY_KEYS])]
const METADATA = /^metadata\.[^\s]{1,128}$/
const Key = z
  .string()
  .max(160)
  .refine(
    key => ALL_KEYS.includes(key) || METADATA.test(key),
    `expected one of ${ALL_KEYS.join(', ')}, or metadata.NAME`,
  )
const Value = z.string().min(1).max(512)
const Values = z.union([Value, z.array(Value).min(1).max(100)])

/** A call matches by any of its values; `*` is any value there is, and `@provider/*` any model of a provider. */
export const Condition = z.strictObject({key: Key, value: Values, excludes: Values.optional()})
export type Condition = z.output<typeof Condition>
const Conditions = z.array(Condition).min(1).max(20)
const Groups = z
  .array(z.strictObject({key: Key}))
  .max(10)
  .superRefine((groups, {addIssue}) => {
    const keys = groups.map(({key}) => key)
    const twice = keys.find((key, at) => keys.indexOf(key) !== at)
    if (twice !== undefined) addIssue({code: 'custom', message: `names ${twice} twice: send each key once`})
  })

const Enforcement = z.enum(['compatible', 'strict', 'shadow'])
const {type: UsageType} = UsageLimit.shape
const Home = {workspace_id: Handle.optional(), organisation_id: z.uuid().optional()}
const usageFields = {
  credit_limit: z.number().min(0).max(Number.MAX_SAFE_INTEGER).describe(BUDGET),
  alert_threshold: z.number().min(0).nullable().optional(),
  periodic_reset: z.enum(['weekly', 'monthly']).nullable().optional(),
  enforcement: Enforcement.optional(),
}

/** The calls that a policy covers, and how it counts them. None of it changes later. */
const Cover = {
  name: Name.optional(),
  target: CallTarget.default('llm'),
  conditions: Conditions,
  /** A policy for tools may leave it out: it counts all its calls together then. */
  group_by: Groups.optional(),
}

interface Covered {
  readonly target: CallTarget
  readonly conditions: readonly {readonly key: string}[]
  readonly group_by?: readonly {readonly key: string}[] | undefined
}

/** Conditions and groups are facts of the calls that a policy is for. */
function checkCover({target, conditions, group_by = []}: Covered, addIssue: AddIssue) {
  const known = (key: string) => KEYS[target].includes(key) || METADATA.test(key)
  const expected = `expected one of ${KEYS[target].join(', ')}, or metadata.NAME, for target ${target}`
  for (const [name, list] of Object.entries({conditions, group_by}))
    for (const [at, {key}] of list.entries())
      if (!known(key)) addIssue({code: 'custom', path: [name, at, 'key'], message: expected})
  if (target === 'llm' && group_by.length === 0)
    addIssue({code: 'custom', path: ['group_by'], message: 'expected one key to count by at least'})
}

type AddIssue = (issue: {code: 'custom'; path: (string | number)[]; message: string}) => void

/** The reason why a policy cannot count in a unit; null where it can. */
export function unitFault(target: CallTarget, type: 'requests' | 'tokens', unit: RateUnit): string | null {
  if (target === 'llm' && !(RATE_UNITS as readonly string[]).includes(unit))
    return `expected one of ${RATE_UNITS.join(', ')}, for target llm`
  return type === 'requests' && unit.startsWith('t') ? `${unit} is a unit of tokens, and type is requests` : null
}

export const UsagePolicyCreate = z
  .strictObject({...Cover, type: UsageType.unwrap(), ...usageFields, ...Home})
  .superRefine((given, {addIssue}) => checkCover(given, addIssue))
/** An absent member stays, `null` clears. The target, the conditions and the grouping of a policy cannot change. */
export const UsagePolicyUpdate = z.strictObject({
  name: Name.optional(),
  ...usageFields,
  credit_limit: usageFields.credit_limit.optional(),
  /** The entity, by its value key, whose usage is set to zero. */
  reset_usage_for_value: z.string().min(1).max(4000).optional(),
})
const Unit = z.enum(TOOL_RATE_UNITS)
export const RatePolicyCreate = z
  .strictObject({
    ...Cover,
    type: RateLimit.shape.type,
    unit: Unit,
    value: RateLimit.shape.value,
    enforcement: Enforcement.optional(),
    ...Home,
  })
  .superRefine((given, {addIssue}) => {
    checkCover(given, addIssue)
    const message = unitFault(given.target, given.type, given.unit)
    if (message) addIssue({code: 'custom', path: ['unit'], message})
  })
export const RatePolicyUpdate = z.strictObject({
  name: Name.optional(),
  unit: Unit.optional(),
  value: RateLimit.shape.value.optional(),
  enforcement: Enforcement.optional(),
})

const Status = z.enum(['active', 'archived']).default('active')
const YesNo = z.enum(['true', 'false']).transform(text => text === 'true')
/** `page_size=0` asks for the number alone. */
const page = {...pageParams(), page_size: wholeInQuery(0, 1000).default(100)}
export const UsagePoliciesQuery = z.strictObject({
  ...page,
  workspace_id: Handle.optional(),
  status: Status,
  type: UsageType.unwrap().optional(),
  target: CallTarget.optional(),
})
export const RatePoliciesQuery = z.strictObject({
  ...page,
  workspace_id: Handle.optional(),
  status: Status,
  type: RateLimit.shape.type.optional(),
  unit: Unit.optional(),
  target: CallTarget.optional(),
})
export const UsagePolicyQuery = z.strictObject({status: Status, include_usage: YesNo.optional()})
export const RatePolicyQuery = z.strictObject({status: Status})
export const EntitiesQuery = z.strictObject({
  ...pageParams({usual: 100, most: 100}),
  status: z.enum(['active', 'exhausted']).optional(),
  search: z.string().min(1).max(255).optional(),
})

const Row = {
  id: z.uuid(),
  name: z.string().nullable(),
  target: CallTarget,
  conditions: z.array(z.strictObject({key: z.string(), value: Values, excludes: Values.optional()})),
  group_by: z.array(z.strictObject({key: z.string()})),
  enforcement: Enforcement.optional(),
  status: z.enum(['active', 'archived']),
  workspace_id: z.uuid(),
  organisation_id: z.uuid(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
}
export const UsagePolicyView = z.strictObject({
  ...Row,
  type: UsageType.unwrap(),
  /** US dollars, or tokens; so are `alert_threshold` and all usage. */
  credit_limit: z.number(),
  alert_threshold: z.number().nullable(),
  periodic_reset: z.enum(['weekly', 'monthly']).nullable(),
  periodic_reset_days: z.null(),
  next_usage_reset_at: z.iso.datetime().nullable(),
  last_reset_at: z.iso.datetime().nullable(),
  /** Value key of an entity → what it used since the budget began. */
  value_key_usage_map: z.record(z.string(), z.number()).optional(),
  object: z.literal('policy_usage_limits'),
})
export const RatePolicyView = z.strictObject({
  ...Row,
  type: RateLimit.shape.type,
  unit: Unit,
  value: z.number(),
  object: z.literal('policy_rate_limits'),
})
export const PolicyEntity = z.strictObject({
  id: z.string(),
  value_key: z.string(),
  current_usage: z.number(),
  status: z.enum(['active', 'exhausted']),
})

/** The column text of a usage policy's limit, counting since `started_at`. One of 0 lets nothing through. */
export function keepUsageTerms(
  given: {
    readonly type: 'cost' | 'tokens'
    readonly credit_limit: number
    readonly alert_threshold?: number | null | undefined
    readonly periodic_reset?: 'weekly' | 'monthly' | null | undefined
    readonly enforcement?: z.output<typeof Enforcement> | undefined
  },
  started_at: string,
): string {
  const {type, credit_limit, alert_threshold = null, periodic_reset = null, enforcement = 'compatible'} = given
  const whole = {...WHOLE, type, credit_limit, alert_threshold, periodic_reset, enforcement}
  return JSON.stringify([{...whole, started_at}] satisfies StoredUsageLimit[])
}

const WHOLE = {periodic_reset_days: null, next_usage_reset_at: null}

export function keepRateTerms(given: {
  readonly type: 'requests' | 'tokens'
  readonly unit: RateUnit
  readonly value: number
  readonly enforcement?: z.output<typeof Enforcement> | undefined
}): string {
  const {type, unit, value, enforcement = 'compatible'} = given
  return keepRateLimits([{type, unit, value, enforcement}])!
}
