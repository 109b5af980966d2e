import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import {gunzipSync, gzipSync} from 'node:zlib'
import {isObject, parseJson} from './json-object.ts'

/** Content that is carried to a gateway by hand: lists of prices, and what later versions add. */
export interface Bundle {
  /** Counts up: a gateway takes no bundle below the greatest it has taken. */
  readonly serial: number
  /** ISO 8601 UTC. */
  readonly created_at: string
  readonly note: string
  readonly contents: readonly BundleContent[]
}

export interface BundleContent {
  /** The kind of bundle: `prices`. */
  readonly kind: string
  readonly content: unknown
}

/** Why a bundle is not taken, to follow "The bundle is not taken: ". */
export class BundleFault extends Error {
  override readonly name = 'BundleFault'
}

const FORMAT = 'gateway-bundle/1'
const MAX_BYTES = 256 * 1024 * 1024
const MAX_SIGNATURES = 16

/** A new pair of Ed25519 keys in PEM form. */
export function makeBundleKeys(): {readonly public_key: string; readonly private_key: string; readonly key_id: string} {
  const {publicKey, privateKey} = generateKeyPairSync('ed25519')
  return {
    public_key: publicKey.export({type: 'spki', format: 'pem'}) as string,
    private_key: privateKey.export({type: 'pkcs8', format: 'pem'}) as string,
    key_id: bundleKeyId(publicKey),
  }
}

/** The first 16 hex digits of the SHA-256 of a public key (SPKI, DER). */
export function bundleKeyId(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({type: 'spki', format: 'der'}))
    .digest('hex')
    .slice(0, 16)
}

/** The text of a bundle, signed. Throws a BundleFault for a key that is none. */
export function writeBundle(bundle: Bundle, private_key: string): {readonly text: string; readonly key_id: string} {
  const key = readKey(private_key, 'private')
  const payload = gzipSync(JSON.stringify(bundle), {level: 9})
  const key_id = bundleKeyId(createPublicKey(key))
  const signature = sign(null, signed(payload), key).toString('base64')
  return {
    text: `${JSON.stringify({format: FORMAT, payload: payload.toString('base64'), signatures: [{key_id, signature}]}, null, 1)}\n`,
    key_id,
  }
}

/**
 * The content of the bundle `input` (parsed JSON), once one of `public_keys` (PEM, several blocks at will) has verified
 * its signature. Nothing of it is unpacked before. Throws a BundleFault with the reason.
 */
export function openBundle(input: unknown, public_keys: string): {readonly bundle: Bundle; readonly key_id: string} {
  const keys = readPublicKeys(public_keys)
  if (!isObject(input) || input.format !== FORMAT) throw new BundleFault(`it is no bundle of the format ${FORMAT}`)
  const {payload, signatures} = input
  if (!isBase64(payload)) throw new BundleFault('its payload is not base64')
  if (!Array.isArray(signatures) || signatures.length === 0) throw new BundleFault('it is not signed')
  const bytes = Buffer.from(payload, 'base64')
  const names: string[] = []
  let broken = false
  for (const each of signatures.slice(0, MAX_SIGNATURES)) {
    if (!isObject(each) || typeof each.key_id !== 'string' || !isBase64(each.signature))
      throw new BundleFault('a signature of it has an unknown form')
    names.push(each.key_id.replace(/[^0-9a-f]/g, '').slice(0, 16))
    const key = keys.get(each.key_id)
    if (!key) continue
    if (verify(null, signed(bytes), key, Buffer.from(each.signature, 'base64')))
      return {bundle: unpacked(bytes), key_id: each.key_id}
    broken = true
  }
  if (broken)
    throw new BundleFault(
      'its signature does not fit its content: it was changed after it was signed, or damaged on the way',
    )
  throw new BundleFault(
    `it is signed with the key ${names.join(', ')}, which is not trusted here (trusted: ${[...keys.keys()].join(', ')})`,
  )
}

/** The public keys in PEM text, by id. */
export function readPublicKeys(text: string): ReadonlyMap<string, KeyObject> {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? []
  if (blocks.length === 0) throw new BundleFault('no public key was given: expected PEM text with BEGIN PUBLIC KEY')
  return new Map(blocks.map(block => readKey(block, 'public')).map(key => [bundleKeyId(key), key]))
}

function readKey(pem: string, kind: 'public' | 'private'): KeyObject {
  try {
    const key = kind === 'public' ? createPublicKey(pem) : createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // The message of the library may quote the key.
  }
  throw new BundleFault(`the ${kind} key is no Ed25519 key in PEM form`)
}

/** The format is signed too, so that a signature fits no other. */
function signed(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${FORMAT}\n`), payload])
}

function unpacked(payload: Buffer): Bundle {
  let parsed: unknown
  try {
    parsed = parseJson(gunzipSync(payload, {maxOutputLength: MAX_BYTES}).toString('utf8'))
  } catch {
    throw new BundleFault('its content cannot be unpacked')
  }
  if (!isObject(parsed)) throw new BundleFault('its content is no object')
  const {serial, created_at, note, contents} = parsed
  const is_whole =
    Number.isSafeInteger(serial) &&
    (serial as number) > 0 &&
    typeof created_at === 'string' &&
    typeof note === 'string' &&
    Array.isArray(contents) &&
    contents.every(each => isObject(each) && typeof each.kind === 'string' && 'content' in each)
  if (!is_whole) throw new BundleFault('its content has an unknown form')
  return parsed as unknown as Bundle
}

function isBase64(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && /^[A-Za-z0-9+/]+={0,2}$/.test(value)
}
