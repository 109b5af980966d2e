import {AwsCredentialsFault, type AwsRole, type CredentialFetch} from './aws-login.ts'
import {type AwsCredentials, sign} from './sigv4.ts'
import type {CachedToken} from './token-cache.ts'

interface Asking {
  readonly fetch: CredentialFetch
  readonly now_ms: () => number
  readonly region: string
  /** `amazonaws.com`, or another partition's. */
  readonly domain: string
  readonly role: AwsRole
}

/** STS gives at least 15 minutes and, where one role assumes another, at most an hour. */
const DURATION_S = 3600
const SESSION_NAME = 'gateway'
const FORM = 'application/x-www-form-urlencoded; charset=utf-8'

/**
 * Temporary credentials of `role`, requested with `keys`. Source: AWS STS API reference, AssumeRole (version
 * 2011-06-15).
 */
export function assumeRole({
  keys,
  ...asking
}: Asking & {readonly keys: AwsCredentials}): Promise<CachedToken<AwsCredentials>> {
  const {role} = asking
  const form = new URLSearchParams({
    Action: 'AssumeRole',
    ...shared(role),
    ...(role.external_id ? {ExternalId: role.external_id} : {}),
  })
  return ask(asking, form, keys)
}

/**
 * The same, requested with a token of the platform instead of keys. Source: AWS STS API reference,
 * AssumeRoleWithWebIdentity.
 */
export function assumeRoleWithWebIdentity({
  token,
  ...asking
}: Asking & {readonly token: string}): Promise<CachedToken<AwsCredentials>> {
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    ...shared(asking.role),
    WebIdentityToken: token.trim(),
  })
  return ask(asking, form, null)
}

function shared({role_arn}: AwsRole) {
  return {Version: '2011-06-15', RoleArn: role_arn, RoleSessionName: SESSION_NAME, DurationSeconds: String(DURATION_S)}
}

async function ask({fetch, now_ms, region, domain, role}: Asking, form: URLSearchParams, keys: AwsCredentials | null) {
  const host = `sts.${regionIn(region)}.${domain}`
  const body = form.toString()
  const headers = {'content-type': FORM}
  const signed = keys
    ? sign({
        method: 'POST',
        host,
        path: '/',
        headers,
        body,
        service: 'sts',
        region,
        credentials: keys,
        now_ms: now_ms(),
      })
    : {host}
  const {status, body: response_body} = await fetch({
    method: 'POST',
    url: `https://${host}/`,
    headers: {...headers, ...signed},
    body,
  })
  if (status !== 200)
    throw new AwsCredentialsFault(
      `AWS STS refused the role ${role.role_arn}: ${reasonIn(response_body) ?? `HTTP ${status}`}`,
    )
  return readStsCredentials(response_body)
}

/** Reads `<Credentials>` of an STS answer. Its members are words without markup. */
function readStsCredentials(xml: string): CachedToken<AwsCredentials> {
  const credentials = element(xml, 'Credentials') ?? ''
  const access_key_id = element(credentials, 'AccessKeyId')
  const secret_access_key = element(credentials, 'SecretAccessKey')
  const session_token = element(credentials, 'SessionToken')
  const expires_at_ms = Date.parse(element(credentials, 'Expiration') ?? '')
  if (!access_key_id || !secret_access_key || !session_token || Number.isNaN(expires_at_ms)) {
    throw new AwsCredentialsFault('AWS STS answered without credentials.')
  }
  return {value: {access_key_id, secret_access_key, session_token}, expires_at_ms}
}

/** A region is part of a host name. */
export function regionIn(region: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(region))
    throw new AwsCredentialsFault('The AWS region is not one: expected a name like us-east-1.')
  return region
}

function reasonIn(xml: string): string | null {
  const code = element(xml, 'Code')
  const message = element(xml, 'Message')
  return code || message ? [code, message].filter(Boolean).join(': ').slice(0, 500) : null
}

function element(xml: string, name: string): string | null {
  const open = xml.indexOf(`<${name}>`)
  const start = open + name.length + 2
  const end = open < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  return end < 0 ? null : xml.slice(start, end).trim()
}
