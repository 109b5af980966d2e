import {isObject, object, parseJson} from '../../base/json-object.ts'
import {asksUsage, chunk, finishReason, usageChunk} from '../chat.ts'
import {begunUsage, type RawObject} from '../openai/usage.ts'
import type {Json, StreamEvent, StreamTranslator, TranslationContext} from '../translation.ts'
import {failureIn} from './errors.ts'
import {type Refusals, refusalsIn} from './refusals.ts'
import {FINISH_REASONS, refusalIn, written} from './reply.ts'
import {billedUsage, mergedUsage, usageOf} from './usage.ts'

/**
 * Events of which nothing may be missed. All others we may ignore, as Anthropic asks of its clients. `chunk` is
 * Bedrock's wrapping.
 */
export const EVENTS: ReadonlySet<unknown> = new Set([
  'chunk',
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
])
/**
 * Members of a delta that hold text of the model; the other deltas have signatures, citations and parts of later
 * blocks.
 */
const TEXTS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
}
const NOTHING: readonly Json[] = []

/** Follows a Messages stream (platform.claude.com/docs, streaming) and gives the chunks of a chat stream. */
export function openStream(context: TranslationContext, request: Json): StreamTranslator {
  return new MessagesStream(context, asksUsage(request))
}

/** A call of a tool while its arguments arrive. */
interface OpenCall {
  readonly at: number
  readonly input: unknown
  has_arguments: boolean
}

class MessagesStream implements StreamTranslator {
  readonly #context: TranslationContext
  readonly #wants_usage: boolean
  #message: {id: string | null; model: string | null} = {id: null, model: null}
  #usage_so_far: RawObject | null = null
  #refusals: Refusals | null = null
  #has_start = false
  #has_role = false
  #has_finish = false
  #finished = false
  #failed: StreamTranslator['failed'] = null
  #text_bytes = 0
  #calls = 0
  /** Calls whose arguments are not over, by the block's index. */
  readonly #open = new Map<unknown, OpenCall>()

  constructor(context: TranslationContext, wants_usage: boolean) {
    this.#context = context
    this.#wants_usage = wants_usage
  }

  event({name, data}: StreamEvent): readonly Json[] {
    if (this.#finished || this.#failed) return NOTHING
    if (name?.endsWith('xception')) return this.#fail(data, name)
    const event = unwrapped(data)
    if (!isObject(event)) return EVENTS.has(name) || isCutJson(event) ? this.#malformed(name) : NOTHING
    const type = typeof event.type === 'string' ? event.type : name
    if (type === 'error') return this.#fail(event)
    if (type === 'message_start') return this.#start(event)
    if (!this.#has_start) return EVENTS.has(type) ? this.#malformed(type) : NOTHING
    if (type === 'content_block_start' || type === 'message_delta') this.#refusals = refusalsIn(event, this.#refusals)
    if (type === 'content_block_start') return this.#openBlock(event)
    if (type === 'content_block_delta') return this.#delta(event)
    if (type === 'content_block_stop') return this.#closeCall(event.index)
    if (type === 'message_delta') return this.#messageDelta(event)
    if (type === 'message_stop') return this.#stop()
    return NOTHING
  }

  /** A whole answer has passed already; of a stream that was cut nothing is made up. */
  end(): readonly Json[] {
    return NOTHING
  }

  get finished(): boolean {
    return this.#finished
  }

  get usage() {
    return billedUsage(this.#usage_so_far, this.#refusals).usage
  }

  get hops() {
    return billedUsage(this.#usage_so_far, this.#refusals).hops
  }

  get model(): string | null {
    return this.#message.model
  }

  get failed() {
    return this.#failed
  }

  get text_bytes(): number {
    return this.#text_bytes
  }

  #start({message}: Json): readonly Json[] {
    if (!isObject(message)) return this.#malformed('message_start')
    const {id, model, usage} = message
    this.#message = {
      id: typeof id === 'string' ? id : null,
      model: typeof model === 'string' && model !== '' ? model : null,
    }
    this.#usage_so_far = mergedUsage(this.#usage_so_far, begunUsage(usage))
    this.#has_start = true
    // Nothing is decided yet: Anthropic may still be overloaded, and another provider be tried, while the client has
    // not a byte.
    return NOTHING
  }

  #openBlock({index, content_block: block}: Json): readonly Json[] {
    if (!isObject(block)) return this.#malformed('content_block_start')
    if (block.type === 'tool_use') return this.#openCall(index, block)
    const text = block.type === 'text' && typeof block.text === 'string' ? block.text : ''
    this.#text_bytes += Buffer.byteLength(text)
    if (this.#context.strict) return this.#chunks(text ? {content: text} : {})
    return this.#chunks({...(text ? {content: text} : {}), content_blocks: [{index, delta: block}]})
  }

  #openCall(index: unknown, {id, name, input}: Json): readonly Json[] {
    if (typeof id !== 'string' || typeof name !== 'string') return this.#malformed('content_block_start')
    const at = this.#calls++
    this.#open.set(index, {at, input, has_arguments: false})
    return this.#chunks({tool_calls: [{index: at, id, type: 'function', function: {name, arguments: ''}}]})
  }

  #delta({index, delta}: Json): readonly Json[] {
    if (!isObject(delta)) return this.#malformed('content_block_delta')
    const {type} = delta
    const text = typeof type === 'string' && Object.hasOwn(TEXTS, type) ? delta[TEXTS[type]!] : ''
    if (typeof text !== 'string') return this.#malformed('content_block_delta')
    this.#text_bytes += Buffer.byteLength(text)
    const call = type === 'input_json_delta' ? this.#open.get(index) : undefined
    if (call) return this.#arguments(call, text)
    const content = type === 'text_delta' ? {content: text} : {}
    if (this.#context.strict) return this.#chunks(text ? content : {})
    const {type: _, ...rest} = delta
    return this.#chunks({...content, content_blocks: [{index, delta: rest}]})
  }

  #arguments(call: OpenCall, text: string): readonly Json[] {
    if (text === '') return NOTHING
    call.has_arguments = true
    return this.#chunks({tool_calls: [{index: call.at, function: {arguments: text}}]})
  }

