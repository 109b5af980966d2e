import {uriPart} from '../../base/uri-part.ts'
import {seconds, whole} from '../jobs/objects.ts'
import type {ProviderPage} from '../jobs/pages.ts'
import type {ObjectStore, ObjectUri, StoredObject} from '../jobs/store.ts'
import {elementsOf, escaped, textOf} from '../jobs/xml.ts'
import type {Upstream, UpstreamReply} from '../operation.ts'
import {type Options, optionIn} from '../options.ts'
import {InvalidResponseFault} from '../translation.ts'

/**
 * The least that S3 takes of a part but the last is 5 MB, the most parts 10,000 (S3 user guide, "Multipart upload
 * limits").
 */
const PART_BYTES = 8 << 20
export const S3 = 's3'

/** Amazon S3 (API reference, PutObject, CreateMultipartUpload, HeadObject, GetObject, DeleteObject, ListObjectsV2). */
export function s3Store({ask}: Upstream, options: Options): ObjectStore {
  return {
    async put(place, {content, content_type}) {
      const headers = {'content-type': content_type, ...encryption(options)}
      const parts = inParts(content)
      const first = await parts.next()
      const body = first.done ? Buffer.alloc(0) : first.value
      if (body.length < PART_BYTES) {
        dropped(await ask({side: S3, method: 'PUT', path: pathOf(place), headers, body}))
        return body.length
      }
      return await putParts(ask, place, headers, chained(body, parts))
    },
    async head(place) {
      const reply = await ask({side: S3, method: 'HEAD', path: pathOf(place)})
      dropped(reply)
      const {'content-length': length, 'last-modified': modified} = reply.headers
      return {key: place.key, bytes: whole(length), created_at: seconds(modified)}
    },
    async read(place) {
      return (await ask({side: S3, method: 'GET', path: pathOf(place)})).body
    },
    async remove(place) {
      // It answers alike whether the object existed: for one that did not, the client gets its own error.
      dropped(await ask({side: S3, method: 'HEAD', path: pathOf(place)}))
      dropped(await ask({side: S3, method: 'DELETE', path: pathOf(place)}))
    },
    async list(bucket, prefix, token, size) {
      const query = {'list-type': '2', 'max-keys': String(size), prefix, ...(token && {'continuation-token': token})}
      const path = `/${encoded(bucket)}?${Object.entries(query)
        .map(([name, value]) => `${name}=${encoded(value)}`)
        .join('&')}`
      return readList((await (await ask({side: S3, method: 'GET', path})).bytes()).toString('utf8'))
    },
  }
}

type Ask = Upstream['ask']

/** An upload that does not come to its end is taken back: S3 would keep its parts. */
async function putParts(
  ask: Ask,
  place: ObjectUri,
  headers: Record<string, string>,
  parts: AsyncIterable<Buffer>,
): Promise<number> {
  const path = pathOf(place)
  const begun = (await (await ask({side: S3, method: 'POST', path: `${path}?uploads=`, headers})).bytes()).toString(
    'utf8',
  )
  const upload = textOf(begun, 'UploadId')
  if (upload === null) throw new InvalidResponseFault('expected an UploadId')
  const id = `uploadId=${encoded(upload)}`
  try {
    const tags: string[] = []
    let bytes = 0
    for await (const body of parts) {
      const reply = await ask({
        side: S3,
        method: 'PUT',
        path: `${path}?partNumber=${tags.length + 1}&${id}`,
        body,
        headers: BINARY,
      })
      dropped(reply)
      tags.push(reply.headers.etag ?? '')
      bytes += body.length
    }
    const listed = tags
      .map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`)
      .join('')
    const body = Buffer.from(`<CompleteMultipartUpload>${listed}</CompleteMultipartUpload>`)
    const ended = await ask({
      side: S3,
      method: 'POST',
      path: `${path}?${id}`,
      body,
      headers: {'content-type': 'application/xml'},
    })
    // S3 may report an error behind a status of success.
    const text = (await ended.bytes()).toString('utf8')
    if (/<Error>/.test(text))
      throw new InvalidResponseFault(textOf(text, 'Message') ?? 'the upload could not be completed')
    return bytes
  } catch (fault) {
    await ask({side: S3, method: 'DELETE', path: `${path}?${id}`, tidies: true}).then(dropped, () => undefined)
    throw fault
  }
}

const BINARY = {'content-type': 'application/octet-stream'}

/** Pieces put together to parts of one size, the last one less. */
async function* inParts(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = []
  let length = 0
  for await (const piece of content) {
    open.push(piece)
    length += piece.length
    while (length >= PART_BYTES) {
      const whole = Buffer.concat(open, length)
      yield whole.subarray(0, PART_BYTES)
      open = [whole.subarray(PART_BYTES)]
      length -= PART_BYTES
    }
  }
  if (length > 0) yield Buffer.concat(open, length)
}

async function* chained(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

function encryption(options: Options): Record<string, string> {
  const kind = optionIn(options, 'amz_server_side_encryption')
  const key = optionIn(options, 'amz_server_side_encryption_aws_kms_key_id')
  return {
    ...(kind && {'x-amz-server-side-encryption': kind}),
    ...(key && {'x-amz-server-side-encryption-aws-kms-key-id': key}),
  }
}

function readList(xml: string): ProviderPage<StoredObject> {
  const items = elementsOf(xml, 'Contents').map(entry => ({
    key: textOf(entry, 'Key') ?? '',
    bytes: whole(textOf(entry, 'Size')),
    created_at: seconds(textOf(entry, 'LastModified')),
  }))
  return {items, next: textOf(xml, 'NextContinuationToken')}
}

function pathOf({bucket, key}: ObjectUri): string {
  return `/${encoded(bucket)}/${key.split('/').map(encoded).join('/')}`
}

/** As AWS signs it: all but letters, digits and `-._~`. */
function encoded(text: string): string {
  return uriPart(text).replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

function dropped(reply: UpstreamReply): void {
  reply.drop()
}
