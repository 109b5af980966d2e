import {object} from '../openai/usage.ts'
import type {Dialect, Translation} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {objectIn, word} from '../unified/read.ts'
import {documentsIn, queryIn, rankedIn, rerankList, rerankUsage, topIn} from '../unified/rerank.ts'

/** Source: docs.together.ai, rerank: documents may be objects, ranked by `rank_fields`; charged by tokens. */
const rerank: Translation = {
  request: (asked, context) => ({
    path: '/rerank',
    body: {
      model: context.model,
      query: queryIn(asked),
      documents: documentsIn(asked).map(({text}) => text),
      top_n: topIn(asked),
      return_documents: false,
    },
  }),
  reply(said, context, asked) {
    const {id, results, model, usage} = objectIn(said)
    const used = rerankUsage({tokens: object(usage).total_tokens})
    return rerankList(context, asked, {id: word(id), model: word(model), results: rankedIn(results), usage: used})
  },
}

/** Together AI's reranking; all else there is OpenAI's. Base URL with `/v1`. */
export const together: Dialect = {name: 'together', endpoints: {rerank}, fault: readFault}
