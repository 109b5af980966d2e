import {isObject, object} from '../../base/json-object.ts'
import {laterReport} from '../../schema/usage.ts'
import {cameWithin} from '../as-came.ts'
import {completion, finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {statusIn} from '../reported-failure.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type Translated,
  type TranslatedResponse,
  type TranslationContext,
} from '../translation.ts'
import {anyError} from '../unified/fault.ts'
import {choiceOut, messageOut} from '../unified/message.ts'
import {nearReply, OPENAI_FINISH} from '../unified/near-openai.ts'
import {normaliseStream} from '../unified/near-openai-stream.ts'
import {
  type ChatMessage,
  imageIn,
  isThought,
  messagesIn,
  modelPath,
  mostTokens,
  oneChoice,
  partsIn,
  pick,
  unsupportedPart,
} from '../unified/read.ts'
import {chatStream} from '../unified/stream.ts'
import {answeredIn, callOut, callsIn, saidCall, toolsIn} from '../unified/tools.ts'

const near = {finish: {}}

/** An OpenAI chat request for a model's own path. Source: developers.cloudflare.com, Workers AI, text generation. */
export function chatRequest(request: Json, context: TranslationContext): Translated {
  oneChoice(request)
  const tools = toolsIn(request)
  const body = {
    messages: messagesIn(request).map(message),
    ...pick(
      request,
      'temperature top_p top_k seed repetition_penalty frequency_penalty presence_penalty response_format raw lora stop tool_choice reasoning_effort',
    ),
    max_tokens: mostTokens(request),
    ...(tools.length > 0
      ? {
          tools: tools.map(({name, description, parameters}) => ({
            type: 'function',
            function: {name, description, parameters},
          })),
        }
      : {tool_choice: undefined}),
    stream: context.is_stream,
  }
  return {path: `/${modelPath(context)}`, body}
}

function message(source: ChatMessage): Json {
  const {role, raw, field} = source
  const content = contentOut(raw.content, `${field}.content`)
  const name = typeof raw.name === 'string' ? raw.name : undefined
  if (role === 'tool') return {role, content, tool_call_id: answeredIn(source), name}
  const calls = role === 'assistant' ? callsIn(source) : []
  return {role, content, ...(calls.length > 0 ? {tool_calls: calls.map(callOut)} : {})}
}

/** Text as text: most models take nothing else; pictures go as parts to those that see. */
function contentOut(content: unknown, field: string): unknown {
  const parts = partsIn(content, field).filter(part => !isThought(part))
  if (parts.every(({type}) => type === 'text')) return parts.map(({raw}) => raw.text).join('')
  return parts.map(part => {
    if (part.type === 'text') return {type: 'text', text: part.raw.text}
    if (part.type === 'image_url') return {type: 'image_url', image_url: imageIn(part)}
    throw unsupportedPart(part)
  })
}

/** A whole answer: a `response` with calls beside it, or a chat completion as OpenAI's. */
export function chatReply(reply: unknown, context: TranslationContext): TranslatedResponse {
  const result = resultIn(reply)
  if (Array.isArray(result.choices)) {
    cameWithin(object(reply), 'result', result)
    return nearReply(result, context, near)
  }
  const usage = isObject(result.usage) ? readUsage(result.usage, 'chatComplete') : null
  const calls = (Array.isArray(result.tool_calls) ? result.tool_calls : []).map((call, at) =>
    saidCall(call, `call_${context.call_id}_${at}`),
  )
  const text =
    calls.length > 0 && (result.response === null || result.response === undefined) ? '' : spokenIn(result.response)
  const reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const choice = choiceOut(
    0,
    messageOut([{type: 'text', text}], calls, context.strict),
    finishReason(reason, OPENAI_FINISH, context.strict),
  )
  return {body: completion(context, {choices: [choice], usage}), usage, model: null}
}

/** The value of `result`; Cloudflare reports beside it whether the call succeeded. Throws `InvalidResponseFault`. */
export function resultIn(reply: unknown): Json {
  const {success, result, errors} = object(reply)
  if (success === false || !isObject(result)) {
    const [first] = Array.isArray(errors) ? errors : []
    const {message} = anyError(object(first))
    throw new InvalidResponseFault(typeof message === 'string' ? message : 'result: expected an object')
  }
  return result
}

/** Text, or what JSON mode made, as text. */
export function spokenIn(response: unknown): string {
  if (typeof response === 'string') return response
  if (isObject(response) || Array.isArray(response)) return JSON.stringify(response)
  if (typeof response === 'number' || typeof response === 'boolean') return String(response)
  throw new InvalidResponseFault('response: expected a string')
}

/** A stream: pieces of a `response` until `[DONE]`, or chunks as OpenAI's, as its first event says. */
export function openStream(context: TranslationContext, request: Json): StreamTranslator {
  const own = ownStream(context, request)
  let followed: StreamTranslator | null = null
  const current = () => followed ?? own
  return {
    event(event) {
      if (isObject(event.data))
        followed ??= Array.isArray(event.data.choices) ? normaliseStream(context, request, near) : own
      return current().event(event)
    },
    end: () => current().end(),
    get finished() {
      return current().finished
    },
    get usage() {
      return current().usage
    },
    get model() {
      return current().model
    },
    get failed() {
      return current().failed
    },
    get text_bytes() {
      return current().text_bytes
    },
  }
}

function ownStream(context: TranslationContext, request: Json): StreamTranslator {
  return chatStream(context, request, (write, fail) => {
    let usage: ReturnType<typeof readUsage> = null
    let calls = 0
    let is_done = false

    function plain(data: Json) {
      const has_calls = Array.isArray(data.tool_calls)
      if (data.response === undefined && data.usage === undefined && !has_calls) {
        const [first] = Array.isArray(data.errors) ? data.errors : []
        return fail(first === undefined ? anyError(data) : object(first), statusIn(data.status))
      }
      write.begin()
      if (isObject(data.usage)) usage = laterReport(usage, readUsage(data.usage, 'chatComplete'))
      if (data.response !== undefined && data.response !== null) write.text(spokenIn(data.response))
      for (const call of has_calls ? (data.tool_calls as readonly unknown[]) : []) {
        write.call(saidCall(call, `call_${context.call_id}_${calls}`))
        calls++
      }
    }

    return {
      event({data}) {
        if (data === '[DONE]') {
          // Pieces have no finish reason: the end is one.
          if (!write.is_finished) write.finish(calls > 0 ? 'tool_calls' : 'stop')
          is_done = true
          return
        }
        if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
        plain(data)
      },
      get finished() {
        return is_done || write.is_finished
      },
      get usage() {
        return usage
      },
    }
  })
}
