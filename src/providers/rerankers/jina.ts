import {isObject} from '../../base/json-object.ts'
import {type Dialect, type Json, type Translation, UnsupportedInputFault} from '../translation.ts'
import {EMBED_WORDS, encodingIn, listedReply} from '../unified/embeddings.ts'
import {readFault} from '../unified/fault.ts'
import {others, pick} from '../unified/read.ts'
import {rerankBody, tokenReply} from '../unified/rerank.ts'

/** Source: jina.ai, reranker API: charged by tokens; returned documents are the client's own. */
const rerank: Translation = {
  request: (request, context) => ({path: '/rerank', body: {...rerankBody(request, context), return_documents: false}}),
  reply: (response, context, request) => tokenReply(response, 'results', context, request),
}

/**
 * Source: jina.ai, embeddings API: inputs may be objects of its own (`{text}`, `{image}`); vectors are numbers unless
 * another format is set.
 */
const embed: Translation = {
  request: (request, context) => {
    encodingIn(request)
    const more = {...others(request, EMBED_WORDS), ...pick(request, 'dimensions')}
    return {path: '/embeddings', body: {model: context.model, input: inputsIn(request), ...more}}
  },
  reply: listedReply,
}

function inputsIn({input}: Json): readonly unknown[] {
  const all: unknown = typeof input === 'string' ? [input] : input
  if (!Array.isArray(all) || all.length === 0)
    throw new UnsupportedInputFault('input', 'expected a string or an array of strings')
  all.forEach((one: unknown, at) => {
    if (typeof one !== 'string' && !isObject(one)) throw new UnsupportedInputFault(`input[${at}]`, 'expected a string')
  })
  return all
}

/** Jina AI. Base URL with `/v1`. */
export const jina: Dialect = {name: 'jina', keeps_errors: true, endpoints: {rerank, embed}, fault: readFault}
