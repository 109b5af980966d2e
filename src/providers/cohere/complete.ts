import {isObject, object} from '../../base/json-object.ts'
import {finishReason} from '../chat.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type Translation,
  type TranslationContext,
} from '../translation.ts'
import {anyError} from '../unified/fault.ts'
import {arrayIn, mostTokens, objectIn, pick, stopsIn, stringIn, word} from '../unified/read.ts'
import {textStream} from '../unified/text-stream.ts'
import {textChoice, textCompletion, textPrompt} from '../unified/texts.ts'
import {FINISH, readTokens} from './reply.ts'

/**
 * Text completions, for models that still have them. Source: docs.cohere.com, API v1, generate; its stream is JSON on
 * lines.
 */
export const complete: Translation = {
  request: (request, context) => ({
    path: '/v1/generate',
    body: {
      model: context.model,
      prompt: textPrompt(request),
      ...pick(
        request,
        'temperature frequency_penalty presence_penalty seed truncate top_p>p top_k>k p k n>num_generations',
      ),
      max_tokens: mostTokens(request),
      stop_sequences: stopsIn(request),
      stream: context.is_stream,
    },
  }),
  reply(response, context) {
    const {id, generations, meta} = objectIn(response)
    const made = arrayIn(generations, 'generations')
    if (made.length === 0) throw new InvalidResponseFault('generations: expected some')
    const choices = made.map((generation, at) => {
      const {text, finish_reason} = object(generation)
      return textChoice(at, stringIn(text, 'generations.text'), finishReason(finish_reason, FINISH, context.strict))
    })
    const {usage, shown_usage} = readTokens(meta)
    return {body: textCompletion(context, {id: word(id), choices, usage: shown_usage}), usage, model: null}
  },
  stream: {framing: 'json_array', open: openStream},
}

function openStream(context: TranslationContext, request: Json): StreamTranslator {
  return textStream(context, request, ({data}) => {
    if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
    if (data.is_finished !== true)
      return typeof data.text === 'string' ? {text: data.text, index: indexIn(data)} : {error: anyError(data)}
    if (data.event_type === 'stream-error' || data.err) return {error: {message: data.err, type: data.finish_reason}}
    const whole = object(data.response)
    return {
      id: word(whole.id),
      finish: finishReason(data.finish_reason, FINISH, context.strict),
      index: indexIn(data),
      ...readTokens(whole.meta),
    }
  })
}

function indexIn({index}: Json): number {
  return typeof index === 'number' && index >= 0 && index < 128 ? index : 0
}
