import {createHash, createHmac} from 'node:crypto'

/** Lower-case name → value. */
type OutgoingHeaders = Record<string, string>

/** The credentials by which AWS knows a caller. */
export interface AwsCredentials {
  readonly access_key_id: string
  readonly secret_access_key: string
  /** Of temporary credentials. */
  readonly session_token?: string | null
}

/** A request exactly as it will be sent. */
export interface Signable {
  readonly method: string
  /** With the port where it is not the scheme's own. */
  readonly host: string
  /** Path as it is sent, percent-encoded, beginning with `/`. */
  readonly path: string
  /** Query as it is sent, without `?`. */
  readonly query?: string
  /**
   * Every header that must not be changed in transit; those that may be (`user-agent`, `connection` ...) are left
   * unsigned.
   */
  readonly headers?: Readonly<OutgoingHeaders>
  /** The body, or its SHA-256 in hex, or S3's `UNSIGNED-PAYLOAD`. */
  readonly body: Buffer | string | {readonly sha256: string}
  /** `bedrock`, `sts`, `s3` ... */
  readonly service: string
  readonly region: string
  readonly credentials: AwsCredentials
  readonly now_ms: number
  /**
   * S3 signs the path as it is sent, encoded once and with its dots and double slashes, and wants the body's hash in a
   * header.
   */
  readonly s3?: boolean
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
/** Changed or dropped in transit, or of one connection only: AWS's own libraries sign none of them. */
const UNSIGNED = new Set(
  (
    'authorization cache-control connection expect from keep-alive max-forwards pragma referer te trailer transfer-encoding upgrade ' +
    'user-agent x-amzn-trace-id'
  ).split(' '),
)

/**
 * The headers that sign a request, to be set over its own: `host`, `x-amz-date`, `authorization`, with temporary
 * credentials `x-amz-security-token`, for S3 `x-amz-content-sha256`. Source: AWS IAM user guide, "Create a signed AWS
 * API request" (Signature Version 4).
 */
export function sign(request: Signable): OutgoingHeaders {
  const {credentials, region, service} = request
  const time = amzTime(request.now_ms)
  const hash = typeof request.body === 'object' && 'sha256' in request.body ? request.body.sha256 : sha256(request.body)
  const added: OutgoingHeaders = {
    host: request.host,
    'x-amz-date': time,
    ...(credentials.session_token ? {'x-amz-security-token': credentials.session_token} : {}),
    ...(request.s3 ? {'x-amz-content-sha256': hash} : {}),
  }
  const {canonical, signed} = canonicalHeaders({...request.headers, ...added})
  const path = request.s3 ? request.path : encoded(normalized(request.path), '/')
  const lines = [request.method, path, canonicalQuery(request.query ?? ''), canonical, signed, hash]
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`
  const to_sign = [ALGORITHM, time, scope, sha256(lines.join('\n'))].join('\n')
  const key = signingKey(credentials.secret_access_key, time.slice(0, 8), region, service)
  const signature = createHmac('sha256', key).update(to_sign).digest('hex')
  const authorization = `${ALGORITHM} Credential=${credentials.access_key_id}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
  return {...added, authorization}
}

/** `ms` since the epoch as AWS writes times: `20150830T123600Z`. */
export function amzTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

function signingKey(secret: string, date: string, region: string, service: string): Buffer {
  return [date, region, service, 'aws4_request'].reduce<Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    Buffer.from(`AWS4${secret}`),
  )
}

function canonicalHeaders(headers: Readonly<OutgoingHeaders>): {canonical: string; signed: string} {
  const lines = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, ' ')] as const)
    .filter(([name]) => !UNSIGNED.has(name))
    .toSorted(byBytes)
  return {
    canonical: lines.map(([name, value]) => `${name}:${value}\n`).join(''),
    signed: lines.map(([name]) => name).join(';'),
  }
}

/** Names and values each encoded once, whatever way they came, and put in order. */
function canonicalQuery(query: string): string {
  if (query === '') return ''
  return query
    .split('&')
    .map(part => {
      const equals = part.indexOf('=')
      return equals < 0 ? [reencoded(part), ''] : [reencoded(part.slice(0, equals)), reencoded(part.slice(equals + 1))]
    })
    .map(([name, value]) => [name!, value!] as const)
    .toSorted(byBytes)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function byBytes(one: readonly [string, string], other: readonly [string, string]): number {
  if (one[0] !== other[0]) return one[0] < other[0] ? -1 : 1
  return one[1] < other[1] ? -1 : one[1] > other[1] ? 1 : 0
}

function reencoded(text: string): string {
  try {
    return encoded(decodeURIComponent(text))
  } catch {
    return encoded(text) // a lone percent sign
  }
}

/** Every byte but letters, digits, `-._~` and those in `kept` percent-encoded, in capitals (RFC 3986, 2.3). */
function encoded(text: string, kept = ''): string {
  let out = ''
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte)
    out +=
      PLAIN.test(character) || kept.includes(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}
const PLAIN = /[\w.~-]/

/** Without dot segments and empty segments (RFC 3986, 5.2.4). */
function normalized(path: string): string {
  const kept: string[] = []
  const segments = path.split('/')
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  const is_folder = ['', '.', '..'].includes(segments.at(-1)!) && kept.length > 0
  return `/${kept.join('/')}${is_folder ? '/' : ''}`
}

function sha256(body: Buffer | string): string {
  return createHash('sha256').update(body).digest('hex')
}
