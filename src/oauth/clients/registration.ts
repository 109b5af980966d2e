import {z} from 'zod'
import {readRedirect} from '../../identity/mcp-oauth/redirect-uris.ts'
import {hashOfWord, makeWord} from '../../identity/mcp-oauth/words.ts'
import {CLIENT_AUTH_METHODS} from '../../schema/mcp-oauth-clients.ts'
import {findNul} from '../../schema/nul.ts'
import {countUnusedClients, insertOAuthClient} from '../../store/oauth-clients.ts'
import type {McpOauthClientsTable} from '../../store/tables/oauth.ts'
import type {OAuthServices} from '../services.ts'
import {OAuthFault} from '../wire/fault.ts'

const MOST_UNUSED = 10_000
/** A client that anyone may register acts for people only. */
export const GRANT_TYPES_OF_PEOPLE = ['authorization_code', 'refresh_token'] as const

const Text = z.string().max(2048)
const Line = z
  .string()
  .max(255)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line')

/** The metadata of a client (RFC 7591) that are kept. Others are ignored. */
export const ClientMetadata = z.object({
  redirect_uris: z.array(z.string().max(8192)).min(1).max(10),
  client_name: Line.optional(),
  grant_types: z.array(z.string().max(100)).max(20).optional(),
  response_types: z.array(z.string().max(100)).max(20).optional(),
  token_endpoint_auth_method: z.enum(CLIENT_AUTH_METHODS).default('none'),
  scope: Text.optional(),
  application_type: z.enum(['web', 'native']).optional(),
  client_uri: Text.optional(),
  logo_uri: Text.optional(),
  tos_uri: Text.optional(),
  policy_uri: Text.optional(),
  contacts: z.array(Line).max(10).optional(),
  software_id: Line.optional(),
  software_version: Line.optional(),
})

export type McpClientMetadata = z.infer<typeof ClientMetadata>

/** Reads metadata; throws `invalid_client_metadata` or `invalid_redirect_uri` with the field. */
export function readMetadata(body: unknown): McpClientMetadata {
  const nul = findNul(body)
  if (nul) throw new OAuthFault('invalid_client_metadata', `${nul.join('.')}: must hold no NUL character.`)
  const {success, data, error} = ClientMetadata.safeParse(body)
  if (success) return data
  const [{path, message} = {path: [], message: 'must be an object'}] = error.issues
  const field = path.map(String).join('.') || 'the body'
  const of = path[0] === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  throw new OAuthFault(of, `${field}: ${message}.`)
}

/** Those of the redirect URIs that a client may have; refuses where none is left. */
export function allowedRedirects(uris: readonly string[], settings: OAuthServices['settings']): string[] {
  const schemes = new Set(settings.mcp_redirect_schemes)
  const allowed = [...new Set(uris)].filter(uri => readRedirect(uri, schemes))
  if (allowed.length > 0) return allowed
  throw new OAuthFault(
    'invalid_redirect_uri',
    'redirect_uris: none is https, http to localhost, 127.0.0.1 or [::1], or a scheme of an app ' +
      '(with a dot, of a known editor, or named by MCP_REDIRECT_SCHEMES), each without fragment and user.',
  )
}

/** The columns of a client that say what it may do, from its metadata. */
export function columnsOf(
  metadata: McpClientMetadata,
  settings: OAuthServices['settings'],
): Pick<McpOauthClientsTable, 'name' | 'redirect_uris' | 'grant_types' | 'details'> {
  const {
    redirect_uris,
    client_name = '',
    grant_types,
    response_types,
    token_endpoint_auth_method: _,
    ...details
  } = metadata
  if (response_types !== undefined && !response_types.includes('code'))
    throw new OAuthFault('invalid_client_metadata', 'response_types: must hold code.')
  const types = GRANT_TYPES_OF_PEOPLE.filter(type => grant_types === undefined || grant_types.includes(type))
  if (!types.includes('authorization_code'))
    throw new OAuthFault('invalid_client_metadata', 'grant_types: must hold authorization_code.')
  return {
    name: client_name.trim(),
    redirect_uris: JSON.stringify(allowedRedirects(redirect_uris, settings)),
    grant_types: JSON.stringify(GRANT_TYPES_OF_PEOPLE),
    details: JSON.stringify(details),
  }
}

/** Registers a client (RFC 7591) and says what was registered; its secret is shown here alone. */
export async function registerClient({store, settings, now}: OAuthServices, body: unknown) {
  const metadata = readMetadata(body)
  const columns = columnsOf(metadata, settings)
  const at = now()
  const id = makeWord('client')
  const auth_method = metadata.token_endpoint_auth_method
  const secret = auth_method === 'none' ? null : makeWord('secret')
  const row: McpOauthClientsTable = {
    ...{id, kind: 'registered', organisation_id: null, workspace_id: null, ...columns, auth_method},
    ...{secret_hash: secret === null ? null : hashOfWord(secret), scopes: null, skips_consent: 0, created_by: null},
    ...{created_at: at.toISOString(), last_updated_at: at.toISOString(), last_used_at: null, expires_at: null},
  }
  await store.write(async db => {
    if ((await countUnusedClients(db)) >= MOST_UNUSED)
      throw new OAuthFault('temporarily_unavailable', 'Too many clients were registered and not used. Try tomorrow.')
    await insertOAuthClient(db, row)
  })
  return {
    ...{client_id: id, client_id_issued_at: Math.floor(at.getTime() / 1000)},
    ...(secret !== null && {client_secret: secret, client_secret_expires_at: 0}),
    ...(row.name !== '' && {client_name: row.name}),
    redirect_uris: JSON.parse(row.redirect_uris) as string[],
    grant_types: GRANT_TYPES_OF_PEOPLE,
    response_types: ['code'],
    token_endpoint_auth_method: auth_method,
    ...(JSON.parse(row.details) as object),
  }
}
