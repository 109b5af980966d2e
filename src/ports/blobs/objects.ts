import {BlobFault, type Blobs, type NewObject} from './index.ts'

/** A request of an object store exactly as it will be sent. */
export interface ObjectRequest {
  readonly method: 'PUT' | 'GET' | 'DELETE'
  /** With the port where it is not the scheme's own. */
  readonly host: string
  /** Percent-encoded. */
  readonly path: string
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

/** The headers that say who asks, to be set over those of the request. */
export type Authorize = (request: ObjectRequest) => Promise<Record<string, string>>

/** Sends one request and reads the whole answer; throws where there is none in time. Follows no redirect. */
export type SendObject = (request: {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}) => Promise<{readonly status: number; readonly code_header: string | null; readonly body: Buffer}>

export interface ObjectBlobsOptions {
  /** The bucket or container, without a slash at its end: `https://s3.eu-west-1.amazonaws.com/bucket`. */
  readonly base_url: string
  readonly send: SendObject
  readonly authorize: Authorize
  readonly putHeaders?: (object: NewObject) => Record<string, string>
  readonly get_headers?: Readonly<Record<string, string>>
}

/**
 * Too long a body, too long a key: nothing that the next object need have too (S3 API reference, error responses; Blob
 * service error codes).
 */
const OF_THE_OBJECT = new Set([
  'EntityTooLarge',
  'KeyTooLongError',
  'MaxMessageLengthExceeded',
  'RequestBodyTooLarge',
  'BlobImmutableDueToPolicy',
])
/** Error codes for a whole place that is missing, and not one object in it. */
const NO_PLACE = new Set(['NoSuchBucket', 'ContainerNotFound', 'AccountNotFound', 'ResourceNotFound'])

/**
 * Objects over HTTP as all of S3, Cloud Storage (XML API) and Azure Blob Storage have them: PUT, GET and DELETE at the
 * key's path.
 */
export function objectBlobs({
  base_url,
  send,
  authorize,
  putHeaders = () => ({}),
  get_headers = {},
}: ObjectBlobsOptions): Blobs {
  const place = `The log store ${base_url}`
  const ask = async (
    method: ObjectRequest['method'],
    key: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | null,
  ) => {
    const url = new URL(`${base_url}/${key.split('/').map(encoded).join('/')}`)
    const request = {method, host: url.host, path: url.pathname, headers, body}
    try {
      const own = await authorize(request)
      return await send({method, url: url.href, headers: {...headers, ...own}, body})
    } catch (fault) {
      throw new BlobFault('unreachable', `${place} could not be asked: ${reasonOf(fault)}.`, {cause: fault})
    }
  }
  const refused = ({status, code_header, body}: Awaited<ReturnType<SendObject>>) => {
    const code = code_header ?? codeIn(body)
    const message = `${place} answered ${status}${code ? ` (${code})` : ''}.`
    if (status === 413 || (code && OF_THE_OBJECT.has(code))) return new BlobFault('object', message)
    const is_trouble = status >= 500 || status === 429 || status === 408
    return new BlobFault(is_trouble ? 'unreachable' : 'refused', message)
  }
  const isGone = ({status, code_header, body}: Awaited<ReturnType<SendObject>>) =>
    status === 404 && !NO_PLACE.has(code_header ?? codeIn(body) ?? '')
  return {
    place,
    async put(key, object) {
      const reply = await ask('PUT', key, {'content-type': object.content_type, ...putHeaders(object)}, object.body)
      if (reply.status < 200 || reply.status > 299) throw refused(reply)
    },
    async get(key) {
      const reply = await ask('GET', key, get_headers, null)
      if (isGone(reply)) return undefined
      if (reply.status !== 200) throw refused(reply)
      return reply.body
    },
    async remove(key) {
      const reply = await ask('DELETE', key, {}, null)
      if (!isGone(reply) && (reply.status < 200 || reply.status > 299)) throw refused(reply)
    },
  }
}

/** As AWS signs it: all but letters, digits and `-._~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

/**
 * The code of an error in XML, and no more of it: what else it says may hold the key that was sent and what was signed.
 */
function codeIn(body: Buffer): string | null {
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(body.subarray(0, 4096).toString('latin1'))?.[1] ?? null
}

function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return 'the request failed'
  return (fault.name === 'TimeoutError' ? 'it did not answer in time' : fault.message).replace(/\.$/, '')
}
