import {object} from '../../base/json-object.ts'
import type {Translation} from '../translation.ts'
import {objectIn, pick, word} from '../unified/read.ts'
import {asRanked, rankedIn, rerankBody, rerankList, rerankUsage} from '../unified/rerank.ts'

/**
 * Reranking. Source: docs.cohere.com, API v2, rerank: documents are texts there; returned documents are the client's
 * own.
 */
export const rerank: Translation = {
  request: (request, context) => ({
    path: '/v2/rerank',
    body: {...rerankBody(request, context), ...pick(request, 'max_tokens_per_doc')},
  }),
  reply(response, context, request) {
    const reply = objectIn(response)
    const {id, results, meta} = reply
    const {billed_units, tokens} = object(meta)
    const {search_units} = object(billed_units)
    const usage = rerankUsage({
      search_units,
      tokens: search_units === undefined ? object(tokens).input_tokens : undefined,
    })
    return asRanked(reply, rerankList(context, request, {id: word(id), results: rankedIn(results), usage}))
  },
}
