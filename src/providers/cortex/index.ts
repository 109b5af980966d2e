import {isObject, object} from '../../base/json-object.ts'
import {laterReport, type Usage} from '../../schema/usage.ts'
import {completion, finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {statusIn} from '../reported-failure.ts'
import {
  type Dialect,
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type TranslatedResponse,
  type TranslationContext,
} from '../translation.ts'
import {anyError, readFault} from '../unified/fault.ts'
import {choiceOut, type MessagePiece, messageOut} from '../unified/message.ts'
import {notAnswer, OPENAI_FINISH} from '../unified/near-openai.ts'
import {word} from '../unified/read.ts'
import {chatStream} from '../unified/stream.ts'
import {type FunctionCall, saidCall} from '../unified/tools.ts'
import {chatRequest} from './request.ts'

/**
 * Snowflake Cortex's chat. Source: Snowflake's published OpenAPI of the Cortex REST API, complete. Base URL: the
 * account's host.
 */
export const cortex: Dialect = {
  name: 'cortex',
  endpoints: {chatComplete: {request: chatRequest, reply, stream: {framing: 'sse', open}}},
  fault: readFault,
}

function reply(response: unknown, context: TranslationContext): TranslatedResponse {
  const {id, model, choices, usage: used, finish_reason} = object(response)
  if (!Array.isArray(choices) || choices.length === 0) throw notAnswer(response, context)
  const usage = isObject(used) ? readUsage(used, 'chatComplete') : null
  const given = choices.map((choice: unknown, at) => {
    const {message, finish_reason: own} = object(choice)
    if (!isObject(message)) throw new InvalidResponseFault(`choices[${at}].message: expected an object`)
    const {pieces, calls} = readMessage(message, `call_${context.call_id}_${at}`)
    return choiceOut(at, messageOut(pieces, calls, context.strict), ended(own ?? finish_reason, calls.length, context))
  })
  return {
    body: completion(context, {id: word(id), model: word(model), choices: given, usage}),
    usage,
    model: word(model),
  }
}

/** A message's `content_list`, or its `content` where it has none. Entries of other kinds say nothing. */
function readMessage(
  {content, content_list}: Json,
  id: string,
): {readonly pieces: readonly MessagePiece[]; readonly calls: readonly FunctionCall[]} {
  if (!Array.isArray(content_list) || content_list.length === 0) {
    if (typeof content !== 'string') throw new InvalidResponseFault('message.content: expected a string')
    return {pieces: [{type: 'text', text: content}], calls: []}
  }
  const pieces: MessagePiece[] = []
  const calls: FunctionCall[] = []
  for (const entry of content_list.map(object)) {
    const thinking = object(entry.thinking).thinking ?? object(entry.reasoning).summary
    if (entry.type === 'text' && typeof entry.text === 'string') pieces.push({type: 'text', text: entry.text})
    else if (entry.type === 'tool_use') {
      const {tool_use_id, name, input} = object(entry.tool_use)
      calls.push(saidCall({id: tool_use_id, name, arguments: input}, `${id}_${calls.length}`))
    } else if (typeof thinking === 'string') pieces.push({type: 'thinking', thinking})
  }
  return {pieces, calls}
}

/** Without a reason to finish, an answer that arrived is whole. */
function ended(reason: unknown, calls: number, {strict}: TranslationContext): string {
  return finishReason(word(reason) ?? (calls > 0 ? 'tool_calls' : 'stop'), OPENAI_FINISH, strict)
}

/** Events have no end of their own: the answer is whole when the connection ends, and each may be the last. */
function open(context: TranslationContext, request: Json): StreamTranslator {
  return chatStream(context, request, (write, fail) => {
    let usage: Usage | null = null
    let has_spoken = false
    let reason: unknown = null
    let calls = 0

    function heard(delta: Json) {
      const {type, content, text, tool_use_id, name, input} = delta
      if (type === 'tool_use') {
        const given = typeof input === 'string' ? input : ''
        if (word(name) === null) return write.more(calls - 1, given)
        write.call({id: word(tool_use_id) ?? `call_${context.call_id}_${calls}`, name: word(name)!, arguments: given})
        calls++
        return
      }
      const thinking = object(delta.thinking).thinking ?? object(delta.reasoning).summary
      if (typeof thinking === 'string') return write.thought(thinking)
      const value = content ?? text ?? ''
      if (typeof value !== 'string') throw new InvalidResponseFault('content: expected a string')
      write.text(value)
    }

    return {
      event({data}) {
        if (data === '[DONE]') return
        if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
        if (!Array.isArray(data.choices)) return fail(anyError(data), statusIn(data.code))
        write.named(word(data.id), word(data.model))
        write.begin()
        usage = laterReport(usage, isObject(data.usage) ? readUsage(data.usage, 'chatComplete') : null)
        const {delta, finish_reason} = object(data.choices[0])
        reason = word(finish_reason) ?? word(data.finish_reason) ?? reason
        heard(object(delta))
        has_spoken = true
      },
      end: () => write.finish(ended(reason, calls, context)),
      get finished() {
        return has_spoken
      },
      get usage() {
        return usage
      },
    }
  })
}
