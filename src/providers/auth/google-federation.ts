import {object, parsed} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {type GoogleFederation, LoginFault, type Logins} from './login.ts'
import {readToken} from './oauth.ts'
import {type AwsCredentials, sign} from './sigv4.ts'
import type {CachedToken} from './token-cache.ts'

const STS = 'https://sts.googleapis.com/v1/token'
const IAM = 'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'
const AWS_REQUEST = 'urn:ietf:params:aws:token-type:aws4_request'
const CALLER = 'Action=GetCallerIdentity&Version=2011-06-15'
const JSON_TYPE = {'content-type': 'application/json'}
const LIFE = '3600s'

/**
 * A token of Google for an identity of another place (Google Cloud, "Obtain short-lived tokens for Workload Identity
 * Federation", REST): the token at hand is exchanged, and where an account is named that token requests the account's
 * token.
 */
export async function federatedToken(federation: GoogleFederation, on: Logins): Promise<CachedToken<string>> {
  const {audience, service_account, token} = federation
  const {fetch, now_ms} = on
  const [subjectTokenType, subjectToken] = token
    ? [JWT, (await token()).trim()]
    : [AWS_REQUEST, await callerIdentity(federation, on)]
  const request = {
    audience,
    grantType: GRANT,
    requestedTokenType: ACCESS_TOKEN,
    scope: SCOPE,
    subjectTokenType,
    subjectToken,
  }
  const reply = await fetch({method: 'POST', url: STS, headers: JSON_TYPE, body: JSON.stringify(request)})
  const exchanged = readToken(reply, "Google's security token service", now_ms())
  return service_account === null ? exchanged : impersonated(service_account, exchanged.value, on)
}

async function impersonated(account: string, token: string, {fetch}: Logins): Promise<CachedToken<string>> {
  const {status, body} = await fetch({
    method: 'POST',
    url: `${IAM}/${uriPart(account)}:generateAccessToken`,
    headers: {...JSON_TYPE, authorization: `Bearer ${token}`},
    body: JSON.stringify({scope: [SCOPE], lifetime: LIFE}),
  })
  const {accessToken, expireTime, error} = object(parsed(body))
  const expires_at_ms = typeof expireTime === 'string' ? Date.parse(expireTime) : Number.NaN
  if (
    status !== 200 ||
    typeof accessToken !== 'string' ||
    !/^[\x21-\x7e]+$/.test(accessToken) ||
    Number.isNaN(expires_at_ms)
  ) {
    const {message} = (error ?? {}) as {message?: unknown}
    throw new LoginFault(
      `No token came for ${account}: ${typeof message === 'string' ? message.slice(0, 500) : `HTTP ${status}`}`,
    )
  }
  return {value: accessToken, expires_at_ms}
}

/** A signed question to AWS who one is, which Google asks in our place (same page, "AWS"). */
async function callerIdentity(
  {audience, aws_region: region}: GoogleFederation,
  {aws, aws_domain, now_ms}: Logins,
): Promise<string> {
  const credentials: AwsCredentials = await aws({type: 'serviceRole'}, region)
  const host = `sts.${region}.${aws_domain}`
  const target = {'x-goog-cloud-target-resource': audience}
  const signed = sign({
    method: 'POST',
    host,
    path: '/',
    query: CALLER,
    headers: target,
    body: '',
    service: 'sts',
    region,
    credentials,
    now_ms: now_ms(),
  })
  const headers = Object.entries({...target, ...signed}).map(([key, value]) => ({
    key: key === 'authorization' ? 'Authorization' : key,
    value,
  }))
  return uriPart(JSON.stringify({url: `https://${host}?${CALLER}`, method: 'POST', headers}))
}