  /** A tool that takes nothing is called with `{}`, of which the stream has not a byte. */
  #closeCall(index: unknown): readonly Json[] {
    const call = this.#open.get(index)
    if (!call) return NOTHING
    this.#open.delete(index)
    if (call.has_arguments) return NOTHING
    try {
      return this.#arguments(call, written(object(call.input)))
    } catch {
      return this.#malformed('content_block_start')
    }
  }

  #messageDelta({delta, usage}: Json): readonly Json[] {
    this.#usage_so_far = mergedUsage(this.#usage_so_far, usage)
    const {stop_reason} = object(delta)
    return typeof stop_reason === 'string' ? this.#finish(object(delta)) : NOTHING
  }

  #finish(delta: Json): readonly Json[] {
    if (this.#has_finish) return NOTHING
    const owed = [...this.#open.keys()].flatMap(index => this.#closeCall(index))
    if (this.#failed) return owed
    this.#has_finish = true
    const refusal = refusalIn(delta)
    const finish_reason = finishReason(delta.stop_reason, FINISH_REASONS, this.#context.strict)
    return [...owed, ...this.#chunks(refusal === null ? {} : {refusal}, finish_reason)]
  }

  #stop(): readonly Json[] {
    const chunks = [...this.#finish({})]
    if (this.#failed) return chunks
    this.#finished = true
    // A client is shown what fills its context, which is the top level.
    const usage = this.#wants_usage ? usageOf(this.#usage_so_far) : null
    if (usage) chunks.push(usageChunk(this.#context, this.#message, usage))
    return chunks
  }

  /** A chunk with `delta`; before the first of all, one with the role. */
  #chunks(delta: Json, finish_reason: string | null = null): readonly Json[] {
    const is_empty = finish_reason === null && Object.keys(delta).length === 0
    const made = is_empty ? [] : [chunk(this.#context, this.#message, delta, finish_reason)]
    if (this.#has_role) return made
    this.#has_role = true
    return [chunk(this.#context, this.#message, {role: 'assistant', content: ''}), ...made]
  }

  #fail(payload: unknown, named: string | null = null): readonly Json[] {
    this.#failed = failureIn(payload, this.#context, named)
    return NOTHING
  }

  /** A reader would not notice a gap in the middle of an answer, so the answer fails instead. */
  #malformed(event: string | null): readonly Json[] {
    const message = `${this.#context.provider} error: Invalid response received: the event ${event} is not what it should be`
    this.#failed = {message, type: 'api_error', param: null, code: null, status: 502}
    return NOTHING
  }
}

export function isCutJson(value: unknown): boolean {
  return typeof value === 'string' && value.trimStart().startsWith('{')
}

/** Bedrock wraps each event as base64 in `bytes` (Bedrock API reference, PayloadPart). */
export function unwrapped(data: unknown): unknown {
  const text = textWithin(data)
  if (text === undefined) return data
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

/** The event that Bedrock wraps, as text; undefined for one that is not wrapped. */
export function textWithin(data: unknown): string | undefined {
  if (!isObject(data) || typeof data.bytes !== 'string' || data.type !== undefined) return undefined
  return Buffer.from(data.bytes, 'base64').toString('utf8')
}
