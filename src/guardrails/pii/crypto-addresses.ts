import {createHash} from 'node:crypto'
import {SURE} from './classes.ts'
import {type Detector, isWordAt, PAUSE} from './scanned-text.ts'

/** Bitcoin addresses: Base58Check, and Bech32 or Bech32m (BIP 173, BIP 350). Each proves itself by 30 bits or more. */
export const cryptoAddresses: Detector = function* ({text, tokens, work}) {
  for (let token = 0; token < tokens.length; token += 2) {
    if (token % PAUSE === 0) yield undefined
    const start = tokens[token]!
    const end = tokens[token + 1]!
    if (end - start < 26 || end - start > 90 || isWordAt(text, start - 1) || isWordAt(text, end)) continue
    const address = text.slice(start, end)
    work.spend(address.length)
    const kind = segwit(address) ? 'segwit' : base58Check(address) ? 'base58' : undefined
    if (kind) yield {class: 'crypto_address', kind, start, end, certainty: SURE.proven}
  }
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Version bytes of pay-to-public-key-hash and pay-to-script-hash, on the main and the test network. */
const VERSIONS = new Set([0x00, 0x05, 0x6f, 0xc4])
const ADDRESS_BYTES = 25

function base58Check(address: string): boolean {
  if (!/^[123mn][1-9A-HJ-NP-Za-km-z]{25,34}$/.test(address)) return false
  const bytes = new Uint8Array(ADDRESS_BYTES)
  for (const sign of address) {
    let carry = BASE58.indexOf(sign)
    for (let at = ADDRESS_BYTES - 1; at >= 0; at--) {
      carry += bytes[at]! * 58
      bytes[at] = carry & 255
      carry >>= 8
    }
    if (carry) return false
  }
  const sum = sha256(sha256(bytes.subarray(0, 21)))
  return VERSIONS.has(bytes[0]!) && [0, 1, 2, 3].every(at => sum[at] === bytes[21 + at])
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const BECH32_REST = 1
const BECH32M_REST = 0x2bc830a3

function segwit(address: string): boolean {
  const lower = address.toLowerCase()
  if (lower !== address && address.toUpperCase() !== address) return false
  const form = /^(bcrt|bc|tb)1([02-9ac-hj-np-z]{14,87})$/.exec(lower)
  if (!form) return false
  const [, prefix, data] = form as unknown as [string, string, string]
  const high = [...prefix].map(sign => sign.charCodeAt(0) >> 5)
  const low = [...prefix].map(sign => sign.charCodeAt(0) & 31)
  const values = [...high, 0, ...low, ...[...data].map(sign => BECH32.indexOf(sign))]
  let rest = 1
  for (const value of values) {
    const top = rest >>> 25
    rest = ((rest & 0x1ffffff) << 5) ^ value
    for (let bit = 0; bit < 5; bit++) if ((top >>> bit) & 1) rest ^= GENERATOR[bit]!
  }
  return rest === (data[0] === 'q' ? BECH32_REST : BECH32M_REST)
}
