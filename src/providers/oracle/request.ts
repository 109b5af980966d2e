import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {type Json, type Translated, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {
  type ChatMessage,
  imageIn,
  isThought,
  messagesIn,
  mostTokens,
  partsIn,
  pick,
  stopsIn,
  unsupportedPart,
} from '../unified/read.ts'
import {answeredIn, callsIn, choiceIn, toolsIn} from '../unified/tools.ts'

const SETTINGS =
  `temperature seed top_p>topP top_k>topK frequency_penalty>frequencyPenalty presence_penalty>presencePenalty
  n>numGenerations logit_bias>logitBias top_logprobs>logProbs parallel_tool_calls>isParallelToolCalls metadata`.replace(
    /\s+/g,
    ' ',
  )

/**
 * An OpenAI chat request for Oracle's generic format. Source: docs.oracle.com, Generative AI inference, ChatDetails and
 * GenericChatRequest. The compartment and the serving mode come from the integration or the headers.
 */
export function chatRequest(request: Json, context: TranslationContext): Translated {
  const {oracle_compartment_id, oracle_serving_mode, oracle_api_version} = context.options
  if (!oracle_compartment_id)
    throw new UnsupportedInputFault('oracle_compartment_id', 'expected the compartment that pays for the call')
  const is_dedicated = oracle_serving_mode === 'DEDICATED'
  const tools = toolsIn(request)
  const effort = request.reasoning_effort
  const chatRequest = {
    apiFormat: 'GENERIC',
    messages: messagesIn(request).map(message),
    ...pick(request, SETTINGS),
    // Newer models refuse the older member; who names the newer one means it.
    ...(typeof request.max_completion_tokens === 'number'
      ? {maxCompletionTokens: request.max_completion_tokens}
      : {maxTokens: mostTokens(request)}),
    stop: stopsIn(request),
    ...(tools.length > 0
      ? {
          tools: tools.map(({name, description, parameters}) => ({type: 'FUNCTION', name, description, parameters})),
          toolChoice: choice(request),
        }
      : {}),
    responseFormat: format(request),
    reasoningEffort: typeof effort === 'string' && EFFORTS.has(effort) ? effort.toUpperCase() : undefined,
    isStream: context.is_stream,
    ...(context.is_stream ? {streamOptions: {isIncludeUsage: true}} : {}),
  }
  return {
    path: `/${uriPart(oracle_api_version || '20231130')}/actions/chat`,
    body: {
      compartmentId: oracle_compartment_id,
      servingMode: is_dedicated
        ? {servingType: 'DEDICATED', endpointId: context.model}
        : {servingType: 'ON_DEMAND', modelId: context.model},
      chatRequest,
    },
  }
}

const EFFORTS = new Set(['none', 'minimal', 'low', 'medium', 'high'])

function message(source: ChatMessage): Json {
  const {role, raw, field} = source
  const parts = partsIn(raw.content, `${field}.content`).filter(part => !isThought(part))
  const content = parts.map(part => {
    if (part.type === 'text') return {type: 'TEXT', text: part.raw.text}
    if (part.type !== 'image_url' || role !== 'user') throw unsupportedPart(part)
    const {url, detail} = imageIn(part)
    return {type: 'IMAGE', imageUrl: {url, detail: typeof detail === 'string' ? detail.toUpperCase() : undefined}}
  })
  const name = typeof raw.name === 'string' ? raw.name : undefined
  if (role === 'tool') return {role: 'TOOL', toolCallId: answeredIn(source), content}
  if (role !== 'assistant') return {role: role.toUpperCase(), content, name}
  const toolCalls = callsIn(source).map(({id, name, arguments: given}) => ({
    id,
    type: 'FUNCTION',
    name,
    arguments: given,
  }))
  return {
    role: 'ASSISTANT',
    content: content.length > 0 ? content : undefined,
    toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
    name,
  }
}

function choice(request: Json): Json | undefined {
  const tool_choice = choiceIn(request)
  if (tool_choice === undefined) return undefined
  return typeof tool_choice === 'object'
    ? {type: 'FUNCTION', name: tool_choice.name}
    : {type: tool_choice.toUpperCase()}
}

function format(request: Json): Json | undefined {
  const {type, json_schema} = object(request.response_format)
  if (type === 'json_object') return {type: 'JSON_OBJECT'}
  if (type !== 'json_schema') return undefined
  const {name, description, schema, strict} = object(json_schema)
  return {type: 'JSON_SCHEMA', jsonSchema: {name, description, schema, isStrict: strict}}
}
