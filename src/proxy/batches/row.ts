import {isUtf8} from 'node:buffer'
import {findingKeyFault} from '../../base/json-keys.ts'
import {parsedObject} from '../../base/json-object.ts'
import {isTooDeep} from '../../base/json-shape.ts'
import {isObject, type JsonObject, type JsonValue} from '../../guardrails/json.ts'
import {readingJson} from '../../guardrails/json-text.ts'
import {DEEPEST} from '../../guardrails/strings.ts'
import {isGuarded} from '../../guardrails/texts.ts'
import {inTimeSlices} from '../../guardrails/time-slices.ts'
import {type View, viewOf} from '../../guardrails/view.ts'
import {ENDPOINTS, type EndpointName} from '../../schema/endpoints.ts'

/** A row as guardrails read it. */
export interface ReadRow {
  /** The dialect of its request; null: unknown, and its strings are judged. */
  readonly endpoint: EndpointName | null
  readonly model: string | null
  /** Its request in that dialect. */
  readonly request: View | null
  /** All other strings in it. */
  readonly others: View
  /** The row with what was left of both, as text. */
  withLeft(request: JsonValue | undefined, others: JsonValue): string
}

/** Why a row cannot be judged, in words that follow `line 3 of the file`. */
export class RowFault extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'RowFault'
  }
}

/** Members that hold the texts of a dialect. */
const TEXTS: Readonly<Partial<Record<EndpointName, readonly string[]>>> = {
  chatComplete: ['messages'],
  messages: ['system', 'messages'],
  createModelResponse: ['instructions', 'input'],
  complete: ['prompt'],
  embed: ['input'],
}
const ALL_TEXTS = ['messages', 'prompt', 'input', 'instructions', 'system', 'contents'] as const

/** Members under which rows of vendors hold their request. */
const REQUESTS = ['body', 'params', 'request', 'modelInput'] as const

/**
 * Reads a row; `url` is of the batch, for rows that name none. Throws `RowFault` for what others might read as
 * something else.
 */
export async function readRow(bytes: Buffer, url: string | null): Promise<ReadRow> {
  if (!isUtf8(bytes)) throw new RowFault('is not UTF-8')
  const text = bytes.toString()
  const row = (await inTimeSlices(readingJson(text))) as JsonValue | undefined
  if (row === undefined) throw new RowFault(isTooDeep(text) ? 'is nested too deep' : 'is not JSON')
  const fault = await inTimeSlices(findingKeyFault(text, DEEPEST))
  if (fault)
    throw new RowFault(
      fault.kind === 'repeated' ? `names ${fault.path} more than once` : `is nested too deep, at ${fault.path}`,
    )
  const body = isObject(row) && isObject(row.body) ? row.body : null
  const endpoint = body && dialectOf(isObject(row) ? (row.url ?? url) : url, body)
  const model = body && typeof body.model === 'string' ? body.model : null
  if (!body || !endpoint)
    return {endpoint: null, model, request: null, others: strings(row), withLeft: (_, others) => JSON.stringify(others)}
  const {body: _, ...beside} = row as JsonObject
  const foreign = Object.fromEntries(
    ALL_TEXTS.filter(key => !TEXTS[endpoint]?.includes(key) && Object.hasOwn(body, key)).map(key => [key, body[key]!]),
  )
  const is_mixed = Object.keys(foreign).length > 0
  return {
    endpoint,
    model,
    request: viewOf(endpoint, 'input', body),
    others: strings(is_mixed ? {...beside, body: foreign} : beside),
    withLeft: (request, others) => joinedRow(row as JsonObject, request as JsonObject, others as JsonObject),
  }
}

/**
 * True for what is a request of a batch by its form: some clients say what a file is for only when all of it has come.
 */
export function isRow(bytes: Buffer): boolean {
  const row = isUtf8(bytes) ? parsedObject(bytes.toString()) : undefined
  return row !== undefined && REQUESTS.some(key => isObject(row[key]))
}

/** Every string of it, in no dialect. */
function strings(value: JsonValue): View {
  return viewOf('proxy', 'input', value)
}

/** The dialect that a row names, or else the one that its request is written in. */
function dialectOf(url: JsonValue | undefined, body: JsonObject): EndpointName | null {
  const path = typeof url === 'string' ? url.replace(/[?#].*$/, '').replace(/^\/v1(?=\/)/, '') : null
  const found = ENDPOINTS.find(each => each.method === 'POST' && each.path === path)
  if (found) return isGuarded(found.name, 'input') ? found.name : null
  if (Object.hasOwn(body, 'messages')) return 'chatComplete'
  if (Object.hasOwn(body, 'prompt')) return 'complete'
  return Object.hasOwn(body, 'input') ? 'createModelResponse' : null
}

/** Members stay in their order. */
function joinedRow(row: JsonObject, request: JsonObject, others: JsonObject): string {
  const body = isObject(others.body) ? {...request, ...others.body} : request
  return JSON.stringify(Object.fromEntries(Object.keys(row).map(key => [key, key === 'body' ? body : others[key]])))
}
