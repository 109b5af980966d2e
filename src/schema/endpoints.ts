import type {McpEndpoint} from './mcp-endpoints.ts'

/**
 * The unified routes of the data plane: what a method and a path under `/v1` mean (docs/doors.md, Unified routes).
 * `name` is the endpoint's name everywhere: in guardrails, in rate-limit conditions, in logs.
 */
export interface Endpoint {
  readonly name: EndpointName
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path after `/v1`; `:x` is one segment, `*` the rest. */
  readonly path: string
  /** `json` bodies are read and checked, `multipart` and `none` are passed on as they come. */
  readonly body: 'json' | 'multipart' | 'none'
  /** Fields that must be there, beyond the body being a JSON object. */
  readonly messages?: true
  /** Comes with a later version: answered 501 until then. */
  readonly later?: true
  /** Served by the control plane when no provider is named. */
  readonly listed?: true
}

export type EndpointName =
  | 'chatComplete'
  | 'complete'
  | 'embed'
  | 'messages'
  | 'messagesCountTokens'
  | 'createModelResponse'
  | 'getModelResponse'
  | 'deleteModelResponse'
  | 'listResponseInputItems'
  | 'rerank'
  | 'ocr'
  | 'imageGenerate'
  | 'imageEdit'
  | 'imageVariation'
  | 'createSpeech'
  | 'createTranscription'
  | 'createTranslation'
  | 'moderate'
  | 'realtime'
  | 'listModels'
  | 'uploadFile'
  | 'listFiles'
  | 'retrieveFile'
  | 'deleteFile'
  | 'retrieveFileContent'
  | 'createBatch'
  | 'listBatches'
  | 'retrieveBatch'
  | 'cancelBatch'
  | 'getBatchOutput'
  | 'createFinetune'
  | 'listFinetunes'
  | 'retrieveFinetune'
  | 'cancelFinetune'
  | 'promptComplete'
  | 'ingestTelemetry'
  | 'proxy'
  | McpEndpoint

// biome-ignore format: a table is read by its lines
export const ENDPOINTS: readonly Endpoint[] = [
  {name: 'chatComplete', method: 'POST', path: '/chat/completions', body: 'json', messages: true},
  {name: 'complete', method: 'POST', path: '/completions', body: 'json'},
  {name: 'embed', method: 'POST', path: '/embeddings', body: 'json'},
  {name: 'messages', method: 'POST', path: '/messages', body: 'json', messages: true},
  {name: 'messagesCountTokens', method: 'POST', path: '/messages/count_tokens', body: 'json'},
  {name: 'createModelResponse', method: 'POST', path: '/responses', body: 'json'},
  {name: 'getModelResponse', method: 'GET', path: '/responses/:id', body: 'none'},
  {name: 'deleteModelResponse', method: 'DELETE', path: '/responses/:id', body: 'none'},
  {name: 'listResponseInputItems', method: 'GET', path: '/responses/:id/input_items', body: 'none'},
  {name: 'rerank', method: 'POST', path: '/rerank', body: 'json'},
  {name: 'ocr', method: 'POST', path: '/ocr', body: 'json'},
  {name: 'imageGenerate', method: 'POST', path: '/images/generations', body: 'json'},
  {name: 'imageEdit', method: 'POST', path: '/images/edits', body: 'multipart'},
  {name: 'imageVariation', method: 'POST', path: '/images/variations', body: 'multipart'},
  {name: 'createSpeech', method: 'POST', path: '/audio/speech', body: 'json'},
  {name: 'createTranscription', method: 'POST', path: '/audio/transcriptions', body: 'multipart'},
  {name: 'createTranslation', method: 'POST', path: '/audio/translations', body: 'multipart'},
  {name: 'moderate', method: 'POST', path: '/moderations', body: 'json'},
  {name: 'realtime', method: 'GET', path: '/realtime', body: 'none'},
  {name: 'listModels', method: 'GET', path: '/models', body: 'none', listed: true},
  {name: 'uploadFile', method: 'POST', path: '/files', body: 'multipart'},
  {name: 'listFiles', method: 'GET', path: '/files', body: 'none'},
  {name: 'retrieveFile', method: 'GET', path: '/files/:id', body: 'none'},
  {name: 'deleteFile', method: 'DELETE', path: '/files/:id', body: 'none'},
  {name: 'retrieveFileContent', method: 'GET', path: '/files/:id/content', body: 'none'},
  {name: 'createBatch', method: 'POST', path: '/batches', body: 'json'},
  {name: 'listBatches', method: 'GET', path: '/batches', body: 'none'},
  {name: 'cancelBatch', method: 'POST', path: '/batches/*/cancel', body: 'none'},
  {name: 'getBatchOutput', method: 'GET', path: '/batches/*/output', body: 'none'},
  {name: 'retrieveBatch', method: 'GET', path: '/batches/*', body: 'none'},
  {name: 'createFinetune', method: 'POST', path: '/fine_tuning/jobs', body: 'json'},
  {name: 'listFinetunes', method: 'GET', path: '/fine_tuning/jobs', body: 'none'},
  {name: 'retrieveFinetune', method: 'GET', path: '/fine_tuning/jobs/:id', body: 'none'},
  {name: 'cancelFinetune', method: 'POST', path: '/fine_tuning/jobs/:id/cancel', body: 'none'},
  {name: 'promptComplete', method: 'POST', path: '/prompts/:id/completions', body: 'json'},
  {name: 'ingestTelemetry', method: 'POST', path: '/otel/*', body: 'json', later: true},
]
