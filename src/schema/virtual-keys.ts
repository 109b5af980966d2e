import {z} from 'zod'
import {Credential} from './integrations.ts'
import {Handle, Slug} from './names.ts'
import {ProviderChanges, ProviderCommon, ProviderFields} from './providers.ts'
import {SecretMapping, secretMappings} from './secret-mappings.ts'

const word = z.string().min(1).max(255)

/** Deployments at a cloud that hosts models under names of the customer's own. */
const Deployments = z
  .array(
    z.strictObject({
      apiVersion: z.string().min(1).max(30),
      alias: word.optional(),
      is_default: z.boolean().optional(),
      deploymentName: word,
    }),
  )
  .min(1)
  .max(100)

const Writable = {
  ...ProviderFields,
  key: Credential.optional(),
  deploymentConfig: Deployments.optional(),
  workspace_id: Handle.optional(),
  /** As of integrations. */
  secret_mappings: secretMappings({
    pattern: /^(?:key|model_config\.\w+)$/,
    expected: 'key or model_config.NAME',
  }).optional(),
}

export const VirtualKeyCreate = z.strictObject({
  ...Writable,
  slug: Slug.optional(),
  /** A kind of provider. */
  provider: word,
  apiVersion: z.string().max(30).nullable().optional(),
  resourceName: word.nullable().optional(),
  deploymentName: word.nullable().optional(),
  skipPtuCostAttribution: z.boolean().optional(),
  vertexSkipPtuCostAttribution: z.boolean().optional(),
  /** Settings of the kind, as an integration takes them. */
  model_config: z.record(z.string(), z.unknown()).optional(),
})
export const VirtualKeyUpdate = z.strictObject({
  ...Writable,
  ...ProviderChanges,
  reset_usage: z.boolean().nullable().optional(),
  model_config: z.record(z.string(), z.unknown()).optional(),
})
export const VirtualKeyView = z.strictObject({
  ...ProviderCommon,
  provider: z.string(),
  model_config: z.record(z.string(), z.unknown()),
  /** Its own credential, masked; null for none. */
  masked_key: z.string().nullable().optional(),
  secret_mappings: z.array(SecretMapping),
  object: z.literal('virtual-key'),
})
