import {z} from 'zod'
import {readKeySet} from '../base/jwt/key-set.ts'
import {readAge} from '../base/jwt/times.ts'
import {ALGORITHMS} from '../base/jwt/token.ts'
import {compileRegex, RegexFault} from '../base/regex.ts'
import {ToolPriceList} from './tool-prices.ts'

const MAX_LISTED = 100
/** Goes into a header as it is. */
const HeaderValue = z
  .string()
  .max(16_384)
  .regex(/^[\x20-\x7e•]*$/, 'expected visible ASCII characters on one line')
const HeaderName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,256}$/, 'expected the name of a header')
const Headers = z
  .record(HeaderName, HeaderValue)
  .refine(headers => Object.keys(headers).length <= MAX_LISTED, `expected at most ${MAX_LISTED} headers`)

const Text = z.string().min(1).max(1024)
const Secret = z.string().min(1).max(8192)
const ClaimName = z.string().min(1).max(255)
const Texts = z.array(Text).max(MAX_LISTED)
const WebAddress = z
  .string()
  .max(2048)
  .refine(isWebAddress, 'expected a URL with https or http, without user, password and #')

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return false
  return url.username === '' && url.password === '' && url.hash === ''
}

/** RFC 6749 §3.3: names with blanks between. */
const ScopeText = z
  .string()
  .max(4096)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'expected scopes with one blank between')

/** Parameters of an authorization request that are ours to write. */
const OWN_PARAMETERS = [
  'response_type',
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'redirect_uri',
  'state',
  'scope',
  'resource',
] as const

const AuthorizationParams = z
  .record(z.string().min(1).max(255), z.string().max(2048))
  .refine(all => Object.keys(all).length <= 50, 'expected at most 50 parameters')
  .superRefine((all, context) => {
    for (const name of OWN_PARAMETERS)
      if (Object.hasOwn(all, name))
        context.addIssue({code: 'custom', path: [name], message: 'is a parameter that the gateway writes itself'})
  })

const ClientMethod = z.enum(['none', 'client_secret_basic', 'client_secret_post'])

/** Accepted, without effect: clients send them along with what they registered. */
const NO_EFFECT = {
  redirect_uri: z.unknown().optional(),
  redirect_uris: z.unknown().optional(),
  jwks: z.unknown().optional(),
  jwks_uri: z.unknown().optional(),
  software_statement: z.unknown().optional(),
}

/** The gateway as a client of the server's authorization server, and what replaces that server's own metadata. */
export const McpOauthMetadata = z.strictObject({
  client_id: Text.optional(),
  client_secret: Secret.optional(),
  client_name: Text.optional(),
  client_uri: WebAddress.optional(),
  logo_uri: WebAddress.optional(),
  scope: ScopeText.optional(),
  software_id: Text.optional(),
  software_version: Text.optional(),
  grant_types: Texts.optional(),
  response_types: Texts.optional(),
  token_endpoint_auth_method: ClientMethod.optional(),
  contacts: Texts.optional(),
  tos_uri: WebAddress.optional(),
  policy_uri: WebAddress.optional(),
  authorization_params: AuthorizationParams.optional(),
  issuer: WebAddress.optional(),
  authorization_endpoint: WebAddress.optional(),
  token_endpoint: WebAddress.optional(),
  registration_endpoint: WebAddress.optional(),
  scopes_supported: Texts.optional(),
  /** `omit` for authorization servers that refuse the parameter (RFC 8707). */
  resource: z.enum(['send', 'omit']).optional(),
  ...NO_EFFECT,
})
export type McpOauthMetadata = z.output<typeof McpOauthMetadata>

const Renamed = z.strictObject({from: HeaderName, to: HeaderName})
const ForwardedNames = z.array(z.union([HeaderName, Renamed])).max(MAX_LISTED)

/** Headers of clients that the server gets. In `all-except` those that are named stay here, renamed or not. */
export const McpForwardHeaders = z.union([
  z.strictObject({mode: z.enum(['allowlist', 'all-except']), headers: ForwardedNames}),
  ForwardedNames,
])
export type McpForwardHeaders = z.output<typeof McpForwardHeaders>

/** Names that no identity may take: another meaning would be lost. */
const NOT_OF_IDENTITY =
  /^(?:authorization|cookie|host|connection|te|upgrade|(?:mcp|accept|content|proxy|x-gateway|x-portkey)-?.*)$/i

export const McpIdentityForwarding = z.strictObject({
  method: z.enum(['claims_header', 'jwt_header', 'bearer']),
  include_claims: z.array(ClaimName).min(1).max(32).optional(),
  header_name: HeaderName.refine(name => !NOT_OF_IDENTITY.test(name), 'is a header with another meaning').optional(),
  jwt_expiry_seconds: z.int().min(30).max(3600).optional(),
  /** `iss` of the JWT; without it the address of this gateway. */
  issuer: Text.optional(),
})
export type McpIdentityForwarding = z.output<typeof McpIdentityForwarding>

