import {isIPv4, isIPv6} from 'node:net'

/**
 * Why a socket may not go to an address. `metadata`: the credentials service of a cloud, always closed. `private`:
 * every address that is not handed out on the public internet, open to a trusted host.
 */
export type AddressClass = 'metadata' | 'private'

/** The addresses that share their first bits. */
export interface AddressRange {
  readonly prefix: bigint
  /** How many of the 128 bits are not looked at. */
  readonly rest: bigint
}

/**
 * Why `address` (text of an IPv4 or IPv6 address, as DNS or a URL gives it) is refused; null when it is a public one.
 * An address that carries an IPv4 address inside (mapped, compatible, translated, 6to4, NAT64, Teredo, ISATAP) is
 * judged by both. Text that is no address at all is `metadata`: never opened.
 */
export function judge(address: string): AddressClass | null {
  const value = readAddress(address)
  if (value === undefined) return 'metadata'
  const faces = [value, ...inner(value)]
  if (faces.some(face => isWithin(METADATA, face))) return 'metadata'
  return faces.some(face => !isPublic(face)) ? 'private' : null
}

/**
 * The 128 bits of an address; an IPv4 address is its mapped form (RFC 4291, 2.5.5.2), so that `10.0.0.1` and
 * `::ffff:a00:1` are one value. A zone id is left out. Undefined when `text` is not an address in its canonical or full
 * form.
 */
export function readAddress(text: string): bigint | undefined {
  if (isIPv4(text)) return (MAPPED.prefix << 32n) | quad(text)
  if (!isIPv6(text)) return undefined
  const [bare = ''] = text.split('%')
  const tail = bare.lastIndexOf(':') + 1
  const plain = bare.includes('.') ? bare.slice(0, tail) + groups(quad(bare.slice(tail))) : bare
  const [head = '', rest] = plain.split('::')
  const left = head ? head.split(':') : []
  const right = rest ? rest.split(':') : []
  const zeros = rest === undefined ? [] : new Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}

/**
 * The range written `address/bits`, or the one address; bits behind the prefix are ignored. Undefined when it is
 * neither.
 */
export function readRange(text: string): AddressRange | undefined {
  const [address = '', bits, more] = text.split('/')
  const value = readAddress(address)
  if (value === undefined || more !== undefined || address.includes('%')) return undefined
  const width = isIPv4(address) ? 32 : 128
  if (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)) return undefined
  const shown = bits === undefined ? width : Number(bits)
  if (shown > width) return undefined
  const rest = BigInt(width - shown)
  return {prefix: value >> rest, rest}
}

/** True when one of `ranges` holds the address `value`. */
export function isWithin(ranges: readonly AddressRange[], value: bigint): boolean {
  return ranges.some(range => value >> range.rest === range.prefix)
}

const MAPPED: AddressRange = {prefix: 0xffffn, rest: 32n}

/** Addresses at which clouds issue credentials: AWS, Azure, Google, Oracle, Alibaba, Tencent, Scaleway. */
const METADATA = ranges(
  '169.254.169.0/24',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.0.23',
  '169.254.42.42',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::/96',
  'fd20:ce::254',
  'fd00:42::42',
)

/** IANA IPv4 special-purpose registry, and multicast and above. */
const PRIVATE_V4 = ranges(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
)

/**
 * Of IPv6 only 2000::/3 is handed out (IANA); 64:ff9b::/96 is how a network without IPv4 says a public IPv4 address.
 */
const PUBLIC_V6 = ranges('2000::/3', '64:ff9b::/96')

/**
 * Inside 2000::/3, for special purposes: Teredo, benchmarks, ORCHID, documentation (IANA IPv6 special-purpose
 * registry).
 */
const PRIVATE_V6 = ranges('2001::/32', '2001:2::/48', '2001:10::/28', '2001:20::/28', '2001:db8::/32', '3fff::/20')

/** Ranges of IPv6 that carry an IPv4 address, and its place. */
const CARRIERS: readonly (readonly [AddressRange, (value: bigint) => bigint])[] = [
  [readRange('::/96')!, value => value], // compatible, RFC 4291 2.5.5.1
  [readRange('::ffff:0:0:0/96')!, value => value], // translated, RFC 2765
  [readRange('64:ff9b::/96')!, value => value], // NAT64, RFC 6052
  [readRange('64:ff9b:1::/48')!, value => value], // NAT64 of one network, RFC 8215
  // the same, its /48 form
  [readRange('64:ff9b:1::/48')!, value => ((value >> 48n) & 0xffff0000n) | ((value >> 40n) & 0xffffn)],
  [readRange('2002::/16')!, value => value >> 80n], // 6to4, RFC 3056
  [readRange('2001::/32')!, value => ~value], // Teredo, RFC 4380: the client's address is inverted
]

function inner(value: bigint): bigint[] {
  const found = CARRIERS.filter(([range]) => isWithin([range], value)).map(([, read]) => read(value))
  // ISATAP (RFC 5214, 6.1) works under any prefix: its mark is in the interface identifier.
  if (((value >> 32n) & 0xfdffffffn) === 0x5efen) found.push(value)
  return found.map(v4 => (MAPPED.prefix << 32n) | (v4 & 0xffffffffn))
}

function isPublic(value: bigint): boolean {
  if (isWithin([MAPPED], value)) return !isWithin(PRIVATE_V4, value)
  return isWithin(PUBLIC_V6, value) && !isWithin(PRIVATE_V6, value)
}

function quad(text: string): bigint {
  return BigInt(text.split('.').reduce((value, part) => value * 256 + Number(part), 0))
}

function groups(v4: bigint): string {
  return `${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`
}

function ranges(...texts: readonly string[]): readonly AddressRange[] {
  return texts.map(text => readRange(text)!)
}
