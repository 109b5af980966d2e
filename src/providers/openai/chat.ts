import {isObject, object} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {failureOfChat, statusIn} from '../reported-failure.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamEvent,
  type StreamTranslator,
  type Translation,
  type TranslationContext,
} from '../translation.ts'
import {anyError, faultOf, type RawError} from '../unified/fault.ts'
import {modelIn, rawUsageIn} from './reply.ts'
import {mergeRawUsage, type RawObject, readUsage} from './usage.ts'

/**
 * Chat with providers whose words are OpenAI's already: for clients that came in other words and were translated to
 * chat.
 */
export const openaiChat: Translation = {
  request: (request, {model}) => ({path: '/chat/completions', body: model ? {...request, model} : request}),
  reply(response, context) {
    const failure = isObject(response) && failureOfChat(response, context)
    if (failure) throw failure
    if (!isObject(response) || !Array.isArray(response.choices)) throw new InvalidResponseFault('it holds no choices')
    const raw_usage = rawUsageIn(response)
    return {body: response, usage: raw_usage && readUsage(raw_usage, 'chatComplete'), model: modelIn(response)}
  },
  stream: {framing: 'sse', open: context => new ChatStream(context)},
}

const NONE: readonly Json[] = []

class ChatStream implements StreamTranslator {
  readonly #context: TranslationContext
  finished = false
  model: string | null = null
  failed: StreamTranslator['failed'] = null
  text_bytes = 0
  #usage_so_far: RawObject | null = null

  constructor(context: TranslationContext) {
    this.#context = context
  }

  get usage(): Usage | null {
    return this.#usage_so_far && readUsage(this.#usage_so_far, 'chatComplete')
  }

  event({data}: StreamEvent): readonly Json[] {
    if (this.failed || data === '' || data === null || data === undefined) return NONE
    if (data === '[DONE]') {
      this.finished = true
      return NONE
    }
    if (!isObject(data)) return this.#fail({message: 'its stream is not what it documents: expected a JSON object'})
    if (isObject(data.error)) return this.#fail(anyError(data))
    if (typeof data.error === 'string') return this.#fail({message: data.error})
    this.#usage_so_far = mergeRawUsage(this.#usage_so_far, rawUsageIn(data))
    this.model ??= modelIn(data)
    const [choice] = Array.isArray(data.choices) ? (data.choices as unknown[]) : []
    const {delta, finish_reason, error} = object(choice)
    if (isObject(error)) return this.#fail(anyError({error}))
    const {content} = object(delta)
    if (typeof content === 'string') this.text_bytes += Buffer.byteLength(content)
    if (typeof finish_reason === 'string') this.finished = true
    return [data]
  }

  end(): readonly Json[] {
    return NONE
  }

  #fail(error: RawError): readonly Json[] {
    this.failed = {...faultOf(this.#context, error, 'no message'), status: statusIn(error.code)}
    return NONE
  }
}
