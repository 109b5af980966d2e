import type {EndpointName} from '../../schema/endpoints.ts'
import type {McpEndpoint} from '../../schema/mcp-endpoints.ts'
import * as bodies from './call-bodies.ts'
import * as replies from './call-replies.ts'

/** The document's texts for an endpoint beside its route. */
export interface CallDoc {
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly body?: {readonly schema: object; readonly example: unknown; readonly demo?: unknown}
  /** A reply of JSON, or the type of another. */
  readonly reply: replies.DocumentedReply | string
  readonly streams?: true
}

export type Documented = Exclude<EndpointName, 'proxy' | 'ingestTelemetry' | McpEndpoint>

const model = '@openai-search/gpt-4o-mini'
const messages = [{role: 'user', content: 'Say hello in one word.'}]
const demo = {model: '@demo/echo', messages}
export const FILE = 'the bytes of the file'

// biome-ignore format: a table is read by its lines
export const CALL_DOCS: Readonly<Record<Documented, CallDoc>> = {
  chatComplete: {tag: 'Chat', summary: 'Ask a model, in the words of OpenAI’s chat', body: {schema: bodies.ChatRequest, example: {model, messages}, demo}, reply: replies.Chat, streams: true},
  messages: {tag: 'Chat', summary: 'Ask a model, in the words of Anthropic’s messages', body: {schema: bodies.MessagesRequest, example: {model: '@anthropic-search/claude-haiku-4-5', max_tokens: 256, messages}, demo: {...demo, max_tokens: 256}}, reply: replies.Message, streams: true},
  messagesCountTokens: {tag: 'Chat', summary: 'Count the tokens of a message', body: {schema: bodies.CountTokensRequest, example: {model: '@anthropic-search/claude-haiku-4-5', messages}}, reply: replies.TokenCount},
  createModelResponse: {tag: 'Chat', summary: 'Ask a model, in the words of OpenAI’s responses', body: {schema: bodies.ResponseRequest, example: {model, input: 'Say hello in one word.'}, demo: {model: '@demo/echo', input: 'Say hello in one word.'}}, reply: replies.Response, streams: true},
  getModelResponse: {tag: 'Chat', summary: 'Show a response that the provider keeps', reply: replies.Response},
  deleteModelResponse: {tag: 'Chat', summary: 'Delete a response that the provider keeps', reply: replies.deleted('response', 'resp_EXAMPLE')},
  listResponseInputItems: {tag: 'Chat', summary: 'List what a kept response was asked', reply: replies.InputItems},
  complete: {tag: 'Chat', summary: 'Complete a text', body: {schema: bodies.CompletionRequest, example: {model, prompt: 'Hello', max_tokens: 16}}, reply: replies.Completion, streams: true},
  promptComplete: {tag: 'Chat', summary: 'Ask a model with a saved prompt', description: 'The answer is that of the chat or the completion which the prompt stands for. `prompts.render` shows what would be asked.', body: {schema: bodies.PromptRequest, example: {variables: {question: 'What is a gateway?'}}}, reply: replies.Chat, streams: true},
  embed: {tag: 'Embeddings and ranks', summary: 'Turn texts into vectors', body: {schema: bodies.EmbeddingRequest, example: {model: '@openai-search/text-embedding-3-small', input: 'A lighthouse'}}, reply: replies.Embeddings},
  rerank: {tag: 'Embeddings and ranks', summary: 'Order documents by a question', body: {schema: bodies.RerankRequest, example: {model: '@cohere-search/rerank-v3.5', query: 'Where is the lighthouse?', documents: ['A recipe', 'A map of the coast'], top_n: 2}}, reply: replies.Ranks},
  moderate: {tag: 'Embeddings and ranks', summary: 'Judge a text', body: {schema: bodies.ModerationRequest, example: {input: 'Hello', model: '@openai-search/text-moderation-latest'}}, reply: replies.Moderation},
  ocr: {tag: 'Images and sound', summary: 'Read a document', body: {schema: bodies.OcrRequest, example: {model: '@mistral-search/mistral-ocr-latest', document: {type: 'document_url', document_url: 'https://example.com/invoice.pdf'}}}, reply: replies.Pages},
  imageGenerate: {tag: 'Images and sound', summary: 'Make an image', body: {schema: bodies.ImageRequest, example: {model: '@openai-search/dall-e-3', prompt: 'A lighthouse at night', size: '1024x1024'}}, reply: replies.Images},
  imageEdit: {tag: 'Images and sound', summary: 'Change an image', body: {schema: bodies.ImageEditForm, example: {image: FILE, prompt: 'Add a lighthouse', model: '@openai-search/gpt-image-1'}}, reply: replies.Images},
  imageVariation: {tag: 'Images and sound', summary: 'Vary an image', body: {schema: bodies.ImageVariationForm, example: {image: FILE, model: '@openai-search/dall-e-2'}}, reply: replies.Images},
  createSpeech: {tag: 'Images and sound', summary: 'Say a text', body: {schema: bodies.SpeechRequest, example: {model: '@openai-search/tts-1', input: 'Hello', voice: 'alloy'}}, reply: 'audio/mpeg'},
  createTranscription: {tag: 'Images and sound', summary: 'Write down what is said', body: {schema: bodies.AudioForm, example: {file: FILE, model: '@openai-search/whisper-1'}}, reply: replies.Transcript},
  createTranslation: {tag: 'Images and sound', summary: 'Write down in English what is said', body: {schema: bodies.AudioForm, example: {file: FILE, model: '@openai-search/whisper-1'}}, reply: replies.Transcript},
  realtime: {tag: 'Images and sound', summary: 'Talk to a model over a WebSocket', description: 'Ask for the upgrade with `Connection: Upgrade`; the answer is 101 and events follow. A page like this one cannot try it.', reply: 'text/plain'},
  listModels: {tag: 'Models', summary: 'List the models of the workspace’s providers, or those of the provider that is named', reply: replies.Models},
  uploadFile: {tag: 'Files and jobs', summary: 'Give the provider a file', body: {schema: bodies.FileForm, example: {purpose: 'batch', file: FILE}}, reply: replies.OneFile},
  listFiles: {tag: 'Files and jobs', summary: 'List files', reply: replies.Files},
  retrieveFile: {tag: 'Files and jobs', summary: 'Show a file', reply: replies.OneFile},
  deleteFile: {tag: 'Files and jobs', summary: 'Delete a file', reply: replies.deleted('file', 'file-EXAMPLE')},
  retrieveFileContent: {tag: 'Files and jobs', summary: 'Read a file', reply: 'application/octet-stream'},
  createBatch: {tag: 'Files and jobs', summary: 'Start a batch', body: {schema: bodies.BatchRequest, example: {input_file_id: 'file-EXAMPLE', endpoint: '/v1/chat/completions', completion_window: '24h'}}, reply: replies.OneBatch},
  listBatches: {tag: 'Files and jobs', summary: 'List batches', reply: replies.Batches},
  retrieveBatch: {tag: 'Files and jobs', summary: 'Show a batch', reply: replies.OneBatch},
  cancelBatch: {tag: 'Files and jobs', summary: 'Stop a batch', reply: replies.OneBatch},
  getBatchOutput: {tag: 'Files and jobs', summary: 'Read the answers of a batch', reply: 'application/octet-stream'},
  createFinetune: {tag: 'Files and jobs', summary: 'Start to fine-tune a model', body: {schema: bodies.FinetuneRequest, example: {model: '@openai-search/gpt-4o-mini', training_file: 'file-EXAMPLE'}}, reply: replies.OneFinetune},
  listFinetunes: {tag: 'Files and jobs', summary: 'List jobs of fine-tuning', reply: replies.Finetunes},
  retrieveFinetune: {tag: 'Files and jobs', summary: 'Show a job of fine-tuning', reply: replies.OneFinetune},
  cancelFinetune: {tag: 'Files and jobs', summary: 'Stop a job of fine-tuning', reply: replies.OneFinetune},
}
