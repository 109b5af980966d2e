import {isObject, list} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'
import {
  eventText,
  type Outcomes,
  outcomeOf,
  type Stopped,
  summed,
  type Transcript,
  type Turn,
  type TurnFault,
} from './dialect.ts'
import {CALL_PREFIX} from './labels.ts'
import type {RunOffer} from './offer.ts'

const TERMINAL = /^response\.(?:completed|incomplete|failed)$/
const OPENING = /^response\.(?:created|queued|in_progress)$/

/** The answer of a run in Responses: one response with the items of all turns. */
export class ResponsesTranscript implements Transcript {
  readonly #request: Json
  readonly #offer: RunOffer
  readonly #items: Json[]
  #usage: unknown
  #begun: Json = {}
  // of the stream
  #sequence = 0
  #turns = 0
  #has_lists = false
  /** The index of the first item of this turn. */
  #offset: number
  /** Items of this turn that are calls of tools, by their index in the turn. */
  #calls = new Map<unknown, string>()
  #done: unknown[] = []
  #last: Json | null = null

  constructor(request: Json, offer: RunOffer) {
    this.#request = request
    this.#offer = offer
    this.#items = offer.choices.map(({label}, at) => ({
      ...{id: `mcpl_${at}_${offer.of(label).length}`, type: 'mcp_list_tools', server_label: label, error: null},
      tools: offer.of(label).map(({tool: {name, description, input_schema, annotations}}) => ({
        ...{name, description, input_schema, annotations},
      })),
    }))
    this.#offset = this.#items.length
  }

  add({answer}: Turn, outcomes: Outcomes): void {
    this.#usage = summed(this.#usage, answer.usage)
    for (const item of list(answer.output)) {
      const call = isObject(item) ? this.#callOf(item) : null
      this.#items.push(call ? ended(call, outcomes) : (item as Json))
    }
  }

  whole(last: Json, stopped: Stopped | null): Json {
    return this.#response(last, {
      output: this.#items,
      usage: this.#usage ?? null,
      ...(stopped && {status: 'incomplete', incomplete_details: {reason: stopped}}),
    })
  }

  event(event: Json): string {
    const type = String(event.type)
    if (OPENING.test(type)) {
      if (this.#turns > 0 || !isObject(event.response)) return ''
      const {id, created_at} = event.response
      this.#begun = {id, created_at}
      return this.#text({...event, response: this.#response(event.response, {})})
    }
    const lists = this.#lists()
    if (TERMINAL.test(type) && isObject(event.response)) {
      this.#last = event.response
      return lists
    }
    const index = event.output_index
    if (typeof index !== 'number') return lists + this.#text(event)
    const moved = {...event, output_index: index + this.#offset}
    if (type === 'response.output_item.added' && isObject(event.item)) {
      const call = this.#callOf(event.item)
      if (!call) return lists + this.#text(moved)
      this.#calls.set(index, String(call.id))
      const {output_index} = moved
      const item = {...call, status: 'in_progress', output: null, error: null}
      return lists + this.#text({...moved, item}) + this.#mcp('in_progress', output_index, call.id)
    }
    if (type === 'response.output_item.done') this.#done.push(event.item)
    const item_id = this.#calls.get(index)
    if (item_id === undefined) return lists + this.#text(moved)
    const words = /^response\.function_call_arguments\.(delta|done)$/.exec(type)
    // the item is done once the tool has run
    if (!words) return lists
    const {name: _, ...of_arguments} = moved as Json
    return lists + this.#text({...of_arguments, type: `response.mcp_call_arguments.${words[1]}`, item_id})
  }

  assembled(): Json | null {
    const last = this.#last
    this.#last = null
    this.#calls = new Map()
    const done = this.#done.splice(0)
    if (!last) return null
    this.#turns++
    return list(last.output).length < done.length ? {...last, output: done} : last
  }

  outcomes({answer}: Turn, outcomes: Outcomes): string {
    let text = ''
    const items = list(answer.output)
    for (const [at, item] of items.entries()) {
      const call = isObject(item) ? this.#callOf(item) : null
      if (!call) continue
      const output_index = this.#offset + at
      const item_ended = ended(call, outcomes)
      text += this.#mcp(item_ended.status === 'completed' ? 'completed' : 'failed', output_index, call.id)
      text += this.#text({type: 'response.output_item.done', output_index, item: item_ended})
    }
    this.#offset += items.length
    return text
  }

  end(last: Json, stopped: Stopped | null): string {
    const response = this.#streamed(last, stopped)
    const status = ['incomplete', 'failed'].find(each => each === response.status) ?? 'completed'
    return this.#lists() + this.#text({type: `response.${status}`, response})
  }

  failed(last: Json, {status, message}: TurnFault): string {
    const error = {code: status === 446 ? 'guardrail_denied' : 'server_error', message}
    const response = {...this.#streamed(last, null), status: 'failed', error}
    return this.#text({type: 'response.failed', response})
  }

  /** Clients hold a stream to the id and the time that it began with. */
  #streamed(last: Json, stopped: Stopped | null): Json {
    return {...this.whole(last, stopped), ...this.#begun}
  }

  /** A response without what the gateway put in it. */
  #response(response: Json, more: Json): Json {
    const {tools, tool_choice} = this.#request
    return {...response, tools: list(tools), ...(tool_choice !== undefined && {tool_choice}), ...more}
  }

  #callOf(item: Json): Json | null {
    const name = String(item.name)
    if (item.type !== 'function_call' || !this.#offer.owns(name)) return null
    const offered = this.#offer.find(name)
    const {label, tool} = offered ? {label: offered.choice.label, tool: offered.tool.name} : this.#offer.guess(name)
    return {
      ...{id: `${CALL_PREFIX}${item.call_id}`, type: 'mcp_call', server_label: label, name: tool},
      ...{arguments: item.arguments ?? '', approval_request_id: null},
    }
  }

  #lists(): string {
    if (this.#has_lists) return ''
    this.#has_lists = true
    let text = ''
    for (const [output_index, item] of this.#items.slice(0, this.#offer.choices.length).entries()) {
      const begun = {...item, tools: []}
      text += this.#text({type: 'response.output_item.added', output_index, item: begun})
      for (const state of ['in_progress', 'completed'])
        text += this.#text({type: `response.mcp_list_tools.${state}`, output_index, item_id: item.id})
      text += this.#text({type: 'response.output_item.done', output_index, item})
    }
    return text
  }

  #mcp(state: string, output_index: number, item_id: unknown): string {
    return this.#text({type: `response.mcp_call.${state}`, output_index, item_id})
  }

  #text(event: Json): string {
    return eventText({...event, sequence_number: this.#sequence++})
  }
}

function ended(call: Json, outcomes: Outcomes): Json {
  const {is_error, text} = outcomeOf(outcomes, String(call.id).slice(CALL_PREFIX.length))
  return {
    ...call,
    status: is_error ? 'failed' : 'completed',
    output: is_error ? null : text,
    error: is_error ? text : null,
  }
}
