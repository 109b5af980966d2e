import {object} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'
import {text} from './events.ts'

/**
 * The items of a session's conversation in their order, as the provider confirmed them: the request of a turn, for its
 * row of the log. Keeps at most `most_bytes` of JSON; the oldest items go first.
 */
export class Conversation {
  readonly #most_bytes: number
  readonly #items: {readonly id: string; readonly json: string}[] = []
  #bytes = 0
  #is_cut = false

  constructor(most_bytes: number) {
    this.#most_bytes = most_bytes
  }

  /** Takes an event about an item: created, added, done or deleted. */
  take(type: string, event: Json): void {
    if (type === 'conversation.item.deleted') return this.#remove(text(event.item_id))
    const item = object(event.item)
    const id = text(item.id)
    if (id === null) return
    const after = text(event.previous_item_id)
    const json = JSON.stringify(item)
    const known = this.#items.findIndex(each => each.id === id)
    if (known >= 0) {
      this.#bytes += json.length - this.#items[known]!.json.length
      this.#items[known] = {id, json}
    } else {
      const before = after === null ? -1 : this.#items.findIndex(each => each.id === after)
      this.#items.splice(before < 0 ? this.#items.length : before + 1, 0, {id, json})
      this.#bytes += json.length
    }
    while (this.#bytes > this.#most_bytes && this.#items.length > 0) {
      this.#bytes -= this.#items.shift()!.json.length
      this.#is_cut = true
    }
  }

  /** `{"items":[...]}` without those that the answer itself made. */
  inputOf(response: Json): Buffer {
    const output = Array.isArray(response.output) ? response.output : []
    const made = new Set(output.map(item => text(object(item).id)))
    return Buffer.from(
      `{"items":[${this.#items
        .filter(({id}) => !made.has(id))
        .map(({json}) => json)
        .join(',')}]}`,
    )
  }

  /** True when items are missing at the beginning. */
  get is_cut(): boolean {
    return this.#is_cut
  }

  #remove(id: string | null) {
    const at = this.#items.findIndex(each => each.id === id)
    if (at >= 0) this.#bytes -= this.#items.splice(at, 1)[0]!.json.length
  }
}
