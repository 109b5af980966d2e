import {isObject, object} from '../../base/json-object.ts'
import {vertexRanking} from '../base-urls/vertex.ts'
import type {Options} from '../options.ts'
import {InvalidResponseFault, type Json, type Translation, UnsupportedInputFault} from '../translation.ts'
import {objectIn} from '../unified/read.ts'
import {documentsIn, queryIn, rerankList, rerankUsage, topIn} from '../unified/rerank.ts'

/** A query is charged once for so many records, and takes no more than twice as many. */
const RECORDS_A_QUERY = 100
const MAX_RECORDS = 200

/**
 * Reranking by the ranking API of Discovery Engine (Vertex AI Search), whose host is its own. Records are known by
 * their place in the list. Source: Discovery Engine REST reference v1, projects.locations.rankingConfigs.rank.
 */
export const vertexRerank: Translation = {
  request(request, context) {
    const records = documentsIn(request).map(({text, raw}, at) => ({id: String(at), ...titleOf(raw), content: text}))
    if (records.length > MAX_RECORDS)
      throw new UnsupportedInputFault('documents', `expected at most ${MAX_RECORDS} documents`)
    const topN = topIn(request)
    const body = {
      ...(context.model ? {model: context.model} : {}),
      query: queryIn(request),
      records,
      ...(topN === undefined ? {} : {topN}),
      ignoreRecordDetailsInResponse: true,
    }
    return {path: `${vertexRanking(context.options as Options)}/rankingConfigs/default_ranking_config:rank`, body}
  },
  reply(response, context, request) {
    const {records} = objectIn(response)
    // Nothing is left out of an empty list: protobuf's JSON says no member for it.
    if (records !== undefined && !Array.isArray(records)) throw new InvalidResponseFault('expected records')
    const results = (records ?? []).map((record: unknown) => {
      const {id, score} = object(record)
      return {index: typeof id === 'string' && /^\d{1,3}$/.test(id) ? Number(id) : null, score: score ?? 0}
    })
    const search_units = Math.max(1, Math.ceil(documentsIn(request).length / RECORDS_A_QUERY))
    return rerankList(context, request, {results, usage: rerankUsage({search_units})})
  },
}

function titleOf(document: unknown): Json {
  return isObject(document) && typeof document.title === 'string' && typeof document.text === 'string'
    ? {title: document.title}
    : {}
}
