import type {Dialect, Translation} from '../translation.ts'
import {countTokens} from './count.ts'
import {studioEmbeddings, vertexEmbeddings} from './embeddings.ts'
import {type GeminiHost, STUDIO, VERTEX} from './endpoint.ts'
import {fault} from './errors.ts'
import {imageGeneration} from './images.ts'
import {chatReply} from './reply.ts'
import {chatRequest} from './request.ts'
import {GeminiStream} from './stream.ts'

/** Gemini as AI Studio serves it, below https://generativelanguage.googleapis.com (ai.google.dev/api). */
export const gemini: Dialect = {
  name: 'gemini',
  endpoints: {
    chatComplete: chat(STUDIO),
    embed: studioEmbeddings(STUDIO),
    imageGenerate: imageGeneration(STUDIO),
    messagesCountTokens: countTokens(STUDIO),
  },
  reads_thinking: true,
  fault,
}

/**
 * Gemini as Vertex AI serves it, below https://{region}-aiplatform.googleapis.com. The options say where:
 * `vertex_project_id` (needed), `vertex_region`, `vertex_api_version`, `vertex_publisher`.
 */
export function geminiOnVertex(): Dialect {
  return {
    name: 'gemini-on-vertex',
    endpoints: {
      chatComplete: chat(VERTEX),
      embed: vertexEmbeddings(VERTEX),
      imageGenerate: imageGeneration(VERTEX),
      messagesCountTokens: countTokens(VERTEX),
    },
    reads_thinking: true,
    fault,
  }
}

function chat(place: GeminiHost): Translation {
  return {
    request: (request, context) => chatRequest(request, context, place),
    reply: chatReply,
    stream: {framing: 'sse', open: (context, request) => new GeminiStream(context, request)},
  }
}
