import {isObject, object, parsed} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Hop} from '../../schema/hops.ts'
import {emptyUsage, imageUnit, UNIT, type Usage} from '../../schema/usage.ts'
import {usageByHop} from '../anthropic/hops.ts'
import {refusalsIn} from '../anthropic/refusals.ts'
import {keyBytes, objectAt, stringEnd, valueAt} from './scan.ts'
import {begunUsage, count, mergeRawUsage, type RawObject, readUsage} from './usage.ts'

/** The facts that an answer reports. */
export interface ReplyFacts {
  readonly usage: Usage | null
  readonly model: string | null
  /** The parts of it that are charged by themselves; absent or null where it is charged as a whole. */
  readonly hops?: readonly Hop[] | null
}

const USAGE = keyBytes('usage')
const MODEL = keyBytes('model')
const NOTHING: ReplyFacts = {usage: null, model: null}
/** Vectors and pictures are megabytes of which two fields matter; above this size only these are read. */
const WHOLE_BYTES = 64 * 1024
const BULKY: ReadonlySet<EndpointName> = new Set(['embed', 'imageGenerate', 'imageEdit', 'imageVariation'])
const LONGEST_MODEL = 255
const MAX_IMAGES = 1000
const CHARACTERS_A_TOKEN = 4

/**
 * Usage and model of a whole JSON answer to `endpoint`; nulls for what it does not tell, and for bytes that are no JSON
 * object. Pictures without token counts are counted by `requestUnits`, which knows the request; for multipart requests
 * they are counted here.
 */
export function readReply(endpoint: EndpointName, body: Buffer): ReplyFacts {
  if (body.length > WHOLE_BYTES && BULKY.has(endpoint)) return readBulky(endpoint, body)
  const reply = parsed(body.toString('utf8'))
  return isObject(reply) ? factsOf(endpoint, reply) : NOTHING
}

/** The same of an answer that is parsed: a row of a batch holds one. */
export function factsOf(endpoint: EndpointName, reply: RawObject): ReplyFacts {
  const raw_usage = rawUsageIn(reply)
  const read = (raw_usage && readUsage(raw_usage, endpoint)) ?? unitsWithout(endpoint, reply)
  const {usage, hops} = usageByHop(raw_usage, read, refusalsIn(reply))
  return {usage: usage && withTools(usage, reply), model: modelIn(reply), hops}
}

/**
 * The units of a request that these endpoints charge by, whatever the answer says: the characters of a text to be
 * spoken (code points), pictures by quality and size. Null for all others and for bytes that are no JSON object.
 */
export function requestUnits(endpoint: EndpointName, body: Buffer): Usage | null {
  if (endpoint !== 'createSpeech' && endpoint !== 'imageGenerate') return null
  const request = parsed(body.toString('utf8'))
  if (!isObject(request)) return null
  const usage = emptyUsage()
  if (endpoint === 'imageGenerate') {
    usage.units[imageUnit(word(request.quality), word(request.size))] = Math.min(
      Math.max(1, count(request.n) ?? 1),
      MAX_IMAGES,
    )
  } else {
    usage.units[UNIT.characters] = typeof request.input === 'string' ? codePoints(request.input) : 0
  }
  return usage
}

/**
 * About as many tokens as `bytes` of text come to: four bytes each, rounded up, by OpenAI's rule for English. For usage
 * not reported.
 */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / CHARACTERS_A_TOKEN)
}

/** The usage in an answer or an event, from wherever its dialect puts it; null when there is none. */
export function rawUsageIn(json: RawObject): RawObject | null {
  const [choice] = Array.isArray(json.choices) ? json.choices : []
  const {billed_units} = object(json.meta)
  const in_message = object(json.message).usage
  let raw_usage = mergeRawUsage(null, object(json.x_groq).usage)
  raw_usage = mergeRawUsage(raw_usage, object(choice).usage) // Moonshot
  raw_usage = mergeRawUsage(raw_usage, json.type === 'message_start' ? begunUsage(in_message) : in_message) // Anthropic
  raw_usage = mergeRawUsage(raw_usage, object(json.response).usage) // OpenAI, response.completed
  if (isObject(billed_units)) raw_usage = mergeRawUsage(raw_usage, {billed_units}) // Cohere
  raw_usage = mergeRawUsage(raw_usage, json.usage_info) // Mistral, OCR
  raw_usage = mergeRawUsage(raw_usage, json.usage)
  // The tier is beside the usage, and means something only with it.
  const service_tier = json.service_tier ?? object(json.response).service_tier
  const tiered = raw_usage && typeof service_tier === 'string' ? {...raw_usage, service_tier} : raw_usage
  return tiered && withBeside(tiered, json)
}

