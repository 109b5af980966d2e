import {createHash} from 'node:crypto'
import {AwsCredentialsFault, type AwsIdentity, type AwsLogin, type CredentialFetch} from './aws-login.ts'
import {fromContainer, fromInstance} from './aws-metadata.ts'
import {assumeRole, assumeRoleWithWebIdentity} from './aws-sts.ts'
import type {AwsCredentials} from './sigv4.ts'
import {type CachedToken, TokenCache} from './token-cache.ts'

export interface AwsCredentialsOptions {
  readonly fetch: CredentialFetch
  readonly now_ms: () => number
  readonly identity?: AwsIdentity
  /** `AWS_ENDPOINT_DOMAIN`. */
  readonly domain?: string
}

/**
 * Gives credentials for a login, from a cache where they cost a call. Keys that a caller gave are never used for
 * another caller's role: the cache is keyed by a hash of all that the login says.
 */
export function awsCredentials({fetch, now_ms, identity = {}, domain = 'amazonaws.com'}: AwsCredentialsOptions) {
  const cache = new TokenCache<AwsCredentials>({now_ms})
  const held = (name: string, make: () => Promise<CachedToken<AwsCredentials>>) => cache.get(name, make)

  async function own(called_region: string): Promise<AwsCredentials> {
    const {source_role, sts_region} = identity
    const region = sts_region ?? called_region
    if (!source_role) return base(region)
    return held(key(['source', region]), async () =>
      assumeRole({fetch, now_ms, region, domain, role: source_role, keys: await base(region)}),
    )
  }

  function base(region: string): Promise<AwsCredentials> | AwsCredentials {
    const {keys, web_identity, container} = identity
    if (keys) return keys
    if (web_identity) {
      return held(key(['web', region]), async () =>
        assumeRoleWithWebIdentity({
          fetch,
          now_ms,
          region,
          domain,
          role: web_identity,
          token: await web_identity.token(),
        }),
      )
    }
    if (container)
      return held('container', async () => fromContainer(fetch, container.url, (await container.token?.()) ?? null))
    if (identity.instance === false)
      throw new AwsCredentialsFault('No AWS credentials were given, and the gateway has no identity of its own.')
    return held('instance', () => fromInstance(fetch, identity.is_imds_v1 === true))
  }

  return async (login: AwsLogin, region: string): Promise<AwsCredentials> => {
    if (login.type === 'accessKey') return login
    if (login.type === 'serviceRole') return own(region)
    const {role_arn, external_id = null, keys = null} = login
    const name = key([
      'role',
      region,
      role_arn,
      external_id,
      keys?.access_key_id,
      keys?.secret_access_key,
      keys?.session_token,
    ])
    return held(name, async () =>
      assumeRole({fetch, now_ms, region, domain, role: {role_arn, external_id}, keys: keys ?? (await own(region))}),
    )
  }
}

/** The name of a login in the cache: no secret can be read from it. */
function key(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
