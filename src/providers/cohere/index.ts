import type {Dialect} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {complete} from './complete.ts'
import {embed} from './embed.ts'
import {chatReply} from './reply.ts'
import {chatRequest} from './request.ts'
import {rerank} from './rerank.ts'
import {openStream} from './stream.ts'

/**
 * Cohere: chat, embeddings and reranking of its second API, text completions of its first. Base URL without a version.
 */
export const cohere: Dialect = {
  name: 'cohere',
  endpoints: {
    chatComplete: {request: chatRequest, reply: chatReply, stream: {framing: 'sse', open: openStream}},
    complete,
    embed,
    rerank,
  },
  reads_thinking: true,
  fault: readFault,
}
