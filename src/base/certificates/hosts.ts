import {isIP, isIPv4} from 'node:net'
import {domainToASCII, domainToUnicode} from 'node:url'
import {CertificateFault} from './fault.ts'

/** A name or an address that a certificate is for. */
export interface CertificateHost {
  readonly kind: 'name' | 'address'
  /** The name in lower case, of ASCII letters; the address in its shortest form. */
  readonly text: string
  /** As they are in the certificate: the letters of the name, 4 or 16 bytes of the address. */
  readonly bytes: Buffer
}

const MAX_NAME = 253
const MAX_HOSTS = 100
const MAX_SHOWN = 80
const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

/** Reads the hosts of a certificate, each once; throws CertificateFault for one that is neither name nor address. */
export function readHosts(texts: readonly string[]): readonly CertificateHost[] {
  if (texts.length > MAX_HOSTS)
    throw new CertificateFault('host', `${texts.length} hosts are too many: a certificate has ${MAX_HOSTS} at most.`)
  const hosts = new Map(
    texts.map(text => {
      const host = readHost(text)
      if (!host) throw new CertificateFault('host', `${shown(text)} is no host name and no IP address.`, EXPECTED)
      return [host.text, host] as const
    }),
  )
  return [...hosts.values()]
}

const EXPECTED = 'Expected gateway.example.com, *.example.com or 10.0.0.5, for example: no scheme, no port, no path.'

/** The host that a text names; undefined for none, or a text that only some folding makes a name. */
export function readHost(text: string): CertificateHost | undefined {
  if (text.length > MAX_NAME + 1) return undefined
  if (isIP(text)) return text.includes('%') ? undefined : addressOf(text)
  const is_wildcard = text.startsWith('*.')
  const name = nameOf(is_wildcard ? text.slice(2) : text)
  // no client takes a wildcard for all of a top-level domain
  if (name === undefined || (is_wildcard && !name.includes('.'))) return undefined
  const whole = is_wildcard ? `*.${name}` : name
  return whole.length > MAX_NAME ? undefined : {kind: 'name', text: whole, bytes: Buffer.from(whole, 'latin1')}
}

/** The host that the bytes of an address or name in a certificate mean; undefined where they are none. */
export function hostOfBytes(kind: CertificateHost['kind'], bytes: Buffer): CertificateHost | undefined {
  if (kind === 'name') return readHost(bytes.toString('latin1'))
  if (bytes.length === 4) return readHost(bytes.join('.'))
  return bytes.length === 16 ? readHost(bytes.toString('hex').match(/.{4}/g)!.join(':')) : undefined
}

function nameOf(text: string): string | undefined {
  const lower = text.normalize('NFC').toLowerCase().replace(/\.$/, '')
  const ascii = domainToASCII(lower)
  // the parser of URLs cuts off paths, decodes %2e and reads numbers as addresses: none of that is the name typed
  const is_itself = /^[\x00-\x7f]*$/.test(lower) ? ascii === lower : domainToUnicode(ascii) === lower
  const labels = ascii.split('.')
  const is_name = labels.every(label => LABEL.test(label) && isDecoded(label)) && !/^\d+$/.test(labels.at(-1)!)
  return is_itself && is_name ? ascii : undefined
}

function isDecoded(label: string): boolean {
  return !label.startsWith('xn--') || domainToUnicode(label) !== label
}

function addressOf(text: string): CertificateHost {
  if (isIPv4(text)) return {kind: 'address', text, bytes: Buffer.from(text.split('.').map(Number))}
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const [before = '', after] = short.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const missing = after === undefined ? 0 : 8 - groups(before).length - groups(after).length
  const all = [...groups(before), ...Array<string>(missing).fill('0'), ...groups(after ?? '')]
  return {kind: 'address', text: short, bytes: Buffer.from(all.map(group => group.padStart(4, '0')).join(''), 'hex')}
}

/** A text of anyone's as one short line. */
function shown(text: string): string {
  const quoted = JSON.stringify(text.slice(0, MAX_SHOWN))
  return text.length > MAX_SHOWN ? `${quoted.slice(0, -1)}…"` : quoted
}
