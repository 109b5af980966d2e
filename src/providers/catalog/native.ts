import {bearer, keyIn, optional} from '../auth.ts'
import type {Provider} from '../provider.ts'

type More = Partial<Omit<Provider, 'slug' | 'name' | 'base_url'>>

const x_api_key = {auth: keyIn('x-api-key')}
/** Their host or their signature is computed. */
const later = {available: false}

/**
 * Providers with words of their own. Pass-through reaches them with the right credential; of the unified endpoints they serve those alone
 * whose bodies need no translation (reference: data plane, catalogue).
 */
// biome-ignore format: a table is read by its lines
export const native: readonly Provider[] = [
  row('ai21', 'AI21 Labs', 'https://api.ai21.com/studio/v1'),
  row('anthropic', 'Anthropic', 'https://api.anthropic.com/v1', {...x_api_key, headers: {'anthropic-version': '2023-06-01'}, endpoints: ['messages', 'messagesCountTokens', 'listModels']}),
  row('bytez', 'Bytez', 'https://api.bytez.com/models/v2', {auth: keyIn('authorization', 'Key ')}),
  row('cohere', 'Cohere', 'https://api.cohere.ai', {endpoints: ['rerank'], paths: {rerank: '/v2/rerank'}}),
  row('deepgram', 'Deepgram', 'https://api.deepgram.com/v1', {auth: keyIn('authorization', 'Token ')}),
  row('fal-ai', 'fal', 'https://fal.run', {auth: keyIn('authorization', 'Key ')}),
  row('google', 'Google Gemini', 'https://generativelanguage.googleapis.com', {auth: keyIn('x-goog-api-key')}),
  row('meshy', 'Meshy', 'https://api.meshy.ai/openapi/v1'),
  row('milvus', 'Milvus', null),
  row('nomic', 'Nomic', 'https://api-atlas.nomic.ai/v1'),
  row('palm', 'Google PaLM', 'https://generativelanguage.googleapis.com/v1beta3', {auth: keyIn('x-goog-api-key')}),
  row('pinecone', 'Pinecone', 'https://api.pinecone.io', {auth: keyIn('api-key'), headers: {'x-pinecone-api-version': '2025-04'}, endpoints: ['rerank']}),
  row('qdrant', 'Qdrant', null, {auth: keyIn('api-key', 'Bearer ')}),
  row('reka-ai', 'Reka', 'https://api.reka.ai', x_api_key),
  row('replicate', 'Replicate', 'https://api.replicate.com/v1'),
  row('segmind', 'Segmind', 'https://api.segmind.com/v1', x_api_key),
  row('stability-ai', 'Stability AI', 'https://api.stability.ai'),
  row('tripo3d', 'Tripo 3D', 'https://api.tripo3d.ai/v2/openapi'),
  row('triton', 'NVIDIA Triton', null, {auth: optional(bearer)}),

  row('azure-openai', 'Azure OpenAI', null, later),
  row('bedrock', 'Amazon Bedrock', null, later),
  row('claude-platform-aws', 'Claude Platform on AWS', null, later),
  row('cortex', 'Snowflake Cortex', null, later),
  row('oracle', 'Oracle Cloud', null, later),
  row('sagemaker', 'Amazon SageMaker', null, later),
  row('vertex-ai', 'Google Vertex AI', null, later),
  row('workers-ai', 'Cloudflare Workers AI', null, later),
]

function row(slug: string, name: string, base_url: string | null, more: More = {}): Provider {
  return {slug, name, base_url, dialect: 'native', available: true, auth: bearer, endpoints: [], stream_usage: false, ...more}
}
