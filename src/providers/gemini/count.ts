import {isObject} from '../../base/json-object.ts'
import {fittedRequest} from '../fit/index.ts'
import {messagesToChat} from '../messages/request.ts'
import {count} from '../openai/usage.ts'
import {InvalidResponseFault, type Translation} from '../translation.ts'
import {type GeminiHost, modelOf} from './endpoint.ts'
import {present} from './read.ts'
import {generateBody} from './request.ts'

/**
 * Counting the tokens of a Messages request. Sources: ai.google.dev/api/tokens (`models.countTokens`, which takes the
 * whole request) and the Vertex AI REST reference (`publishers.models.countTokens`, which takes what a model reads of
 * it).
 */
export function countTokens(place: GeminiHost): Translation {
  return {
    request(request, context) {
      // The count is of the body that would leave for an answer.
      const chat = fittedRequest(messagesToChat(request, context), context, 'gemini')
      const model = modelOf(chat, context)
      const whole = generateBody(chat, context, place, model)
      const {contents, systemInstruction, tools} = whole
      const body = place.is_vertex
        ? present({contents, systemInstruction, tools})
        : {generateContentRequest: {model: `models/${model}`, ...whole}}
      return {path: place.path(context, model, 'countTokens'), body}
    },
    reply(response) {
      const input_tokens = isObject(response) ? count(response.totalTokens) : null
      if (input_tokens === null || input_tokens === undefined) throw new InvalidResponseFault('expected totalTokens')
      return {body: {input_tokens}, usage: null, model: null}
    },
  }
}
