import {isObject, object} from '../../base/json-object.ts'
import {vertexRanking} from '../base-urls/vertex.ts'
import type {Options} from '../options.ts'
import {InvalidResponse, type Json, type Translation, UnsupportedInput} from '../translation.ts'
import {objectIn} from '../unified/read.ts'
import {documentsIn, queryIn, rerankList, rerankUsage, topIn} from '../unified/rerank.ts'

/** A query is charged once for so many records, and takes no more than twice as many. */
const RECORDS_A_QUERY = 100
const MOST_RECORDS = 200

/**
 * Reranking by the ranking API of Discovery Engine (Vertex AI Search), whose host is its own. Records are told apart by their place in the
 * list. Source: Discovery Engine REST reference v1, projects.locations.rankingConfigs.rank.
 */
export const vertexRerank: Translation = {
  request(asked, context) {
    const records = documentsIn(asked).map(({text, said}, at) => ({id: String(at), ...titleOf(said), content: text}))
    if (records.length > MOST_RECORDS) throw new UnsupportedInput('documents', `expected at most ${MOST_RECORDS} documents`)
    const topN = topIn(asked)
    const body = {
      ...(context.model ? {model: context.model} : {}),
      query: queryIn(asked),
      records,
      ...(topN === undefined ? {} : {topN}),
      ignoreRecordDetailsInResponse: true,
    }
    return {path: `${vertexRanking(context.options as Options)}/rankingConfigs/default_ranking_config:rank`, body}
  },
  reply(said, context, asked) {
    const {records} = objectIn(said)
    // Nothing is left out of an empty list: protobuf's JSON says no member for it.
    if (records !== undefined && !Array.isArray(records)) throw new InvalidResponse('expected records')
    const results = (records ?? []).map((record: unknown) => {
      const {id, score} = object(record)
      return {index: typeof id === 'string' && /^\d{1,3}$/.test(id) ? Number(id) : null, score: score ?? 0}
    })
    const search_units = Math.max(1, Math.ceil(documentsIn(asked).length / RECORDS_A_QUERY))
    return rerankList(context, asked, {results, usage: rerankUsage({search_units})})
  },
}

function titleOf(said: unknown): Json {
  return isObject(said) && typeof said.title === 'string' && typeof said.text === 'string' ? {title: said.title} : {}
}
