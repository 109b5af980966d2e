import {z} from 'zod'
import {Name} from './names.ts'
import {Time} from './times.ts'

export const ScimTokenParams = z.strictObject({
  scimTokenId: z.string().min(1).max(255).describe('The id of a token of a directory.'),
})
export const ScimTokenCreate = z.strictObject({name: Name, expires_at: Time.nullable().optional()})

export const ScimTokenView = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  masked: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
  object: z.literal('scim-token'),
})
/** The token is shown here alone. */
export const CreatedScimToken = ScimTokenView.extend({token: z.string()})
