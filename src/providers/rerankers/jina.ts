import {isObject, object, readUsage} from '../openai/usage.ts'
import {type Dialect, type Json, type Translation, Untranslatable} from '../translation.ts'
import {embeddingList, encodingIn, vectorsIn} from '../unified/embeddings.ts'
import {readFault} from '../unified/fault.ts'
import {objectIn, pick, word} from '../unified/read.ts'
import {documentsIn, queryIn, rankedIn, rerankList, rerankUsage, topIn} from '../unified/rerank.ts'

/** Source: jina.ai, reranker API: charged by tokens; documents given back are the client's own. */
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
    const {results, model, usage} = objectIn(said)
    const used = rerankUsage({tokens: object(usage).total_tokens})
    return rerankList(context, asked, {model: word(model), results: rankedIn(results), usage: used})
  },
}

/** Source: jina.ai, embeddings API: inputs may be objects of its own (`{text}`, `{image}`); vectors come as numbers unless asked otherwise. */
const embed: Translation = {
  request: (asked, context) => {
    encodingIn(asked)
    const more = pick(asked, 'task dimensions late_chunking truncate normalized')
    return {path: '/embeddings', body: {model: context.model, input: inputsIn(asked), ...more}}
  },
  reply(said, context, asked) {
    const {data, model, usage} = objectIn(said)
    const vectors = vectorsIn(data)
    const used = isObject(usage) ? readUsage(usage, 'embed') : null
    return embeddingList(context, {vectors, usage: used, model: word(model)}, encodingIn(asked))
  },
}

function inputsIn({input}: Json): readonly unknown[] {
  const all: unknown = typeof input === 'string' ? [input] : input
  if (!Array.isArray(all) || all.length === 0) throw new Untranslatable('input', 'expected a string or an array of strings')
  all.forEach((one: unknown, at) => {
    if (typeof one !== 'string' && !isObject(one)) throw new Untranslatable(`input[${at}]`, 'expected a string')
  })
  return all
}

/** Jina AI. Base URL with `/v1`. */
export const jina: Dialect = {name: 'jina', endpoints: {rerank, embed}, fault: readFault}
