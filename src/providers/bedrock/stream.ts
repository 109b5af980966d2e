import {Buffer} from 'node:buffer'
import {isObject} from '../../base/json-object.ts'
import {laterReport, type Usage} from '../../schema/usage.ts'
import {asksUsage, chunk, finishReason, usageChunk} from '../chat.ts'
import type {Json, StreamEvent, StreamTranslator, TranslationContext} from '../translation.ts'
import {brokenStream, isException, streamFault} from './errors.ts'
import {STOP_REASONS} from './reply.ts'
import {readUsage} from './usage.ts'

/** A tool call that is being written. */
interface OpenCall {
  /** Its place among the answer's calls. */
  readonly index: number
  has_input: boolean
}

const NONE: readonly Json[] = []

/** A ConverseStream answer as chunks. Source: Bedrock API reference, ConverseStreamOutput. */
export class ConverseStream implements StreamTranslator {
  finished = false
  usage: Usage | null = null
  readonly model = null
  failed: StreamTranslator['failed'] = null
  text_bytes = 0
  readonly #context: TranslationContext
  readonly #asks_usage: boolean
  /** By `contentBlockIndex`. */
  readonly #calls = new Map<number, OpenCall>()
  #call_count = 0
  #has_role = false

  constructor(context: TranslationContext, request: Json) {
    this.#context = context
    this.#asks_usage = asksUsage(request)
  }

  event({name, data}: StreamEvent): readonly Json[] {
    if (this.failed) return NONE
    if (isException(name, data)) {
      this.failed = streamFault(name, data, this.#context)
      return NONE
    }
    const chunks = this.#chunks(name, data)
    if (chunks !== null) return chunks
    this.failed = brokenStream(this.#context, `an event of type ${name} is not as documented`)
    return NONE
  }

  end(): readonly Json[] {
    return NONE
  }

  /** Null for a known event that is not as it should be. */
  #chunks(name: string | null, data: unknown): readonly Json[] | null {
    switch (name) {
      case 'messageStart':
        return this.#role()
      case 'contentBlockStart':
        return this.#start(data)
      case 'contentBlockDelta':
        return this.#delta(data)
      case 'contentBlockStop':
        return this.#stop(data)
      case 'messageStop':
        return this.#end(data)
      case 'metadata':
        return this.#metadata(data)
      default:
        return NONE
    }
  }

  #role(): readonly Json[] {
    if (this.#has_role) return NONE
    this.#has_role = true
    return [this.#chunk({role: 'assistant', content: ''})]
  }

  #start(data: unknown): readonly Json[] | null {
    const at = indexIn(data)
    if (at === null) return null
    const start = (data as Json).start
    if (!isObject(start) || start.toolUse === undefined) return NONE
    const {toolUse: use} = start
    if (!isObject(use) || typeof use.toolUseId !== 'string' || typeof use.name !== 'string') return null
    const index = this.#call_count++
    this.#calls.set(at, {index, has_input: false})
    return [
      this.#chunk({
        tool_calls: [{index, id: use.toolUseId, type: 'function', function: {name: use.name, arguments: ''}}],
      }),
    ]
  }

  #delta(data: unknown): readonly Json[] | null {
    const at = indexIn(data)
    if (at === null) return null
    const delta = (data as Json).delta
    if (!isObject(delta)) return null
    if (delta.text !== undefined) return this.#text(at, delta.text)
    if (delta.toolUse !== undefined) return this.#input(at, delta.toolUse)
    if (delta.reasoningContent !== undefined) return this.#thought(at, delta.reasoningContent)
    return delta.citation === undefined ? NONE : this.#block(at, {citation: delta.citation})
  }

  #text(at: number, text: unknown): readonly Json[] | null {
    if (typeof text !== 'string') return null
    if (text === '') return NONE
    this.text_bytes += Buffer.byteLength(text)
    return [
      this.#chunk({content: text, ...(this.#context.strict ? {} : {content_blocks: [{index: at, delta: {text}}]})}),
    ]
  }

  #input(at: number, use: unknown): readonly Json[] | null {
    const call = this.#calls.get(at)
    if (!call || !isObject(use)) return null
    const {input = ''} = use
    if (typeof input !== 'string') return null
    if (input === '') return NONE
    call.has_input = true
    this.text_bytes += Buffer.byteLength(input)
    return [this.#fragment(call, input)]
  }

  #thought(at: number, reasoning: unknown): readonly Json[] | null {
    if (!isObject(reasoning)) return null
    const {text, signature, redactedContent} = reasoning
    for (const word of [text, signature, redactedContent])
      if (word !== undefined && typeof word !== 'string') return null
    if (typeof text === 'string') {
      this.text_bytes += Buffer.byteLength(text)
      return this.#block(at, {thinking: text})
    }
    if (typeof redactedContent === 'string') return this.#block(at, {data: redactedContent})
    return signature === undefined ? NONE : this.#block(at, {signature})
  }

  /** A call without arguments becomes an empty object, as in a whole answer. */
  #stop(data: unknown): readonly Json[] | null {
    const at = indexIn(data)
    if (at === null) return null
    const call = this.#calls.get(at)
    this.#calls.delete(at)
    return call && !call.has_input ? [this.#fragment(call, '{}')] : NONE
  }

  #end(data: unknown): readonly Json[] | null {
    if (!isObject(data) || typeof data.stopReason !== 'string') return null
    this.finished = true
    return [this.#chunk({}, finishReason(data.stopReason, STOP_REASONS, this.#context.strict))]
  }

  #metadata(data: unknown): readonly Json[] | null {
    if (!isObject(data)) return null
    this.usage = laterReport(this.usage, readUsage(data.usage, data.serviceTier))
    return this.#asks_usage && this.usage ? [usageChunk(this.#context, {}, this.usage)] : NONE
  }

  #fragment({index}: OpenCall, text: string): Json {
    return this.#chunk({tool_calls: [{index, function: {arguments: text}}]})
  }

  /** Blocks that OpenAI has no member for reach clients that want them. */
  #block(index: number, delta: Json): readonly Json[] {
    return this.#context.strict ? NONE : [this.#chunk({content_blocks: [{index, delta}]})]
  }

  #chunk(delta: Json, finish_reason: string | null = null): Json {
    return chunk(this.#context, {}, delta, finish_reason)
  }
}

function indexIn(data: unknown): number | null {
  if (!isObject(data)) return null
  const {contentBlockIndex: at} = data
  return typeof at === 'number' && Number.isSafeInteger(at) && at >= 0 ? at : null
}
