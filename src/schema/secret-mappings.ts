import {z} from 'zod'
import {Handle} from './names.ts'

/** A field that is filled with a secret of a manager, by its reference. */
export const SecretMapping = z.strictObject({
  target_field: z.string(),
  secret_reference_id: z.string(),
  secret_key: z.string().nullable().optional(),
  value_format: z.enum(['json', 'string']).nullable().optional(),
})

/**
 * Fields that are filled from references when a call is made; each once. `fields` says which there are, where only some
 * can be.
 */
export function secretMappings(fields?: {readonly pattern: RegExp; readonly expected: string}) {
  const named = z.string().min(1).max(255)
  const target_field = fields ? named.regex(fields.pattern, `expected ${fields.expected}`) : named
  return z
    .array(
      SecretMapping.extend({
        target_field,
        secret_reference_id: Handle,
        secret_key: z.string().min(1).max(255).nullable().optional(),
      }),
    )
    .max(50)
    .refine(
      all => new Set(all.map(each => each.target_field)).size === all.length,
      'names a target_field twice: send each once',
    )
}

export const KeptSecretMappings = secretMappings()
export type KeptSecretMappings = z.output<typeof KeptSecretMappings>
