/** Endpoints that go together, in the rows of the catalogue. */
export const CHAT = ['chatComplete', 'listModels'] as const
export const TEXT = [...CHAT, 'complete'] as const
export const RESPONSES = [
  'createModelResponse',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
] as const
export const SPEECH = ['createSpeech', 'createTranscription', 'createTranslation'] as const
export const FILES = ['uploadFile', 'listFiles', 'retrieveFile', 'deleteFile', 'retrieveFileContent'] as const
export const BATCHES = ['createBatch', 'listBatches', 'retrieveBatch', 'cancelBatch'] as const
export const FINETUNES = ['createFinetune', 'listFinetunes', 'retrieveFinetune', 'cancelFinetune'] as const
export const MESSAGES = ['messages', 'messagesCountTokens'] as const
