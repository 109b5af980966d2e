import {uriPart} from '../../base/uri-part.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {OperationInput, ProviderOperation, Upstream} from '../operation.ts'
import {MissingOptionFault} from '../options.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {fileObject} from './objects.ts'
import {listed, type ProviderPage} from './pages.ts'
import {changedRows} from './rows.ts'
import {openUpload, plainName, type RowWords} from './upload.ts'

/** An object in a cloud's store: `s3://bucket/key`. */
export interface ObjectUri {
  readonly bucket: string
  readonly key: string
  /** Of a batch's output: whose words its rows are in. */
  readonly model: string | null
}

export interface StoredObject {
  readonly key: string
  readonly bytes: number
  readonly created_at: number | null
}

/** A cloud's store of objects, for one operation. */
export interface ObjectStore {
  /** Writes all of `content`, or nothing. Gives the bytes that were written. */
  put(place: ObjectUri, file: {readonly content: AsyncIterable<Buffer>; readonly content_type: string}): Promise<number>
  head(place: ObjectUri): Promise<StoredObject>
  read(place: ObjectUri): Promise<AsyncIterable<Buffer>>
  remove(place: ObjectUri): Promise<void>
  list(bucket: string, prefix: string, token: string | null, size: number): Promise<ProviderPage<StoredObject>>
}

export interface StoreWords {
  readonly scheme: 's3' | 'gs'
  open(input: OperationInput, upstream: Upstream): ObjectStore
  /** The bucket that files go to. Throws `MissingOptionFault`. */
  bucket(input: OperationInput): string
  /** The key that the options name for an upload. */
  key?(input: OperationInput): string | undefined
  readonly rows: RowWords
  /** A row of a batch's output in OpenAI's words; null for what is left out. */
  output(row: Json, number: number, model: string, input: OperationInput): Json | null
}

/** The gateway's objects in a bucket are below this folder, by purpose: `gateway-files/batch/{id}/rows.jsonl`. */
const FOLDER = 'gateway-files'
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/
const MODEL_MARK = '?gateway_model='

/**
 * Files of a provider that reads and writes a cloud's store of objects. Their ids are the objects' places,
 * percent-encoded.
 */
export function storeOperations(words: StoreWords): Partial<Record<EndpointName, ProviderOperation>> {
  const {scheme} = words
  const place = (input: OperationInput) => placeIn(input.id, words, input)
  return {
    async uploadFile(input, upstream) {
      const upload = await openUpload(input, words.rows)
      const bucket = words.bucket(input)
      const file_name = plainName(upload.file_name)
      const key = input.file_headers.name ?? words.key?.(input) ?? keyOf(upload.purpose, input, file_name)
      const stored = checked({bucket, key, model: null})
      const bytes = await words.open(input, upstream).put(stored, upload)
      const id = idOf(scheme, stored)
      const {purpose} = upload
      return {json: fileObject({id, bytes, created_at: input.context.created_s, filename: upload.file_name, purpose})}
    },
    async listFiles(input, upstream) {
      const bucket = words.bucket(input)
      const store = words.open(input, upstream)
      const purpose = input.query.get('purpose')
      const prefix = purpose ? `${FOLDER}/${plainName(purpose)}/` : `${FOLDER}/`
      return listed(input, async (token, size) => {
        const {items, next} = await store.list(bucket, prefix, token, size)
        return {items: items.map(item => fileOf(scheme, {bucket, key: item.key, model: null}, item)), next}
      })
    },
    async retrieveFile(input, upstream) {
      const found = place(input)
      return {json: fileOf(scheme, found, await words.open(input, upstream).head(found))}
    },
    async deleteFile(input, upstream) {
      const found = place(input)
      await words.open(input, upstream).remove(found)
      return {json: {id: idOf(scheme, found), object: 'file', deleted: true}}
    },
    async retrieveFileContent(input, upstream) {
      const found = place(input)
      const content = await words.open(input, upstream).read(found)
      return {content: contentOf(found, content, words, input), content_type: 'application/octet-stream'}
    },
  }
}

/** The content of a batch's output in OpenAI's words; of any other object as it is stored. */
export function contentOf(
  {model}: ObjectUri,
  content: AsyncIterable<Buffer>,
  {output}: Pick<StoreWords, 'output'>,
  input: OperationInput,
): AsyncIterable<Buffer> {
  return model === null ? content : changedRows(content, (row, number) => output(row, number, model, input))
}

/**
 * `s3://bucket/key` in a file's id, or as a client writes it. Refuses a place in another bucket than that of the
 * options.
 */
export function placeIn(
  id: string,
  {scheme, bucket}: Pick<StoreWords, 'scheme' | 'bucket'>,
  input: OperationInput,
  field = 'id',
): ObjectUri {
  const text = decoded(id)
  const found = new RegExp(`^${scheme}://([^/]+)/(.+)$`).exec(text)
  if (!found)
    throw new UnsupportedInputFault(field, `expected the id of a file: ${scheme}://BUCKET/KEY, percent-encoded`)
  const mark = found[2]!.lastIndexOf(MODEL_MARK)
  const key = mark < 0 ? found[2]! : found[2]!.slice(0, mark)
  const model = mark < 0 ? null : found[2]!.slice(mark + MODEL_MARK.length)
  const own = bound(input, bucket)
  if (own !== undefined && own !== found[1])
    throw new UnsupportedInputFault(field, `expected a file in the bucket ${own}`)
  return checked({bucket: found[1]!, key, model})
}

/** One path segment, whatever the key holds. */
export function idOf(scheme: string, {bucket, key, model}: ObjectUri): string {
  return uriPart(`${scheme}://${bucket}/${key}${model === null ? '' : MODEL_MARK + model}`)
}

export function uriOf(scheme: string, {bucket, key}: Pick<ObjectUri, 'bucket' | 'key'>): string {
  return `${scheme}://${bucket}/${key}`
}

/** A key of our own, for what a call puts into the bucket. */
export function keyOf(purpose: string, {context}: OperationInput, name: string): string {
  return `${FOLDER}/${plainName(purpose)}/${context.call_id}/${name}`
}

function fileOf(scheme: string, place: ObjectUri, {bytes, created_at, key}: StoredObject): Json {
  const purpose = new RegExp(`^${FOLDER}/([^/]+)/`).exec(key)?.[1]
  const filename = key.split('/').at(-1)!
  const is_output = place.model !== null || purpose === 'batch_output'
  return fileObject({
    id: idOf(scheme, place),
    bytes,
    created_at: created_at ?? 0,
    filename,
    purpose: is_output ? 'batch_output' : (purpose ?? 'user_data'),
  })
}

function bound(input: OperationInput, bucket: StoreWords['bucket']): string | undefined {
  try {
    return bucket(input)
  } catch (fault) {
    if (fault instanceof MissingOptionFault) return undefined // none is named: the id says it
    throw fault
  }
}

function checked(place: ObjectUri): ObjectUri {
  if (!BUCKET.test(place.bucket) || place.bucket.includes('..'))
    throw new UnsupportedInputFault('bucket', 'expected the name of a bucket')
  // A name that could be read as a path to another object is refused.
  if (
    place.key.split('/').some(part => part === '.' || part === '..') ||
    /[\0-\x1f\x7f\\]/.test(place.key) ||
    place.key.length > 1024
  )
    throw new UnsupportedInputFault(
      'key',
      'expected the key of an object: no . or .. between slashes, no backslash, 1024 characters at most',
    )
  return place
}

function decoded(text: string): string {
  try {
    return text.includes('://') ? text : decodeURIComponent(text)
  } catch {
    return text
  }
}
