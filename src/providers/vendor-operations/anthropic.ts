import {beginsBatch, free, generates, type VendorOperation} from './operation.ts'

const shows = {batches: {words: 'anthropic', role: 'shows'}} as const

const results = {links: 'results_url'} as const

/** Anthropic's API (docs.claude.com, API reference), which other kinds serve below their own paths too. */
export const anthropic: readonly VendorOperation[] = [
  generates('anthropic.messages', '/messages', {endpoint: 'messages'}),
  ...free('anthropic.messages.count_tokens', 'POST', '/messages/count_tokens', {models: ['model']}),
  generates('anthropic.complete', '/complete'),
  beginsBatch('anthropic.messages.batches.create', '/messages/batches', 'anthropic', {models: ['any'], ...results}),
  ...free('anthropic.messages.batches.list', 'GET', '/messages/batches', {...shows, ...results}),
  ...free('anthropic.messages.batches.get', 'GET', '/messages/batches/{id}', {...shows, ...results}),
  ...free('anthropic.messages.batches.delete', 'DELETE', '/messages/batches/{id}', {
    batches: {words: 'anthropic', role: 'removes'},
    ...results,
  }),
  ...free('anthropic.messages.batches.cancel', 'POST', '/messages/batches/{id}/cancel', {...shows, ...results}),
  ...free('anthropic.messages.batches.results', 'GET', '/messages/batches/{id}/results', {
    batches: {words: 'anthropic', role: 'results'},
  }),
]
