import {createHash, createHmac, timingSafeEqual} from 'node:crypto'
import {createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

/** How a twin knows its clients. */
export type TwinKey =
  | {
      readonly kind: 's3'
      readonly id: string
      readonly secret: string
      readonly region: string
      readonly session_token?: string
    }
  | {readonly kind: 'azure'; readonly account: string; readonly key: string}
  | {readonly kind: 'bearer'; readonly token: string}

export interface TwinRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What becomes of the next requests: `hangs` never answers, a number is a status, `cuts` ends the connection. */
export type TwinMood = 'up' | 'hangs' | 'cuts' | number

export interface Twin {
  readonly url: string
  /** By their path. */
  readonly objects: Map<string, Buffer>
  /** Everything that was asked, refused or not. */
  readonly received: TwinRequest[]
  mood: TwinMood
  /** Asked of each request first: what it gives is the mood for it. */
  judge: (request: TwinRequest) => TwinMood | Promise<TwinMood>
  /** Takes no connections, and takes them again at the same port. */
  down(): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

/**
 * A store of objects on loopback that knows the bucket `bucket`. It works every signature out again from what came over
 * the wire, with none of the gateway's code, and answers as the clouds do: 403 for a wrong one.
 */
export async function startTwin(key: TwinKey): Promise<Twin> {
  const objects = new Map<string, Buffer>()
  const received: TwinRequest[] = []
  let server: Server
  let port = 0
  const listen = async () => {
    server = createServer((request, response) => void answer(request, response))
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  const down = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  const answer = async (message: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of message) parts.push(part as Buffer)
    const request = {method: message.method!, path: message.url!, headers: message.headers, body: Buffer.concat(parts)}
    received.push(request)
    const judged = await twin.judge(request)
    const mood = judged === 'up' ? twin.mood : judged
    if (mood === 'hangs') return
    if (mood === 'cuts') return void message.socket.destroy()
    const told = typeof mood === 'number' ? {status: mood, code: 'SlowDown'} : said(request, objects, key)
    const headers: Record<string, string> = {'content-type': 'application/xml'}
    if (told.code && key.kind === 'azure') headers['x-ms-error-code'] = told.code
    if (mood === 307) headers.location = `http://127.0.0.1:${port}/elsewhere`
    const error = `<?xml version="1.0"?><Error><Code>${told.code}</Code><AWSAccessKeyId>AKIATHEKEY</AWSAccessKeyId></Error>`
    response.writeHead(told.status, headers).end(told.code ? error : told.body)
  }
  const twin: Twin = {
    get url() {
      return `http://127.0.0.1:${port}`
    },
    objects,
    received,
    mood: 'up',
    judge: () => 'up',
    down,
    up: listen,
    close: down,
  }
  await listen()
  return twin
}

interface Told {
  readonly status: number
  readonly code?: string
  readonly body?: Buffer
}

function said(request: TwinRequest, objects: Map<string, Buffer>, key: TwinKey): Told {
  if (!isSigned(request, key)) return {status: 403, code: 'SignatureDoesNotMatch'}
  const is_azure = key.kind === 'azure'
  const path = decodeURIComponent(request.path)
  if (!path.startsWith('/bucket/')) return {status: 404, code: is_azure ? 'ContainerNotFound' : 'NoSuchBucket'}
  if (request.method === 'PUT') {
    if (is_azure && request.headers['x-ms-blob-type'] !== 'BlockBlob')
      return {status: 400, code: 'MissingRequiredHeader'}
    objects.set(path, request.body)
    return {status: is_azure ? 201 : 200}
  }
  const found = objects.get(path)
  const gone = {status: 404, code: is_azure ? 'BlobNotFound' : 'NoSuchKey'}
  if (request.method === 'GET') return found ? {status: 200, body: found} : gone
  if (!found) return is_azure ? gone : {status: 204}
  objects.delete(path)
  return {status: is_azure ? 202 : 204}
}

export function isSigned(request: TwinRequest, key: TwinKey): boolean {
  const {authorization = ''} = request.headers
  if (key.kind === 'bearer') return authorization === `Bearer ${key.token}`
  if (key.kind === 'azure') return same(authorization, `SharedKey ${key.account}:${azureSignature(request, key)}`)
  const {'x-amz-date': time, 'x-amz-content-sha256': hash, 'x-amz-security-token': token} = request.headers
  const age_ms =
    Date.now() - Date.parse(String(time).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const is_fresh = Math.abs(age_ms) < 900_000
  return (
    is_fresh &&
    hash === sha256(request.body) &&
    token === key.session_token &&
    same(authorization, awsAuthorization(request, key))
  )
}

/** AWS4-HMAC-SHA256 as "Authenticating Requests: Using the Authorization Header" of the S3 API reference builds it. */
export function awsAuthorization(
  {method, path, headers}: TwinRequest,
  {id, secret, region}: TwinKey & {kind: 's3'},
): string {
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? []
  const must = ['host', ...Object.keys(headers).filter(name => name.startsWith('x-amz-') || name === 'content-md5')]
  if (!must.every(name => names.includes(name))) return 'a header that counts is not signed'
  const [place = '', query = ''] = path.split('?')
  const canonical =
    `${method}\n${place}\n${query}\n` +
    names.map(name => `${name}:${String(headers[name]).trim()}\n`).join('') +
    `\n${names.join(';')}\n${String(headers['x-amz-content-sha256'])}`
  const time = String(headers['x-amz-date'])
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  let key: string | Buffer = `AWS4${secret}`
  for (const word of [...scope.split('/')]) key = createHmac('sha256', key).update(word).digest()
  const signature = createHmac('sha256', key)
    .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`)
    .digest('hex')
  return `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
}

/** "Authorize with Shared Key" (Microsoft Learn), the form of the Blob service from 2015-02-21 on. */
function azureSignature({method, path, headers}: TwinRequest, {account, key}: TwinKey & {kind: 'azure'}): string {
  const of = (name: string) => String(headers[name] ?? '')
  const length = of('content-length') === '0' ? '' : of('content-length')
  let text = `${method}\n${of('content-encoding')}\n${of('content-language')}\n${length}\n${of('content-md5')}\n${of('content-type')}\n`
  text += `${of('date')}\n${of('if-modified-since')}\n${of('if-match')}\n${of('if-none-match')}\n${of('if-unmodified-since')}\n${of('range')}\n`
  for (const name of Object.keys(headers).sort()) if (name.startsWith('x-ms-')) text += `${name}:${of(name)}\n`
  text += `/${account}${path}`
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64')
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

function same(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
