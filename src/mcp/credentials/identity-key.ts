import {createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign} from 'node:crypto'
import {promisify} from 'node:util'
import type {JsonObject} from '../../base/json-member.ts'
import {keptIdentityKey} from '../../store/identity-key.ts'
import type {CredentialServices} from './services.ts'

/** A key of `/.well-known/jwks.json` (RFC 7517). */
export interface PublicRsaKey {
  readonly kty: 'RSA'
  readonly n: string
  readonly e: string
  readonly alg: 'RS256'
  readonly use: 'sig'
  /** Its thumbprint (RFC 7638). */
  readonly kid: string
}

interface OpenedKey {
  readonly key: KeyObject
  readonly jwk: PublicRsaKey
}

const generate = promisify(generateKeyPair)
const BITS = 2048

/** The key that identity tokens are signed with: of JWT_PRIVATE_KEY, else one that is made at first need. */
export class IdentityKey {
  readonly #services: Pick<CredentialServices, 'store' | 'seal' | 'settings'>
  #opened: Promise<OpenedKey> | null = null

  constructor(services: Pick<CredentialServices, 'store' | 'seal' | 'settings'>) {
    this.#services = services
  }

  /** A JWT of these claims, with RS256. */
  async signed(claims: JsonObject): Promise<string> {
    const {key, jwk} = await this.#open()
    const header = {alg: jwk.alg, typ: 'JWT', kid: jwk.kid}
    const text = [header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  }

  /** The document of `/.well-known/jwks.json`. */
  async keySet(): Promise<{readonly keys: readonly PublicRsaKey[]}> {
    return {keys: [(await this.#open()).jwk]}
  }

  /** Once; again after a fault of the store. */
  #open(): Promise<OpenedKey> {
    this.#opened ??= this.#read().catch(fault => {
      this.#opened = null
      throw fault
    })
    return this.#opened
  }

  async #read(): Promise<OpenedKey> {
    const {store, seal, settings} = this.#services
    const key = createPrivateKey(settings.jwt_private_key ?? (await keptIdentityKey(store, seal, madeKey)))
    const {n, e} = createPublicKey(key).export({format: 'jwk'})
    if (typeof n !== 'string' || typeof e !== 'string') throw new Error('The key of identity tokens is no RSA key.')
    const kid = createHash('sha256')
      .update(JSON.stringify({e, kty: 'RSA', n}))
      .digest('base64url')
    return {key, jwk: {kty: 'RSA', n, e, alg: 'RS256', use: 'sig', kid}}
  }
}

async function madeKey(): Promise<string> {
  const {privateKey} = await generate('rsa', {modulusLength: BITS})
  return privateKey.export({type: 'pkcs8', format: 'pem'}) as string
}
