import {z} from 'zod'
import {RateLimitsChange, UsageLimitsChange} from './limit-changes.ts'
import {RateLimits, RateLimitView, UsageLimitStanding, UsageLimits} from './limits.ts'
import {Handle, Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'
import {Tags, TagsQuery} from './tags.ts'
import {Time} from './times.ts'

const Writable = {
  name: Name,
  note: z.string().max(2000).nullable().optional(),
  usage_limits: UsageLimits.optional(),
  rate_limits: RateLimits.optional(),
  expires_at: Time.nullable().optional(),
  tags: Tags.optional(),
}
/** The fields that virtual keys and providers share. */
export const ProviderFields = Writable
/** The same in an update: what is absent stays, `null` clears. */
export const ProviderChanges = {
  ...Writable,
  name: Name.optional(),
  usage_limits: UsageLimitsChange.optional(),
  rate_limits: RateLimitsChange.optional(),
}

const ModelConfig = z
  .record(z.string().min(1).max(255), z.unknown())
  .refine(placed => JSON.stringify(placed).length <= 65_536, 'expected at most 65536 characters of JSON')

export const ProviderCreate = z.strictObject({
  ...Writable,
  /** Id or slug. */
  integration_id: Handle,
  workspace_id: Handle.optional(),
  slug: Slug.optional(),
  /** Settings of the kind, laid over those of the integration; other members are kept without effect. */
  model_config: ModelConfig.optional(),
})
export const ProviderUpdate = z.strictObject({
  ...ProviderChanges,
  workspace_id: Handle.optional(),
  reset_usage: z.boolean().nullable().optional(),
  model_config: ModelConfig.optional(),
})
export const ProviderQuery = z.strictObject({
  ...pageParams(),
  workspace_id: Handle.optional(),
  tags: TagsQuery.optional(),
})
export const WorkspaceQuery = z.strictObject({workspace_id: Handle.optional()})

/** The fields that both names of a row show. */
export const ProviderCommon = {
  id: z.uuid(),
  name: z.string(),
  note: z.string().nullable(),
  status: z.enum(['active', 'exhausted', 'expired']),
  usage_limits: UsageLimitStanding.nullable(),
  rate_limits: z.array(RateLimitView).nullable(),
  reset_usage: z.null(),
  expires_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  slug: z.string(),
  workspace_id: z.uuid(),
  tags: z.record(z.string(), z.string()),
}
export const ProviderView = z.strictObject({
  ...ProviderCommon,
  integration_id: z.string(),
  ai_provider_id: z.string(),
  /** Secret members are masked. */
  model_config: z.record(z.string(), z.unknown()),
  object: z.literal('provider'),
})
