import type {Dialect, Translation} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {rerankBody, tokenReply} from '../unified/rerank.ts'

/** Source: docs.together.ai, rerank: documents may be objects, ranked by `rank_fields`; charged by tokens. */
const rerank: Translation = {
  request: (request, context) => ({path: '/rerank', body: {...rerankBody(request, context), return_documents: false}}),
  reply: (response, context, request) => tokenReply(response, 'results', context, request),
}

/** Together AI's reranking; all else there is OpenAI's. Base URL with `/v1`. */
export const together: Dialect = {name: 'together', keeps_errors: true, endpoints: {rerank}, fault: readFault}
