import {z} from 'zod'
import {OneRateLimitChange, OneUsageLimitChange} from './limit-changes.ts'
import {RateLimitView, UsageLimitStanding, UsageLimitView} from './limits.ts'
import {Handle, Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'
import {LISTED_TEXT, listPattern} from './query-lists.ts'
import {SecretMapping, secretMappings} from './secret-mappings.ts'
import {Tags, TagsQuery} from './tags.ts'

/** A credential that goes into a header: visible ASCII, without the line end that comes along when it is pasted. */
export const Credential = z
  .string()
  .trim()
  .min(1, 'expected a key')
  .max(16_384)
  .regex(/^[\x20-\x7e•]+$/, 'expected visible ASCII characters on one line')
export const Description = z.string().max(2000).nullable()

/** Documented, and not carried out in this version: nothing but what leaves things as they are is taken. */
const Later = {
  pricing_adjustments: z.null('pricing adjustments are not available in this version').optional(),
}

const Writable = {
  name: Name,
  key: Credential.nullable().optional(),
  /** Of `key`, or of a member of the configurations; a call by one that has any is refused in this version. */
  secret_mappings: secretMappings({
    pattern: /^(?:key|configurations\.\w+)$/,
    expected: 'key or configurations.NAME',
  }).optional(),
  description: Description.optional(),
  /** Members depend on the kind of provider (src/providers/configurations.ts). */
  configurations: z.record(z.string(), z.unknown()).optional(),
  tags: Tags.optional(),
  ...Later,
}

export const IntegrationCreate = z.strictObject({
  ...Writable,
  slug: Slug.optional(),
  ai_provider_id: z.string().min(1).max(255),
  /** Of the workspace it is for alone; without one it is the organisation's. */
  workspace_id: Handle.optional(),
  create_default_provider: z.boolean().default(true),
  default_provider_slug: Slug.optional(),
})
export const IntegrationUpdate = z.strictObject({...Writable, name: Name.optional()})
export const IntegrationQuery = z.strictObject({
  ...pageParams(),
  workspace_id: Handle.optional(),
  type: z.enum(['workspace', 'organisation', 'all']).default('all'),
  tags: TagsQuery.optional(),
})

export const IntegrationRow = z.strictObject({
  id: z.uuid(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable(),
  type: z.enum(['workspace', 'organisation']),
  ai_provider_id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'archived']),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  slug: z.string(),
  description: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  object: z.literal('integration'),
})

const Access = {
  enabled: z.boolean(),
  usage_limits: z.array(UsageLimitView).nullable(),
  rate_limits: z.array(RateLimitView).nullable(),
}

export const IntegrationView = IntegrationRow.extend({
  masked_key: z.string().nullable(),
  /** Secret members are masked. */
  configurations: z.record(z.string(), z.unknown()),
  global_workspace_access_settings: z.strictObject(Access),
  allow_all_models: z.boolean(),
  workspace_count: z.int(),
  secret_mappings: z.array(SecretMapping),
  pricing_adjustments: z.null(),
})

/** Prices in US cents a token or unit; read by pricing (src/pricing/config.ts). */
const PricingConfig = z.record(z.string(), z.unknown())

/** A model's name at its provider: one line, no space at its ends. */
const ModelSlug = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'expected visible ASCII characters')

const ModelPlace = z
  .strictObject({
    custom_host: z.string().trim().min(1).max(2048).optional(),
    custom_headers: z.record(z.string(), z.string()).optional(),
  })
  .refine(place => Object.keys(place).length > 0, 'expected custom_host, custom_headers or both')

export const ModelsUpdate = z.strictObject({
  models: z
    .array(
      z.strictObject({
        slug: ModelSlug,
        enabled: z.boolean(),
        is_custom: z.boolean().nullable().optional(),
        is_finetune: z.boolean().nullable().optional(),
        base_model_slug: ModelSlug.nullable().optional(),
        /** A host and headers of its own. */
        configurations: ModelPlace.nullable().optional(),
        pricing_config: PricingConfig.nullable().optional(),
      }),
    )
    .max(5000)
    .refine(
      models => new Set(models.map(model => model.slug)).size === models.length,
      'names a model twice: send each once',
    ),
  allow_all_models: z.boolean().optional(),
})
export const ModelsList = z.strictObject({
  total: z.int(),
  models: z.array(
    z.strictObject({
      slug: z.string(),
      name: z.string(),
      enabled: z.boolean(),
      is_custom: z.boolean(),
      is_finetune: z.boolean(),
      base_model_slug: z.string().nullable(),
      pricing_config: PricingConfig.nullable(),
      /** Its own host or headers, masked. */
      configurations: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
})
/** `?slugs=a,b` */
export const ModelsRemoval = z.strictObject({
  slugs: z
    .string()
    .min(1)
    .max(65_536)
    .meta({pattern: listPattern(LISTED_TEXT, 1000)})
    .transform(text => [...new Set(text.split(',').map(slug => slug.trim()))].filter(Boolean))
    .pipe(z.array(ModelSlug).min(1, 'expected the slugs of models, parted by commas').max(1000)),
})

const Limits = {
  usage_limits: OneUsageLimitChange.optional(),
  rate_limits: OneRateLimitChange.optional(),
}
const DefaultProvider = {create_default_provider: z.boolean().optional(), default_provider_slug: Slug.optional()}

export const AccessUpdate = z
  .strictObject({
    workspaces: z
      .array(
        z.strictObject({
          id: Handle,
          enabled: z.boolean(),
          ...Limits,
          reset_usage: z.boolean().nullable().optional(),
          ...DefaultProvider,
        }),
      )
      .max(1000)
      .optional(),
    global_workspace_access: z.strictObject({enabled: z.boolean(), ...Limits}).optional(),
    override_existing_workspace_access: z.boolean().default(false),
    ...DefaultProvider,
  })
  .refine(({workspaces, override_existing_workspace_access: override}) => workspaces?.length !== 0 || override, {
    path: ['workspaces'],
    message: 'an empty list is taken with override_existing_workspace_access alone',
  })
  .refine(({workspaces, global_workspace_access: everywhere}) => workspaces || everywhere, {
    message: 'expected workspaces, global_workspace_access or both',
  })
export type AccessUpdate = z.output<typeof AccessUpdate>

export const AccessList = z.strictObject({
  total: z.int(),
  workspaces: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      slug: z.string(),
      ...Access,
      usage_limits: z.array(UsageLimitStanding).nullable(),
    }),
  ),
})
