import type {ChatFollower, Opening} from '../messages/follower.ts'
import type {Json} from '../translation.ts'
import {sealThought} from './thoughts.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

const PREFIXES = {
  text: 'msg',
  refusal: 'msg',
  thinking: 'rs',
  redacted_thinking: 'rs',
  picture: 'ig',
  call: 'fc',
} as const

/** One item of a response's output, as it grows. Its id is the response's with the item's place. */
export class Item {
  readonly opening: Opening
  readonly id: string
  #written = ''
  #signature = ''
  #is_closed = false

  constructor(opening: Opening, place: number, {id}: ChatFollower) {
    this.opening = opening
    this.id = `${PREFIXES[opening.kind]}_${id.replace(/^resp_/, '')}_${place}`
  }

  more(text: string): void {
    this.#written += text
  }

  close(signature: string): void {
    this.#signature = signature
    this.#is_closed = true
  }

  get is_empty(): boolean {
    return this.#written === ''
  }

  /** The text of the model. Invalid arguments are an empty object, for a client parses them. */
  get text(): string {
    const is_empty_call = this.opening.kind === 'call' && this.#is_closed && this.#written.trim() === ''
    return is_empty_call ? '{}' : this.#written
  }

  /** The item as it is in the output; while in progress, as it begins: empty. */
  json(status: ItemStatus): Json {
    const {opening, id} = this
    const text = status === 'in_progress' ? '' : this.text
    switch (opening.kind) {
      case 'call':
        return {
          id,
          type: 'function_call',
          status,
          call_id: opening.id,
          name: opening.name,
          arguments: text,
          ...opening.extra,
        }
      case 'thinking':
        return this.#reasoning(
          status,
          text ? [{type: 'summary_text', text}] : [],
          sealThought({signature: this.#signature}),
        )
      case 'redacted_thinking':
        return this.#reasoning(status, [], sealThought({data: opening.data}))
      case 'picture':
        return {id, type: 'image_generation_call', status, result: status === 'in_progress' ? null : opening.data}
      default:
        return {
          id,
          type: 'message',
          role: 'assistant',
          status,
          content: status === 'in_progress' ? [] : [this.part(text)],
        }
    }
  }

  /** The content part of a message. */
  part(text: string): Json {
    return this.opening.kind === 'refusal'
      ? {type: 'refusal', refusal: text}
      : {type: 'output_text', text, annotations: [], logprobs: []}
  }

  #reasoning(status: ItemStatus, summary: readonly Json[], encrypted_content: string | null): Json {
    return {id: this.id, type: 'reasoning', status, summary, encrypted_content}
  }
}
