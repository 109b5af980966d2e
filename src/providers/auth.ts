import {type Options, optionIn} from './options.ts'
import type {Auth} from './provider.ts'

/** `name: prefix + key`, for a provider that needs a key. */
export function keyIn(name: string, prefix = ''): Auth {
  return {
    required: true,
    says: `${spelled(name)}: ${prefix}KEY`,
    sign(headers, key) {
      if (key !== null) headers[name] = prefix + key
    },
  }
}

/** As most providers want it (RFC 6750). */
export const bearer = keyIn('authorization', 'Bearer ')

/** The same where a key is not needed: engines of one's own. */
export function optional(auth: Auth): Auth {
  return {...auth, required: false, says: `${auth.says}, if there is one`}
}

/** An Entra token that the options hold goes before the key. */
export function withAzureToken(auth: Auth): Auth {
  const token = (options: Options | undefined) => (options ? optionIn(options, 'azure_ad_token') : undefined)
  return {
    ...auth,
    sign(headers, key, options) {
      const own = token(options)
      if (own === undefined) auth.sign(headers, key)
      else headers.authorization = `Bearer ${own}`
    },
    carries: options => token(options) !== undefined,
  }
}

/**
 * Snowflake needs the kind of the token in a header. Source: Snowflake REST API, authentication: programmatic access
 * tokens, key-pair JWT, OAuth. A token that is no key-pair JWT counts as a programmatic one unless
 * `snowflake_token_type` says otherwise.
 */
export const snowflake: Auth = {
  ...bearer,
  sign(headers, key, options) {
    if (key === null) return
    bearer.sign(headers, key)
    const token_type = options && optionIn(options, 'snowflake_token_type')
    headers['x-snowflake-authorization-token-type'] =
      token_type ?? (isKeyPairJwt(key) ? 'KEYPAIR_JWT' : 'PROGRAMMATIC_ACCESS_TOKEN')
  },
}

/** A key-pair JWT names the key's fingerprint as its issuer (`ACCOUNT.USER.SHA256:…`). */
function isKeyPairJwt(token: string): boolean {
  const parts = token.split('.')
  if (parts.length !== 3) return false
  return /"iss"\s*:\s*"[^"]*\.SHA256:/.test(Buffer.from(parts[1]!, 'base64url').toString())
}

function spelled(name: string): string {
  return name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase()).replace(/Api/, 'API')
}
