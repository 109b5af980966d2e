import {flagged, free, generates, type VendorOperation} from './operation.ts'

/** Anthropic's API (docs.claude.com, API reference), which other kinds serve below their own paths too. */
export const anthropic: readonly VendorOperation[] = [
  generates('anthropic.messages', '/messages', {endpoint: 'messages'}),
  ...free('anthropic.messages.count_tokens', 'POST', '/messages/count_tokens', {models: ['model']}),
  generates('anthropic.complete', '/complete'),
  flagged('anthropic.messages.batches.create', '/messages/batches', {models: ['any']}),
  ...free('anthropic.messages.batches.list', 'GET', '/messages/batches'),
  ...free('anthropic.messages.batches', 'GET DELETE', '/messages/batches/{id}'),
  ...free('anthropic.messages.batches.cancel', 'POST', '/messages/batches/{id}/cancel'),
  ...free('anthropic.messages.batches.results', 'GET', '/messages/batches/{id}/results'),
]
