import {Refusal} from '../../base/errors.ts'
import {isObject, list, object} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'
import {type Outcomes, outcomeOf, type RunDialect, type Turn, type TurnCall} from './dialect.ts'
import {CALL_PREFIX, slugOfLabel} from './labels.ts'
import type {RunFunction, RunOffer, ServerChoice} from './offer.ts'
import {ResponsesTranscript} from './responses-transcript.ts'

/** Runs in the words of OpenAI's Responses: the tool `mcp`, the items `mcp_call` and `mcp_list_tools`. */
export const RESPONSES: RunDialect = {
  choices(body) {
    const choices = new Map<string, ServerChoice>()
    for (const [at, tool] of list(body.tools).entries()) {
      const slug = isObject(tool) && tool.type === 'mcp' ? slugOfLabel(tool.server_label) : null
      if (slug === null) continue
      const field = `tools[${at}].server_label`
      const choice = {label: String(object(tool).server_label), slug, field, allows: allowing(object(tool), at)}
      if (choices.has(slug)) throw new Refusal('body.invalid', {issues: `${field}: ${choice.label} comes twice`})
      choices.set(slug, choice)
    }
    if (choices.size > 0 && body.background === true)
      throw new Refusal('body.invalid', {
        issues: 'background: tools that the gateway runs need a client that waits; send false',
      })
    return [...choices.values()]
  },

  functionsOf(body) {
    return new Set(list(body.tools).flatMap(tool => (isObject(tool) && typeof tool.name === 'string' ? tool.name : [])))
  },

  opened(body, offer) {
    const tools = list(body.tools).flatMap(tool => functionsFor(tool, offer))
    const {tools: _, ...rest} = body
    return {
      ...rest,
      ...(tools.length > 0 && {tools}),
      ...(Array.isArray(body.input) && {input: body.input.flatMap(item => earlierItems(item, offer))}),
      ...choiceOfTool(body.tool_choice, offer),
    }
  },

  turnOf(answer, offer): Turn {
    const items = list(answer.output).filter(isObject)
    const called = items.filter(({type}) => type === 'function_call' || type === 'custom_tool_call')
    const ours = called.filter(item => item.type === 'function_call' && offer.owns(String(item.name)))
    const calls = ours.map(
      (item): TurnCall => ({
        id: String(item.call_id),
        function_name: String(item.name),
        args: typeof item.arguments === 'string' ? item.arguments : '',
      }),
    )
    const is_whole = answer.status === undefined || answer.status === 'completed'
    return {answer, calls, calls_client: called.length > ours.length, is_whole}
  },

  next(body, {answer, calls}, outcomes) {
    const results = calls.map(({id}) => ({type: 'function_call_output', call_id: id, output: resultText(outcomes, id)}))
    // a conversation keeps what was answered in it
    if (body.conversation) return {...unforced(body), input: results}
    return {...unforced(body), input: [...inputItems(body.input), ...answeredItems(answer), ...results]}
  },

  keeps_answers: true,
  transcript: (body, offer) => new ResponsesTranscript(body, offer),
}

function allowing(tool: Json, at: number): (name: string) => boolean {
  const {allowed_tools: allowed} = tool
  if (allowed === undefined || allowed === null) return () => true
  const names = Array.isArray(allowed) ? allowed : isObject(allowed) ? allowed.tool_names : undefined
  if (!Array.isArray(names) || names.some(name => typeof name !== 'string'))
    throw new Refusal('body.invalid', {issues: `tools[${at}].allowed_tools: expected a list of names of tools`})
  return name => names.includes(name)
}

function functionsFor(tool: unknown, offer: RunOffer): readonly unknown[] {
  if (!isObject(tool) || tool.type !== 'mcp' || slugOfLabel(tool.server_label) === null) return [tool]
  return offer.of(String(tool.server_label)).map(asFunction)
}

function asFunction({function_name: name, tool: {description, input_schema}}: RunFunction): Json {
  const parameters = {type: 'object', ...input_schema}
  return {type: 'function', name, ...(description !== null && {description}), parameters, strict: false}
}

/** Items of an earlier run, in the words that the provider knows: a call and its output. Lists are read again. */
function earlierItems(item: unknown, offer: RunOffer): readonly unknown[] {
  const slug =
    isObject(item) && /^mcp_(?:call|list_tools)$/.test(String(item.type)) ? slugOfLabel(item.server_label) : null
  if (!isObject(item) || slug === null) return [item]
  if (item.type === 'mcp_list_tools') return []
  const id = String(item.id ?? '')
  const call_id = id.startsWith(CALL_PREFIX) ? id.slice(CALL_PREFIX.length) : id
  const output = typeof item.output === 'string' ? item.output : typeof item.error === 'string' ? item.error : ''
  const args = typeof item.arguments === 'string' ? item.arguments : '{}'
  return [
    {type: 'function_call', call_id, name: offer.functionOf(slug, String(item.name)), arguments: args},
    {type: 'function_call_output', call_id, output},
  ]
}

function choiceOfTool(choice: unknown, offer: RunOffer): Json {
  if (!isObject(choice)) return {}
  if (choice.type === 'allowed_tools') {
    const tools = list(choice.tools).flatMap(tool => {
      const slug = isObject(tool) && tool.type === 'mcp' ? slugOfLabel(tool.server_label) : null
      if (slug === null) return [tool]
      const {name, server_label: label} = object(tool)
      const names = offer.of(String(label)).filter(({tool: offered}) => name === undefined || offered.name === name)
      return names.map(({function_name}) => ({type: 'function', name: function_name}))
    })
    return {tool_choice: {...choice, tools}}
  }
  const slug = choice.type === 'mcp' ? slugOfLabel(choice.server_label) : null
  if (slug === null) return {}
  if (typeof choice.name !== 'string') return {tool_choice: 'required'}
  return {tool_choice: {type: 'function', name: offer.functionOf(slug, choice.name)}}
}

/** A choice that forces a call holds for the first turn: else no run would end by itself. */
function unforced(body: Json): Json {
  const {tool_choice: choice} = body
  if (isObject(choice) && choice.type === 'allowed_tools') return {...body, tool_choice: {...choice, mode: 'auto'}}
  return choice === 'required' || isObject(choice) ? {...body, tool_choice: 'auto'} : body
}

function inputItems(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [{type: 'message', role: 'user', content: input}]
  return list(input)
}

/**
 * The items of an answer as the input of the next turn. Where the provider keeps no answers it knows no ids, and no
 * thoughts that are not in the item itself.
 */
function answeredItems(answer: Json): readonly unknown[] {
  const items = list(answer.output).filter(isObject)
  if (answer.store !== false) return items
  return items
    .filter(item => item.type !== 'reasoning' || typeof item.encrypted_content === 'string')
    .map(({id, ...item}) => item)
}

function resultText(outcomes: Outcomes, id: string): string {
  const {is_error, text} = outcomeOf(outcomes, id)
  return is_error ? `Error: ${text}` : text
}
