import {isIP, isIPv4, isIPv6} from 'node:net'
import {z} from 'zod'

/** A way to read one text: what it takes in words, and the schema that turns the text into its value. */
export interface Kind<T> {
  /** Follows "it takes": `a whole number from 0 to 65535`. */
  readonly takes: string
  readonly schema: z.ZodType<T, string>
  /** A comma separated list, which may stand as a YAML list in the settings file. */
  readonly list?: true
  show?(value: T): string
}

const MOST_MS = 2 ** 31 - 1 // a longer timer fires at once in Node
const MOST_CHARACTERS = 4096
const MOST_ITEMS = 1000

/** Text of one line, 4096 characters at most. */
export const text = kind('one line of at most 4096 characters', said => (isLine(said) ? said : undefined))
/** The same, with the spaces around it; a line end after it is what editors add to files, not part of it. */
export const password: Kind<string> = {
  takes: text.takes,
  schema: z
    .string()
    .transform(said => said.replace(/\r?\n$/, ''))
    .refine(isLine, `it takes ${text.takes}`),
}
/** A path; it may be relative to the working directory. */
export const path = kind('a path of at most 4096 characters', said => (isLine(said) ? said : undefined))
/** A feature flag: only `OFF` switches off (spec: private deployment feature flags). */
export const onOff: Kind<boolean> = {...oneOf({ON: true, OFF: false}), show: on => (on ? 'ON' : 'OFF')}
export const trueFalse: Kind<boolean> = oneOf({true: true, false: false})
/** The same for what is off where nothing is said, in either spelling. */
export const switched: Kind<boolean> = {...oneOf({ON: true, OFF: false, true: true, false: false}), show: on => (on ? 'ON' : 'OFF')}
/** What a host name may hold between its dots. */
export const label = matching('letters, digits and inner hyphens, at most 63', /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i)
export const domain = matching(
  'a domain such as amazonaws.com',
  /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?){1,4}$/i,
)
/** One part of a path. */
export const segment = matching('letters, digits, dots, hyphens and underscores, at most 255', /^\w(?:(?!\.\.)[\w.-]){0,254}$/)
export const urlPath = matching('a path such as /v2/credentials/ID', /^\/[\x21-\x7e]{1,1023}$/)
export const email = matching('an e-mail address', /^[\w.+-]{1,128}@[a-z0-9.-]{1,128}$/i)
/** A time limit in milliseconds. */
export const milliseconds = whole(1, MOST_MS, 'milliseconds')
/** A time to keep something, in days. */
export const days = whole(1, 36_500, 'days')

function matching(takes: string, form: RegExp): Kind<string> {
  return kind(takes, said => (form.test(said) ? said : undefined))
}

/** A whole number between two bounds, both allowed; plain digits only. */
export function whole(least: number, most: number, unit = ''): Kind<number> {
  return kind(`a whole number${unit && ` of ${unit}`} from ${least} to ${most}`, said => {
    if (!/^\d{1,15}$/.test(said)) return undefined
    const number = Number(said)
    return number >= least && number <= most ? number : undefined
  })
}

/** One of the words, spelt exactly so; the value it stands for. */
export function oneOf<T>(words: Readonly<Record<string, T>>): Kind<T> {
  return kind(listed(Object.keys(words)), said => (Object.hasOwn(words, said) ? words[said] : undefined))
}

/** One of the words, spelt exactly so, as itself. */
export function word<const W extends string>(...words: readonly W[]): Kind<W> {
  return kind(listed(words), said => words.find(known => known === said))
}

/** The address to listen on: an IP address without brackets, or a host name. */
export const listenAddress = kind('an IP address or a host name, without port', said =>
  isIP(said) || isName(said.toLowerCase()) ? said : undefined,
)

/** An absolute URL of one of `schemes`, for example `http:`; with user and password only where `credentials` says so. */
export function url(takes: string, schemes: readonly string[], {credentials = false} = {}): Kind<string> {
  return kind(takes, (said, wrong) => {
    const parsed = said.length <= MOST_CHARACTERS ? URL.parse(said) : null
    if (!parsed || !schemes.includes(parsed.protocol) || !parsed.hostname) return undefined
    if (!credentials && (parsed.username || parsed.password)) return wrong('it may not carry a user or a password')
    return said
  })
}

