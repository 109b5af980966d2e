import {isObject} from '../../base/json-object.ts'
import {type Dialect, InvalidResponseFault, type Translation} from '../translation.ts'
import {anyError, readFault} from '../unified/fault.ts'
import {mostTokens, objectIn, oneChoice, pick, stopsIn, stringIn, word} from '../unified/read.ts'
import {textStream} from '../unified/text-stream.ts'
import {textChoice, textCompletion, textPrompt} from '../unified/texts.ts'

/**
 * Text completions. Source: Triton inference server, generate extension; the inputs are those of its TensorRT-LLM
 * backend. The host that the operator names goes as far as the model (`/v2/models/NAME`).
 */
const complete: Translation = {
  request(request, context) {
    oneChoice(request)
    const stops = stopsIn(request)
    return {
      path: context.is_stream ? '/generate_stream' : '/generate',
      body: {
        text_input: textPrompt(request),
        max_tokens: mostTokens(request),
        ...pick(
          request,
          'temperature top_p top_k seed>random_seed bad_words stop_words frequency_penalty presence_penalty',
        ),
        ...(stops ? {stop_words: stops} : {}),
        ...(context.is_stream ? {stream: true} : {}),
      },
    }
  },
  reply(response, context) {
    const {text_output, model_name} = objectIn(response)
    const choices = [textChoice(0, stringIn(text_output, 'text_output'), 'stop')]
    return {body: textCompletion(context, {model: word(model_name), choices}), usage: null, model: word(model_name)}
  },
  stream: {
    framing: 'sse',
    // The end of the connection is the only end there is: each piece may be the last.
    open: (context, request) =>
      textStream(context, request, ({data}) => {
        if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
        if (data.text_output === undefined) return {error: anyError(data)}
        return {model: word(data.model_name), text: stringIn(data.text_output, 'text_output'), is_end: true}
      }),
  },
}

export const triton: Dialect = {name: 'triton', endpoints: {complete}, fault: readFault}
