import {object, parsed} from '../../base/json-object.ts'
import {AwsCredentialsFault, type CredentialFetch} from './aws-login.ts'
import type {AwsCredentials} from './sigv4.ts'
import type {CachedToken} from './token-cache.ts'

const INSTANCE = 'http://169.254.169.254/latest'
const INSTANCE_TOKEN_S = 21_600
/** Hosts that may serve credentials without TLS: this machine, and the link-local addresses of ECS and EKS. */
const CONTAINER_HOSTS = new Set([
  'localhost',
  '127.0.0.1',
  '[::1]',
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
])

/**
 * Credentials of the role this instance runs under. Source: Amazon EC2 user guide, IMDSv2 (a session token, then the
 * role's name); v1 has no token.
 */
export async function fromInstance(fetch: CredentialFetch, is_v1 = false): Promise<CachedToken<AwsCredentials>> {
  const headers: Record<string, string> = is_v1 ? {} : {'x-aws-ec2-metadata-token': await sessionToken(fetch)}
  const listed = await fetch({method: 'GET', url: `${INSTANCE}/meta-data/iam/security-credentials/`, headers})
  const role = listed.status === 200 ? listed.body.split('\n', 1)[0]!.trim() : ''
  if (!/^[\w+=,.@-]{1,64}$/.test(role)) throw new AwsCredentialsFault('This instance has no role.')
  const {status, body} = await fetch({
    method: 'GET',
    url: `${INSTANCE}/meta-data/iam/security-credentials/${role}`,
    headers,
  })
  return readMetadataCredentials(status, body, "the instance's metadata service")
}

async function sessionToken(fetch: CredentialFetch): Promise<string> {
  const response = await fetch({
    method: 'PUT',
    url: `${INSTANCE}/api/token`,
    headers: {'x-aws-ec2-metadata-token-ttl-seconds': String(INSTANCE_TOKEN_S)},
  })
  if (response.status !== 200)
    throw new AwsCredentialsFault(`The instance's metadata service gave no token: HTTP ${response.status}.`)
  return response.body.trim()
}

/**
 * Credentials that the platform of a container serves at `url`. Source: AWS SDKs reference guide, "Container credential
 * provider": HTTPS, or plain HTTP to this machine and the platforms' own addresses alone.
 */
export async function fromContainer(
  fetch: CredentialFetch,
  url: string,
  token: string | null,
): Promise<CachedToken<AwsCredentials>> {
  const place = URL.parse(url)
  if (!place || !(place.protocol === 'https:' || (place.protocol === 'http:' && CONTAINER_HOSTS.has(place.hostname)))) {
    throw new AwsCredentialsFault(
      'The address of the container credentials is neither HTTPS nor one that a platform serves them at.',
    )
  }
  const {status, body} = await fetch({method: 'GET', url, headers: token ? {authorization: token.trim()} : {}})
  return readMetadataCredentials(status, body, 'the container credentials')
}

/** Reads the answer of both services: `{AccessKeyId, SecretAccessKey, Token, Expiration}`. */
function readMetadataCredentials(status: number, body: string, who: string): CachedToken<AwsCredentials> {
  const credentials = status === 200 ? object(parsed(body)) : {}
  const {AccessKeyId: access_key_id, SecretAccessKey: secret_access_key, Token: session_token, Expiration} = credentials
  const expires_at_ms = typeof Expiration === 'string' ? Date.parse(Expiration) : Number.NaN
  if (!isText(access_key_id) || !isText(secret_access_key) || !isText(session_token) || Number.isNaN(expires_at_ms)) {
    throw new AwsCredentialsFault(`No credentials came from ${who}: HTTP ${status}.`)
  }
  return {value: {access_key_id, secret_access_key, session_token}, expires_at_ms}
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
