import {providerCallId} from '../messages/call-ids.ts'
import {arrayAt, objectAt, stringAt} from '../messages/fields.ts'
import {contentText, string} from '../messages/fragments.ts'
import {chatCall} from '../messages/history.ts'
import {contentOf, noWord, textPart} from '../messages/parts.ts'
import {type ToolResult, toolMessages} from '../messages/tool-results.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {partsIn} from './content.ts'
import {openThought} from './thoughts.ts'

/** Roles of chat; `developer` is OpenAI's own and means the same. */
const ROLES: Readonly<Record<string, string>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
}

/**
 * An assistant's turn: items that follow one another, in one chat message, since chat wants all calls of a turn in one.
 */
interface Turn {
  readonly parts: Json[]
  readonly blocks: Json[]
  readonly calls: Json[]
  has_thinking: boolean
}

/**
 * `instructions` and `input` of a Responses request as chat messages, in their order. Throws `UnsupportedInputFault`.
 */
export function chatMessages(request: Json, context: TranslationContext): readonly Json[] {
  const {instructions, input} = request
  const messages: Json[] = []
  if (instructions !== undefined && instructions !== null) {
    messages.push({role: 'system', content: stringAt(instructions, 'instructions')})
  }
  if (typeof input === 'string') return [...messages, {role: 'user', content: input}]
  const items = arrayAt(input, 'input')
  if (items.length === 0) throw new UnsupportedInputFault('input', 'expected a text or at least one item')
  const conversation = new Conversation(messages, context)
  items.forEach((item, at) => {
    conversation.add(objectAt(item, `input[${at}]`), `input[${at}]`)
  })
  return conversation.end()
}

class Conversation {
  readonly #messages: Json[]
  readonly #context: TranslationContext
  #turn: Turn | null = null
  #results: ToolResult[] = []

  constructor(messages: Json[], context: TranslationContext) {
    this.#messages = messages
    this.#context = context
  }

  add(item: Json, field: string): void {
    const type = item.type ?? (item.role === undefined ? undefined : 'message')
    if (type === 'message') this.#message(item, field)
    else if (type === 'function_call') this.#call(item, field)
    else if (type === 'function_call_output') this.#output(item, field)
    else if (type === 'reasoning') this.#reasoning(item, field)
    else if (type === 'item_reference')
      throw new UnsupportedInputFault(`${field}.type`, 'items are not kept here; send them whole (`store`: false)')
    else throw noWord(type, `${field}.type`, this.#context)
  }

  end(): readonly Json[] {
    this.#endResults()
    this.#endTurn()
    return this.#messages
  }

  #message(item: Json, field: string) {
    const {role} = item
    if (typeof role !== 'string' || !Object.hasOwn(ROLES, role)) {
      throw new UnsupportedInputFault(`${field}.role`, `expected one of ${Object.keys(ROLES).join(', ')}`)
    }
    const parts = partsIn(item.content, `${field}.content`, this.#context)
    if (role === 'assistant') return this.#assistant(parts)
    this.#endResults()
    this.#endTurn()
    this.#messages.push({role: ROLES[role], content: contentOf(parts)})
  }

  #assistant(parts: readonly Json[]) {
    const {parts: earlier = [], blocks = [], calls = []} = this.#turn ?? {}
    // Text behind text is another message, unless there was thinking between them or calls are still to be answered.
    if (earlier.length > 0 && calls.length === 0 && blocks.at(-1) === earlier.at(-1)) this.#endTurn()
    const turn = this.#openTurn()
    for (const part of parts) {
      turn.parts.push(part)
      turn.blocks.push(part)
    }
  }

  #call(item: Json, field: string) {
    const id = providerCallId(stringAt(item.call_id, `${field}.call_id`))
    const input = stringAt(item.arguments, `${field}.arguments`)
    this.#openTurn().calls.push(chatCall(id, stringAt(item.name, `${field}.name`), input, item))
  }

  #output(item: Json, field: string) {
    this.#endTurn()
    const call_id = providerCallId(stringAt(item.call_id, `${field}.call_id`))
    this.#results.push({call_id, parts: partsIn(item.output, `${field}.output`, this.#context), is_error: false})
  }

  #reasoning(item: Json, field: string) {
    const thinking = [...listAt(item.summary, `${field}.summary`), ...listAt(item.content, `${field}.content`)]
    const block = openThought(item.encrypted_content, contentText(thinking))
    // Thinking without a signature, or with another provider's, is not shown to this one (data-plane digest 7.6).
    if (!block) return
    const is_after =
      this.#turn !== null && this.#turn.calls.length === 0 && this.#turn.parts.length > 0 && !this.#turn.has_thinking
    if (is_after) this.#endTurn()
    const turn = this.#openTurn()
    turn.blocks.push(block)
    turn.has_thinking = true
  }

  #openTurn(): Turn {
    this.#endResults()
    this.#turn ??= {parts: [], blocks: [], calls: [], has_thinking: false}
    return this.#turn
  }

  #endTurn() {
    if (!this.#turn) return
    const {parts, blocks, calls, has_thinking} = this.#turn
    this.#turn = null
    this.#messages.push({
      role: 'assistant',
      content: parts.length === 0 && calls.length > 0 ? null : contentOf(parts),
      ...(has_thinking ? {content_blocks: blocks} : {}),
      ...(calls.length > 0 ? {tool_calls: calls} : {}),
    })
  }

  #endResults() {
    if (this.#results.length === 0) return
    for (const message of toolMessages(this.#results, [])) this.#messages.push(message)
    this.#results = []
  }
}

function listAt(value: unknown, field: string): readonly Json[] {
  if (value === undefined || value === null) return []
  return arrayAt(value, field).map((part, at) => textPart(string(objectAt(part, `${field}[${at}]`).text)))
}
