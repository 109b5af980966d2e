import {isObject, object} from '../../base/json-object.ts'
import type {Dialect, Json, Translation} from '../translation.ts'
import {readFault, type Said} from '../unified/fault.ts'
import {objectIn, pick, word} from '../unified/read.ts'
import {documentsIn, queryIn, rankedIn, rerankList, rerankUsage, topIn} from '../unified/rerank.ts'

/** Source: docs.pinecone.io, inference, rerank: documents are objects, the model's own settings are `parameters`. */
const rerank: Translation = {
  request: (asked, context) => ({
    path: '/rerank',
    body: {
      model: context.model,
      query: queryIn(asked),
      documents: documentsIn(asked).map(({text, said}) => (isObject(said) ? said : {text})),
      top_n: topIn(asked),
      return_documents: false,
      ...pick(asked, 'rank_fields parameters'),
      ...(asked.truncation === undefined || asked.parameters ? {} : {parameters: {truncate: asked.truncation === false ? 'NONE' : 'END'}}),
    },
  }),
  reply(said, context, asked) {
    const {data, model, usage} = objectIn(said)
    const used = rerankUsage({search_units: object(usage).rerank_units})
    return rerankList(context, asked, {model: word(model), results: rankedIn(data, 'score'), usage: used})
  },
}

/** Pinecone: reranking. Its catalogue host, without a version in its path. */
export const pinecone: Dialect = {
  name: 'pinecone',
  endpoints: {rerank},
  fault: (status, body, context) => readFault(status, body, context, find),
}

/** `{error: {code: "INVALID_ARGUMENT", message}, status}`. */
function find(said: Json): Said {
  const {code, message} = object(said.error)
  return {message: message ?? said.message, code, type: code}
}
