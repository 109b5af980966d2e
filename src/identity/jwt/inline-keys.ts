import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'

const MAX_KEYS = 50
const MIN_RSA_BITS = 2048
/** Members that only a private key has (RFC 7518 §6). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const
const CURVES: Readonly<Record<string, readonly string[]>> = {EC: ['P-256', 'P-384'], OKP: ['Ed25519']}

/** A fault of one member of a key set: `keys[1].kid: is that of keys[0] too`. */
export interface KeySetIssue {
  readonly path: string
  readonly message: string
}

/**
 * The faults of a key set (RFC 7517 §5) that an administrator gives in place of an address. Each key has an id of its
 * own, is public, and is one that tokens may be signed with. Nothing of a key is in a message: it may be a secret.
 */
export function keySetIssues(value: JsonValue): readonly KeySetIssue[] {
  const keys = own(value, 'keys')
  if (!Array.isArray(keys)) return [{path: 'keys', message: 'expected a list of keys'}]
  if (keys.length === 0 || keys.length > MAX_KEYS) return [{path: 'keys', message: `expected 1 to ${MAX_KEYS} keys`}]
  const first_at = new Map<JsonValue | undefined, number>()
  return keys.flatMap((key: JsonValue, at) => {
    const path = `keys[${at}]`
    if (!isObject(key)) return [{path, message: 'expected an object'}]
    const kid = own(key, 'kid')
    const before = first_at.get(kid)
    if (before === undefined) first_at.set(kid, at)
    const twice = before === undefined ? [] : [{path: `${path}.kid`, message: `is that of keys[${before}] too`}]
    return [...keyIssues(key).map(([name, message]) => ({path: `${path}.${name}`, message})), ...twice]
  })
}

type Issue = readonly [name: string, message: string]

function keyIssues(key: JsonObject): readonly Issue[] {
  const [kid, kty, use] = ['kid', 'kty', 'use'].map(name => own(key, name))
  const issues: Issue[] = PRIVATE_MEMBERS.filter(name => Object.hasOwn(key, name)).map(name => [
    name,
    'is of a private key; send the public one',
  ])
  if (typeof kid !== 'string' || kid === '' || kid.length > 255) issues.push(['kid', 'expected 1 to 255 characters'])
  if (use !== undefined && use !== 'sig') issues.push(['use', 'expected sig, or nothing'])
  if (kty === 'RSA') return [...issues, ...rsaIssues(key)]
  const curves = typeof kty === 'string' && Object.hasOwn(CURVES, kty) ? CURVES[kty] : undefined
  if (!curves) return [...issues, ['kty', 'expected RSA, EC or OKP']]
  const crv = own(key, 'crv')
  if (typeof crv !== 'string' || !curves.includes(crv)) issues.push(['crv', `expected ${curves.join(' or ')}`])
  return issues
}

function rsaIssues(key: JsonObject): readonly Issue[] {
  const [n, e] = [numberIn(own(key, 'n')), numberIn(own(key, 'e'))]
  const issues: Issue[] = []
  if (n === null || n.toString(2).length < MIN_RSA_BITS) issues.push(['n', `expected at least ${MIN_RSA_BITS} bits`])
  if (e === null || e < 3n || e % 2n === 0n) issues.push(['e', 'expected an odd number of at least 3'])
  return issues
}

/** RFC 7518 §2: base64url of the bytes, the highest first. */
function numberIn(value: JsonValue | undefined): bigint | null {
  if (typeof value !== 'string' || !/^[\w-]{1,2000}$/.test(value)) return null
  const hex = Buffer.from(value, 'base64url').toString('hex')
  return hex === '' ? null : BigInt(`0x${hex}`)
}
