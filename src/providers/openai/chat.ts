import type {Usage} from '../../schema/usage.ts'
import {BadReply, type Context, type Json, type StreamEvent, type StreamTranslator, type Translation} from '../translation.ts'
import {modelIn, saidIn} from './reply.ts'
import {isObject, mergeSaid, object, readUsage, type Said} from './usage.ts'

/** Chat with providers whose words are OpenAI's already: for clients that came in other words and were translated to chat. */
export const openaiChat: Translation = {
  request: (asked, {model}) => ({path: '/chat/completions', body: model ? {...asked, model} : asked}),
  reply(said) {
    if (!isObject(said) || !Array.isArray(said.choices)) throw new BadReply('it holds no choices')
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
    if (typeof data === 'string') {
      if (data.trim() === '[DONE]') this.finished = true
      return NONE
    }
    if (!isObject(data) || this.failed) return NONE
    if (isObject(data.error)) {
      const {message, type, param, code} = data.error
      this.failed = {
        message: `${this.#context.provider} error: ${typeof message === 'string' ? message : 'no message'}`,
        type: typeof type === 'string' ? type : null,
        param: typeof param === 'string' ? param : null,
        code: typeof code === 'string' ? code : null,
        status: null,
      }
      return NONE
    }
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
}
