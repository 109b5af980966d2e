import {credentialFetch} from '../base/egress/credentials.ts'
import {objectSender} from '../base/egress/objects.ts'
import type {AwsCredentials} from '../base/sigv4.ts'
import {azureDate, azureHeaders, bearerOf, sharedKey} from '../ports/blobs/azure.ts'
import {type BreakerBlobs, withBreaker} from '../ports/blobs/breaker.ts'
import {type ObjectBlobsOptions, objectBlobs} from '../ports/blobs/objects.ts'
import {s3GetHeaders, s3PutHeaders, s3Signature} from '../ports/blobs/s3.ts'
import type {AwsLogin, CredentialFetch} from '../providers/auth/aws-login.ts'
import {gatewayAzureToken} from '../providers/auth/entra.ts'
import {gatewayGoogleToken} from '../providers/auth/google.ts'
import {type Logins, openLogins} from '../providers/auth/login.ts'
import {type LogStoreSettings, logStoreSettings, type Settings} from '../settings/index.ts'
import {cloudIdentity, credentialOrigins} from './cloud-identity.ts'
import {openEgress} from './egress.ts'

/** The store of objects that bodies of calls go to. */
export interface LogStore {
  readonly blobs: BreakerBlobs
  close(): Promise<void>
}

const AZURE_SCOPE = 'https://storage.azure.com/.default'
const CONNECTIONS = 64

/**
 * Opens the store that LOG_STORE names; undefined where bodies stay with the log. Nothing is requested of it yet.
 * `fetch` asks for credentials; by default through the wall.
 */
export function openLogStore(settings: Settings, now: () => number, fetch?: CredentialFetch): LogStore | undefined {
  const parsed = logStoreSettings(settings)
  if (!parsed) return undefined
  const egress = openEgress(settings, {
    connect_timeout_ms: Math.min(settings.upstream_connect_timeout_ms, parsed.timeout_ms),
    connections: CONNECTIONS,
  })
  const logins = openLogins({
    fetch: fetch ?? credentialFetch(egress, credentialOrigins(settings)),
    now_ms: now,
    identity: cloudIdentity(settings),
    aws_domain: settings.aws_endpoint_domain,
    azure_authority: settings.azure_authority_host,
  })
  const blobs = objectBlobs({
    base_url: parsed.base_url,
    send: objectSender(egress, parsed.timeout_ms),
    ...wordsOf(parsed, logins),
  })
  return {
    blobs: withBreaker(blobs, {threshold: parsed.failure_threshold, backoff_ms: parsed.backoff_ms, now}),
    close: () => egress.destroy(),
  }
}

/** How a kind of store is talked to. */
function wordsOf(store_settings: LogStoreSettings, logins: Logins): Omit<ObjectBlobsOptions, 'base_url' | 'send'> {
  const now = logins.now_ms
  if (store_settings.kind === 'azure') {
    const {account, key} = store_settings
    const authorize = key
      ? sharedKey({account, key, now})
      : bearerOf(
          () => gatewayAzureToken(AZURE_SCOPE, logins),
          () => azureDate(now()),
        )
    return {authorize, putHeaders: () => azureHeaders}
  }
  if (store_settings.kind === 'gcs_assume') return {authorize: bearerOf(() => gatewayGoogleToken(logins))}
  const {region, extras} = store_settings
  const credentials = async (): Promise<AwsCredentials> => logins.aws(awsLogin(store_settings), region)
  return {
    authorize: s3Signature({region, credentials, now}),
    putHeaders: s3PutHeaders(extras),
    get_headers: s3GetHeaders(extras),
  }
}

function awsLogin({keys, role}: LogStoreSettings & {readonly kind: 's3'}): AwsLogin {
  if (role) return {type: 'assumedRole', ...role, keys}
  return keys ? {type: 'accessKey', ...keys} : {type: 'serviceRole'}
}
