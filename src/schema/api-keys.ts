import {z} from 'zod'
import {RateLimitsChange, UsageLimitsChange} from './limit-changes.ts'
import {RateLimits, RateLimitView, UsageLimitStanding, UsageLimits} from './limits.ts'
import {Metadata} from './metadata.ts'
import {ModelListInput, ModelListView} from './model-lists.ts'
import {Handle, Name} from './names.ts'
import {OrganisationView} from './organisations.ts'
import {pageParams} from './paging.ts'
import {Time} from './times.ts'

const Defaults = z
  .strictObject({
    metadata: Metadata.nullable().optional(),
    /** Id or slug of the config that calls use which name none. */
    config_id: Handle.nullable().optional(),
    /** False: calls may not bring a config of their own. */
    allow_config_override: z.boolean().nullable().optional(),
  })
  .nullable()
export type KeyDefaults = z.output<typeof Defaults>

const Writable = {
  name: Name,
  description: z.string().max(2000).nullable().optional(),
  /** `resource.action`; which ones a key can hold follows from its kind. */
  scopes: z.array(z.string().min(1).max(100)).min(1).max(200),
  usage_limits: UsageLimits.optional(),
  rate_limits: RateLimits.optional(),
  models: ModelListInput.optional(),
  defaults: Defaults.optional(),
  alert_emails: z.array(z.email().max(255)).max(20).nullable().optional(),
  expires_at: Time.nullable().optional(),
}

export const KeyParams = z.strictObject({
  type: z.enum(['organisation', 'workspace']),
  subtype: z.enum(['service', 'user']),
})

export const KeyCreate = z.strictObject({
  ...Writable,
  organisation_id: z.uuid().optional(),
  /** Of a workspace key: id or slug. */
  workspace_id: Handle.nullable().optional(),
  /** Of a user key: whose calls they are. */
  user_id: z.uuid().nullable().optional(),
})
export type KeyCreate = z.output<typeof KeyCreate>

/** An absent member stays, `null` clears. */
export const KeyUpdate = z.strictObject({
  ...Writable,
  name: Name.optional(),
  scopes: Writable.scopes.optional(),
  usage_limits: UsageLimitsChange.optional(),
  rate_limits: RateLimitsChange.optional(),
  /** True sets the usage to zero and takes an exhausted key back into service. */
  reset_usage: z.boolean().nullable().optional(),
})
export type KeyUpdate = z.output<typeof KeyUpdate>

const MIN_TRANSITION_MS = 1_800_000
const MAX_TRANSITION_MS = 30 * 86_400_000
export const KeyRotate = z.strictObject({
  /** The time for which the former secret keeps working; half an hour at least, thirty days at most. */
  key_transition_period_ms: z.int().min(MIN_TRANSITION_MS).max(MAX_TRANSITION_MS).default(MIN_TRANSITION_MS),
})
/** The reply to a rotation: the only time the new secret is shown. */
export const RotatedKey = z.strictObject({id: z.uuid(), key: z.string(), key_transition_expires_at: z.iso.datetime()})

export const KeysQuery = z.strictObject({...pageParams(), workspace_id: Handle.optional()})

/** The reply to a key's creation: the only time the key itself is shown. */
export const CreatedKey = z.strictObject({id: z.uuid(), key: z.string(), object: z.literal('api-key')})

export const KeyView = z.strictObject({
  id: z.uuid(),
  /** Masked. */
  key: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(['organisation-service', 'workspace-service', 'workspace-user']),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable(),
  user_id: z.uuid().nullable(),
  status: z.enum(['active', 'exhausted', 'expired']),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  creation_mode: z.enum(['ui', 'api', 'auto']),
  rate_limits: z.array(RateLimitView),
  usage_limits: UsageLimitStanding.nullable(),
  models: ModelListView,
  /** When its usage was last set to zero by hand. */
  last_reset_at: z.iso.datetime().nullable(),
  /** A reset is done when it is requested: none is ever pending. */
  reset_usage: z.literal(0),
  scopes: z.array(z.string()),
  defaults: z.strictObject({
    metadata: z.record(z.string(), z.string()),
    config_id: z.string().nullable(),
    allow_config_override: z.boolean(),
  }),
  alert_emails: z.array(z.string()),
  expires_at: z.iso.datetime().nullable(),
  /** While a rotated key is in transition: until when the secret before works. */
  key_transition_expires_at: z.iso.datetime().nullable(),
  /** The key is refused from then on without another sign-in of its person (`keys_need_sign_in_days`). */
  needs_sign_in_by: z.iso.datetime().optional(),
  object: z.literal('api-key'),
})

const Whether = z.enum(['true', 'false']).default('false')
export const SelfQuery = z.strictObject({include_organisation: Whether, include_workspace: Whether})
/** The calling key, and its workspace and organisation. */
export const SelfView = KeyView.extend({
  organisation: OrganisationView.optional(),
  workspace: z
    .strictObject({id: z.uuid(), slug: z.string(), name: z.string(), status: z.enum(['active', 'archived'])})
    .nullable()
    .optional(),
})
