import {z} from 'zod'
import {ALGORITHMS} from '../base/jwt/token.ts'
import {SignInPlaces, SsoUpdate, SsoView} from './sso.ts'
import {Time} from './times.ts'

const MOST_NAMES = 100
const MOST_SKEW_S = 300
const MOST_LIFETIME_S = 31_536_000
const Text = z.string().min(1).max(255)
const Texts = z.array(Text).max(MOST_NAMES)
const Algorithm = z.enum(ALGORITHMS).exclude(['ES512'])
const KeySetUrl = z
  .string()
  .max(2048)
  .refine(isKeySetUrl, 'expected an https URL; http is taken for this machine alone')

const Jwt = z.strictObject({
  /** False: no token is taken, whatever else is set. */
  enabled: z.boolean(),
  /** The address of the keys that sign tokens; `jwks` excludes it. */
  jwks_url: KeySetUrl.nullable(),
  /** The same keys in place: a JWK set of public keys (RFC 7517). */
  jwks: z.record(z.string(), z.unknown()).nullable(),
  algorithms: z.array(Algorithm).min(1).max(ALGORITHMS.length),
  /** `iss` of every token; null: any. */
  issuer: Text.nullable(),
  /** `aud` of every token has one of them; none: any. */
  audiences: Texts,
  clock_skew_s: z.int().min(0).max(MOST_SKEW_S),
  /** From `iat` to `exp`; null: any time. */
  max_lifetime_s: z.int().min(60).max(MOST_LIFETIME_S).nullable(),
  /** Tokens that were made before it are refused. */
  revoked_before: Time.nullable(),
  /** Of tokens that name none. */
  default_scopes: Texts,
  /** Id or slug; of tokens that name none. */
  default_workspace: Text.nullable(),
  /** Ids or slugs; none: every workspace. */
  allowed_workspaces: Texts,
  /** `sub` of every token is one of them; none: any. */
  allowed_subjects: Texts,
})

const Scim = z.strictObject({
  /** Groups whose names begin with it map a workspace: `ws-Search-role-member`. */
  workspace_prefix: Text,
  /** Between the name of the workspace and the role. */
  role_separator: Text,
  /** An archived person who is put into a group comes back. */
  group_based_user_provisioning: z.boolean(),
})

/** The rules for a directory that brings users and groups. */
export type ScimSettings = z.output<typeof Scim>

const SCIM_DEFAULTS: ScimSettings = {
  workspace_prefix: 'ws-',
  role_separator: '-role-',
  group_based_user_provisioning: false,
}

/** Of sign-in as a whole; the connections have rows of their own. */
const Sso = z.strictObject({
  /** People come in by a connection alone, or as the operator's and with an owner's password. */
  required: z.boolean(),
})
export type SsoSettings = z.output<typeof Sso>
const SSO_DEFAULTS: SsoSettings = {required: false}

const MOST_MAPPINGS = 500
const MOST_DAYS = 3650

const Provisioning = z.strictObject({
  /** A first sign-in makes no user, unless an invite waits for him. */
  disable_auto_provision_user: z.boolean(),
  /** Neither a sign-in nor an invite makes a user: the directory does, by SCIM. */
  scim_only: z.boolean(),
  default_role: z.enum(['admin', 'member']),
  /** The groups that a provider states, compared exactly; of several the highest role holds. */
  role_mapping: z
    .array(z.strictObject({group: z.string().min(1).max(1024), role: z.enum(['owner', 'admin', 'member'])}))
    .max(MOST_MAPPINGS),
  /** Stated groups give the memberships of groups of the same name (docs/scim.md). */
  sync_groups: z.boolean(),
  /** The key of a user works while its person has come in by a connection within so many days; null: always. */
  keys_need_sign_in_days: z.int().min(1).max(MOST_DAYS).nullable(),
})
export type ProvisioningSettings = z.output<typeof Provisioning>
export const PROVISIONING_DEFAULTS: ProvisioningSettings = {
  disable_auto_provision_user: false,
  scim_only: false,
  default_role: 'member',
  role_mapping: [],
  sync_groups: false,
  keys_need_sign_in_days: null,
}

const SessionLife = z.strictObject({
  /** Seconds, from the sign-in; null: as SESSION_ABSOLUTE_TIMEOUT_S says, which bounds it in any case. */
  max_session_ttl: z.int().min(900).max(2_592_000).nullable(),
  /** Seconds without use; null: as SESSION_IDLE_TIMEOUT_S says, which bounds it in any case. */
  idle_timeout: z.int().min(300).max(86_400).nullable(),
})
export type SessionLifeSettings = z.output<typeof SessionLife>

/** The rules by which an organisation takes tokens (JWT) in place of keys. */
export type JwtSettings = z.output<typeof Jwt>

const DEFAULTS: JwtSettings = {
  enabled: true,
  jwks_url: null,
  jwks: null,
  algorithms: ['RS256'],
  issuer: null,
  audiences: [],
  clock_skew_s: 5,
  max_lifetime_s: null,
  revoked_before: null,
  default_scopes: [],
  default_workspace: null,
  allowed_workspaces: [],
  allowed_subjects: [],
}

