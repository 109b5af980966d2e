import {supports} from '../../../src/providers/clients.ts'
import type {Provider} from '../../../src/providers/provider.ts'
import {DEMO, list} from '../../../src/providers/registry.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import {PLACES} from '../places.ts'

/** The endpoints whose replies have a dialect that clients read. */
export const ENDPOINTS = [
  'chatComplete',
  'complete',
  'embed',
  'createModelResponse',
  'messages',
  'messagesCountTokens',
  'rerank',
  'imageGenerate',
  'createTranscription',
  'moderate',
] as const satisfies readonly EndpointName[]
export type Told = (typeof ENDPOINTS)[number]

/** How a kind's reply comes to the client. */
export interface AsCameRow {
  readonly kind: string
  readonly model: string
  readonly endpoint: Told
  readonly settings: Readonly<Record<string, unknown>>
}

/** Dialects whose replies are the client's own, translated for a few members only: the reply is left as it came. */
const NEAR: Readonly<Record<string, readonly Told[]>> = {
  'mistral-ai': ['chatComplete', 'embed'],
  predibase: ['chatComplete'],
  ai21: ['chatComplete'],
  'azure-ai': ['rerank'],
  cohere: ['rerank'],
  siliconflow: ['rerank'],
  jina: ['embed', 'rerank'],
  voyage: ['embed'],
  'together-ai': ['rerank'],
  'vertex-ai mistralai.mistral-small': ['chatComplete'],
  'vertex-ai anthropic.claude': ['messages', 'messagesCountTokens'],
  'bedrock anthropic.claude': ['messages'],
}

/** Endpoints that a kind has in words of its own, and why its reply cannot be the client's. */
export const FOREIGN: Readonly<Record<string, Readonly<Partial<Record<Told, string>>>>> = {
  'mistral-ai': {complete: 'fill-in-the-middle answers as a chat completion'},
  ai21: {complete: 'Jurassic answers `completions`', embed: 'answers `results`'},
  anthropic: {chatComplete: 'a Message', complete: 'a Message'},
  'azure-ai claude': {chatComplete: 'a Message', complete: 'a Message'},
  bedrock: {
    chatComplete: 'Converse',
    complete: 'InvokeModel',
    embed: 'InvokeModel',
    imageGenerate: 'InvokeModel',
    rerank: 'the agent runtime answers `relevanceScore`',
  },
  'bedrock anthropic.claude': {
    chatComplete: 'Converse',
    complete: 'InvokeModel',
    embed: 'InvokeModel',
    imageGenerate: 'InvokeModel',
    messagesCountTokens: 'answers `inputTokens`',
    rerank: 'the agent runtime answers `relevanceScore`',
  },
  'bedrock-mantle anthropic.claude': {chatComplete: 'a Message', complete: 'a Message'},
  'claude-platform-aws': {chatComplete: 'a Message', complete: 'a Message'},
  cohere: {
    chatComplete: 'a message without choices',
    complete: '`generations`',
    embed: 'lists by type',
  },
  cortex: {chatComplete: '`content_list`, and events without an end'},
  'fal-ai': {imageGenerate: '`images`'},
  google: {
    chatComplete: 'candidates',
    embed: '`embeddings`',
    imageGenerate: 'candidates or predictions',
    messagesCountTokens: '`totalTokens`',
  },
  hyperbolic: {imageGenerate: '`images`'},
  nomic: {embed: '`embeddings`'},
  oracle: {chatComplete: '`chatResponse`'},
  pinecone: {rerank: '`data` with `score`'},
  'reka-ai': {chatComplete: '`responses`'},
  segmind: {imageGenerate: 'a picture'},
  siliconflow: {imageGenerate: '`images`'},
  'stability-ai': {imageGenerate: '`artifacts`'},
  triton: {complete: '`text_output`'},
  'vertex-ai': {
    chatComplete: 'candidates',
    embed: 'predictions',
    imageGenerate: 'predictions',
    messagesCountTokens: '`totalTokens`',
    rerank: 'records',
  },
  'vertex-ai anthropic.claude': {chatComplete: 'a Message'},
  'vertex-ai mistralai.mistral-small': {complete: 'fill-in-the-middle answers as a chat completion'},
  voyage: {rerank: '`data` in place of `results`'},
  'workers-ai': {
    chatComplete:
      'stands under `result` (its choices are left as they came: test/providers/unified/near-openai.test.ts)',
    complete: '`response` under `result`',
    embed: '`data` under `result`',
    imageGenerate: 'a picture',
  },
}

/** Models that make another kind of a provider. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  'vertex-ai': ['anthropic.claude', 'mistralai.mistral-small', 'meta.llama'],
  bedrock: ['anthropic.claude'],
  'bedrock-mantle': ['anthropic.claude', 'openai.gpt-5'],
  'azure-ai': ['claude'],
}

const SETTINGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...Object.fromEntries(PLACES.toReversed().map(({kind, settings}) => [kind, settings])),
  bedrock: {aws_auth_type: 'apiKey', aws_region: 'us-east-1'},
  'azure-ai claude': {azure_auth_mode: 'default', azure_foundry_url: 'https://mine.services.ai.azure.com/anthropic'},
}

/**
 * Rows of all kinds: whose replies must come as they came, and what is in neither table, so that a new kind is looked
 * at.
 */
export function rows(): {
  readonly raw: readonly AsCameRow[]
  readonly unknown: readonly string[]
  readonly needless: readonly string[]
} {
  const raw: AsCameRow[] = []
  const unknown: string[] = []
  const needless = new Set(
    [...Object.entries(NEAR), ...Object.entries(FOREIGN).map(([name, of]) => [name, Object.keys(of)] as const)].flatMap(
      ([name, of]) => of.map(endpoint => `${name} ${endpoint}`),
    ),
  )
  // The demo answers in this process.
  for (const provider of list().filter(({slug}) => slug !== DEMO)) {
    for (const variant of ['', ...(VARIANTS[provider.slug] ?? [])]) {
      const name = variant ? `${provider.slug} ${variant}` : provider.slug
      const settings = SETTINGS[name] ?? SETTINGS[provider.slug] ?? {}
      const model = variant || (provider.slug === 'predibase' ? 'base:adapter' : 'm')
      const kind = (provider.variant?.(model, settings as never) ?? provider) as Provider
      for (const endpoint of ENDPOINTS) {
        const row = {kind: provider.slug, model, endpoint, settings}
        const is_translated = kind.translations?.endpoints[endpoint] !== undefined
        if (is_translated) needless.delete(`${name} ${endpoint}`)
        if (is_translated && FOREIGN[name]?.[endpoint]) continue
        if (is_translated && !NEAR[name]?.includes(endpoint)) unknown.push(`${name} ${endpoint}`)
        else if (is_translated || supports(kind, endpoint)) raw.push(row)
      }
    }
  }
  return {raw, unknown, needless: [...needless]}
}
