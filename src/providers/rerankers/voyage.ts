import {isObject, object, readUsage} from '../openai/usage.ts'
import type {Dialect, Translation} from '../translation.ts'
import {embeddingList, encodingIn, textsIn, vectorsIn} from '../unified/embeddings.ts'
import {readFault} from '../unified/fault.ts'
import {objectIn, pick, word} from '../unified/read.ts'
import {documentsIn, queryIn, rankedIn, rerankList, rerankUsage, topIn} from '../unified/rerank.ts'

/** Source: docs.voyageai.com, rerankers: `top_k`, results under `data`, charged by tokens. */
const rerank: Translation = {
  request: (asked, context) => ({
    path: '/rerank',
    body: {
      model: context.model,
      query: queryIn(asked),
      documents: documentsIn(asked).map(({text}) => text),
      top_k: topIn(asked),
      ...pick(asked, 'truncation'),
    },
  }),
  reply(said, context, asked) {
    const {data, model, usage} = objectIn(said)
    const used = rerankUsage({tokens: object(usage).total_tokens})
    return rerankList(context, asked, {model: word(model), results: rankedIn(data), usage: used})
  },
}

/** Source: docs.voyageai.com, embeddings: knows no `float`, `dimensions`, `user`. */
const embed: Translation = {
  request: (asked, context) => {
    encodingIn(asked)
    const more = pick(asked, 'input_type truncation dimensions>output_dimension output_dimension output_dtype')
    return {path: '/embeddings', body: {model: context.model, input: textsIn(asked), ...more}}
  },
  reply(said, context, asked) {
    const {data, model, usage} = objectIn(said)
    const vectors = vectorsIn(data)
    const used = isObject(usage) ? readUsage(usage, 'embed') : null
    return embeddingList(context, {vectors, usage: used, model: word(model)}, encodingIn(asked))
  },
}

/** Voyage AI. Base URL with `/v1`. */
export const voyage: Dialect = {name: 'voyage', endpoints: {rerank, embed}, fault: readFault}
