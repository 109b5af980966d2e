import {executes, flagged, free, generates, type VendorOperation} from './operation.ts'

/** Cohere's own API, both versions (docs.cohere.com/reference). */
export const cohere: readonly VendorOperation[] = [
  generates('cohere.chat', '/chat'),
  generates('cohere.generate', '/generate', {framing: 'lines'}),
  executes('cohere.embed', '/embed'),
  executes('cohere.rerank', '/rerank'),
  flagged('cohere.classify', '/classify', {models: ['model']}),
  flagged('cohere.summarize', '/summarize', {models: ['model'], generates: true}),
  ...free('cohere.tokenize', 'POST', '/tokenize', {models: ['model']}),
  ...free('cohere.detokenize', 'POST', '/detokenize', {models: ['model']}),
  flagged('cohere.embed-jobs.create', '/embed-jobs', {models: ['model']}),
  ...free('cohere.embed-jobs.list', 'GET', '/embed-jobs'),
  ...free('cohere.embed-jobs', 'GET', '/embed-jobs/{id}'),
  ...free('cohere.embed-jobs.cancel', 'POST', '/embed-jobs/{id}/cancel'),
  ...free('cohere.datasets', 'GET POST', '/datasets', {body: 'form'}),
  ...free('cohere.dataset', 'GET DELETE', '/datasets/{id}'),
  ...free('cohere.models', 'GET', '/models'),
  ...free('cohere.model', 'GET', '/models/{id}'),
].map(row => ({...row, kinds: ['cohere']}))
