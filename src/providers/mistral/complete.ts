import {isObject, object} from '../../base/json-object.ts'
import {finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {statusIn} from '../reported-failure.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type Translated,
  type Translation,
  type TranslationContext,
} from '../translation.ts'
import {anyError} from '../unified/fault.ts'
import {indexIn, notAnswer, OPENAI_FINISH, piecesIn} from '../unified/near-openai.ts'
import {mostTokens, oneChoice, pick, stopsIn, word} from '../unified/read.ts'
import {textStream} from '../unified/text-stream.ts'
import {textChoice, textCompletion, textPrompt} from '../unified/texts.ts'
import {FINISH} from './finish.ts'

/** Text completions are code to be filled in. Source: docs.mistral.ai, API, FIM: its answers are those of chat. */
export const complete: Translation = {
  request: fillRequest,
  reply(response, context) {
    const {id, model, choices, usage: used} = object(response)
    if (!Array.isArray(choices) || choices.length === 0) throw notAnswer(response, context)
    const usage = isObject(used) ? readUsage(used, 'complete') : null
    const given = choices.map((choice: unknown, at) => {
      const {index, message, finish_reason} = object(choice)
      if (!isObject(message)) throw new InvalidResponseFault(`choices[${at}].message: expected an object`)
      return textChoice(indexIn(index) ?? at, textOf(message.content), reason(finish_reason, context))
    })
    return {
      body: textCompletion(context, {id: word(id), model: word(model), choices: given, usage}),
      usage,
      model: word(model),
    }
  },
  stream: {framing: 'sse', open: openStream},
}

export function fillRequest(request: Json, context: TranslationContext): Translated {
  oneChoice(request)
  return {
    path: '/fim/completions',
    body: {
      model: context.model,
      prompt: textPrompt(request),
      ...pick(request, 'suffix temperature top_p min_tokens seed>random_seed random_seed metadata prompt_cache_key'),
      max_tokens: mostTokens(request),
      stop: stopsIn(request),
      stream: context.is_stream,
    },
  }
}

function openStream(context: TranslationContext, request: Json): StreamTranslator {
  return textStream(context, request, ({data}) => {
    if (data === '[DONE]') return {is_end: true}
    if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
    if (!Array.isArray(data.choices)) return {error: anyError(data), status: statusIn(data.status)}
    const {index, delta, finish_reason} = object(data.choices[0])
    return {
      id: word(data.id),
      model: word(data.model),
      index: indexIn(index) ?? 0,
      text: textOf(object(delta).content),
      finish: word(finish_reason) && reason(finish_reason, context),
      usage: isObject(data.usage) ? readUsage(data.usage, 'complete') : null,
    }
  })
}

function reason(finish_reason: unknown, {strict}: TranslationContext): string {
  return finishReason(finish_reason, {...OPENAI_FINISH, ...FINISH}, strict)
}

function textOf(content: unknown): string {
  return piecesIn(content)
    .map(piece => (piece.type === 'text' ? piece.text : ''))
    .join('')
}