const ClaimValue = z.union([z.string().max(1024), z.number(), z.boolean()]).transform(String)
const WantedClaim = z
  .strictObject({
    values: z.union([z.array(ClaimValue).min(1).max(MAX_LISTED), ClaimValue.transform(one => [one])]),
    matchType: z.enum(['exact', 'contains', 'containsAll', 'regex']).default('exact'),
  })
  .superRefine(({values, matchType}, context) => {
    if (matchType !== 'regex') return
    for (const [at, pattern] of values.entries()) {
      const fault = patternFault(pattern)
      if (fault !== null) context.addIssue({code: 'custom', path: ['values', at], message: fault})
    }
  })

function patternFault(pattern: string): string | null {
  try {
    compileRegex(pattern)
    return null
  } catch (fault) {
    if (fault instanceof RegexFault) return `is a pattern that is not available: ${fault.message}`
    throw fault
  }
}

/** A second credential that clients need besides that of the gateway. */
export const McpJwtValidation = z
  .strictObject({
    jwks: z
      .unknown()
      .refine(value => readKeySet(value) !== undefined, 'expected a key set (JWKS), or its JSON')
      .optional(),
    jwksUri: WebAddress.optional(),
    introspectEndpoint: WebAddress.optional(),
    headerKey: HeaderName.optional(),
    algorithms: z.array(z.enum(ALGORITHMS)).min(1).optional(),
    /** Seconds. */
    clockTolerance: z.number().min(0).max(600).optional(),
    /** Seconds that keys are kept at most. */
    cacheMaxAge: z.number().min(0).max(2_592_000).optional(),
    maxTokenAge: z
      .union([z.string().max(32), z.int().min(1).transform(String)])
      .refine(text => readAge(text) !== undefined, 'expected a time such as 1d, 12h, 30m or 45s')
      .optional(),
    requiredClaims: z.array(ClaimName).max(MAX_LISTED).optional(),
    claimValues: z.record(ClaimName, WantedClaim).optional(),
    headerPayloadMatch: z.array(ClaimName).max(MAX_LISTED).optional(),
    introspectContentType: z.enum(['application/json', 'application/x-www-form-urlencoded']).optional(),
    introspectClientId: Text.optional(),
    introspectClientSecret: Secret.optional(),
    /** Seconds that an answer is kept; 0: not at all. */
    introspectCacheMaxAge: z.number().min(0).max(86_400).optional(),
  })
  .refine(
    ({jwks, jwksUri, introspectEndpoint}) =>
      [jwks, jwksUri, introspectEndpoint].filter(each => each !== undefined).length === 1,
    'expected one of jwks, jwksUri and introspectEndpoint',
  )
export type McpJwtValidation = z.output<typeof McpJwtValidation>

/** A provider where people sign in instead of here. */
export const McpExternalAuth = z.strictObject({
  issuer: WebAddress.optional(),
  authorization_endpoint: WebAddress,
  token_endpoint: WebAddress,
  registration_endpoint: WebAddress.optional(),
  revocation_endpoint: WebAddress.optional(),
  introspection_endpoint: WebAddress.optional(),
  userinfo_endpoint: WebAddress.optional(),
  jwks_uri: WebAddress.optional(),
  client_id: Text.optional(),
  client_secret: Secret.optional(),
  token_endpoint_auth_method: ClientMethod.optional(),
  scope: ScopeText.optional(),
  scopes_supported: Texts.optional(),
  authorization_params: AuthorizationParams.optional(),
})
export type McpExternalAuth = z.output<typeof McpExternalAuth>

/** Another spelling of a key on input; one of the two is given. */
const ALIASES = {headers: 'custom_headers', passthrough_headers: 'passthrough_header'} as const

/** The configuration of a server besides its address. Headers are secrets; so is any value under the name of one. */
export const McpConfigurations = z
  .strictObject({
    custom_headers: Headers.optional(),
    passthrough_header: Headers.optional(),
    forward_headers: McpForwardHeaders.optional(),
    oauth_metadata: McpOauthMetadata.optional(),
    user_identity_forwarding: McpIdentityForwarding.optional(),
    jwt_validation: McpJwtValidation.optional(),
    external_auth_config: McpExternalAuth.optional(),
    tool_prices: ToolPriceList.optional(),
    tool_pinning: z.enum(['off', 'warn', 'enforce']).optional(),
    new_capabilities: z.enum(['allow', 'deny']).optional(),
    headers: Headers.optional(),
    passthrough_headers: Headers.optional(),
  })
  .superRefine((all, context) => {
    for (const [alias, name] of Object.entries(ALIASES) as [keyof typeof ALIASES, keyof typeof all][])
      if (all[alias] !== undefined && all[name] !== undefined)
        context.addIssue({code: 'custom', path: [alias], message: `is another spelling of ${name}: send one of them`})
  })
  .transform(({headers, passthrough_headers, ...all}) => ({
    ...all,
    ...(headers !== undefined && {custom_headers: headers}),
    ...(passthrough_headers !== undefined && {passthrough_header: passthrough_headers}),
  }))
export type McpConfigurations = z.output<typeof McpConfigurations>
