import {createHash} from 'node:crypto'
import type {OutgoingHeaders} from '../headers.ts'
import type {Options} from '../options.ts'
import {awsCredentials} from './aws-credentials.ts'
import type {AwsIdentity, AwsLogin, CredentialFetch} from './aws-login.ts'
import type {AwsCredentials} from './sigv4.ts'
import {TokenCache} from './token-cache.ts'

/** A request exactly as it will be sent, before its credential is added. */
export interface LoginRequest {
  readonly method: string
  /** With the port where it is not the scheme's own. */
  readonly host: string
  /** With its query, percent-encoded, beginning with `/`. */
  readonly path: string
  readonly headers: Readonly<OutgoingHeaders>
  readonly body: Buffer | null
}

/** Authentication that costs a call or a signature of the whole request. */
export interface RequestAuth {
  /** As people write it. */
  readonly says: string
  /** True when the signature covers the body, which is then needed whole. */
  readonly signs_body: boolean
  /** True when the options choose this login; otherwise the key goes as `Auth` says. */
  chosen(options: Options): boolean
  /** True when the gateway's own identity is used: nothing that the caller of one request may choose. */
  usesOwnIdentity(options: Options): boolean
  /** True when the provider's key is part of it; other logins leave the key out. */
  readonly takes_key?: true
  /** The headers to set over the request's own. Throws `LoginFault`, `MissingOptionFault` and `WrongOptionFault`. */
  authorize(request: LoginRequest, key: string | null, options: Options, on: Logins): Promise<OutgoingHeaders>
}

/** The gateway's own identity at the clouds, as the settings and the machine say it. */
export interface CloudIdentity {
  readonly aws?: AwsIdentity
  readonly azure?: AzureIdentity
  readonly google?: GoogleIdentity
}

export interface AzureIdentity {
  /** `AZURE_AUTH_MODE`: which of these an integration gets that says `gateway`. */
  readonly mode?: 'entra' | 'managed' | 'workload'
  /** `AZURE_ENTRA_TENANT_ID`, `AZURE_ENTRA_CLIENT_ID`, `AZURE_ENTRA_CLIENT_SECRET`. */
  readonly entra?: {readonly tenant_id: string; readonly client_id: string; readonly secret: string}
  /** `AZURE_MANAGED_CLIENT_ID`. */
  readonly managed_client_id?: string
  /** `AZURE_TENANT_ID`, `AZURE_CLIENT_ID`. */
  readonly tenant_id?: string
  readonly client_id?: string
  /** The content of `AZURE_FEDERATED_TOKEN_FILE`, read again each time since it is rotated. */
  readonly federated_token?: () => Promise<string>
  /**
   * App Service and Container Apps: `IDENTITY_ENDPOINT` and `IDENTITY_HEADER`, in place of the machine's metadata
   * service.
   */
  readonly app_service?: {readonly url: string; readonly header: string}
}

/** Without a federation: the account that this machine runs under. */
export interface GoogleIdentity {
  readonly federation?: GoogleFederation
}

/** The gateway's identity elsewhere, which a pool of Google Cloud takes for one of its own. */
export interface GoogleFederation {
  /** `//iam.googleapis.com/projects/{number}/locations/global/workloadIdentityPools/{pool}/providers/{provider}`. */
  readonly audience: string
  /** The account to become then; without one the pool's own principal is who calls. */
  readonly service_account: string | null
  /**
   * A token that the pool's provider takes (OIDC), read again each time since it is rotated; null: the gateway's own
   * identity at AWS.
   */
  readonly token: (() => Promise<string>) | null
  /** The region whose STS confirms the gateway's identity at AWS. */
  readonly aws_region: string
}

export const USUAL_AWS_DOMAIN = 'amazonaws.com'

export interface LoginsOptions {
  readonly fetch: CredentialFetch
  readonly now_ms: () => number
  readonly identity?: CloudIdentity
  /** `AWS_ENDPOINT_DOMAIN`. */
  readonly aws_domain?: string
  /** `AZURE_AUTHORITY_HOST`. */
  readonly azure_authority?: string
}

/** The state that all logins of this process share. */
export interface Logins {
  readonly fetch: CredentialFetch
  readonly now_ms: () => number
  readonly identity: CloudIdentity
  readonly azure_authority: string
  readonly aws_domain: string
  readonly tokens: TokenCache<string>
  aws(login: AwsLogin, region: string): Promise<AwsCredentials>
}

/** Made once by who puts the process together: tokens are cached in it. */
export function openLogins({
  fetch,
  now_ms,
  identity = {},
  aws_domain = USUAL_AWS_DOMAIN,
  azure_authority,
}: LoginsOptions): Logins {
  return {
    fetch,
    now_ms,
    identity,
    azure_authority: (azure_authority ?? 'https://login.microsoftonline.com').replace(/\/$/, ''),
    aws_domain,
    tokens: new TokenCache<string>({now_ms}),
    aws: awsCredentials({fetch, now_ms, domain: aws_domain, ...(identity.aws && {identity: identity.aws})}),
  }
}

/** A login did not come about; the sentence holds no secret. */
export class LoginFault extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'LoginFault'
  }
}

/** The name of a login in the cache: no secret can be read from it. */
export function loginKey(...parts: readonly (string | null | undefined)[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map(part => part ?? null)))
    .digest('hex')
}
