import {answerAt, matchesRedirect, readRedirect} from '../../identity/mcp-oauth/redirect-uris.ts'
import {isSameServer, readResource} from '../../identity/mcp-oauth/resources.ts'
import {boundedScopes, readScopes} from '../../identity/mcp-oauth/scopes.ts'
import type {McpServerNames} from '../../store/oauth-servers.ts'
import {clientOfRow, findClient, type OAuthClient} from '../clients/client.ts'
import {isDocumentId, isHostAllowed, readClientDocument} from '../clients/documents.ts'
import type {OAuthServices} from '../services.ts'
import {type OAuthError, OAuthFault, OAuthPageFault} from '../wire/fault.ts'
import {type OAuthFields, oauthFields} from '../wire/fields.ts'
import {isChallenge} from '../wire/pkce.ts'

/** A request for authorization that may be shown to a person. */
export interface AuthorizationRequest {
  readonly client: OAuthClient
  readonly redirect_uri: string
  readonly state: string | undefined
  readonly code_challenge: string
  readonly scopes: readonly string[]
  /** Null where the person chooses. */
  readonly names: McpServerNames | null
  /** The client wants the page, whatever is remembered. */
  readonly asks_again: boolean
}

/** A request that its client may hear of: where the answer goes. */
export interface AnsweredAt {
  readonly redirect_uri: string
  readonly state: string | undefined
}

/** A refusal that goes back to the client, as its redirect URI was proven before. */
export class AuthorizationFault extends Error {
  readonly error: OAuthError
  readonly at: AnsweredAt

  constructor(error: OAuthError, message: string, at: AnsweredAt) {
    super(message)
    this.name = 'AuthorizationFault'
    this.error = error
    this.at = at
  }
}

/** The address at which a client hears the answer, in which `iss` says who gives it (RFC 9207). */
export function answerTo(
  {redirect_uri, state}: AnsweredAt,
  {base_url}: Pick<OAuthServices, 'base_url'>,
  answer: Readonly<Record<string, string>>,
): string {
  return answerAt(redirect_uri, {...answer, state, iss: base_url})
}

/**
 * Reads a request for authorization. Who asks and where the answer goes is proven first: until then a person reads of
 * what is wrong (`OAuthPageFault`), from then on the client does (`AuthorizationFault`).
 */
export async function readAuthorization(
  services: OAuthServices,
  query: unknown,
  named: McpServerNames | null,
): Promise<AuthorizationRequest> {
  const fields = oauthFields(query)
  const {client, redirect_uri} = await provenClient(services, fields)
  let state: string | undefined
  try {
    state = fields.text('state')
    return {client, redirect_uri, state, ...restOf(services, fields, client, named)}
  } catch (fault) {
    if (fault instanceof OAuthFault) throw new AuthorizationFault(fault.error, fault.message, {redirect_uri, state})
    throw fault
  }
}

async function provenClient(services: OAuthServices, fields: OAuthFields) {
  try {
    const client = await clientNamed(services, fields.required('client_id'))
    const redirect_uri = fields.required('redirect_uri')
    const is_allowed = readRedirect(redirect_uri, new Set(services.settings.mcp_redirect_schemes)) !== null
    if (is_allowed && client.redirect_uris.some(uri => matchesRedirect(uri, redirect_uri)))
      return {client, redirect_uri}
  } catch (fault) {
    if (fault instanceof OAuthFault) throw new OAuthPageFault(400, `This link is broken: ${fault.message}`)
    throw fault
  }
  throw new OAuthPageFault(
    400,
    'The client wants to be answered at an address that it did not register. Nothing was sent there. Remove this ' +
      'server in your client and add it again.',
  )
}

/** The client of an id; a document is read again when its time is over. */
async function clientNamed(services: OAuthServices, client_id: string): Promise<OAuthClient> {
  const {store, settings, now} = services
  const known = await findClient(store.db, settings, client_id)
  const is_document = isDocumentId(client_id) && isHostAllowed(client_id, settings.mcp_cimd_hosts)
  if (is_document && (known?.expires_at ?? '') <= now().toISOString())
    return clientOfRow(await readClientDocument(services, client_id))
  if (known) return known
  throw new OAuthPageFault(
    400,
    'This gateway does not know the client that sent you: its registration is gone, or it is of another gateway. ' +
      'Remove this server in your client and add it again.',
  )
}

function restOf(
  {base_url}: OAuthServices,
  fields: OAuthFields,
  client: OAuthClient,
  named: McpServerNames | null,
): Omit<AuthorizationRequest, 'client' | 'redirect_uri' | 'state'> {
  for (const name of ['request', 'request_uri'] as const)
    if (fields.text(name) !== undefined) throw new OAuthFault(`${name}_not_supported`, `${name}: is not supported.`)
  if (fields.required('response_type') !== 'code')
    throw new OAuthFault('unsupported_response_type', 'response_type: must be code.')
  if ((fields.text('response_mode') ?? 'query') !== 'query')
    throw new OAuthFault('invalid_request', 'response_mode: must be query.')
  if (!client.grant_types.includes('authorization_code'))
    throw new OAuthFault('unauthorized_client', 'This client may not ask people.')
  const code_challenge = fields.required('code_challenge')
  if (fields.text('code_challenge_method') !== 'S256')
    throw new OAuthFault('invalid_request', 'code_challenge_method: must be S256.')
  if (!isChallenge(code_challenge))
    throw new OAuthFault('invalid_request', 'code_challenge: must be 43 characters of base64url.')
  const wanted = readScopes(fields.text('scope'))
  const scopes = wanted && boundedScopes(wanted, client.scopes)
  if (!scopes?.length) throw new OAuthFault('invalid_scope', 'scope: holds none that this client may have.')
  const asks_again = (fields.text('prompt') ?? '').split(' ').includes('consent')
  return {code_challenge, scopes, names: namesIn(fields.text('resource'), named, base_url), asks_again}
}

/** The server that a request is for: by its `resource`, and by the address that it came to. */
function namesIn(resource: string | undefined, named: McpServerNames | null, base_url: string): McpServerNames | null {
  if (resource === undefined) return named
  const names = readResource(resource, base_url)
  if (!names) throw new OAuthFault('invalid_target', `resource: must be ${base_url}/SERVER/mcp.`)
  if (named && !isSameServer(named, names))
    throw new OAuthFault('invalid_target', 'resource: names another server than this address.')
  return {workspace: names.workspace ?? named?.workspace ?? null, server: names.server}
}
