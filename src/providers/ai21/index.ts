import {object} from '../../base/json-object.ts'
import type {Dialect, Json, Translated, Translation, TranslationContext} from '../translation.ts'
import {embeddingList, encodingIn, textsIn} from '../unified/embeddings.ts'
import {readFault} from '../unified/fault.ts'
import {nearReply} from '../unified/near-openai.ts'
import {normaliseStream} from '../unified/near-openai-stream.ts'
import {arrayIn, messagesIn, mostTokens, objectIn, pick, stopsIn, textIn} from '../unified/read.ts'
import {answeredIn, callOut, callsIn, toolsIn} from '../unified/tools.ts'
import {complete} from './complete.ts'
import {isJurassic, jurassicReply, jurassicRequest} from './jurassic.ts'

const near = {finish: {}}

/** An OpenAI chat request for Jamba. Source: docs.ai21.com, Jamba API: messages are text, no choice of tools. */
function jambaRequest(request: Json, context: TranslationContext): Translated {
  const tools = toolsIn(request)
  const messages = messagesIn(request).map(message => {
    const {role, raw, field} = message
    const content = textIn(raw.content, `${field}.content`)
    if (role === 'tool') return {role, content, tool_call_id: answeredIn(message)}
    const calls = role === 'assistant' ? callsIn(message) : []
    return {role, content, ...(calls.length > 0 ? {tool_calls: calls.map(callOut)} : {})}
  })
  const body = {
    model: context.model,
    messages,
    ...pick(request, 'temperature top_p n documents response_format'),
    max_tokens: mostTokens(request),
    stop: stopsIn(request),
    ...(tools.length > 0
      ? {
          tools: tools.map(({name, description, parameters}) => ({
            type: 'function',
            function: {name, description, parameters},
          })),
        }
      : {}),
    stream: context.is_stream,
  }
  return {path: '/chat/completions', body}
}

/** Source: docs.ai21.com, embeddings: no usage is reported. */
const embed: Translation = {
  request: request => {
    encodingIn(request)
    return {path: '/embed', body: {texts: textsIn(request), ...pick(request, 'type')}}
  },
  reply(response, context, request) {
    const {results} = objectIn(response)
    const vectors = arrayIn(results, 'results').map(entry => object(entry).embedding)
    return embeddingList(context, {vectors, usage: null, request}, encodingIn(request))
  },
}

/** AI21: Jamba's chat, and the words of the Jurassic models (`j2-...`) before it. Base URL with `/studio/v1`. */
export const ai21: Dialect = {
  name: 'ai21',
  keeps_errors: true,
  endpoints: {
    chatComplete: {
      request: (request, context) =>
        isJurassic(context) ? jurassicRequest(request, context) : jambaRequest(request, context),
      reply: (response, context) =>
        isJurassic(context) ? jurassicReply(response, context) : nearReply(response, context, near),
      stream: {framing: 'sse', open: (context, request) => normaliseStream(context, request, near)},
    },
    complete,
    embed,
  },
  fault: readFault,
}
