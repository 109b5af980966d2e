import {object, parsed} from '../../base/json-object.ts'
import {type Options, optionIn, optionNeeded, WrongOptionFault} from '../options.ts'
import {federatedToken} from './google-federation.ts'
import {LoginFault, type Logins, loginKey, type RequestAuth} from './login.ts'
import {readToken} from './oauth.ts'
import {readPrivateKey, signedJwt} from './private-key.ts'

/**
 * The address that issues tokens. A key file's own `token_uri` is ignored: it would let its holder choose a host for
 * us.
 */
const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/**
 * The account that a machine or a pod runs under. Source: Google Cloud, "About VM metadata". By address: the name is
 * only known there.
 */
const METADATA = 'http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token'
const LIFE_S = 3600
const OWN = new Set(['workload', 'workloadIdentity', 'metadata'])

/**
 * Google Cloud: a token for a service account's key, or for the gateway itself: the account this machine runs under, or
 * a federated one. Source: Google Identity, "Using OAuth 2.0 for server to server applications" (HTTP/REST).
 */
export const google: RequestAuth = {
  says: 'Authorization: Bearer, with a token of Google (vertex_auth_type)',
  signs_body: false,
  chosen: options => modeOf(options) !== null,
  usesOwnIdentity: options => modeOf(options) === 'own',
  async authorize({host}, _key, options, on) {
    const is_own = modeOf(options) === 'own'
    if (is_own && !/\.googleapis\.com$/.test(host))
      throw new LoginFault('The gateway shows its own Google identity to hosts of Google alone.')
    return {authorization: `Bearer ${is_own ? await gatewayGoogleToken(on) : await ofAccount(options, on)}`}
  },
}

/** The service account of a key file; what Vertex AI needs of it. Throws `WrongOptionFault` for what is none. */
export function serviceAccount(options: Options): {
  client_email: string
  private_key: string
  private_key_id: string | null
  project_id: string | null
} {
  const key_file = parsed(optionNeeded(options, 'vertex_service_account_json'))
  if (typeof key_file !== 'object' || key_file === null)
    throw new WrongOptionFault('vertex_service_account_json', 'the JSON of a service account')
  const {client_email, private_key, private_key_id, project_id} = object(key_file)
  if (typeof client_email !== 'string' || typeof private_key !== 'string')
    throw new WrongOptionFault(
      'vertex_service_account_json',
      'the key file of a service account: client_email and private_key',
    )
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return {client_email, private_key, private_key_id: text(private_key_id), project_id: text(project_id)}
}

function modeOf(options: Options): 'account' | 'own' | null {
  const auth_type = optionIn(options, 'vertex_auth_type')
  if (auth_type === 'serviceAccount') return 'account'
  if (auth_type !== undefined) return OWN.has(auth_type) ? 'own' : null
  return optionIn(options, 'vertex_service_account_json') === undefined ? null : 'account'
}

async function ofAccount(options: Options, {fetch, now_ms, tokens}: Logins): Promise<string> {
  const {client_email, private_key, private_key_id} = serviceAccount(options)
  return tokens.get(loginKey('google', client_email, private_key), async () => {
    const iat = Math.floor(now_ms() / 1000)
    const key = readPrivateKey(private_key, 'private key of the service account')
    const claims = {iss: client_email, scope: SCOPE, aud: TOKEN_URL, iat, exp: iat + LIFE_S}
    const assertion = signedJwt(private_key_id ? {kid: private_key_id} : {}, claims, key)
    const body = new URLSearchParams({grant_type: GRANT, assertion}).toString()
    const headers = {'content-type': 'application/x-www-form-urlencoded'}
    return readToken(await fetch({method: 'POST', url: TOKEN_URL, headers, body}), 'Google', now_ms())
  })
}

/** A token of the gateway itself. */
export async function gatewayGoogleToken(on: Logins): Promise<string> {
  const {fetch, now_ms, tokens} = on
  const federation = on.identity.google?.federation
  if (federation) return tokens.get(loginKey('google', 'federated'), () => federatedToken(federation, on))
  return tokens.get(loginKey('google', 'machine'), async () =>
    readToken(
      await fetch({method: 'GET', url: METADATA, headers: {'metadata-flavor': 'Google'}}),
      "Google's metadata service",
      now_ms(),
    ),
  )
}
