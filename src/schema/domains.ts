import {z} from 'zod'
import {readDomain} from '../base/address.ts'

/** A name such as example.com, in lower case and ASCII letters. */
const DomainName = z
  .string()
  .max(253)
  .transform((text, context) => {
    const domain = readDomain(text.trim())
    if (domain !== undefined) return domain
    context.addIssue({code: 'custom', message: 'expected a domain such as example.com'})
    return z.NEVER
  })

export const DomainParams = z.strictObject({
  domainId: z.string().min(1).max(255).describe('The domain, or its id.'),
})
/** With `allow_subdomains` the domains below `domain` count as well. */
export const DomainCreate = z.strictObject({domain: DomainName, allow_subdomains: z.boolean().default(false)})
export const DomainUpdate = z.strictObject({allow_subdomains: z.boolean()})

export const DomainView = z.strictObject({
  id: z.uuid(),
  domain: z.string(),
  allow_subdomains: z.boolean(),
  status: z.enum(['pending', 'verified']),
  created_at: z.iso.datetime(),
  verified_at: z.iso.datetime().nullable(),
  object: z.literal('domain'),
})
