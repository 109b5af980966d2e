import {isUtf8} from 'node:buffer'
import {decodedBody} from '../../base/content-encoding.ts'
import {topLevel} from '../../base/json.ts'
import type {LogBodiesTable} from '../tables/traffic.ts'

/** The members of an object beside the bodies. */
export interface ObjectOf {
  readonly organisation_id: string
  readonly workspace_slug: string
  readonly created_at: string
  readonly format: string
}

/**
 * The bodies of a row as the JSON of an object, for readers of the bucket: `{_id, organisation_id, workspace_slug,
 * created_at, log_format, is_cut, request: {headers, body}, response: {headers, body}}`. A body that is a JSON object
 * or list is there byte for byte, any other as a text, decoded where it was encoded; what is no text is `body_base64`,
 * with its `content_encoding`.
 */
export async function toObject(row: LogBodiesTable, of: ObjectOf): Promise<Buffer> {
  const head = JSON.stringify({
    _id: row.log_id,
    organisation_id: of.organisation_id,
    workspace_slug: of.workspace_slug,
    created_at: of.created_at,
    log_format: of.format,
    is_cut: row.cut === 1,
  })
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"request":{"headers":${row.request_headers}`),
    ...(await member(row.request_body, null)),
    Buffer.from(`},"response":{"headers":${row.response_headers}`),
    ...(await member(row.response_body, row.response_encoding)),
    Buffer.from('}}'),
  ])
}

/** The row again. Throws for what is no object of ours. */
export function fromObject(log_id: string, created_at: string, object: Buffer): LogBodiesTable {
  const members = membersOf(object)
  const request = membersOf(needed(members, 'request'))
  const response = membersOf(needed(members, 'response'))
  return {
    log_id,
    created_at,
    request_headers: needed(request, 'headers').toString(),
    request_body: bodyIn(request),
    response_headers: needed(response, 'headers').toString(),
    response_body: bodyIn(response),
    response_encoding: response.has('content_encoding')
      ? String(JSON.parse(needed(response, 'content_encoding').toString()))
      : null,
    cut: members.get('is_cut')?.toString() === 'true' ? 1 : 0,
  }
}

async function member(body: Uint8Array | null, encoding: string | null): Promise<Buffer[]> {
  if (body === null) return []
  const plain = await decodedBody(body, encoding)
  if (plain && isUtf8(plain)) {
    const bytes = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength)
    const text = bytes.toString()
    return [Buffer.from(',"body":'), isStructure(text) ? bytes : Buffer.from(JSON.stringify(text))]
  }
  const base64 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64')
  const encoded = encoding === null ? '' : `,"content_encoding":${JSON.stringify(encoding)}`
  return [Buffer.from(`,"body_base64":"${base64}"${encoded}`)]
}

/**
 * True when a text is a JSON object or list from its first character to its last: it is cut out of the object
 * unchanged.
 */
function isStructure(text: string): boolean {
  const ends = `${text.at(0)}${text.at(-1)}`
  if (ends !== '{}' && ends !== '[]') return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function bodyIn(members: ReadonlyMap<string, Buffer>): Buffer | null {
  const base64 = members.get('body_base64')
  if (base64) return Buffer.from(JSON.parse(base64.toString()) as string, 'base64')
  const body = members.get('body')
  if (!body) return null
  return body[0] === QUOTE ? Buffer.from(JSON.parse(body.toString()) as string) : body
}

const QUOTE = 0x22
const NEVER_TWICE: ReadonlySet<string> = new Set()

function membersOf(json: Buffer): ReadonlyMap<string, Buffer> {
  return new Map([...topLevel(json, NEVER_TWICE)].map(([key, {start, end}]) => [key, json.subarray(start, end)]))
}

function needed(members: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const found = members.get(name)
  if (!found) throw new Error(`The object has no ${name}: it is none that a gateway wrote.`)
  return found
}
