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

/** Below `_gateway-challenge.` a longer one is no name of DNS, and its mailboxes are no addresses. */
const MOST_TO_PROVE = 234

/** Those at which a domain is administered (RFC 2142, and as certificate authorities take them). */
const MAILBOXES = ['admin', 'hostmaster', 'postmaster']

export const DomainParams = z.strictObject({
  domainId: z.string().min(1).max(255).describe('The domain, or its id.'),
})
/** With `allow_subdomains` the domains below `domain` count as well. */
export const DomainVouched = z.strictObject({domain: DomainName, allow_subdomains: z.boolean().default(false)})
export const DomainCreate = z.strictObject({
  domain: DomainName.refine(name => name.length <= MOST_TO_PROVE, `expected at most ${MOST_TO_PROVE} characters`),
  allow_subdomains: z.boolean().default(false),
})
export const DomainUpdate = z.strictObject({allow_subdomains: z.boolean()})

/** `dns` looks for the record. `mail` sends a code to one of the addresses; with `code`, it proves the domain. */
export const DomainVerify = z
  .strictObject({
    method: z.enum(['dns', 'mail']),
    mail_to: z.string().min(1).max(255).optional(),
    code: z.string().min(1).max(64).optional(),
  })
  .superRefine(({method, mail_to, code}, context) => {
    const wrong = (field: string, message: string) => context.addIssue({code: 'custom', path: [field], message})
    if (method === 'dns' && mail_to !== undefined) wrong('mail_to', 'is for the method mail')
    if (method === 'dns' && code !== undefined) wrong('code', 'is for the method mail')
    if (mail_to !== undefined && code !== undefined)
      wrong('mail_to', 'is for a new code; leave it out to use the code that came')
  })

const Verification = z.strictObject({
  dns_name: z.string(),
  /** Null for those who may not change the settings. */
  dns_value: z.string().nullable(),
  mail_to: z.array(z.string()),
  /** When the code that was sent ends; null where none can be used. */
  mail_code_ends_at: z.iso.datetime().nullable(),
})

export const DomainView = z.strictObject({
  id: z.uuid(),
  domain: z.string(),
  allow_subdomains: z.boolean(),
  status: z.enum(['pending', 'verified']),
  /** The proof of it: by the operator, the settings of the installation, a record, a code. */
  proof: z.enum(['operator', 'settings', 'dns', 'mail']).nullable(),
  /** The proofs that are taken; null once it is verified. */
  verification: Verification.nullable(),
  created_at: z.iso.datetime(),
  verified_at: z.iso.datetime().nullable(),
  /** When the record was last looked for, with an answer. */
  looked_at: z.iso.datetime().nullable(),
  /** Set: the record that proved it was gone at the last look. The domain stays verified. */
  lost_at: z.iso.datetime().nullable(),
  object: z.literal('domain'),
})

/** The record and the addresses by which a domain is proven. */
export function challengeOf({domain, code}: {readonly domain: string; readonly code: string}) {
  return {
    dns_name: `_gateway-challenge.${domain}`,
    dns_value: `gateway-verification=${code}`,
    mail_to: MAILBOXES.map(mailbox => `${mailbox}@${domain}`),
  }
}
