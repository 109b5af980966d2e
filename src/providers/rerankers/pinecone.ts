import {isObject, object} from '../../base/json-object.ts'
import type {Dialect, Json, Translation} from '../translation.ts'
import {type RawError, readFault} from '../unified/fault.ts'
import {objectIn, pick, word} from '../unified/read.ts'
import {documentsIn, queryIn, rankedIn, rerankList, rerankUsage, topIn} from '../unified/rerank.ts'

/** Source: docs.pinecone.io, inference, rerank: documents are objects, the model's own settings are `parameters`. */
const rerank: Translation = {
  request: (request, context) => ({
    path: '/rerank',
    body: {
      model: context.model,
      query: queryIn(request),
      documents: documentsIn(request).map(({text, raw}) => (isObject(raw) ? raw : {text})),
      top_n: topIn(request),
      return_documents: false,
      ...pick(request, 'rank_fields parameters'),
      ...(request.truncation === undefined || request.parameters
        ? {}
        : {parameters: {truncate: request.truncation === false ? 'NONE' : 'END'}}),
    },
  }),
  reply(response, context, request) {
    const {data, model, usage} = objectIn(response)
    const used = rerankUsage({search_units: object(usage).rerank_units})
    return rerankList(context, request, {model: word(model), results: rankedIn(data, 'score'), usage: used})
  },
}

/** Pinecone: reranking. Its catalogue host, without a version in its path. */
export const pinecone: Dialect = {
  name: 'pinecone',
  endpoints: {rerank},
  fault: (status, body, context) => readFault(status, body, context, find),
}

/** `{error: {code: "INVALID_ARGUMENT", message}, status}`. */
function find(body: Json): RawError {
  const {code, message} = object(body.error)
  return {message: message ?? body.message, code, type: code}
}
