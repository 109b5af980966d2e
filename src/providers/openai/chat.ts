import {isObject, object} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {type Context, InvalidResponse, type Json, type StreamEvent, type StreamTranslator, type Translation} from '../translation.ts'
import {faultOf} from '../unified/fault.ts'
import {modelIn, saidIn} from './reply.ts'
import {mergeSaid, readUsage, type Said} from './usage.ts'

/** Chat with providers whose words are OpenAI's already: for clients that came in other words and were translated to chat. */
export const openaiChat: Translation = {
  request: (asked, {model}) => ({path: '/chat/completions', body: model ? {...asked, model} : asked}),
  reply(said) {
    if (!isObject(said) || !Array.isArray(said.choices)) throw new InvalidResponse('it holds no choices')
    const told = saidIn(said)
    return {body: said, usage: told && readUsage(told, 'chatComplete'), model: modelIn(said)}
  },
  stream: {framing: 'sse', open: context => new ChatStream(context)},
}

const NONE: readonly Json[] = []

class ChatStream implements StreamTranslator {
  readonly #context: Context
  finished = false
  model: string | null = null
  failed: StreamTranslator['failed'] = null
  text_bytes = 0
  #said: Said | null = null

  constructor(context: Context) {
    this.#context = context
  }

  get usage(): Usage | null {
    return this.#said && readUsage(this.#said, 'chatComplete')
  }

  event({data}: StreamEvent): readonly Json[] {
    if (this.failed || data === '' || data === null || data === undefined) return NONE
    if (data === '[DONE]') {
      this.finished = true
      return NONE
    }
    if (!isObject(data)) return this.#fail({message: 'its stream is not what it documents: expected a JSON object'})
    if (isObject(data.error)) return this.#fail(data.error)
    if (typeof data.error === 'string') return this.#fail({message: data.error})
    this.#said = mergeSaid(this.#said, saidIn(data))
    this.model ??= modelIn(data)
    const [choice] = Array.isArray(data.choices) ? (data.choices as unknown[]) : []
    const {delta, finish_reason} = object(choice)
    const {content} = object(delta)
    if (typeof content === 'string') this.text_bytes += Buffer.byteLength(content)
    if (typeof finish_reason === 'string') this.finished = true
    return [data]
  }

  end(): readonly Json[] {
    return NONE
  }

  #fail(said: Said): readonly Json[] {
    this.failed = {...faultOf(this.#context, said, 'no message'), status: null}
    return NONE
  }
}
