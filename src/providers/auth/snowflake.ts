import {createHash, createPublicKey, type KeyObject} from 'node:crypto'
import {optionIn, optionNeeded} from '../options.ts'
import {loginKey, type RequestAuth} from './login.ts'
import {readPrivateKey, signedJwt} from './private-key.ts'

/** Snowflake takes no token that lives longer. */
const LIFE_S = 3600

/** Snowflake: a token made of a user's private key. Source: Snowflake REST API, authentication, key pair. */
export const snowflakeKeyPair: RequestAuth = {
  says: 'Authorization: Bearer, with a token made of a private key (snowflake_private_key)',
  signs_body: false,
  chosen: options => optionIn(options, 'snowflake_private_key') !== undefined,
  usesOwnIdentity: () => false,
  async authorize(_request, _key, options, {now_ms, tokens}) {
    const account = optionNeeded(options, 'snowflake_account').toUpperCase()
    const user = optionNeeded(options, 'snowflake_user').toUpperCase()
    const pem = optionNeeded(options, 'snowflake_private_key')
    const passphrase = optionIn(options, 'snowflake_key_passphrase')
    const token = await tokens.get(loginKey('snowflake', account, user, pem, passphrase), async () => {
      const key = readPrivateKey(pem, 'private key of the Snowflake user', passphrase)
      const iat = Math.floor(now_ms() / 1000)
      const claims = {iss: `${account}.${user}.${fingerprint(key)}`, sub: `${account}.${user}`, iat, exp: iat + LIFE_S}
      return {value: signedJwt({}, claims, key), expires_at_ms: (iat + LIFE_S) * 1000}
    })
    return {authorization: `Bearer ${token}`, 'x-snowflake-authorization-token-type': 'KEYPAIR_JWT'}
  },
}

/** As DESCRIBE USER shows it (RSA_PUBLIC_KEY_FP). */
function fingerprint(key: KeyObject): string {
  const der = createPublicKey(key).export({type: 'spki', format: 'der'})
  return `SHA256:${createHash('sha256').update(der).digest('base64')}`
}
