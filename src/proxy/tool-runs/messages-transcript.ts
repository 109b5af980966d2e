import {isObject, list, object, parsed} from '../../base/json-object.ts'
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
import {USE_PREFIX} from './labels.ts'
import type {RunOffer} from './offer.ts'

/** Texts of blocks, by the delta that they come in. */
const TEXTS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
  input_json_delta: 'json',
}

/** The answer of a run in Messages: one message with the blocks of all turns. */
export class MessagesTranscript implements Transcript {
  readonly #offer: RunOffer
  readonly #blocks: Json[] = []
  #usage: unknown
  // of the stream
  #offset = 0
  #message: Json | null = null
  #has_begun = false
  #is_over = false
  #content: Record<string, unknown>[] = []
  #delta: Json = {}

  constructor(offer: RunOffer) {
    this.#offer = offer
  }

  add({answer}: Turn, outcomes: Outcomes): void {
    this.#usage = summed(this.#usage, answer.usage)
    const blocks = list(answer.content) as readonly Json[]
    const uses = blocks.map(block => this.#useOf(block) ?? block)
    this.#blocks.push(
      ...uses,
      ...blocks.flatMap((block): readonly Json[] =>
        [this.#resultOf(block, outcomes)].filter(result => result !== null),
      ),
    )
  }

  whole(last: Json, stopped: Stopped | null): Json {
    return {
      ...last,
      content: this.#blocks,
      usage: this.#usage ?? last.usage,
      ...(stopped && {stop_reason: 'pause_turn', stop_sequence: null}),
    }
  }

  event(event: Json): string {
    const {index} = event
    switch (event.type) {
      case 'message_start': {
        this.#message = {...object(event.message)}
        if (this.#has_begun) return ''
        this.#has_begun = true
        return eventText(event)
      }
      case 'message_delta': {
        const {delta, usage} = event
        this.#delta = event
        this.#message = {
          ...this.#message,
          ...object(delta),
          usage: {...object(this.#message?.usage), ...withoutNulls(object(usage))},
        }
        return ''
      }
      case 'message_stop':
        this.#is_over = true
        return ''
      case 'content_block_start': {
        const block = object(event.content_block)
        this.#content[Number(index)] = {...block, json: ''}
        return this.#moved({...event, content_block: this.#useOf(block) ?? block})
      }
      case 'content_block_delta':
        this.#more(Number(index), object(event.delta))
        return this.#moved(event)
      case 'content_block_stop':
        return this.#moved(event)
      default:
        return eventText(event)
    }
  }

  assembled(): Json | null {
    const message = this.#message
    const content = this.#content.map(({json, ...block}) =>
      typeof json === 'string' && json !== '' ? {...block, input: parsed(json) ?? json} : block,
    )
    const is_over = this.#is_over
    this.#message = null
    this.#content = []
    this.#is_over = false
    return message && is_over ? {...message, content} : null
  }

  outcomes({answer}: Turn, outcomes: Outcomes): string {
    const blocks = list(answer.content) as readonly Json[]
    this.#offset += blocks.length
    let text = ''
    for (const block of blocks) {
      const content_block = this.#resultOf(block, outcomes)
      if (!content_block) continue
      const index = this.#offset++
      text += eventText({type: 'content_block_start', index, content_block})
      text += eventText({type: 'content_block_stop', index})
    }
    return text
  }

  end(last: Json, stopped: Stopped | null): string {
    const {stop_reason, stop_sequence, usage} = this.whole(last, stopped)
    const delta = {...object(this.#delta.delta), stop_reason, stop_sequence}
    return (
      eventText({...this.#delta, type: 'message_delta', delta, usage: withoutNulls(object(usage))}) +
      eventText({type: 'message_stop'})
    )
  }

  failed(_: Json, {status, message}: TurnFault): string {
    const type = status === 446 || status < 500 ? 'invalid_request_error' : 'api_error'
    return eventText({type: 'error', error: {type, message}})
  }

  #moved(event: Json): string {
    return eventText({...event, index: Number(event.index) + this.#offset})
  }

  #more(index: number, delta: Json) {
    const block = this.#content[index]
    if (!block) return
    const key = TEXTS[String(delta.type)]
    if (key === undefined) {
      if (delta.type === 'citations_delta') block.citations = [...list(block.citations), delta.citation]
      return
    }
    const text = delta[key === 'json' ? 'partial_json' : key]
    if (typeof text === 'string') block[key] = (typeof block[key] === 'string' ? block[key] : '') + text
  }

  #useOf(block: Json): Json | null {
    const name = String(block.name)
    if (block.type !== 'tool_use' || !this.#offer.owns(name)) return null
    const offered = this.#offer.find(name)
    const {label, tool} = offered ? {label: offered.choice.label, tool: offered.tool.name} : this.#offer.guess(name)
    const {id, input} = block
    return {type: 'mcp_tool_use', id: `${USE_PREFIX}${id}`, name: tool, server_name: label, input: input ?? {}}
  }

  #resultOf(block: Json, outcomes: Outcomes): Json | null {
    if (!isObject(block) || block.type !== 'tool_use' || !this.#offer.owns(String(block.name))) return null
    const {is_error, text} = outcomeOf(outcomes, String(block.id))
    return {
      ...{type: 'mcp_tool_result', tool_use_id: `${USE_PREFIX}${block.id}`, is_error},
      content: [{type: 'text', text}],
    }
  }
}

function withoutNulls(usage: Json): Json {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))
}
