import {createHash} from 'node:crypto'
import type {ServerResponse} from 'node:http'
import type {Heard} from '../provider.ts'

/** What a twin keeps in its buckets, by `bucket/key`. */
export type Objects = Map<string, Buffer>

export const MODIFIED = 'Wed, 12 Oct 2022 17:50:00 GMT'
export const MODIFIED_S = 1_665_597_000

/** Amazon S3 as its API reference has it, by path, for what the gateway asks of it. False for what is not S3's. */
export function s3(objects: Objects, parts: Map<string, Buffer[]>, received: Heard, response: ServerResponse): boolean {
  if (!received.headers.authorization?.includes('/s3/aws4_request')) return false
  const xml = (status: number, body: string) => {
    response
      .writeHead(status, {'content-type': 'application/xml'})
      .end(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`)
    return true
  }
  if (received.headers['x-amz-content-sha256'] !== createHash('sha256').update(received.body).digest('hex'))
    return xml(400, '<Error><Code>XAmzContentSHA256Mismatch</Code><Message>The hash does not match.</Message></Error>')
  const url = new URL(received.path, 'http://s3')
  const place = decodeURIComponent(url.pathname.slice(1))
  const {searchParams: query} = url
  const found = objects.get(place)
  const gone = () => {
    if (received.method !== 'HEAD')
      return xml(404, '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>')
    response.writeHead(404).end()
    return true
  }
  if (query.get('list-type') === '2') {
    const prefix = `${place}/${query.get('prefix')}`
    const keys = [...objects.keys()].filter(key => key.startsWith(prefix)).toSorted()
    const start = Number(query.get('continuation-token') ?? 0)
    const end = start + Number(query.get('max-keys'))
    const entries = keys.slice(start, end).map(key => {
      const name = key.slice(place.length + 1).replaceAll('&', '&amp;')
      return `<Contents><Key>${name}</Key><LastModified>2022-10-12T17:50:00.000Z</LastModified><Size>${objects.get(key)!.length}</Size></Contents>`
    })
    const next = end < keys.length ? `<NextContinuationToken>${end}</NextContinuationToken>` : ''
    return xml(200, `<ListBucketResult>${entries.join('')}${next}</ListBucketResult>`)
  }
  const upload = query.get('uploadId')
  if (received.method === 'POST' && query.has('uploads')) {
    parts.set('up&1', [])
    return xml(200, '<InitiateMultipartUploadResult><UploadId>up&amp;1</UploadId></InitiateMultipartUploadResult>')
  }
  if (upload !== null && received.method === 'DELETE') {
    parts.delete(upload)
    response.writeHead(204).end()
    return true
  }
  if (upload !== null && received.method === 'PUT') {
    parts.get(upload)![Number(query.get('partNumber')) - 1] = received.body
    response.writeHead(200, {etag: `"part-${query.get('partNumber')}"`}).end()
    return true
  }
  if (upload !== null) {
    const all = parts.get(upload)!
    const expected = all
      .map((_, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"part-${at + 1}"</ETag></Part>`)
      .join('')
    if (received.body.toString() !== `<CompleteMultipartUpload>${expected}</CompleteMultipartUpload>`)
      return xml(400, '<Error><Code>InvalidPart</Code><Message>A part is missing.</Message></Error>')
    objects.set(place, Buffer.concat(all))
    parts.delete(upload)
    return xml(200, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
  }
  if (received.method === 'PUT') {
    objects.set(place, received.body)
    response.writeHead(200, {etag: '"1"'}).end()
    return true
  }
  if (!found) return gone()
  if (received.method === 'DELETE') {
    objects.delete(place)
    response.writeHead(204).end()
    return true
  }
  response.writeHead(200, {'content-length': String(found.length), 'last-modified': MODIFIED})
  response.end(received.method === 'HEAD' ? undefined : found)
  return true
}

/** Google Cloud Storage as its XML API (PUT) and its JSON API have it. False for what is not its own. */
export function gcs(objects: Objects, {method, path, body, headers}: Heard, response: ServerResponse): boolean {
  const url = new URL(path, 'http://gcs')
  const json = (status: number, said: unknown) => {
    response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(said))
    return true
  }
  const stored = (place: string) => {
    const [bucket, ...key] = place.split('/')
    return {
      kind: 'storage#object',
      bucket,
      name: key.join('/'),
      size: String(objects.get(place)!.length),
      timeCreated: '2022-10-12T17:50:00.000Z',
    }
  }
  const [, bucket, key] = /^\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  if (bucket === undefined && (method !== 'PUT' || url.pathname.startsWith('/v1/'))) return false
  if (headers.authorization !== 'Bearer sk-upstream-secret-0123456789')
    return json(401, {error: {code: 401, message: 'Invalid Credentials'}})
  if (bucket === undefined) {
    objects.set(decodeURIComponent(url.pathname.slice(1)), body)
    response.writeHead(200, {etag: '"1"'}).end()
    return true
  }
  if (key === undefined) {
    const prefix = `${bucket}/${url.searchParams.get('prefix')}`
    const keys = [...objects.keys()].filter(place => place.startsWith(prefix)).toSorted()
    const start = Number(url.searchParams.get('pageToken') ?? 0)
    const end = start + Number(url.searchParams.get('maxResults'))
    return json(200, {
      items: keys.slice(start, end).map(stored),
      ...(end < keys.length ? {nextPageToken: String(end)} : {}),
    })
  }
  const place = `${bucket}/${decodeURIComponent(key)}`
  const found = objects.get(place)
  if (!found)
    return json(404, {error: {code: 404, message: `No such object: ${place}`, errors: [{reason: 'notFound'}]}})
  if (method === 'DELETE') {
    objects.delete(place)
    response.writeHead(204).end()
    return true
  }
  if (url.searchParams.get('alt') !== 'media') return json(200, stored(place))
  response.writeHead(200).end(found)
  return true
}
