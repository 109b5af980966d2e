import {z} from 'zod'
import {keepRateLimits, RateLimit, type StoredUsageLimit, UsageLimit} from './limits.ts'
import {Handle, Name} from './names.ts'
import {pageParams, wholeInQuery} from './paging.ts'

/** The facts of a call that conditions and groups can read; `metadata.NAME` beside them. */
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
const METADATA = /^metadata\.[^\s]{1,128}$/
const Key = z
  .string()
  .max(160)
  .refine(
    key => (POLICY_KEYS as readonly string[]).includes(key) || METADATA.test(key),
    `expected one of ${POLICY_KEYS.join(', ')}, or metadata.NAME`,
  )
const Value = z.string().min(1).max(512)
const Values = z.union([Value, z.array(Value).min(1).max(100)])

/** A call matches by any of its values; `*` is any value there is, and `@provider/*` any model of a provider. */
export const Condition = z.strictObject({key: Key, value: Values, excludes: Values.optional()})
export type Condition = z.output<typeof Condition>
const Conditions = z.array(Condition).min(1).max(20)
const Groups = z
  .array(z.strictObject({key: Key}))
  .min(1)
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
  credit_limit: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  alert_threshold: z.number().min(0).nullable().optional(),
  periodic_reset: z.enum(['weekly', 'monthly']).nullable().optional(),
  enforcement: Enforcement.optional(),
}

export const UsagePolicyCreate = z.strictObject({
  name: Name.optional(),
  conditions: Conditions,
  group_by: Groups,
  type: UsageType.unwrap(),
  ...usageFields,
  ...Home,
})
/** An absent member stays, `null` clears. The conditions and the grouping of a policy cannot change. */
export const UsagePolicyUpdate = z.strictObject({
  name: Name.optional(),
  ...usageFields,
  credit_limit: usageFields.credit_limit.optional(),
  /** The entity, by its value key, whose usage is set to zero. */
  reset_usage_for_value: z.string().min(1).max(4000).optional(),
})
export const RatePolicyCreate = z.strictObject({
  name: Name.optional(),
  conditions: Conditions,
  group_by: Groups,
  type: RateLimit.shape.type,
  unit: RateLimit.shape.unit,
  value: RateLimit.shape.value,
  enforcement: Enforcement.optional(),
  ...Home,
})
export const RatePolicyUpdate = z.strictObject({
  name: Name.optional(),
  unit: RateLimit.shape.unit.optional(),
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
})
export const RatePoliciesQuery = z.strictObject({
  ...page,
  workspace_id: Handle.optional(),
  status: Status,
  type: RateLimit.shape.type.optional(),
  unit: RateLimit.shape.unit.optional(),
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
  unit: RateLimit.shape.unit,
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
  readonly unit: 'rpm' | 'rph' | 'rpd'
  readonly value: number
  readonly enforcement?: z.output<typeof Enforcement> | undefined
}): string {
  const {type, unit, value, enforcement = 'compatible'} = given
  return keepRateLimits([{type, unit, value, enforcement}])!
}
