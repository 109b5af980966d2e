import {isObject, list, object} from '../../base/json-object.ts'
import {type FinishReason, finishReason} from '../chat.ts'
import {InvalidResponseFault, type Json, type TranslationContext} from '../translation.ts'
import {isPartial, PartialCall} from './partial-call.ts'
import {present, word} from './read.ts'

/** Reference: finish reasons. `stop` for those that are not here, and for calls of functions that were no calls. */
const FINISH: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  LANGUAGE: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  MODEL_ARMOR: 'content_filter',
}

/** Google's data on a candidate beyond its content; strict clients of OpenAI do not get it. */
const EXTRAS = [
  'groundingMetadata',
  'citationMetadata',
  'urlContextMetadata',
  'safetyRatings',
  'finishMessage',
] as const

/**
 * Follows one candidate, whole or in pieces: its parts in the words of a chat delta. With `strict` off, thoughts and
 * texts are also told as `content_blocks`, signatures included: neighbours of one kind are one block, a part with a
 * signature is a block of its own.
 */
export class CandidateReader {
  readonly #context: TranslationContext
  readonly #index: number
  #calls = 0
  #blocks = 0
  /** The kind of the block that the next part may extend. */
  #open: string | null = null
  #text_bytes = 0
  /** A call whose arguments still come. */
  #partial: PartialCall | null = null

  constructor(context: TranslationContext, index: number) {
    this.#context = context
    this.#index = index
  }

  get text_bytes(): number {
    return this.#text_bytes
  }

  /** The next piece of `content`; null when it says nothing. Throws `InvalidResponseFault` for what is no content. */
  delta(content: unknown): Json | null {
    if (content === undefined || content === null) return null
    if (!isObject(content)) throw new InvalidResponseFault('content of a candidate is no object')
    const {parts} = content
    if (parts !== undefined && parts !== null && !Array.isArray(parts))
      throw new InvalidResponseFault('parts of a candidate are no list')
    let text = ''
    const collected: DeltaParts = {tool_calls: [], content_blocks: [], images: [], audio: []}
    for (const part of list(parts)) {
      if (!isObject(part)) throw new InvalidResponseFault('a part of a candidate is no object')
      text += this.#part(part, collected)
    }
    const {tool_calls, content_blocks, images, audio} = collected
    const delta = {
      ...(text ? {content: text} : {}),
      ...(content_blocks.length > 0 ? {content_blocks} : {}),
      ...(tool_calls.length > 0 ? {tool_calls} : {}),
      ...(images.length > 0 ? {images} : {}),
      ...(audio.length > 0
        ? {audio: {id: `audio_${this.#context.call_id}_${this.#index}`, data: joined(audio), transcript: ''}}
        : {}),
    }
    return Object.keys(delta).length > 0 ? delta : null
  }

  /** OpenAI's finish reason, or with `strict` off Google's own. */
  finish(reason: unknown): string {
    const finish_reason = finishReason(reason, FINISH, this.#context.strict)
    return finish_reason === 'stop' && this.#calls > 0 ? 'tool_calls' : finish_reason
  }

  /** Collects one part; gives the text of the answer in it. */
  #part(part: Json, collected: DeltaParts): string {
    const {text, functionCall, inlineData, executableCode, codeExecutionResult} = part
    const signature = word(part.thoughtSignature)
    if (functionCall !== undefined) {
      this.#called(functionCall, signature, collected.tool_calls)
      this.#open = null
    } else if (inlineData !== undefined) {
      this.#media(inlineData, signature, collected)
      this.#open = null
    } else if (isObject(executableCode)) {
      this.#block('executable_code', executableCode, null, collected)
    } else if (isObject(codeExecutionResult)) {
      this.#block('code_execution_result', codeExecutionResult, null, collected)
    } else if (text !== undefined && text !== null) {
      if (typeof text !== 'string') throw new InvalidResponseFault('the text of a part is no text')
      this.#text_bytes += Buffer.byteLength(text)
      const is_thought = part.thought === true
      if (text !== '' || signature) this.#block(is_thought ? 'thinking' : 'text', text, signature, collected)
      return is_thought ? '' : text
    }
    return ''
  }

