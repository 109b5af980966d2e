import {beginsBatch, delegates, executes, flagged, free, generates, type VendorOperation} from './operation.ts'

const kinds = ['google', 'vertex-ai', 'palm']
/** Vertex AI has everything below a project's place. */
const PLACE = '/projects/{id}/locations/{id}'
/**
 * AI Studio's models, tuned ones and dynamic ones; Vertex AI's publishers and endpoints (ai.google.dev/api, Vertex AI
 * REST reference).
 */
const MODELS = [
  '/models/{model}',
  '/tunedModels/{model}',
  '/dynamic/{model}',
  '/publishers/{id}/models/{model}',
  '/endpoints/{model}',
]
/** An operation of a model's own is known by the path of the model alone: `…/models/veo/operations/1`. */
const MODEL_IDS = MODELS.map(path => path.replace('{model}', '{id}'))

/**
 * One action of a model, wherever the path has models. The path alone names the model: Google ignores a `model` in the
 * body.
 */
function each(row: (path: string) => VendorOperation): readonly VendorOperation[] {
  return MODELS.map(row)
}

const gemini = {batches: {words: 'gemini', role: 'shows'}} as const
const vertex = {batches: {words: 'vertex', role: 'shows'}} as const
const json_array = {framing: 'json_array'} as const