/**
 * Usage of tools and of models that is beside the usage, and no part of it: no reader knows a rate for it. Source:
 * openai, Response.ToolUsage, ImagesResponse.SvgUsage.
 */
const BESIDE = ['tool_usage', 'svg_usage', 'per_model_usage', 'model_usage'] as const

function withBeside(raw_usage: RawObject, json: RawObject): RawObject {
  if (!hasBeside(json) && !(isObject(json.response) && hasBeside(json.response))) return raw_usage
  let all = raw_usage
  for (const name of BESIDE) {
    const value = json[name] ?? object(json.response)[name]
    if (typeof value === 'object' && value !== null) all = {...all, [name]: value}
  }
  return all
}

/** Written out: almost no answer has one of them, and each is looked for in every one. */
function hasBeside({tool_usage, svg_usage, per_model_usage, model_usage}: RawObject): boolean {
  return (
    tool_usage !== undefined || svg_usage !== undefined || per_model_usage !== undefined || model_usage !== undefined
  )
}

/** The model an answer or an event names; null when it names none. */
export function modelIn(json: RawObject): string | null {
  for (const place of [json, object(json.response), object(json.message)]) {
    const {model} = place
    if (typeof model === 'string' && model !== '' && model.length <= LONGEST_MODEL) return model
  }
  return null
}

/** `usage` with the tools that OpenAI's Responses API charges for and lists as items of its output. */
export function withTools(usage: Usage, response: RawObject): Usage {
  const {output} = response
  if (!Array.isArray(output)) return usage
  let web = 0
  let files = 0
  const sandboxes = new Set<unknown>()
  for (const item of output) {
    const {type, action, container_id, svg_usage} = object(item)
    if (isObject(svg_usage)) usage.unknown = [...new Set([...(usage.unknown ?? []), 'output.svg_usage'])]
    if (type === 'file_search_call') files++
    if (type === 'code_interpreter_call') sandboxes.add(container_id)
    // Opening a page it found is no search.
    if (type === 'web_search_call' && (object(action).type ?? 'search') === 'search') web++
  }
  if (web > 0) usage.units[UNIT.web_search] ??= web
  if (files > 0) usage.units[UNIT.file_search] ??= files
  if (sandboxes.size > 0) usage.units[UNIT.code_execution] ??= sandboxes.size
  return usage
}

function readBulky(endpoint: EndpointName, body: Buffer): ReplyFacts {
  const usage_at = body.lastIndexOf(USAGE)
  const raw_usage = usage_at < 0 ? undefined : objectAt(body, valueAt(body, USAGE, usage_at))
  const model_at = valueAt(body, MODEL)
  const model =
    model_at < 0 || body[model_at] !== 34
      ? null
      : parsed(body.toString('utf8', model_at, stringEnd(body, model_at) + 1))
  const usage = isObject(raw_usage) ? readUsage(withBeside(raw_usage, besideIn(body)), endpoint) : null
  return {usage, model: modelIn({model})}
}

/** The members beside the usage of an answer that is too long to be parsed whole. */
function besideIn(body: Buffer): RawObject {
  return Object.fromEntries(
    BESIDE_BYTES.flatMap(([name, bytes]) => {
      const at = body.lastIndexOf(bytes)
      const value = at < 0 ? undefined : objectAt(body, valueAt(body, bytes, at))
      return isObject(value) ? [[name, value]] : []
    }),
  )
}
const BESIDE_BYTES = BESIDE.map(name => [name, keyBytes(name)] as const)

function unitsWithout(endpoint: EndpointName, reply: RawObject): Usage | null {
  const usage = emptyUsage()
  if (endpoint === 'imageEdit' || endpoint === 'imageVariation') {
    const made = Array.isArray(reply.data) ? reply.data.length : 0
    if (made === 0) return null
    usage.units[imageUnit(word(reply.quality), word(reply.size))] = made
    return usage
  }
  if (endpoint !== 'createTranscription' && endpoint !== 'createTranslation') return null
  const seconds = count(reply.duration)
  if (seconds === null) return null
  usage.units[UNIT.audio_seconds] = seconds
  return usage
}

/** A quality or a size; what the client left to the provider, or made up, is the default. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== 'auto' && /^[\w.-]{1,32}$/.test(value) ? value : undefined
}

function codePoints(text: string): number {
  let pairs = 0
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue
    pairs++
    at++
  }
  return text.length - pairs
}
