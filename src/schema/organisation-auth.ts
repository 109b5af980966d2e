import {z} from 'zod'
import {ALGORITHMS} from '../base/jwt/token.ts'
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
})

export const OrganisationAuthView = z.strictObject({jwt: Jwt, scim: Scim, object: z.literal('organisation-auth')})

const LONGEST_TOKEN = 16 * 1024

export const OrganisationAuthTest = z.strictObject({
  part: z.literal('jwt'),
  /** A token to judge as a call with it would be. It is not kept. */
  token: z.string().min(1).max(LONGEST_TOKEN).optional(),
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

/** `change` on top of what is kept. A key set by URL takes the place of one that was given, and the other way round. */
export function changedAuth(kept: KeptAuth, change: z.output<typeof OrganisationAuthUpdate>): KeptAuth {
  const {jwt = {}} = change
  const replaced = {...(jwt.jwks_url && {jwks: null}), ...(jwt.jwks && {jwks_url: null})}
  return {jwt: set({...kept.jwt, ...replaced, ...jwt}), scim: set({...kept.scim, ...change.scim})}
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
