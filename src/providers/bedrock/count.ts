import {isObject, object} from '../../base/json-object.ts'
import {placed} from '../anthropic/endpoint.ts'
import {count} from '../openai/usage.ts'
import {InvalidResponseFault, type Json, type Translation} from '../translation.ts'
import {foundationModel, modelPath} from './model.ts'

/**
 * Counting the tokens of a Messages request for Claude. The count takes the foundation model alone, without the regions
 * of an inference profile. Source: Amazon Bedrock API reference, CountTokens: the body that InvokeModel would be sent,
 * in base64.
 */
export const countTokens: Translation = {
  request(request, context) {
    const {body} = placed(
      {...request, max_tokens: mostTokens(request)},
      request,
      {...context, is_stream: false},
      'bedrock',
    )
    const {stream: _, ...invoked} = body as Json
    const encoded = Buffer.from(JSON.stringify(invoked)).toString('base64')
    const model = foundationModel(context.model) ?? context.model
    return {
      method: 'POST',
      path: modelPath({...context, model}, 'count-tokens'),
      body: {input: {invokeModel: {body: encoded}}},
    }
  },
  reply(response) {
    const input_tokens = isObject(response) ? count(response.inputTokens) : null
    if (input_tokens === null || input_tokens === undefined) throw new InvalidResponseFault('expected inputTokens')
    return {body: {input_tokens}, usage: null, model: null}
  },
}

/** The limit of tokens that InvokeModel requires and a request to count lacks; it has to exceed the thinking budget. */
function mostTokens({max_tokens, thinking}: Json): unknown {
  const {budget_tokens} = object(thinking)
  return max_tokens ?? (typeof budget_tokens === 'number' ? budget_tokens + 1 : 1)
}
