import type {Dialect, Translation} from '../translation.ts'
import {embeddingList, embedUsage, encodingIn, textsIn} from '../unified/embeddings.ts'
import {readFault} from '../unified/fault.ts'
import {arrayIn, objectIn, pick, word} from '../unified/read.ts'

/** Source: docs.nomic.ai, Atlas API, text embeddings. */
const embed: Translation = {
  request: (request, context) => {
    encodingIn(request)
    const more = pick(request, 'task_type dimensions>dimensionality dimensionality long_text_mode')
    return {path: '/embedding/text', body: {model: context.model, texts: textsIn(request), ...more}}
  },
  reply(response, context, request) {
    const {embeddings, usage, model} = objectIn(response)
    return embeddingList(
      context,
      {vectors: arrayIn(embeddings, 'embeddings'), usage: embedUsage(usage), model: word(model), request},
      encodingIn(request),
    )
  },
}

/** Nomic: embeddings. Base URL with `/v1`. */
export const nomic: Dialect = {name: 'nomic', endpoints: {embed}, fault: readFault}
