import {flagged, free, generates, type VendorOperation} from './operation.ts'

const results = {links: 'results_url'} as const

/** Anthropic's API (docs.claude.com, API reference), which other kinds serve below their own paths too. */
export const anthropic: readonly VendorOperation[] = [
  generates('anthropic.messages', '/messages', {endpoint: 'messages'}),
  ...free('anthropic.messages.count_tokens', 'POST', '/messages/count_tokens', {models: ['model']}),
  generates('anthropic.complete', '/complete'),
  flagged('anthropic.messages.batches.create', '/messages/batches', {models: ['any'], ...results}),
  ...free('anthropic.messages.batches.list', 'GET', '/messages/batches', results),
  ...free('anthropic.messages.batches', 'GET DELETE', '/messages/batches/{id}', results),
  ...free('anthropic.messages.batches.cancel', 'POST', '/messages/batches/{id}/cancel', results),
  ...free('anthropic.messages.batches.results', 'GET', '/messages/batches/{id}/results'),
]
