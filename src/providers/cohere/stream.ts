import {isObject, object} from '../../base/json-object.ts'
import {laterReport} from '../../schema/usage.ts'
import {finishReason} from '../chat.ts'
import {InvalidResponseFault, type Json, type StreamTranslator, type TranslationContext} from '../translation.ts'
import {anyError} from '../unified/fault.ts'
import {stringIn, word} from '../unified/read.ts'
import {chatStream} from '../unified/stream.ts'
import {type CohereUsage, FINISH, logprobsOut, readTokens} from './reply.ts'

/**
 * A chat stream. Source: docs.cohere.com, API v2, chat with streaming; events are named in their data too, and the data
 * counts.
 */
export function openStream(context: TranslationContext, request: Json): StreamTranslator {
  return chatStream(context, request, (write, fail) => {
    /** The index in the answer of each call that Cohere counts. */
    const calls = new Map<unknown, number>()
    let finished = false
    let counted: CohereUsage = {usage: null, shown_usage: null}

    function ended(data: Json) {
      const {finish_reason, usage: used, error} = object(data.delta)
      const read = readTokens(used)
      counted = {
        usage: laterReport(counted.usage, read.usage),
        shown_usage: laterReport(counted.shown_usage, read.shown_usage),
      }
      if (typeof error === 'string' && error !== '') return fail({message: error, type: finish_reason})
      write.finish(finishReason(finish_reason, FINISH, context.strict))
      finished = true
    }

    return {
      event({data}) {
        if (data === '[DONE]') return
        if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
        const message = object(object(data.delta).message)
        const content = object(message.content)
        const call = object(message.tool_calls)
        switch (data.type) {
          case 'message-start':
            write.named(word(data.id), null)
            write.begin()
            return
          case 'content-start':
          case 'content-delta':
            if (content.thinking !== undefined && content.thinking !== null)
              write.thought(stringIn(content.thinking, 'thinking'))
            if (content.text !== undefined && content.text !== null) {
              write.text(
                stringIn(content.text, 'text'),
                0,
                isObject(data.logprobs) ? logprobsOut([data.logprobs]) : null,
              )
            }
            return
          case 'tool-plan-delta':
            write.text(stringIn(message.tool_plan, 'tool_plan'))
            return
          case 'tool-call-start': {
            const {name, arguments: given} = object(call.function)
            if (typeof name !== 'string' || name === '') throw new InvalidResponseFault('a tool call has no name')
            const id = word(call.id) ?? `call_${context.call_id}_${calls.size}`
            calls.set(data.index, write.call({id, name, arguments: word(given) ?? ''}))
            return
          }
          case 'tool-call-delta':
            write.more(calls.get(data.index) ?? -1, stringIn(object(call.function).arguments ?? '', 'arguments'))
            return
          case 'citation-start':
            if (!context.strict && isObject(message.citations)) write.delta({citations: [message.citations]})
            return
          case 'message-end':
            ended(data)
            return
          default:
            // A stream that breaks tells it as an answer would: an object without a type, or an event called error.
            if (data.type === undefined || data.type === 'error') fail(anyError(data), statusIn(data))
        }
      },
      get finished() {
        return finished
      },
      get usage() {
        return counted.usage
      },
      get shown_usage() {
        return counted.shown_usage
      },
    }
  })
}

function statusIn({status, status_code}: Json): number | null {
  const code = status_code ?? status
  return typeof code === 'number' && code >= 400 && code < 600 ? code : null
}
