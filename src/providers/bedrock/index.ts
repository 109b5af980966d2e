import {messagesAt} from '../anthropic/native.ts'
import type {Dialect} from '../translation.ts'
import {complete} from './complete.ts'
import {countTokens} from './count.ts'
import {embed} from './embed.ts'
import {fault} from './errors.ts'
import {imageGenerate} from './image.ts'
import {converseReply} from './reply.ts'
import {converseRequest} from './request.ts'
import {rerank} from './rerank.ts'
import {ConverseStream} from './stream.ts'

/**
 * Amazon Bedrock: chat by Converse, whatever the model; the rest by InvokeModel in the words of the model's family,
 * Claude's Messages among them. Source: Amazon Bedrock
 * API reference and user guide. Of the options, `aws_region` is read for reranking, `anthropic_beta` and
 * `anthropic_version` for Claude.
 */
export const bedrock: Dialect = {
  name: 'bedrock',
  endpoints: {
    chatComplete: {
      request: converseRequest,
      reply: converseReply,
      stream: {framing: 'aws_event_stream', open: (context, request) => new ConverseStream(context, request)},
    },
    complete,
    embed,
    imageGenerate,
    messages: messagesAt('bedrock'),
    messagesCountTokens: countTokens,
    rerank,
  },
  reads_thinking: true,
  fault,
}
