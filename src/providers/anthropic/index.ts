import type {Dialect, Translation, TranslationContext} from '../translation.ts'
import {completeByChat} from '../unified/complete-by-chat.ts'
import {type AnthropicHost, placed} from './endpoint.ts'
import {faultIn} from './errors.ts'
import {messagesAt} from './native.ts'
import {readReply} from './reply.ts'
import {messagesRequest} from './request.ts'
import {openStream} from './stream.ts'

/**
 * OpenAI chat ⇄ Anthropic Messages, version 2023-06-01 (platform.claude.com/docs, Messages). The same words are spoken
 * at three places: Anthropic's own API, Vertex AI (`rawPredict`) and Bedrock (`InvokeModel`), which differ in the
 * envelope alone (see `placed`). `path` replaces the place's own path below its base URL.
 */
export function anthropicOn(place: AnthropicHost, path?: (context: TranslationContext) => string): Dialect {
  const chatComplete: Translation = {
    request(request, context) {
      const translated = placed(messagesRequest(request, context, place), request, context, place)
      return path ? {...translated, path: path(context)} : translated
    },
    reply: readReply,
    stream: {framing: place === 'bedrock' ? 'aws_event_stream' : 'sse', open: openStream},
  }
  return {
    name: place === 'api' ? 'anthropic' : `anthropic-${place}`,
    endpoints: {
      chatComplete,
      ...(place === 'api' ? {complete: completeByChat(chatComplete)} : {messages: messagesAt(place, path)}),
    },
    reads_thinking: true,
    fault: faultIn,
  }
}

/** Below `https://api.anthropic.com/v1`, and wherever else `/messages` is served as there. */
export const anthropic: Dialect = anthropicOn('api')
