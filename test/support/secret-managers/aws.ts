import {createHash, createHmac} from 'node:crypto'
import {type DoubleAnswer, type ManagerDouble, type ManagerHeard, managerDouble} from './double.ts'

interface AwsKeys {
  readonly secret: string
  readonly session?: string
  readonly ends_at_ms?: number
}

export interface AwsState {
  now_ms: () => number
  /** Access keys that hold. */
  keys: Map<string, AwsKeys>
  secrets: Record<string, {text?: string; binary?: string; version?: string; deleted?: true}>
  /** Roles that may be assumed → the external id that they want. */
  roles: Map<string, string | null>
  always: DoubleAnswer | null
  session_s: number
}

export interface AwsDouble extends ManagerDouble {
  readonly state: AwsState
  count(action: 'GetSecretValue' | 'AssumeRole' | 'AssumeRoleWithWebIdentity'): number
}

const SKEW_MS = 300_000

/** AWS Secrets Manager and STS, which judge each signature as AWS does. */
export async function awsDouble(): Promise<AwsDouble> {
  let sessions = 0
  const state: AwsState = {
    now_ms: () => Date.now(),
    keys: new Map([['AKID', {secret: 'aws-hush-hush'}]]),
    secrets: {},
    roles: new Map(),
    always: null,
    session_s: 3600,
  }
  const answer = (request: ManagerHeard): DoubleAnswer => {
    if (state.always) return state.always
    const host = request.headers['x-meant-for'] ?? ''
    return host.startsWith('sts.') ? sts(request) : getSecret(request)
  }
  const getSecret = (request: ManagerHeard): DoubleAnswer => {
    const wrong = signatureFault(request, 'secretsmanager', state)
    if (wrong)
      return {status: 400, body: {__type: `com.amazon#${wrong.code}`, message: wrong.message}, headers: dated()}
    const {SecretId} = JSON.parse(request.body) as {SecretId: string}
    const secret = state.secrets[SecretId]
    if (!secret) return {status: 400, body: {__type: 'ResourceNotFoundException', Message: `no ${SecretId}`}}
    if (secret.deleted) return {status: 400, body: {__type: 'InvalidRequestException', Message: 'marked deleted'}}
    const {text: SecretString, binary: SecretBinary, version: VersionId = 'v1'} = secret
    return {status: 200, body: {Name: SecretId, VersionId, SecretString, SecretBinary}}
  }
  const sts = (request: ManagerHeard): DoubleAnswer => {
    const form = new URLSearchParams(request.body)
    const is_web = form.get('Action') === 'AssumeRoleWithWebIdentity'
    const wrong = is_web ? null : signatureFault(request, 'sts', state)
    if (wrong) return xml(403, `<Error><Code>${wrong.code}</Code><Message>${wrong.message}</Message></Error>`)
    const role = form.get('RoleArn') ?? ''
    if (!state.roles.has(role) || (state.roles.get(role) ?? null) !== form.get('ExternalId'))
      return xml(403, '<Error><Code>AccessDenied</Code><Message>not authorized</Message></Error>')
    const id = `ASIA${++sessions}`
    const ends_at_ms = state.now_ms() + state.session_s * 1000
    state.keys.set(id, {secret: `secret-of-${id}`, session: `session-of-${id}`, ends_at_ms})
    const expiration = new Date(ends_at_ms).toISOString()
    return xml(
      200,
      `<R><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>secret-of-${id}</SecretAccessKey>` +
        `<SessionToken>session-of-${id}</SessionToken><Expiration>${expiration}</Expiration></Credentials></R>`,
    )
  }
  const dated = () => ({date: new Date(state.now_ms()).toUTCString()})
  const xml = (status: number, body: string): DoubleAnswer => ({
    status,
    body,
    headers: {'content-type': 'text/xml', ...dated()},
  })
  const double = await managerDouble(answer)
  return {
    ...double,
    state,
    count: action =>
      double.received.filter(({headers, body}) =>
        action === 'GetSecretValue'
          ? headers['x-amz-target'] === 'secretsmanager.GetSecretValue'
          : new URLSearchParams(body).get('Action') === action,
      ).length,
  }
}

/** The error of AWS for a signature; null where it holds. */
export function signatureFault(
  {method, headers, body}: Pick<ManagerHeard, 'method' | 'headers' | 'body'>,
  service: string,
  {keys, now_ms}: Pick<AwsState, 'keys' | 'now_ms'>,
): {readonly code: string; readonly message: string} | null {
  const [, id = '', scope = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const known = keys.get(id)
  if (!known) return {code: 'UnrecognizedClientException', message: 'The security token is invalid.'}
  const time = headers['x-amz-date'] ?? ''
  const at_ms = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (Math.abs(at_ms - now_ms()) > SKEW_MS)
    return {code: 'InvalidSignatureException', message: 'Signature expired: it is too skewed'}
  if (known.session !== undefined) {
    if (headers['x-amz-security-token'] !== known.session || !names.split(';').includes('x-amz-security-token'))
      return {code: 'InvalidSignatureException', message: 'The session token is not signed.'}
    if ((known.ends_at_ms ?? 0) <= now_ms()) return {code: 'ExpiredTokenException', message: 'The token is expired.'}
  }
  const canonical = names.split(';').map(name => {
    const value = name === 'host' ? (headers['x-meant-for'] ?? headers.host) : headers[name]
    return `${name}:${(value ?? '').trim()}\n`
  })
  const lines = [method, '/', '', canonical.join(''), names, sha256(body)].join('\n')
  const [date = '', region = ''] = scope.split('/')
  const whole = `${date}/${region}/${service}/aws4_request`
  const key = [date, region, service, 'aws4_request'].reduce(
    (made: Buffer, part) => createHmac('sha256', made).update(part).digest(),
    Buffer.from(`AWS4${known.secret}`),
  )
  const text = `AWS4-HMAC-SHA256\n${time}\n${whole}\n${sha256(lines)}`
  const right = createHmac('sha256', key).update(text).digest('hex')
  return whole === scope && right === signature
    ? null
    : {code: 'InvalidSignatureException', message: 'The request signature we calculated does not match.'}
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
