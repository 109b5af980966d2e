import {type BlockStep, ChatFollower} from '../messages/follower.ts'
import {
  type ClientStream,
  InvalidResponseFault,
  type Json,
  type ProviderFault,
  type TranslationContext,
} from '../translation.ts'
import {Item, type ItemStatus} from './item.ts'
import {endedResponse, errorOf, failedResponse, incompleteReason, openResponse} from './reply.ts'

/** Chat chunks as the events of a response (OpenAI API reference, Responses, streaming events), numbered from 0. */
export function openResponseStream(context: TranslationContext, request: Json): ClientStream {
  return new ResponseStream(context, request)
}

class ResponseStream implements ClientStream {
  readonly #context: TranslationContext
  readonly #request: Json
  readonly #follower: ChatFollower
  readonly #items: Item[] = []
  #id = ''
  #number = 0
  #has_begun = false
  #is_over = false

  constructor(context: TranslationContext, request: Json) {
    this.#context = context
    this.#request = request
    this.#follower = new ChatFollower(context)
  }

  chunk(chunk: Json): string {
    if (this.#is_over) return ''
    const steps = this.#follower.take(chunk)
    // Some servers give every chunk an id of its own; a response has one.
    if (this.#has_begun) this.#follower.id = this.#id
    if (this.#follower.failed) return this.fault(this.#follower.failed)
    return this.#begun() + this.#textOf(steps, false)
  }

  end(): string {
    if (this.#is_over) return ''
    let last: string
    try {
      last = this.#begun() + this.#textOf(this.#follower.end(), true)
    } catch (error) {
      if (!(error instanceof InvalidResponseFault)) throw error
      return this.fault({message: error.message, type: null, param: null, code: null})
    }
    this.#is_over = true
    const response = endedResponse(this.#follower, this.#context, this.#request, this.#items)
    return last + this.#event(`response.${response.status}`, {response})
  }

  /** The response as failed, and the error behind it, for clients that look for one of the two. */
  fault(fault: ProviderFault): string {
    if (this.#is_over) return ''
    const begun = this.#begun()
    this.#is_over = true
    const error = errorOf(fault)
    const response = failedResponse(this.#follower, this.#context, this.#request, this.#items, error)
    const failed = this.#event('response.failed', {response})
    return begun + failed + this.#event('error', {...error, param: fault.param, error: {...fault}})
  }

  #begun(): string {
    if (this.#has_begun) return ''
    this.#has_begun = true
    this.#id = this.#follower.id
    const response = openResponse(this.#follower, this.#context, this.#request)
    return this.#event('response.created', {response}) + this.#event('response.in_progress', {response})
  }

  /** `is_last`: the last of these steps closes the last item. */
  #textOf(steps: readonly BlockStep[], is_last: boolean): string {
    const is_cut = is_last && incompleteReason(this.#follower) !== null
    return steps
      .map((step, at) => this.#tell(step, is_cut && at === steps.length - 1 ? 'incomplete' : 'completed'))
      .join('')
  }

  #tell(step: BlockStep, status: ItemStatus): string {
    if (step.does === 'open') {
      const item = new Item(step.block, this.#items.length, this.#follower)
      this.#items.push(item)
      return this.#item('response.output_item.added', item, 'in_progress')
    }
    const item = this.#items.at(-1)!
    if (step.does === 'more') return this.#more(item, step.text)
    const was_empty = item.is_empty
    item.close(step.signature)
    return this.#closed(item, was_empty) + this.#item('response.output_item.done', item, status)
  }

  #more(item: Item, delta: string): string {
    const is_first = item.is_empty
    item.more(delta)
    return (is_first ? this.#partAdded(item) : '') + this.#part(DELTAS, item, {delta})
  }

  #partAdded(item: Item): string {
    const {kind} = item.opening
    if (kind === 'thinking')
      return this.#part({thinking: 'reasoning_summary_part.added'}, item, {part: {type: 'summary_text', text: ''}})
    return kind === 'call' ? '' : this.#part({[kind]: 'content_part.added'}, item, {part: item.part('')})
  }

  #closed(item: Item, was_empty: boolean): string {
    const {text} = item
    switch (item.opening.kind) {
      case 'call': {
        const empty = was_empty ? this.#part(DELTAS, item, {delta: text}) : ''
        return empty + this.#part(DONES, item, {name: item.opening.name, arguments: text})
      }
      case 'thinking': {
        if (was_empty) return ''
        const part = {type: 'summary_text', text}
        return this.#part(DONES, item, {text}) + this.#part({thinking: 'reasoning_summary_part.done'}, item, {part})
      }
      case 'redacted_thinking':
      case 'picture':
        return ''
      default: {
        const {kind} = item.opening
        const empty = was_empty ? this.#partAdded(item) : ''
        const done = kind === 'refusal' ? {refusal: text} : {text, logprobs: []}
        return (
          empty +
          this.#part(DONES, item, done) +
          this.#part({[kind]: 'content_part.done'}, item, {part: item.part(text)})
        )
      }
    }
  }

  #item(type: string, item: Item, status: ItemStatus): string {
    return this.#event(type, {output_index: this.#items.length - 1, item: item.json(status)})
  }

  #part(types: Readonly<Partial<Record<string, string>>>, item: Item, more: Json): string {
    const {kind} = item.opening
    const place = kind === 'call' ? {} : kind === 'thinking' ? {summary_index: 0} : {content_index: 0}
    const logprobs = kind === 'text' && 'delta' in more ? {logprobs: []} : {}
    return this.#event(`response.${types[kind]}`, {
      item_id: item.id,
      output_index: this.#items.length - 1,
      ...place,
      ...more,
      ...logprobs,
    })
  }

  #event(type: string, more: Json): string {
    return `event: ${type}\ndata: ${JSON.stringify({type, sequence_number: this.#number++, ...more})}\n\n`
  }
}

/** Events of an item's text by the item's kind, after `response.`. */
const DELTAS = {
  text: 'output_text.delta',
  refusal: 'refusal.delta',
  thinking: 'reasoning_summary_text.delta',
  call: 'function_call_arguments.delta',
}
const DONES = {
  text: 'output_text.done',
  refusal: 'refusal.done',
  thinking: 'reasoning_summary_text.done',
  call: 'function_call_arguments.done',
}
