import {isObject, object} from '../../base/json-object.ts'
import {finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {
  type Dialect,
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type Translated,
  type TranslatedResponse,
  type Translation,
  type TranslationContext,
} from '../translation.ts'
import {embeddingList, embedUsage, encodingIn, textsIn} from '../unified/embeddings.ts'
import {anyError, type RawError, readFault} from '../unified/fault.ts'
import {arrayIn, modelPath, mostTokens, pick} from '../unified/read.ts'
import {textStream} from '../unified/text-stream.ts'
import {textChoice, textCompletion, textPrompt} from '../unified/texts.ts'
import {chatReply, chatRequest, openStream, resultIn, spokenIn} from './chat.ts'
import {image} from './image.ts'

/** Source: developers.cloudflare.com, Workers AI, text generation with a `prompt`. */
const complete: Translation = {
  request: (request: Json, context: TranslationContext): Translated => ({
    path: `/${modelPath(context)}`,
    body: {
      prompt: textPrompt(request),
      ...pick(request, 'temperature top_p top_k seed repetition_penalty frequency_penalty presence_penalty raw lora'),
      max_tokens: mostTokens(request),
      stream: context.is_stream,
    },
  }),
  reply(reply, context): TranslatedResponse {
    const result = resultIn(reply)
    const usage = isObject(result.usage) ? readUsage(result.usage, 'complete') : null
    const choices = [textChoice(0, spokenIn(result.response), finishReason(null, {}, context.strict))]
    return {body: textCompletion(context, {choices, usage}), usage, model: null}
  },
  stream: {framing: 'sse', open: openTexts},
}

function openTexts(context: TranslationContext, request: Json): StreamTranslator {
  return textStream(context, request, ({data}) => {
    if (data === '[DONE]') return {finish: 'stop'}
    if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
    if (data.response === undefined && data.usage === undefined) return {error: find(data)}
    const usage = isObject(data.usage) ? readUsage(data.usage, 'complete') : null
    return {text: spokenIn(data.response ?? ''), usage}
  })
}

/** Source: developers.cloudflare.com, Workers AI, text embeddings. */
const embed: Translation = {
  request: (request, context) => {
    encodingIn(request)
    return {path: `/${modelPath(context)}`, body: {text: textsIn(request), ...pick(request, 'pooling')}}
  },
  reply(reply, context, request) {
    const {data, usage} = resultIn(reply)
    return embeddingList(
      context,
      {vectors: arrayIn(data, 'result.data'), usage: embedUsage(usage), request},
      encodingIn(request),
    )
  },
}

/** Cloudflare Workers AI. Base URL: an account's `/ai/run`, below which each model has its path. */
export const workersAi: Dialect = {
  name: 'workers-ai',
  endpoints: {
    chatComplete: {request: chatRequest, reply: chatReply, stream: {framing: 'sse', open: openStream}},
    complete,
    embed,
    imageGenerate: image,
  },
  fault: (status, body, context) => readFault(status, body, context, find),
}

/** Cloudflare lists its errors. */
function find(body: Json): RawError {
  const {errors} = body
  return Array.isArray(errors) && errors.length > 0 ? object(errors[0]) : anyError(body)
}