  #block(kind: string, value: unknown, signature: string | null, {content_blocks}: DeltaParts) {
    if (this.#context.strict) return
    const goes_on = kind === this.#open && !signature
    const index = goes_on ? this.#blocks - 1 : this.#blocks++
    content_blocks.push({index, delta: {[kind]: value}})
    if (signature) content_blocks.push({index, delta: {signature}})
    this.#open = !signature && (kind === 'text' || kind === 'thinking') ? kind : null
  }

  /** The call whose arguments were still to come when the candidate ended; null where there is none. */
  rest(): Json | null {
    const partial = this.#partial
    this.#partial = null
    return partial && {tool_calls: [this.#call(partial, partial.signature)]}
  }

  #called(call: unknown, signature: string | null, tool_calls: Json[]): void {
    if (!this.#partial && !isPartial(call)) return void tool_calls.push(this.#call(call, signature))
    const {name, willContinue} = object(call)
    if (this.#partial && typeof name === 'string' && name !== '' && name !== this.#partial.name) {
      tool_calls.push(this.#call(this.#partial, this.#partial.signature))
      this.#partial = null
      return this.#called(call, signature, tool_calls)
    }
    this.#partial ??= new PartialCall(call, signature)
    this.#partial.add(call)
    if (willContinue === true) return
    tool_calls.push(this.#call(this.#partial, this.#partial.signature))
    this.#partial = null
  }

  #call(function_call: unknown, signature: string | null): Json {
    const {name, args, id} = object(function_call)
    if (typeof name !== 'string' || name === '') throw new InvalidResponseFault('a function call has no name')
    if (args !== undefined && args !== null && !isObject(args))
      throw new InvalidResponseFault('the arguments of a function call are no object')
    const index = this.#calls++
    const written = writtenOut(args ?? {})
    this.#text_bytes += Buffer.byteLength(written)
    return {
      index,
      id: word(id) ?? `call_${this.#context.call_id}_${this.#index}_${index}`,
      type: 'function',
      function: {name, arguments: written},
      ...(signature && !this.#context.strict ? {extra_content: {google: {thought_signature: signature}}} : {}),
    }
  }

  /**
   * Pictures as data URIs, beside the text: OpenAI's chat has no field for them, and the client requested them. Sound
   * as OpenAI's.
   */
  #media(inline_data: unknown, signature: string | null, {images, audio}: DeltaParts) {
    const {mimeType, data} = object(inline_data)
    if (typeof data !== 'string' || typeof mimeType !== 'string')
      throw new InvalidResponseFault('inline data has no type or no bytes')
    if (mimeType.startsWith('audio/')) {
      audio.push(data)
      return
    }
    const signed = signature && !this.#context.strict ? {signature} : {}
    images.push({type: 'image_url', image_url: {url: `data:${mimeType};base64,${data}`}, ...signed})
  }
}

interface DeltaParts {
  readonly tool_calls: Json[]
  readonly content_blocks: Json[]
  readonly images: Json[]
  readonly audio: string[]
}

function writtenOut(args: Json): string {
  try {
    return JSON.stringify(args)
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new InvalidResponseFault('the arguments of a function call are nested too deep')
    throw cause
  }
}

/** Base64 texts as one: each may end in padding. */
function joined(texts: readonly string[]): string {
  return texts.length === 1
    ? texts[0]!
    : Buffer.concat(texts.map(text => Buffer.from(text, 'base64'))).toString('base64')
}

/** A candidate's data beyond OpenAI's members; empty with `strict`. */
export function extrasOf(candidate: Json, strict: boolean): Json {
  return strict ? {} : present(Object.fromEntries(EXTRAS.map(name => [name, candidate[name]])))
}

/** `logprobsResult` as OpenAI tells log probabilities; null where there are none. */
export function logprobsOf(result: unknown): Json | null {
  const {chosenCandidates, topCandidates} = object(result)
  const chosen = list(chosenCandidates)
  if (chosen.length === 0) return null
  const tops = list(topCandidates)
  const content = chosen.map((each, at) => ({
    ...probability(each),
    top_logprobs: list(object(tops[at]).candidates).map(probability),
  }))
  return {content, refusal: null}
}

function probability(candidate: unknown): Json {
  const {token, logProbability} = object(candidate)
  const text = typeof token === 'string' ? token : ''
  return {
    token: text,
    logprob: typeof logProbability === 'number' ? logProbability : -9999,
    bytes: [...Buffer.from(text)],
  }
}
