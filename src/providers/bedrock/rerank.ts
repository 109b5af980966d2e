import {isObject} from '../../base/json-object.ts'
import {emptyUsage, UNIT} from '../../schema/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {definedOrNone, numberAt, textAt} from './ask.ts'

/** A query over so many documents is charged as one. */
const DOCUMENTS_A_SEARCH = 100

/**
 * Reranking by the agent runtime, whose host is `bedrock-agent-runtime.{region}.amazonaws.com`; it is signed as
 * `bedrock`. The model is named by its whole ARN. Source: Agents for Bedrock Runtime API reference, Rerank.
 */
export const rerank: Translation = {
  request(request, context) {
    const query = textAt(request, 'query')
    if (query === undefined) throw new UnsupportedInputFault('query', 'expected a text')
    const most_tokens = numberAt(request, ['max_tokens_per_doc'])
    const modelConfiguration = {
      modelArn: modelArn(context),
      ...(most_tokens === undefined ? {} : {additionalModelRequestFields: {max_tokens_per_doc: most_tokens}}),
    }
    const bedrockRerankingConfiguration = {
      modelConfiguration,
      ...definedOrNone({numberOfResults: numberAt(request, ['top_n'])}),
    }
    const body = {
      queries: [{type: 'TEXT', textQuery: {text: query}}],
      sources: documentsOf(request).map((document, at) => ({
        type: 'INLINE',
        inlineDocumentSource: source(document, `documents[${at}]`),
      })),
      rerankingConfiguration: {type: 'BEDROCK_RERANKING_MODEL', bedrockRerankingConfiguration},
    }
    return {method: 'POST', path: '/rerank', body}
  },
  reply(reply, context, request) {
    if (!isObject(reply) || !Array.isArray(reply.results)) throw new InvalidResponseFault('expected results')
    const documents = documentsOf(request)
    const results = reply.results.map((result: unknown) => {
      const {index, relevanceScore} = isObject(result) ? result : {}
      if (
        typeof index !== 'number' ||
        !Number.isSafeInteger(index) ||
        index < 0 ||
        typeof relevanceScore !== 'number'
      ) {
        throw new InvalidResponseFault('expected results with an index and a relevanceScore')
      }
      const document = documents[index]
      const shown = request.return_documents === true && document !== undefined
      return {
        index,
        relevance_score: relevanceScore,
        ...(shown ? {document: typeof document === 'string' ? {text: document} : document} : {}),
      }
    })
    const usage = emptyUsage()
    const search_units = Math.max(1, Math.ceil(documents.length / DOCUMENTS_A_SEARCH))
    usage.units[UNIT.search_units] = search_units
    const body = {object: 'list', results, model: context.model, usage: {search_units}, provider: context.provider}
    return {body, usage, model: null}
  },
}

function documentsOf({documents}: Json): readonly unknown[] {
  if (!Array.isArray(documents)) throw new UnsupportedInputFault('documents', 'expected an array')
  return documents
}

function source(document: unknown, field: string): Json {
  if (typeof document === 'string') return {type: 'TEXT', textDocument: {text: document}}
  if (!isObject(document)) throw new UnsupportedInputFault(field, 'expected a text or an object')
  if (typeof document.text === 'string' && Object.keys(document).length === 1)
    return {type: 'TEXT', textDocument: {text: document.text}}
  return {type: 'JSON', jsonDocument: document}
}

function modelArn({model, options}: TranslationContext): string {
  if (/^arn:[\w-]+:bedrock:[\w-]*:\d*:[\w.:/-]+$/.test(model) && model.length <= 2048) return model
  const region = options.aws_region ?? ''
  if (!/^[\w.:-]{1,256}$/.test(model) || !/^[a-z0-9-]{1,63}$/.test(region)) {
    throw new UnsupportedInputFault(
      'model',
      "expected the model's whole ARN (arn:aws:bedrock:{region}::foundation-model/{id})",
    )
  }
  const partition = region.startsWith('us-gov-') ? 'aws-us-gov' : region.startsWith('cn-') ? 'aws-cn' : 'aws'
  return `arn:${partition}:bedrock:${region}::foundation-model/${model}`
}
