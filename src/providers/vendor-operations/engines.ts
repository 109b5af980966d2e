import {executes, free, generates, type VendorOperation} from './operation.ts'

const lines = {framing: 'lines'} as const

/** Engines of one's own: Ollama (docs/api.md of its repository), llama.cpp's server, and text-generation-inference. */
export const engines: readonly VendorOperation[] = [
  generates('ollama.chat', '/api/chat', lines),
  generates('ollama.generate', '/api/generate', lines),
  executes('ollama.embed', '/api/embed'),
  executes('ollama.embeddings', '/api/embeddings'),
  ...free('ollama.tags', 'GET', '/api/tags'),
  ...free('ollama.ps', 'GET', '/api/ps'),
  ...free('ollama.version', 'GET', '/api/version'),
  ...free('ollama.show', 'POST', '/api/show', {models: ['model']}),
  ...free('ollama.pull', 'POST', '/api/pull', {models: ['model'], ...lines}),
  ...free('ollama.push', 'POST', '/api/push', {models: ['model'], ...lines}),
  ...free('ollama.create', 'POST', '/api/create', {models: ['model'], ...lines}),
  ...free('ollama.copy', 'POST', '/api/copy'),
  ...free('ollama.delete', 'DELETE', '/api/delete'),
  generates('llama.cpp.completion', '/completion', {models: []}),
  generates('llama.cpp.infill', '/infill', {models: []}),
  executes('llama.cpp.embedding', '/embedding', {models: []}),
  ...free('engine.tokenize', 'POST', '/tokenize'),
  ...free('engine.detokenize', 'POST', '/detokenize'),
  ...free('llama.cpp.apply-template', 'POST', '/apply-template'),
  generates('tgi.generate', '/generate', {models: []}),
  generates('tgi.generate_stream', '/generate_stream', {models: []}),
]
