import {delegates, executes, flagged, free, generates, type VendorOperation} from './operation.ts'

const kinds = ['google', 'vertex-ai', 'palm']
/** AI Studio's models, tuned ones and dynamic ones; Vertex AI's publishers and endpoints (ai.google.dev/api, Vertex AI REST reference). */
const MODELS = [
  '/models/{model}',
  '/tunedModels/{model}',
  '/dynamic/{model}',
  '/projects/{id}/locations/{id}/publishers/{id}/models/{model}',
  '/projects/{id}/locations/{id}/endpoints/{model}',
  '/publishers/{id}/models/{model}',
]

/** One action of a model, wherever models stand. The path alone names the model: Google ignores a `model` in the body. */
function each(row: (path: string) => VendorOperation): readonly VendorOperation[] {
  return MODELS.map(path => ({...row(path), kinds}))
}

const json_array = {framing: 'json_array'} as const

/** Google's Gemini API and Vertex AI. */
export const google: readonly VendorOperation[] = [
  ...each(path => generates('google.generateContent', `${path}:generateContent`)),
  ...each(path => generates('google.streamGenerateContent', `${path}:streamGenerateContent`, json_array)),
  ...each(path => free('google.countTokens', 'POST', `${path}:countTokens`, {models: ['path', 'model']})[0]!),
  ...each(path => free('google.computeTokens', 'POST', `${path}:computeTokens`, {models: ['path', 'model']})[0]!),
  ...each(path => executes('google.embedContent', `${path}:embedContent`)),
  ...each(path => executes('google.batchEmbedContents', `${path}:batchEmbedContents`)),
  ...each(path => executes('google.predict', `${path}:predict`)),
  ...each(path => flagged('google.predictLongRunning', `${path}:predictLongRunning`, {models: ['path', 'model']})),
  ...each(path => free('google.fetchPredictOperation', 'POST', `${path}:fetchPredictOperation`)[0]!),
  ...each(path => flagged('google.batchGenerateContent', `${path}:batchGenerateContent`, {models: ['path', 'any']})),
  ...each(path => flagged('google.asyncBatchEmbedContent', `${path}:asyncBatchEmbedContent`, {models: ['path', 'any']})),
  ...each(path => flagged('google.generateAnswer', `${path}:generateAnswer`, {models: ['path', 'model'], generates: true})),
  // Claude on Vertex AI speaks Messages, others there OpenAI's words or their own.
  ...each(path => generates('google.rawPredict', `${path}:rawPredict`)),
  ...each(path => generates('google.streamRawPredict', `${path}:streamRawPredict`)),
  ...[
    generates('google.interactions.create', '/interactions'),
    ...free('google.interactions', 'GET DELETE', '/interactions/{id}'),
    ...free('google.interactions.cancel', 'POST', '/interactions/{id}/cancel'),
    ...free('google.models.list', 'GET', '/models'),
    ...free('google.models', 'GET', '/models/{id}'),
    flagged('google.cachedContents.create', '/cachedContents', {models: ['model']}),
    ...free('google.cachedContents.list', 'GET', '/cachedContents'),
    ...free('google.cachedContents', 'GET PATCH DELETE', '/cachedContents/{id}'),
    ...free('google.files.list', 'GET', '/files'),
    ...free('google.files', 'GET DELETE', '/files/{id}'),
    ...free('google.files.register', 'POST', '/files:register'),
    delegates('google.files.upload', '/upload/*', {body: 'bytes', models: [], money: 'free'}),
    ...free('google.download', 'GET', '/download/*'),
    ...free('google.batches.list', 'GET', '/batches'),
    ...free('google.batches', 'GET DELETE', '/batches/{id}'),
    ...free('google.batches.cancel', 'POST', '/batches/{id}:cancel'),
    ...free('google.operations', 'GET', '/operations/*'),
    ...free('google.tunedModels.list', 'GET', '/tunedModels'),
    ...free('google.tunedModels', 'GET PATCH DELETE', '/tunedModels/{id}'),
    flagged('google.tunedModels.create', '/tunedModels', {models: ['any']}),
    ...free('google.fileSearchStores.create', 'POST', '/fileSearchStores'),
    ...free('google.fileSearchStores.list', 'GET', '/fileSearchStores'),
    ...free('google.fileSearchStores', 'GET DELETE', '/fileSearchStores/*'),
    flagged('google.fileSearchStores.importFile', '/fileSearchStores/{id}:importFile'),
    delegates('google.authTokens.create', '/auth_tokens'),
    delegates('google.authTokens.create', '/authTokens'),
  ].map(row => ({...row, kinds})),
]
