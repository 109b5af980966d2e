import {createPrivateKey} from 'node:crypto'
import {isIP, isIPv4, isIPv6} from 'node:net'
import {z} from 'zod'
import {readDomain} from '../base/address.ts'
import {parsedObject} from '../base/json-object.ts'

/** A way to read one text: what it takes in words, and the schema that turns the text into its value. */
export interface SettingKind<T> {
  /** Follows "it takes": `a whole number from 0 to 65535`. */
  readonly takes: string
  readonly schema: z.ZodType<T, string>
  /** A comma separated list, which may be a YAML list in the settings file. */
  readonly list?: true
  show?(value: T): string
}

const MAX_MS = 2 ** 31 - 1 // a longer timer fires at once in Node
const MAX_CHARACTERS = 4096
const MAX_ITEMS = 1000

/** Text of one line, 4096 characters at most. */
export const text = kind('one line of at most 4096 characters', text => (isLine(text) ? text : undefined))
/** The same, with the spaces around it; a line end after it is what editors add to files, not part of it. */
export const password: SettingKind<string> = {
  takes: text.takes,
  schema: z
    .string()
    .transform(text => text.replace(/\r?\n$/, ''))
    .refine(isLine, `it takes ${text.takes}`),
}
const KEY_TAKES = 'one line of at most 4096 characters, or JSON of at most 64 KB'
/** A key, or the key file of an account, which is JSON in several lines. */
export const keyOrJson: SettingKind<string> = {
  takes: KEY_TAKES,
  schema: z
    .string()
    .transform(text => text.trim())
    .refine(
      text => isLine(text) || (text.length <= 65_536 && parsedObject(text) !== undefined),
      `it takes ${KEY_TAKES}`,
    ),
}
/** A path; it may be relative to the working directory. */
export const path = kind('a path of at most 4096 characters', text => (isLine(text) ? text : undefined))
/** A feature flag: only `OFF` switches off (docs/settings.md, Feature flags). */
export const onOff: SettingKind<boolean> = {...oneOf({ON: true, OFF: false}), show: on => (on ? 'ON' : 'OFF')}
export const trueFalse: SettingKind<boolean> = oneOf({true: true, false: false})
/** The same for what is off by default, in either spelling. */
export const switched: SettingKind<boolean> = {
  ...oneOf({ON: true, OFF: false, true: true, false: false}),
  show: on => (on ? 'ON' : 'OFF'),
}
/** The characters of a host name between its dots. */
export const label = matching(
  'letters, digits and inner hyphens, at most 63',
  /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i,
)
export const domain = matching(
  'a domain such as amazonaws.com',
  /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?){1,4}$/i,
)
/** One part of a path. */
export const segment = matching(
  'letters, digits, dots, hyphens and underscores, at most 255',
  /^\w(?:(?!\.\.)[\w.-]){0,254}$/,
)
/** A collection of a vector store: it is a part of paths. */
export const collectionName = matching(
  'letters, digits, underscores and hyphens, at most 255, with a letter or an underscore first',
  /^[A-Za-z_][\w-]{0,254}$/,
)
export const urlPath = matching('a path such as /v2/credentials/ID', /^\/[\x21-\x7e]{1,1023}$/)
export const email = matching('an e-mail address', /^[\w.+-]{1,128}@[a-z0-9.-]{1,128}$/i)
/** A time limit in milliseconds. */
export const milliseconds = whole(1, MAX_MS, 'milliseconds')
/** A time to keep something, in days. */
export const days = whole(1, 36_500, 'days')

function matching(takes: string, form: RegExp): SettingKind<string> {
  return kind(takes, text => (form.test(text) ? text : undefined))
}

/** A whole number between two bounds, both allowed; plain digits only. */
export function whole(least: number, most: number, unit = ''): SettingKind<number> {
  return kind(`a whole number${unit && ` of ${unit}`} from ${least} to ${most}`, text => {
    if (!/^\d{1,15}$/.test(text)) return undefined
    const number = Number(text)
    return number >= least && number <= most ? number : undefined
  })
}

