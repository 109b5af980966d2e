import type {Dialect, Translation} from '../translation.ts'
import {EMBED_WORDS, encodingIn, listedReply, textsIn} from '../unified/embeddings.ts'
import {readFault} from '../unified/fault.ts'
import {others, pick} from '../unified/read.ts'
import {rerankBody, tokenReply} from '../unified/rerank.ts'

/** Source: docs.voyageai.com, rerankers: `top_k`, results under `data`, charged by tokens. */
const rerank: Translation = {
  request: (request, context) => ({
    path: '/rerank',
    body: {...rerankBody(request, context, 'top_k'), ...pick(request, 'truncation')},
  }),
  reply: (response, context, request) => tokenReply(response, 'data', context, request),
}

/** Source: docs.voyageai.com, embeddings: knows no `float`, `dimensions`, `user`. */
const embed: Translation = {
  request: (request, context) => {
    encodingIn(request)
    const more = {...others(request, EMBED_WORDS), ...pick(request, 'dimensions>output_dimension output_dimension')}
    return {path: '/embeddings', body: {model: context.model, input: textsIn(request), ...more}}
  },
  reply: listedReply,
}

/** Voyage AI. Base URL with `/v1`. */
export const voyage: Dialect = {name: 'voyage', keeps_errors: true, endpoints: {rerank, embed}, fault: readFault}
