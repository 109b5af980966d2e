import {z} from 'zod'
import {pageParams} from './paging.ts'
import {Email} from './people.ts'

const Word = z.string().min(1).max(255)
const Issuer = z
  .string()
  .min(1)
  .max(2048)
  .describe(
    'The issuer of the links: of OpenID Connect its URL, of others `saml:` or `ldap:` and the id of the connection.',
  )

export const IdentityParams = z.strictObject({identityId: Word.describe('The id of the link.')})
export const IdentitiesQuery = z.strictObject({
  ...pageParams(),
  user_id: Word.optional(),
  issuer: Issuer.optional(),
})
export const RelinkQuery = z.strictObject({issuer: Issuer})

/** `issuer`, or a connection whose issuer it is: that of its name, or the first. */
export const IdentityCreate = z.strictObject({
  email: Email,
  subject: Word,
  issuer: Issuer.optional(),
  connection: Word.optional(),
})

/** A user as a provider knows him. */
export const IdentityView = z.strictObject({
  id: z.uuid(),
  user_id: z.uuid(),
  issuer: z.string(),
  subject: z.string(),
  /** As the provider said it last. */
  email: z.string(),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
  object: z.literal('identity'),
})
export const Relinked = z.strictObject({dropped: z.int(), object: z.literal('relinked')})