/** One of the words, spelt exactly so; the value it stands for. */
export function oneOf<T>(words: Readonly<Record<string, T>>): SettingKind<T> {
  return kind(listed(Object.keys(words)), text => (Object.hasOwn(words, text) ? words[text] : undefined))
}

/** One of the words, spelt exactly so, as itself. */
export function word<const W extends string>(...words: readonly W[]): SettingKind<W> {
  return kind(listed(words), text => words.find(known => known === text))
}

/** The same with the words in one text, for names that only the code of what they name may spell. */
export function wordOf(names: string): SettingKind<string> {
  return word(...names.split(' '))
}

/** A decimal number between two bounds, both allowed. */
export function numberBetween(least: number, most: number): SettingKind<number> {
  return {
    ...kind(`a number from ${least} to ${most}`, text => {
      if (!/^\d{1,10}(?:\.\d{1,15})?$/.test(text)) return undefined
      const number = Number(text)
      return number >= least && number <= most ? number : undefined
    }),
    show: String,
  }
}

/** The address to listen on: an IP address without brackets, or a host name. */
export const listenAddress = kind('an IP address or a host name, without port', text =>
  isIP(text) || isName(text.toLowerCase()) ? text : undefined,
)

/** An absolute URL of one of `schemes`, for example `http:`; with user and password only when `credentials` is set. */
export function url(takes: string, schemes: readonly string[], {credentials = false} = {}): SettingKind<string> {
  return kind(takes, (text, wrong) => {
    const parsed = text.length <= MAX_CHARACTERS ? URL.parse(text) : null
    if (!parsed || !schemes.includes(parsed.protocol) || !parsed.hostname) return undefined
    if (!credentials && (parsed.username || parsed.password)) return wrong('it may not carry a user or a password')
    return text
  })
}

