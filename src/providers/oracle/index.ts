import {isObject, object} from '../../base/json-object.ts'
import {laterReport, type Usage} from '../../schema/usage.ts'
import {statusIn} from '../reported-failure.ts'
import {
  type Dialect,
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type TranslationContext,
} from '../translation.ts'
import {anyError, readFault} from '../unified/fault.ts'
import {indexIn} from '../unified/near-openai.ts'
import {word} from '../unified/read.ts'
import {chatStream} from '../unified/stream.ts'
import {chatReply, ended, piecesIn, readTokens} from './reply.ts'
import {chatRequest} from './request.ts'

/** Oracle's Generative AI in its generic chat format. Base URL: the region's inference host alone. */
export const oracle: Dialect = {
  name: 'oracle',
  endpoints: {chatComplete: {request: chatRequest, reply: chatReply, stream: {framing: 'sse', open}}},
  fault: readFault,
}

/**
 * A stream's event is a piece of one choice, its `pad` noise against listeners. The answer is whole when its choices
 * have ended.
 */
function open(context: TranslationContext, request: Json): StreamTranslator {
  return chatStream(context, request, (write, fail) => {
    const open_calls = new Map<number, {readonly id: string | null; readonly position: number}>()
    let usage: Usage | null = null
    let calls = 0

    function call(tool_call: unknown, choice: number) {
      const {id, name, arguments: given} = object(tool_call)
      const text = typeof given === 'string' ? given : ''
      const last = open_calls.get(choice)
      // Arguments continue under the same id, or under none; a new id or a name begins a call.
      if (last && (word(id) === null ? word(name) === null : id === last.id))
        return write.more(last.position, text, choice)
      if (typeof name !== 'string' || name === '') throw new InvalidResponseFault('a tool call has no name')
      const own = word(id) ?? `call_${context.call_id}_${calls}`
      calls++
      open_calls.set(choice, {id: word(id), position: write.call({id: own, name, arguments: text}, choice)})
    }

    return {
      event({data}) {
        if (data === '[DONE]') return
        if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
        usage = laterReport(usage, readTokens(data.usage))
        const choice = indexIn(data.index) ?? 0
        if (data.code !== undefined || data.error !== undefined) return fail(anyError(data), statusIn(data.status))
        if (isObject(data.message)) {
          write.begin(choice)
          for (const piece of piecesIn(data.message)) {
            if (piece.type === 'text') write.text(piece.text, choice)
            else write.thought(piece.thinking, choice)
          }
          for (const one of Array.isArray(data.message.toolCalls) ? data.message.toolCalls : []) call(one, choice)
        }
        if (word(data.finishReason) !== null) write.finish(ended(data.finishReason, context), choice)
      },
      get finished() {
        return write.is_finished
      },
      get usage() {
        return usage
      },
    }
  })
}