/** A mail address. */
export const mailAddress = kind('a mail address', said => (isMailAddress(said) ? said : undefined))
/** A sender (RFC 5322, 3.4): an address, or a name without quotes and the address in angle brackets. */
export const mailbox = kind('a mail address, or Name <address>', said => {
  const address = /^[^<>"\\]*<([^<>]+)>$/.exec(said)?.[1] ?? said
  return isLine(said) && isMailAddress(address) ? said : undefined
})

const SSL_WORDS: Readonly<Record<string, string>> = {
  disable: 'DISABLED',
  prefer: 'PREFERRED',
  require: 'REQUIRED',
  'verify-ca': 'VERIFY_CA',
  'verify-full': 'VERIFY_IDENTITY',
}

/** A PostgreSQL URL as libpq takes it (PostgreSQL manual, 32.1.1.2); how TLS is used is said by `DB_SSL` alone. */
export const postgresUrl = kind('a URL such as postgresql://user:password@host:5432/name', (said, wrong) => {
  const parsed = said.length <= MOST_CHARACTERS ? URL.parse(said) : null
  if (/^(mysql|mariadb)2?:/i.test(said)) return wrong('MySQL is not supported: the gateway keeps its data in SQLite or PostgreSQL')
  if (!parsed || !['postgres:', 'postgresql:'].includes(parsed.protocol)) return undefined
  const inside = [...parsed.searchParams.keys()].find(parameter => parameter.startsWith('ssl') || parameter === 'uselibpqcompat')
  if (!inside) return said
  const meant = SSL_WORDS[parsed.searchParams.get('sslmode') ?? '']
  return wrong(`take the parameter ${inside} out of it and set ${meant ? `DB_SSL=${meant}` : 'DB_SSL'} instead`)
})

/** A key given by an operator: it must survive an HTTP header and be too long to guess. */
export const givenKey = kind('at least 32 (at most 512) visible ASCII characters without spaces', said =>
  /^[\x21-\x7e]{32,512}$/.test(said) ? said : undefined,
)

/** 32 bytes, written as 64 hex digits or as base64 (either alphabet, padding optional). */
export const bytes32 = kind('32 bytes as 64 hex digits or as base64 (openssl rand -base64 32)', said => {
  if (/^[0-9a-f]{64}$/i.test(said)) return Buffer.from(said, 'hex')
  return /^[\w+/-]{43}=?$/.test(said) ? Buffer.from(said, 'base64') : undefined
})

/** Bytes written as base64, at least so many. */
export function base64Key(least_bytes: number, takes: string): Kind<string> {
  return kind(takes, said => (/^[A-Za-z0-9+/]+={0,2}$/.test(said) && Buffer.from(said, 'base64').length >= least_bytes ? said : undefined))
}

/** Where bodies may be kept. This process is its own control plane, so that what is kept there is kept here. */
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
export const bucketUrl = kind('an address such as minio.example.com/bucket or https://bucket.s3.example.com, without a query', said => {
  const parsed = said.length <= MOST_CHARACTERS ? URL.parse(said.includes('://') ? said : `https://${said}`) : null
  const is_plain = parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password && !parsed.search && !parsed.hash
  return is_plain && parsed.hostname ? parsed.href.replace(/\/+$/, '') : undefined
})

/** PEM text with a block called `label`. Where it stands on one line, `\n` written as two characters ends a line. */
export function pem(label: RegExp, takes: string): Kind<string> {
  return kind(`${takes} in PEM form, not a path`, said => {
    const lines = said.includes('\n') ? said : said.replaceAll('\\n', '\n')
    return new RegExp(`-----BEGIN ${label.source}-----`).test(lines) ? lines : undefined
  })
}

/** A comma separated list; `item` gives an entry in its normal form, or undefined when it is none. Repetitions fall away. */
export function listOf(takes: string, item: (entry: string) => string | undefined): Kind<readonly string[]> {
  const list = kind<readonly string[]>(`a comma separated list of ${takes}`, (said, wrong) => {
    const entries = said.split(',').map(entry => entry.trim())
    const found = new Set<string>()
    for (const entry of entries.filter(Boolean)) {
      const normal = entry.length <= MOST_CHARACTERS ? item(entry) : undefined
      if (normal === undefined) return wrong(`the entry ${quoted(entry)} is none of: ${takes}`)
      found.add(normal)
    }
    return found.size <= MOST_ITEMS ? Object.freeze([...found]) : wrong(`it takes at most ${MOST_ITEMS} entries`)
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
/** Hosts trusted by name: host, `*.domain` (apex and below), IP, CIDR; of a URL its host. Lower case, IPv6 without brackets. */
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

/** A value as it may stand in a sentence: quoted, cut, on one line, without the user and password of a URL. */
export function quoted(value: string): string {
  const safe = value.replace(/\/\/[^/\s]*@/g, '//***@')
  return JSON.stringify(safe.length > 80 ? `${safe.slice(0, 80)}…` : safe)
}

/** A kind from a function that gives the value of a trimmed text, or undefined; `wrong` says more than what is taken. */
function kind<T>(takes: string, read: (said: string, wrong: (clause: string) => undefined) => T | undefined): Kind<T> {
  const schema = z.string().transform((said, context): T => {
    let clause = `it takes ${takes}`
    const value = read(said.trim(), better => {
      clause = better
      return undefined
    })
    if (value !== undefined) return value
    context.addIssue({code: 'custom', message: clause})
    return z.NEVER
  })
  return {takes, schema}
}

function isMailAddress(said: string): boolean {
  return said.length <= 255 && z.email().safeParse(said).success
}

function isLine(said: string): boolean {
  return said.length <= MOST_CHARACTERS && !/[\x00-\x1f\x7f]/.test(said)
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

/** A host name whose last label is no number, for that would be an IPv4 address in disguise (WHATWG URL, host parsing). */
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
