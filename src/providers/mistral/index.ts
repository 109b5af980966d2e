import {isObject} from '../../base/json-object.ts'
import type {Dialect, Json, Translation} from '../translation.ts'
import {EMBED_WORDS, encodingIn, listedReply, textsIn} from '../unified/embeddings.ts'
import {anyError, type RawError, readFault} from '../unified/fault.ts'
import {nearReply} from '../unified/near-openai.ts'
import {normaliseStream} from '../unified/near-openai-stream.ts'
import {others, pick} from '../unified/read.ts'
import {complete} from './complete.ts'
import {FINISH} from './finish.ts'
import {chatRequest} from './request.ts'

const near = {finish: FINISH}

/**
 * Source: docs.mistral.ai, API, embeddings. Vectors are requested as numbers and encoded here, whatever the model can.
 */
const embed: Translation = {
  request: (request, context) => {
    encodingIn(request)
    const sizes = pick(request, 'dimensions>output_dimension output_dimension')
    return {
      path: '/embeddings',
      body: {model: context.model, input: textsIn(request), ...others(request, EMBED_WORDS), ...sizes},
    }
  },
  reply: listedReply,
}

/**
 * Mistral: OpenAI's chat with members of its own, fill-in-the-middle as text completions, embeddings. Base URL with
 * `/v1`.
 */
export const mistral: Dialect = {
  name: 'mistral',
  keeps_errors: true,
  endpoints: {
    chatComplete: {
      request: chatRequest,
      reply: (response, context) => nearReply(response, context, near),
      stream: {framing: 'sse', open: (context, request) => normaliseStream(context, request, near)},
    },
    complete,
    embed,
  },
  fault: (status, body, context) => readFault(status, body, context, find),
}

/** `message` is text, or FastAPI's list under `detail`; for a refused key it is alone. */
function find(body: Json): RawError {
  return isObject(body.message)
    ? {...anyError(body), message: body.message.detail ?? body.message.message}
    : anyError(body)
}
