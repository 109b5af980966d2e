import {isObject, list, parsed} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {InvalidResponseFault, type Json} from '../translation.ts'
import {messageError} from './error.ts'

// Files in the words of Anthropic's clients (platform.claude.com/docs, Files API), for kinds whose files are OpenAI's.

const REPLIES: Readonly<Partial<Record<EndpointName, (reply: Json) => Json>>> = {
  uploadFile: fileOf,
  retrieveFile: fileOf,
  listFiles: filesOf,
  deleteFile: ({id}) => ({id, type: 'file_deleted'}),
}

/** True when replies of an endpoint are translated to this format, errors apart. */
export function hasOwnShape(endpoint: EndpointName): boolean {
  return REPLIES[endpoint] !== undefined
}

/** A good reply of an endpoint in these words; throws `InvalidResponseFault` for what is no object of OpenAI's. */
export function shapedReply(endpoint: EndpointName, bytes: Buffer): Buffer {
  const shape = REPLIES[endpoint]
  if (!shape) return bytes
  const reply = parsed(bytes.toString('utf8'))
  if (!isObject(reply)) throw new InvalidResponseFault('expected an object')
  return written(shape(reply))
}

/** An error in OpenAI's words, or in none, in these. */
export function shapedError(status: number, bytes: Buffer, provider: string): Buffer {
  const reply = parsed(bytes.toString('utf8'))
  const error = isObject(reply) ? reply.error : undefined
  const found = isObject(error) ? error.message : error
  const message = typeof found === 'string' && found !== '' ? found : `${provider} answered ${status}`
  return written(messageError(status, {message, type: null, param: null, code: null}))
}

/** OpenAI's query of a list of files, for Anthropic's: its pages continue after an id. */
export function shapedQuery(query: string): string {
  const theirs = new URLSearchParams(query)
  const ours = new URLSearchParams()
  const limit = theirs.get('limit')
  const after = theirs.get('after_id') ?? theirs.get('page')
  if (limit !== null) ours.set('limit', limit)
  if (after !== null) ours.set('after', after)
  const text = ours.toString()
  return text === '' ? '' : `?${text}`
}

/**
 * The part to put before a form without a purpose, which OpenAI's files need; null when the form's boundary is not
 * known.
 */
export function purposePart(content_type: string | undefined, purpose = 'user_data'): Buffer | null {
  const boundary = /;\s*boundary=(?:"([^"\r\n]{1,200})"|([^\s";]{1,200}))/i.exec(content_type ?? '')
  if (!boundary || !/^[\w-]{1,64}$/.test(purpose)) return null
  return Buffer.from(
    `--${boundary[1] ?? boundary[2]}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n`,
  )
}

function filesOf({data, has_more}: Json): Json {
  const files = list(data).filter(isObject).map(fileOf)
  const last_id = files.at(-1)?.id ?? null
  const goes_on = has_more === true && last_id !== null
  return {data: files, has_more: goes_on, first_id: files[0]?.id ?? null, last_id, next_page: goes_on ? last_id : null}
}

function fileOf({id, filename, bytes, created_at, purpose}: Json): Json {
  if (typeof id !== 'string') throw new InvalidResponseFault('expected the id of a file')
  const name = typeof filename === 'string' ? filename : ''
  return {
    id,
    type: 'file',
    filename: name,
    mime_type: TYPES[/\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream',
    size_bytes: isCount(bytes) ? bytes : 0,
    created_at: new Date((isCount(created_at) && created_at < LAST_SECOND ? created_at : 0) * 1000)
      .toISOString()
      .replace('.000Z', 'Z'),
    downloadable: !NOT_DOWNLOADED.has(purpose),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_800
/** OpenAI gives no content of what was uploaded for a model to read. */
const NOT_DOWNLOADED: ReadonlySet<unknown> = new Set(['assistants', 'user_data', 'vision'])
/** Files that a model reads, by the end of their names. */
const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  jsonl: 'application/jsonl',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
}

function written(json: Json): Buffer {
  return Buffer.from(JSON.stringify(json))
}
