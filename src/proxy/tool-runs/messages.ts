import {Refusal} from '../../base/errors.ts'
import {isObject, list, object} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'
import {outcomeOf, type RunDialect, type Turn, type TurnCall} from './dialect.ts'
import {slugOfLabel} from './labels.ts'
import {earlierMessages} from './messages-history.ts'
import {MessagesTranscript} from './messages-transcript.ts'
import type {RunFunction, RunOffer, ServerChoice} from './offer.ts'

/**
 * Runs in the words of Anthropic's Messages (platform.claude.com, MCP connector: `mcp_servers`, `mcp_toolset`, the
 * blocks `mcp_tool_use` and `mcp_tool_result`).
 */
export const MESSAGES: RunDialect = {
  choices(body) {
    const toolsets = new Map<string, {readonly set: Json; readonly field: string}>()
    for (const [at, tool] of toolsOf(body).entries()) {
      if (!isObject(tool) || tool.type !== 'mcp_toolset' || slugOfLabel(tool.mcp_server_name) === null) continue
      const field = `tools[${at}].mcp_server_name`
      const label = String(tool.mcp_server_name)
      if (toolsets.has(label)) throw new Refusal('body.invalid', {issues: `${field}: ${label} comes twice`})
      toolsets.set(label, {set: tool, field})
    }
    const choices = new Map<string, ServerChoice>()
    const add = (label: string, field: string, allows: (tool: string) => boolean) => {
      const slug = slugOfLabel(label)!
      if (choices.has(slug)) throw new Refusal('body.invalid', {issues: `${field}: ${label} comes twice`})
      choices.set(slug, {label, slug, field, allows})
    }
    for (const [at, server] of list(body.mcp_servers).entries()) {
      if (!isObject(server) || slugOfLabel(server.name) === null) continue
      const label = String(server.name)
      const set = toolsets.get(label)
      toolsets.delete(label)
      add(label, `mcp_servers[${at}].name`, set ? enabled(set.set) : configured(object(server.tool_configuration)))
    }
    for (const [label, {set, field}] of toolsets) add(label, field, enabled(set))
    return [...choices.values()]
  },

  functionsOf(body) {
    return new Set(toolsOf(body).flatMap(tool => (isObject(tool) && typeof tool.name === 'string' ? tool.name : [])))
  },

  opened(body, offer) {
    const tools = toolsOf(body).flatMap(tool => (isOurs(tool) ? [] : [tool]))
    const functions = offer.choices.flatMap(({label}) => offer.of(label).map(asTool))
    const servers = list(body.mcp_servers).filter(server => slugOfLabel(object(server).name) === null)
    const {tools: _, mcp_servers: __, ...rest} = body
    const all = [...tools, ...functions]
    return {
      ...rest,
      ...(servers.length > 0 && {mcp_servers: servers}),
      ...(all.length > 0 && {tools: all}),
      ...(Array.isArray(body.messages) && {messages: earlierMessages(body.messages, offer)}),
      ...choiceOfTool(body, offer),
    }
  },

  turnOf(answer, offer): Turn {
    const called = list(answer.content)
      .filter(isObject)
      .filter(({type}) => type === 'tool_use')
    const ours = called.filter(({name}) => offer.owns(String(name)))
    const calls = ours.map(
      ({id, name, input}): TurnCall => ({
        id: String(id),
        function_name: String(name),
        args: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
      }),
    )
    return {answer, calls, calls_client: called.length > ours.length, is_whole: answer.stop_reason === 'tool_use'}
  },

  next(body, {answer, calls}, outcomes) {
    const content = list(answer.content).filter(block => !isObject(block) || block.type !== 'text' || block.text !== '')
    const results = calls.map(({id}) => {
      const {is_error, text} = outcomeOf(outcomes, id)
      return {type: 'tool_result', tool_use_id: id, content: text, ...(is_error && {is_error})}
    })
    return {
      ...unforced(body),
      messages: [...list(body.messages), {role: 'assistant', content}, {role: 'user', content: results}],
    }
  },

  keeps_answers: false,
  transcript: (_, offer) => new MessagesTranscript(offer),
}

/** One tool may come without its list. */
function toolsOf(body: Json): readonly unknown[] {
  return isObject(body.tools) ? [body.tools] : list(body.tools)
}

function isOurs(tool: unknown): boolean {
  return isObject(tool) && tool.type === 'mcp_toolset' && slugOfLabel(tool.mcp_server_name) !== null
}

/** Of a toolset: the word on a tool itself, else that for all. */
function enabled({default_config, configs}: Json): (tool: string) => boolean {
  const usual = object(default_config).enabled !== false
  const of = Array.isArray(configs)
    ? new Map(configs.filter(isObject).map(each => [each.name ?? each.tool_name, each.enabled]))
    : new Map<unknown, unknown>(Object.entries(object(configs)).map(([name, each]) => [name, object(each).enabled]))
  return tool => {
    const own = of.get(tool)
    return typeof own === 'boolean' ? own : usual
  }
}

/** Of a server without a toolset, as the first revision of the connector has it. */
function configured({enabled: is_enabled, allowed_tools: allowed}: Json): (tool: string) => boolean {
  if (is_enabled === false) return () => false
  return Array.isArray(allowed) ? tool => allowed.includes(tool) : () => true
}

function asTool({function_name: name, tool: {description, input_schema}}: RunFunction): Json {
  return {name, ...(description !== null && {description}), input_schema: {type: 'object', ...input_schema}}
}

/** A tool of a server may be named by its own name, where the client has none of that name. */
function choiceOfTool(body: Json, offer: RunOffer): Json {
  const {tool_choice: choice} = body
  if (!isObject(choice) || choice.type !== 'tool' || MESSAGES.functionsOf(body).has(String(choice.name))) return {}
  const found = offer.choices
    .flatMap(({label}) => offer.of(label))
    .find(({tool, function_name}) => tool.name === choice.name || function_name === choice.name)
  return found ? {tool_choice: {...choice, name: found.function_name}} : {}
}

/** A choice that forces a call holds for the first turn: else no run would end by itself. */
function unforced(body: Json): Json {
  const {tool_choice: choice} = body
  if (!isObject(choice) || (choice.type !== 'any' && choice.type !== 'tool')) return body
  const {name: _, ...rest} = choice
  return {...body, tool_choice: {...rest, type: 'auto'}}
}