const OPERATIONS: readonly VendorOperation[] = [
  ...each(path => generates('google.generateContent', `${path}:generateContent`)),
  ...each(path => generates('google.streamGenerateContent', `${path}:streamGenerateContent`, json_array)),
  ...each(path => free('google.countTokens', 'POST', `${path}:countTokens`, {models: ['path', 'model']})[0]!),
  ...each(path => free('google.computeTokens', 'POST', `${path}:computeTokens`, {models: ['path', 'model']})[0]!),
  ...each(path => executes('google.embedContent', `${path}:embedContent`)),
  ...each(path => executes('google.batchEmbedContents', `${path}:batchEmbedContents`)),
  ...each(path => executes('google.predict', `${path}:predict`)),
  ...each(path => flagged('google.predictLongRunning', `${path}:predictLongRunning`, {models: ['path', 'model']})),
  ...each(path => free('google.fetchPredictOperation', 'POST', `${path}:fetchPredictOperation`)[0]!),
  ...each(path =>
    beginsBatch('google.batchGenerateContent', `${path}:batchGenerateContent`, 'gemini', {models: ['path', 'any']}),
  ),
  ...each(path =>
    beginsBatch('google.asyncBatchEmbedContent', `${path}:asyncBatchEmbedContent`, 'gemini', {models: ['path', 'any']}),
  ),
  ...each(path =>
    flagged('google.generateAnswer', `${path}:generateAnswer`, {models: ['path', 'model'], generates: true}),
  ),
  // Claude on Vertex AI speaks Messages, others there OpenAI's words or their own.
  ...each(path => generates('google.rawPredict', `${path}:rawPredict`)),
  ...each(path => generates('google.streamRawPredict', `${path}:streamRawPredict`, {framing: 'sse'})),
  generates('google.interactions.create', '/interactions'),
  ...free('google.interactions', 'GET DELETE', '/interactions/{id}'),
  ...free('google.interactions.cancel', 'POST', '/interactions/{id}/cancel'),
  ...free('google.models.list', 'GET', '/models'),
  ...free('google.models.list', 'GET', '/publishers/{id}/models'),
  ...MODEL_IDS.flatMap(path => free('google.models', 'GET PATCH DELETE', path)),
  ...MODEL_IDS.flatMap(path => free('google.models.operations', 'GET', `${path}/operations/{id}`)),
  flagged('google.cachedContents.create', '/cachedContents', {models: ['model']}),
  ...free('google.cachedContents.list', 'GET', '/cachedContents'),
  ...free('google.cachedContents', 'GET PATCH DELETE', '/cachedContents/{id}'),
  ...free('google.files.list', 'GET', '/files'),
  ...free('google.files', 'GET DELETE', '/files/{id}'),
  ...free('google.files.register', 'POST', '/files:register'),
  ...free('google.files.upload', 'POST', '/upload/*', {body: 'bytes', links: 'upload'}),
  ...free('google.files.put', 'PUT', '/upload/*', {body: 'bytes', links: 'upload'}),
  ...free('google.download', 'GET', '/download/*'),
  ...free('google.batches.list', 'GET', '/batches', gemini),
  ...free('google.batches.get', 'GET', '/batches/{id}', gemini),
  ...free('google.batches.delete', 'DELETE', '/batches/{id}', {batches: {words: 'gemini', role: 'removes'}}),
  ...free('google.batches.cancel', 'POST', '/batches/{id}:cancel'),
  beginsBatch('google.batchPredictionJobs.create', '/batchPredictionJobs', 'vertex', {models: ['model']}),
  ...free('google.batchPredictionJobs.list', 'GET', '/batchPredictionJobs', vertex),
  ...free('google.batchPredictionJobs.get', 'GET', '/batchPredictionJobs/{id}', vertex),
  ...free('google.batchPredictionJobs.delete', 'DELETE', '/batchPredictionJobs/{id}', {
    batches: {words: 'vertex', role: 'removes'},
  }),
  ...free('google.batchPredictionJobs.cancel', 'POST', '/batchPredictionJobs/{id}:cancel'),
  ...free('google.operations', 'GET', '/operations/*'),
  ...free('google.tunedModels.list', 'GET', '/tunedModels'),
  ...free('google.tunedModels.cancel', 'POST', '/tunedModels/{id}:cancel'),
  flagged('google.tunedModels.create', '/tunedModels', {models: ['any']}),
  flagged('google.tuningJobs.create', '/tuningJobs', {models: ['any']}),
  ...free('google.tuningJobs.list', 'GET', '/tuningJobs'),
  ...free('google.tuningJobs', 'GET', '/tuningJobs/{id}'),
  ...free('google.tuningJobs.cancel', 'POST', '/tuningJobs/{id}:cancel'),
  flagged('google.tuningJobs.validateReward', '/tuningJobs:validateReinforcementTuningReward', {models: ['any']}),
  ...free('google.fileSearchStores.create', 'POST', '/fileSearchStores'),
  ...free('google.fileSearchStores.list', 'GET', '/fileSearchStores'),
  ...free('google.fileSearchStores', 'GET DELETE', '/fileSearchStores/*'),
  flagged('google.fileSearchStores.importFile', '/fileSearchStores/{id}:importFile'),
  delegates('google.authTokens.create', '/auth_tokens'),
  delegates('google.authTokens.create', '/authTokens'),

  ...free('google.agents.create', 'POST', '/agents', {models: ['any']}),
  ...free('google.agents.list', 'GET', '/agents'),
  ...free('google.agents', 'GET DELETE', '/agents/{id}'),
  // It runs interactions by the clock, with no further call.
  flagged('google.triggers.create', '/triggers', {models: ['any'], is_indirect: true}),
  ...free('google.triggers.list', 'GET', '/triggers'),
  ...free('google.triggers', 'GET DELETE', '/triggers/{id}'),
  ...free('google.triggers.update', 'PATCH', '/triggers/{id}', {models: ['any']}),
  flagged('google.triggers.run', '/triggers/{id}/executions', {is_indirect: true}),
  ...free('google.triggers.executions', 'GET', '/triggers/{id}/executions'),
  flagged('google.environments.create', '/environments'),
  ...free('google.environments.list', 'GET', '/environments'),
  ...free('google.environments', 'GET DELETE', '/environments/{id}'),
  ...free('google.environments.files.list', 'GET', '/environments/{id}/files'),
  ...free('google.environments.files', 'GET', '/environments/{id}/files/*'),
  ...free('google.credentials.list', 'GET POST', '/credentials'),
  ...free('google.credentials', 'GET PATCH DELETE', '/credentials/{id}'),
  ...free('google.voices.list', 'GET POST', '/voices'),
  ...free('google.voices', 'GET DELETE', '/voices/{id}'),
  ...free('google.webhooks.list', 'GET POST', '/webhooks'),
  ...free('google.webhooks', 'GET PATCH DELETE', '/webhooks/{id}'),
  ...free('google.webhooks.ping', 'POST', '/webhooks/{id}:ping'),
  ...free('google.webhooks.rotateSigningSecret', 'POST', '/webhooks/{id}:rotateSigningSecret'),
]

/** Google's Gemini API and Vertex AI. */
export const google: readonly VendorOperation[] = OPERATIONS.flatMap(row => [
  {...row, kinds},
  {...row, kinds, path: PLACE + row.path},
])
