import {rerank} from '../cohere/rerank.ts'
import type {Dialect} from '../translation.ts'
import {readFault} from '../unified/fault.ts'

/**
 * Cohere's reranking on Azure AI Foundry; all else there is OpenAI's. Below `…/providers/cohere/v2` of a Foundry
 * resource and `…/v1` of a serverless deployment, whose words are alike. Sources: docs.cohere.com, Cohere on Microsoft
 * Azure; Microsoft Learn, Cohere Rerank.
 */
export const azureAiRerank: Dialect = {
  name: 'azure-ai',
  keeps_errors: true,
  endpoints: {
    rerank: {...rerank, request: (request, context) => ({...rerank.request(request, context), path: '/rerank'})},
  },
  fault: readFault,
}