/** A change: what is absent stays, `null` goes back to the default. */
export const OrganisationAuthUpdate = z.strictObject({
  jwt: z
    .strictObject(changesOf(Jwt.shape))
    .refine(({jwks_url, jwks}) => !jwks_url || !jwks, {path: ['jwks'], message: 'excludes jwks_url: send one of them'})
    .optional(),
  scim: z.strictObject(changesOf(Scim.shape)).optional(),
  provisioning: z.strictObject(changesOf(Provisioning.shape)).optional(),
  session_settings: z.strictObject(changesOf(SessionLife.shape)).optional(),
  sso: SsoUpdate.optional(),
})

export const OrganisationAuthView = z.strictObject({
  jwt: Jwt,
  scim: Scim,
  provisioning: Provisioning,
  session_settings: SessionLife,
  sso: SsoView,
  endpoints: SignInPlaces,
  object: z.literal('organisation-auth'),
})

const LONGEST_TOKEN = 16 * 1024

/** The part to try, and someone to try it with: nothing is kept, and no session is opened. */
export const OrganisationAuthTest = z.strictObject({
  part: z.enum(['jwt', 'oidc', 'saml', 'ldap']),
  /** A token to judge as a call with it would be. */
  token: z.string().min(1).max(LONGEST_TOKEN).optional(),
  /** Id or name of the connection; the first of its kind where none is named. */
  connection: z.string().min(1).max(255).optional(),
  /** Of a person in the directory: his entry and his groups are read. */
  username: z.string().min(1).max(256).optional(),
  /** A statement of the provider about a person: the outcome of his sign-in is told, not done. */
  statement: z
    .strictObject({
      subject: z.string().min(1).max(255).nullable().default(null),
      email: z.string().max(255).nullable().default(null),
      email_verified: z.boolean().nullable().default(null),
      groups: z.array(z.string().max(1024)).max(1000).optional(),
    })
    .optional(),
})

export const OrganisationAuthTested = z.strictObject({
  /** All steps are. */
  ok: z.boolean(),
  steps: z.array(z.strictObject({name: z.string(), ok: z.boolean(), detail: z.string()})),
  object: z.literal('organisation-auth-test'),
})

/** As rows keep it: only what was set. */
export interface KeptAuth {
  readonly jwt?: Partial<JwtSettings>
  readonly scim?: Partial<ScimSettings>
  readonly sso?: Partial<SsoSettings>
  readonly provisioning?: Partial<ProvisioningSettings>
  /** An owner or the operator wrote `role_mapping` last, so that it may make owners. */
  readonly maps_owners?: boolean
  readonly session_settings?: Partial<SessionLifeSettings>
}

export function readAuth(column: string | null | undefined): KeptAuth {
  return column ? (JSON.parse(column) as KeptAuth) : {}
}

/** The rules for tokens, whole. */
export function jwtSettings(column: string | null | undefined): JwtSettings {
  return {...DEFAULTS, ...readAuth(column).jwt}
}

/** The rules for directories, whole. */
export function scimSettings(column: string | null | undefined): ScimSettings {
  return {...SCIM_DEFAULTS, ...readAuth(column).scim}
}

/** True in `required` where the sign-in of the organisation is the only way in. */
export function ssoSettings(column: string | null | undefined): SsoSettings {
  return {...SSO_DEFAULTS, ...readAuth(column).sso}
}

/** Rules for people who sign in for the first time, and for their roles. */
export function provisioningSettings(
  column: string | null | undefined,
): ProvisioningSettings & {readonly maps_owners: boolean} {
  const {provisioning, maps_owners = false} = readAuth(column)
  return {...PROVISIONING_DEFAULTS, ...provisioning, maps_owners}
}

/** As the organisation has them; null is the installation's. */
export function sessionSettings(column: string | null | undefined): SessionLifeSettings {
  return {max_session_ttl: null, idle_timeout: null, ...readAuth(column).session_settings}
}

/** `change` on top of what is kept. A key set by URL takes the place of one that was given, and the other way round. */
export function changedAuth(kept: KeptAuth, change: z.output<typeof OrganisationAuthUpdate>): KeptAuth {
  const {jwt = {}} = change
  const replaced = {...(jwt.jwks_url && {jwks: null}), ...(jwt.jwks && {jwks_url: null})}
  return {
    ...kept,
    sso: {required: change.sso?.required ?? kept.sso?.required ?? false},
    jwt: set({...kept.jwt, ...replaced, ...jwt}),
    scim: set({...kept.scim, ...change.scim}),
    provisioning: set({...kept.provisioning, ...change.provisioning}),
    session_settings: set({...kept.session_settings, ...change.session_settings}),
  }
}

/** Without what is as it is by default. */
function set(members: object) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
}

function changesOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, (schema as z.ZodType).nullable().optional()]),
  ) as {[Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name] & z.ZodType>>}
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

function isKeySetUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password || url.hash) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))
}
