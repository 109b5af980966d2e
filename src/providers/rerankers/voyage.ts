import type {Dialect, Translation} from '../translation.ts'
import {encodingIn, listedReply, textsIn} from '../unified/embeddings.ts'
import {readFault} from '../unified/fault.ts'
import {pick} from '../unified/read.ts'
import {rerankBody, tokenReply} from '../unified/rerank.ts'

/** Source: docs.voyageai.com, rerankers: `top_k`, results under `data`, charged by tokens. */
const rerank: Translation = {
  request: (asked, context) => ({path: '/rerank', body: {...rerankBody(asked, context, 'top_k'), ...pick(asked, 'truncation')}}),
  reply: (said, context, asked) => tokenReply(said, 'data', context, asked),
}

/** Source: docs.voyageai.com, embeddings: knows no `float`, `dimensions`, `user`. */
const embed: Translation = {
  request: (asked, context) => {
    encodingIn(asked)
    const more = pick(asked, 'input_type truncation dimensions>output_dimension output_dimension output_dtype')
    return {path: '/embeddings', body: {model: context.model, input: textsIn(asked), ...more}}
  },
  reply: listedReply,
}

/** Voyage AI. Base URL with `/v1`. */
export const voyage: Dialect = {name: 'voyage', endpoints: {rerank, embed}, fault: readFault}
