import {object} from '../../base/json-object.ts'
import type {Context, Dialect, Json, Translated, Translation} from '../translation.ts'
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
function jambaRequest(asked: Json, context: Context): Translated {
  const tools = toolsIn(asked)
  const messages = messagesIn(asked).map(message => {
    const {role, said, field} = message
    const content = textIn(said.content, `${field}.content`)
    if (role === 'tool') return {role, content, tool_call_id: answeredIn(message)}
    const calls = role === 'assistant' ? callsIn(message) : []
    return {role, content, ...(calls.length > 0 ? {tool_calls: calls.map(callOut)} : {})}
  })
  const body = {
    model: context.model,
    messages,
    ...pick(asked, 'temperature top_p n documents response_format'),
    max_tokens: mostTokens(asked),
    stop: stopsIn(asked),
    ...(tools.length > 0
      ? {tools: tools.map(({name, description, parameters}) => ({type: 'function', function: {name, description, parameters}}))}
      : {}),
    stream: context.is_stream,
  }
  return {path: '/chat/completions', body}
}

/** Source: docs.ai21.com, embeddings: no usage is told. */
const embed: Translation = {
  request: asked => {
    encodingIn(asked)
    return {path: '/embed', body: {texts: textsIn(asked), ...pick(asked, 'type')}}
  },
  reply(said, context, asked) {
    const {results} = objectIn(said)
    const vectors = arrayIn(results, 'results').map(entry => object(entry).embedding)
    return embeddingList(context, {vectors, usage: null}, encodingIn(asked))
  },
}

/** AI21: Jamba's chat, and the words of the Jurassic models (`j2-...`) before it. Base URL with `/studio/v1`. */
export const ai21: Dialect = {
  name: 'ai21',
  endpoints: {
    chatComplete: {
      request: (asked, context) => (isJurassic(context) ? jurassicRequest(asked, context) : jambaRequest(asked, context)),
      reply: (said, context) => (isJurassic(context) ? jurassicReply(said, context) : nearReply(said, context, near)),
      stream: {framing: 'sse', open: (context, asked) => normaliseStream(context, asked, near)},
    },
    complete,
    embed,
  },
  fault: readFault,
}
