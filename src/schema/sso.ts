import {z} from 'zod'
import {readDomain} from '../base/address.ts'
import {CONNECTION_TYPES, LdapConnection, OidcConnection, SamlConnection} from './connections.ts'

const MOST_CONNECTIONS = 50
/** In place of a secret, in replies; sent again it changes nothing. */
export const HIDDEN = '***'

const Name = z.string().trim().min(1).max(100)
const Domain = z
  .string()
  .max(253)
  .transform((text, context) => {
    const domain = readDomain(text.trim())
    if (domain !== undefined) return domain
    context.addIssue({code: 'custom', message: 'expected a domain such as example.com'})
    return z.NEVER
  })
const Domains = z.array(Domain).max(100)

/** A change of the settings of a kind: what is absent stays, `null` goes back to the default. */
const OidcChange = z.strictObject(changes(OidcConnection.shape))
const SamlChange = z.strictObject(changes(SamlConnection.shape))
const LdapChange = z.strictObject(changes(LdapConnection.shape))

const Kinds = {oidc: OidcChange.optional(), saml: SamlChange.optional(), ldap: LdapChange.optional()}

/** One connection: known by its id, else by its name; a new one needs a name and a type. */
const ConnectionChange = z.strictObject({
  id: z.uuid().optional(),
  name: Name.optional(),
  type: z.enum(CONNECTION_TYPES).optional(),
  enabled: z.boolean().optional(),
  domains: Domains.optional(),
  ...Kinds,
})
export type ConnectionUpdate = z.output<typeof ConnectionChange>

/** `enabled`, `type` and the kinds are those of the first connection; `connections` is the whole list, in its order. */
export const SsoUpdate = z
  .strictObject({
    required: z.boolean().optional(),
    /** The operator alone: `required` before anybody came in by a connection. */
    force: z.boolean().optional(),
    /** Of the list that was read: 409 where it was changed since. */
    revision: z.int().min(0).optional(),
    enabled: z.boolean().optional(),
    type: z.enum(CONNECTION_TYPES).nullable().optional(),
    ...Kinds,
    connections: z.array(ConnectionChange).max(MOST_CONNECTIONS).optional(),
  })
  .refine(
    ({connections, enabled, type, oidc, saml, ldap}) =>
      !connections || [enabled, type, oidc, saml, ldap].every(each => each === undefined),
    {path: ['connections'], message: 'excludes enabled, type, oidc, saml and ldap, which are of the first of them'},
  )
export type SsoChange = z.output<typeof SsoUpdate>

const Settings = z.record(z.string(), z.unknown())
const KindsView = {oidc: Settings.optional(), saml: Settings.optional(), ldap: Settings.optional()}

const ConnectionView = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: z.enum(CONNECTION_TYPES),
  enabled: z.boolean(),
  domains: z.array(z.string()),
  /** False: an admin wrote it last, so that no owner comes in by it. */
  lets_owners_in: z.boolean(),
  ...KindsView,
})
export type ConnectionShown = z.input<typeof ConnectionView>

export const SsoView = z.strictObject({
  required: z.boolean(),
  /** `environment`: the settings of the installation describe the connection, and it is not written here. */
  source: z.enum(['stored', 'environment']),
  revision: z.int(),
  enabled: z.boolean(),
  type: z.enum(CONNECTION_TYPES).nullable(),
  ...KindsView,
  connections: z.array(ConnectionView),
})
export type SsoShown = z.input<typeof SsoView>

/** The addresses that are typed in at a provider. */
export const SignInPlaces = z.strictObject({
  login_url: z.string(),
  oidc_redirect_uri: z.string(),
  oidc_initiate_login_uri: z.string(),
  oidc_backchannel_logout_uri: z.string(),
  oidc_post_logout_redirect_uri: z.string(),
  saml_acs_url: z.string(),
  saml_entity_id: z.string(),
  saml_metadata_url: z.string(),
  scim_base_url: z.string(),
})

function changes<Shape extends z.ZodRawShape>(shape: Shape) {
  return Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, (schema as z.ZodType).nullable().optional()]),
  ) as {[Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name] & z.ZodType>>}
}