/** A mail address. */
export const mailAddress = kind('a mail address', text => (isMailAddress(text) ? text : undefined))
/** A sender (RFC 5322, 3.4): an address, or a name without quotes and the address in angle brackets. */
export const mailbox = kind('a mail address, or Name <address>', text => {
  const address = /^[^<>"\\]*<([^<>]+)>$/.exec(text)?.[1] ?? text
  return isLine(text) && isMailAddress(address) ? text : undefined
})

const SSL_WORDS: Readonly<Record<string, string>> = {
  disable: 'DISABLED',
  prefer: 'PREFERRED',
  require: 'REQUIRED',
  'verify-ca': 'VERIFY_CA',
  'verify-full': 'VERIFY_IDENTITY',
}

/** A PostgreSQL URL as libpq takes it (PostgreSQL manual, 32.1.1.2); `DB_SSL` alone sets how TLS is used. */
export const postgresUrl = kind('a URL such as postgresql://user:password@host:5432/name', (text, wrong) => {
  const parsed = text.length <= MAX_CHARACTERS ? URL.parse(text) : null
  if (/^(mysql|mariadb)2?:/i.test(text))
    return wrong('MySQL is not supported: the gateway keeps its data in SQLite or PostgreSQL')
  if (!parsed || !['postgres:', 'postgresql:'].includes(parsed.protocol)) return undefined
  const inside = [...parsed.searchParams.keys()].find(
    parameter => parameter.startsWith('ssl') || parameter === 'uselibpqcompat',
  )
  if (!inside) return text
  const meant = SSL_WORDS[parsed.searchParams.get('sslmode') ?? '']
  return wrong(`take the parameter ${inside} out of it and set ${meant ? `DB_SSL=${meant}` : 'DB_SSL'} instead`)
})

/** A key given by an operator: it must survive an HTTP header and be too long to guess. */
export const givenKey = kind('at least 32 (at most 512) visible ASCII characters without spaces', text =>
  /^[\x21-\x7e]{32,512}$/.test(text) ? text : undefined,
)

/** 32 bytes, written as 64 hex digits or as base64 (either alphabet, padding optional). */
export const bytes32 = kind('32 bytes as 64 hex digits or as base64 (openssl rand -base64 32)', text => {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
})

/** Bytes written as base64, at least so many. */
export function base64Key(least_bytes: number, takes: string): SettingKind<string> {
  return kind(takes, text =>
    /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length >= least_bytes ? text : undefined,
  )
}

/**
 * The kinds of store for bodies. This process is its own control plane, so bodies that are kept there are kept here.
 */
export const logStoreKind = oneOf<'local' | 's3' | 's3_custom' | 's3_assume' | 'gcs' | 'gcs_assume' | 'azure'>({
  local: 'local',
  control_plane: 'local',
  s3: 's3',
  s3_custom: 's3_custom',
  s3_assume: 's3_assume',
  gcs: 'gcs',
  gcs_assume: 'gcs_assume',
  azure: 'azure',
})

/** The address of a bucket, with or without a scheme. */
export const bucketUrl = kind(
  'an address such as minio.example.com/bucket or https://bucket.s3.example.com, without a query',
  text => {
    const parsed = text.length <= MAX_CHARACTERS ? URL.parse(text.includes('://') ? text : `https://${text}`) : null
    const is_plain =
      parsed &&
      /^https?:$/.test(parsed.protocol) &&
      !parsed.username &&
      !parsed.password &&
      !parsed.search &&
      !parsed.hash
    return is_plain && parsed.hostname ? parsed.href.replace(/\/+$/, '') : undefined
  },
)

/** PEM text with a block called `label`. On one line, `\n` written as two characters ends a line. */
export function pem(label: RegExp, takes: string): SettingKind<string> {
  return kind(`${takes} in PEM form, not a path`, text => {
    const lines = text.includes('\n') ? text : text.replaceAll('\\n', '\n')
    return new RegExp(`-----BEGIN ${label.source}-----`).test(lines) ? lines : undefined
  })
}

/**
 * A comma separated list; `item` gives an entry in its normal form, or undefined when it is none. Repetitions fall
 * away.
 */
export function listOf(takes: string, item: (entry: string) => string | undefined): SettingKind<readonly string[]> {
  const list = kind<readonly string[]>(`a comma separated list of ${takes}`, (text, wrong) => {
    const entries = text.split(',').map(entry => entry.trim())
    const found = new Set<string>()
    for (const entry of entries.filter(Boolean)) {
      const normal = entry.length <= MAX_CHARACTERS ? item(entry) : undefined
      if (normal === undefined) return wrong(`the entry ${quoted(entry)} is none of: ${takes}`)
      found.add(normal)
    }
    return found.size <= MAX_ITEMS ? Object.freeze([...found]) : wrong(`it takes at most ${MAX_ITEMS} entries`)
  })
  return {...list, list: true, show: entries => entries.join(', ')}
}

/** Header names (RFC 9110, 5.1), in lower case. */
export const headerNames = listOf('header names', entry => token(entry)?.toLowerCase())
/** Header names in lower case, or `*`, which is a token as well. */
export const headerNamesOrAll = listOf('header names, or * for all', entry => token(entry)?.toLowerCase())
/** Methods in upper case, or `*`. */
export const methods = listOf('HTTP methods, or * for all', entry => token(entry)?.toUpperCase())
/** Web origins as browsers send them (RFC 6454, 7), or `*`. */
export const origins = listOf('origins such as https://app.example.com, or * for any', entry => {
  if (entry === '*') return entry
  const parsed = /^https?:\/\/[^/?#@]+\/?$/i.test(entry) ? URL.parse(entry) : null
  return parsed?.origin
})
/** Hosts that need no proxy, as they are written. */
export const unproxiedHosts = listOf('hosts, .domains, IP addresses, CIDR ranges, or *', entry =>
  /^[\w.:[\]*/-]+$/.test(entry) ? entry : undefined,
)
/**
 * Hosts trusted by name: host, `*.domain` (apex and below), IP, CIDR; of a URL its host. Lower case, IPv6 without
 * brackets.
 */
export const trustedHosts = listOf('hosts, *.domains, IP addresses, CIDR ranges or http URLs, without ports', entry => {
  const lower = entry.toLowerCase()
  if (lower.includes('://')) {
    const parsed = URL.parse(lower)
    const plain = parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password
    return plain ? unbracketed(parsed.hostname) : undefined
  }
  if (lower.includes('/')) return isRange(lower) ? lower : undefined
  if (lower.startsWith('*.')) return isName(lower.slice(2)) ? lower : undefined
  const host = unbracketed(lower)
  return isIP(host) || isName(host) ? host : undefined
})

/** Scopes of keys and tokens, in either spelling. */
/** Domains; one behind `*.` covers what is below it as well. */
export const domains = listOf('domains such as example.com or *.example.com', entry => {
  const name = readDomain(entry.replace(/^\*\./, ''))
  return name === undefined ? undefined : entry.startsWith('*.') ? `*.${name}` : name
})
/** Name servers by address; IPv6 with a port in brackets. */
export const nameServers = listOf('IP addresses of name servers, with or without a port', entry => {
  const [, bracketed, plain, port = '53'] = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/i.exec(entry) ?? []
  const is_address = isIP(entry) || isIPv6(bracketed ?? '') || isIPv4(plain ?? '')
  return is_address && Number(port) > 0 && Number(port) < 65_536 ? entry.toLowerCase() : undefined
})
export const words = listOf('words', entry =>
  /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255}$/.test(entry) ? entry : undefined,
)
export const ranges = listOf('addresses and CIDR ranges', entry => (isRange(entry) || isIP(entry) ? entry : undefined))
export const xml = kind('an XML document of at most 1 MB', text =>
  text.length <= 1_048_576 && /^\ufeff?\s*</.test(text) ? text : undefined,
)
export const scopes = listOf('scopes such as completions.write', entry =>
  /^[a-z_]{1,64}[.:][a-z_]{1,64}$/.test(entry) ? entry : undefined,
)
export const uuids = listOf('UUIDs', entry =>
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(entry) ? entry.toLowerCase() : undefined,
)

/** A value in the form for an error message: quoted, cut, on one line, without the user and password of a URL. */
export function quoted(value: string): string {
  const safe = value.replace(/\/\/[^/\s]*@/g, '//***@')
  return JSON.stringify(safe.length > 80 ? `${safe.slice(0, 80)}…` : safe)
}

/**
 * A kind from a function that gives the value of a trimmed text, or undefined; `wrong` says more than what is taken.
 */
export function kind<T>(
  takes: string,
  read: (text: string, wrong: (clause: string) => undefined) => T | undefined,
): SettingKind<T> {
  const schema = z.string().transform((text, context): T => {
    let clause = `it takes ${takes}`
    const value = read(text.trim(), better => {
      clause = better
      return undefined
    })
    if (value !== undefined) return value
    context.addIssue({code: 'custom', message: clause})
    return z.NEVER
  })
  return {takes, schema}
}

function isMailAddress(text: string): boolean {
  return text.length <= 255 && z.email().safeParse(text).success
}

function isLine(text: string): boolean {
  return text.length <= MAX_CHARACTERS && !/[\x00-\x1f\x7f]/.test(text)
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function token(entry: string): string | undefined {
  return /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/i.test(entry) ? entry : undefined
}

function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}

/**
 * A host name whose last label is no number, for that would be an IPv4 address in disguise (WHATWG URL, host parsing).
 */
function isName(host: string): boolean {
  const labels = host.split('.')
  return (
    host.length <= 253 &&
    labels.every(label => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) &&
    !/^(\d+|0x[\da-f]*)$/.test(labels.at(-1)!)
  )
}

function isRange(range: string): boolean {
  const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? []
  return (isIPv4(address) && Number(prefix) <= 32) || (isIPv6(address) && Number(prefix) <= 128)
}

export const CERTIFICATE = pem(/CERTIFICATE/, 'one or more certificates')
export const PRIVATE_KEY = pem(/(?:[A-Z]+ )?PRIVATE KEY/, 'a private key')
/** PKCS#8 or PKCS#1. */
export const RSA_KEY: SettingKind<string> = {
  takes: 'an RSA key of at least 2048 bits in PEM form, not a path',
  schema: PRIVATE_KEY.schema.refine(isRsaKey, 'it takes an RSA key of at least 2048 bits'),
}

function isRsaKey(pem: string): boolean {
  try {
    const {asymmetricKeyType, asymmetricKeyDetails} = createPrivateKey(pem)
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
  } catch {
    return false // its message may hold a part of the key
  }
}
