import {object} from '../../base/json-object.ts'
import {type Json, type Translated, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {
  type ChatMessage,
  imageIn,
  isThought,
  messagesIn,
  mostTokens,
  oneChoice,
  partsIn,
  pick,
  textIn,
  unsupportedPart,
} from '../unified/read.ts'
import {answeredIn, argumentsIn, callsIn, choiceIn, toolsIn} from '../unified/tools.ts'

/**
 * An OpenAI chat request in Snowflake's words. Source: Snowflake's published OpenAPI of the Cortex REST API, complete.
 */
export function chatRequest(request: Json, context: TranslationContext): Translated {
  oneChoice(request)
  const tools = toolsIn(request).map(({name, description, parameters}) => ({
    tool_spec: {type: 'generic', name, description, input_schema: parameters},
  }))
  const choice = choiceIn(request)
  // Snowflake has no word for tools that must not be called: they are left out.
  const offered = choice === 'none' ? [] : tools
  const effort = request.reasoning_effort
  const body = {
    model: context.model,
    messages: turns(messagesIn(request)),
    ...pick(request, 'temperature top_p guardrails anthropic openai provisioned_throughput_id'),
    ...(request.openai === undefined && (effort === 'low' || effort === 'medium' || effort === 'high')
      ? {openai: {reasoning: {effort}}}
      : {}),
    max_tokens: mostTokens(request),
    response_format: format(request),
    ...(offered.length > 0
      ? {
          tools: offered,
          tool_choice: typeof choice === 'object' ? {type: 'tool', name: [choice.name]} : choice && {type: choice},
        }
      : {}),
    stream: context.is_stream,
  }
  return {
    path: '/api/v2/cortex/inference:complete',
    headers: {accept: context.is_stream ? 'text/event-stream' : 'application/json'},
    body,
  }
}

/**
 * Snowflake's messages: text as `content`, all else as `content_list`; the results of tools are one message of the
 * user's.
 */
function turns(messages: readonly ChatMessage[]): readonly Json[] {
  const names = new Map<string, string>()
  const all: Json[] = []
  let results: Json[] | null = null
  for (const message of messages) {
    const {role, raw, field} = message
    if (role === 'tool') {
      const id = answeredIn(message)
      const content = [{type: 'text', text: textIn(raw.content, `${field}.content`)}]
      const result = {type: 'tool_results', tool_results: {tool_use_id: id, name: names.get(id) ?? '', content}}
      if (results) results.push(result)
      else {
        results = [result]
        all.push({role: 'user', content_list: results})
      }
      continue
    }
    results = null
    const calls = callsIn(message)
    for (const {id, name} of calls) names.set(id, name)
    const uses = calls.map((call, at) => {
      const tool_use = {tool_use_id: call.id, name: call.name, input: argumentsIn(call, `${field}.tool_calls[${at}]`)}
      return {type: 'tool_use', tool_use}
    })
    const parts = partsIn(raw.content, `${field}.content`).filter(part => !isThought(part))
    const has_text_alone = uses.length === 0 && parts.every(({type}) => type === 'text')
    all.push(
      has_text_alone
        ? {role, content: textIn(raw.content, `${field}.content`)}
        : {role, content_list: [...parts.map(partOut), ...uses]},
    )
  }
  return all
}

function partOut(part: ReturnType<typeof partsIn>[number]): Json {
  if (part.type === 'text') return {type: 'text', text: part.raw.text}
  if (part.type !== 'image_url') throw unsupportedPart(part)
  const {url, detail} = imageIn(part)
  const head = /^data:(image\/[a-z0-9.+-]{1,32});base64,/i.exec(url.slice(0, 64))
  if (!head)
    throw new UnsupportedInputFault(
      `${part.field}.image_url.url`,
      'the provider fetches no pictures; expected a data URI in base64',
    )
  return {type: 'image', details: {type: 'base64', content: url.slice(head[0].length), content_type: head[1], detail}}
}

function format(request: Json): Json | undefined {
  const {type, json_schema} = object(request.response_format)
  if (type === 'json_object') return {type: 'json'}
  return type === 'json_schema' ? {type: 'json', schema: object(json_schema).schema} : undefined
}
