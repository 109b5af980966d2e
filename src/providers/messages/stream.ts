import type {Usage} from '../../schema/usage.ts'
import {
  type ClientStream,
  InvalidResponseFault,
  type Json,
  type ProviderFault,
  type TranslationContext,
} from '../translation.ts'
import {streamError} from './error.ts'
import {type BlockStep, ChatFollower, type Opening} from './follower.ts'
import {messageHead, openBlock, stopReason} from './reply.ts'
import {messageUsage} from './usage.ts'

/**
 * Chat chunks as the events of a message stream (docs.anthropic.com, Streaming Messages). The usage comes behind the
 * finish reason, so `message_delta` and `message_stop` are sent at the end.
 */
export function openMessageStream(
  context: TranslationContext,
  _request: Json = {},
  prompt: () => Usage | null = () => null,
): ClientStream {
  return new MessageStream(context, prompt)
}

class MessageStream implements ClientStream {
  readonly #context: TranslationContext
  readonly #prompt: () => Usage | null
  readonly #follower: ChatFollower
  #has_begun = false
  #is_over = false
  #index = -1
  #kind: Opening['kind'] = 'text'

  constructor(context: TranslationContext, prompt: () => Usage | null) {
    this.#context = context
    this.#prompt = prompt
    this.#follower = new ChatFollower(context)
  }

  chunk(chunk: Json): string {
    if (this.#is_over) return ''
    const steps = this.#follower.take(chunk)
    if (this.#follower.failed) return this.fault(this.#follower.failed)
    return this.#begun() + this.#textOf(steps)
  }

  end(): string {
    if (this.#is_over) return ''
    let last: string
    try {
      last = this.#begun() + this.#textOf(this.#follower.end())
    } catch (error) {
      if (!(error instanceof InvalidResponseFault)) throw error
      return this.fault({message: error.message, type: null, param: null, code: null})
    }
    this.#is_over = true
    const delta = {stop_reason: stopReason(this.#follower), stop_sequence: null}
    const usage = messageUsage(this.#follower.usage)
    return `${last}${event({type: 'message_delta', delta, usage})}${event({type: 'message_stop'})}`
  }

  fault(fault: ProviderFault): string {
    if (this.#is_over) return ''
    this.#is_over = true
    return event(streamError(fault))
  }

  #begun(): string {
    if (this.#has_begun) return ''
    this.#has_begun = true
    const head = messageHead(this.#follower, this.#context)
    const usage = messageUsage(this.#follower.usage ?? this.#prompt())
    return event({
      type: 'message_start',
      message: {...head, content: [], stop_reason: null, stop_sequence: null, usage},
    })
  }

  #textOf(steps: readonly BlockStep[]): string {
    return steps.map(step => this.#tell(step)).join('')
  }

  #tell(step: BlockStep): string {
    if (step.does === 'open') {
      this.#index++
      this.#kind = step.block.kind
      return event({type: 'content_block_start', index: this.#index, content_block: openBlock(step.block)})
    }
    if (step.does === 'more') return this.#delta(deltaOf(this.#kind, step.text))
    const signed = step.signature ? this.#delta({type: 'signature_delta', signature: step.signature}) : ''
    return signed + event({type: 'content_block_stop', index: this.#index})
  }

  #delta(delta: Json): string {
    return event({type: 'content_block_delta', index: this.#index, delta})
  }
}

function deltaOf(kind: Opening['kind'], text: string): Json {
  if (kind === 'thinking') return {type: 'thinking_delta', thinking: text}
  if (kind === 'call') return {type: 'input_json_delta', partial_json: text}
  return {type: 'text_delta', text}
}

function event(data: Json): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}
