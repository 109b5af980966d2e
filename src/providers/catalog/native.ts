import {ai21} from '../ai21/index.ts'
import {anthropicOperations} from '../anthropic/file-operations.ts'
import {anthropic} from '../anthropic/index.ts'
import {oci} from '../auth/oci.ts'
import {snowflakeKeyPair} from '../auth/snowflake.ts'
import {keyIn, snowflake} from '../auth.ts'
import {googlePath} from '../base-urls/google.ts'
import {headersFrom, meshyPlace, onceV1} from '../base-urls/others.ts'
import {template} from '../base-urls/template.ts'
import {cohereOperations} from '../cohere/file-operations.ts'
import {cohere} from '../cohere/index.ts'
import {cortex} from '../cortex/index.ts'
import {falAi} from '../fal-ai/index.ts'
import {geminiOperations} from '../gemini/file-operations.ts'
import {gemini} from '../gemini/index.ts'
import {anthropicModels, cohereModels, geminiModels} from '../models/listers.ts'
import {nomic} from '../nomic/index.ts'
import {oracle} from '../oracle/index.ts'
import type {Provider} from '../provider.ts'
import {reka} from '../reka/index.ts'
import {pinecone} from '../rerankers/pinecone.ts'
import {segmind} from '../segmind/index.ts'
import {stabilityAi} from '../stability-ai/index.ts'
import {workersAi} from '../workers-ai/index.ts'
import {MESSAGES} from './offers.ts'
import {nativeRow as row} from './row.ts'

const x_api_key = {auth: keyIn('x-api-key')}
const stability = headersFrom({
  stability_client_id: 'stability-client-id',
  stability_client_user_id: 'stability-client-user-id',
  stability_client_version: 'stability-client-version',
})

/**
 * Providers with an API of their own. Unified endpoints that have a translation, and those whose bodies need none, are
 * served; pass-through reaches the rest with the right credential (docs/providers.md).
 */
// biome-ignore format: a table is read by its lines
export const native: readonly Provider[] = [
  row('ai21', 'AI21 Labs', 'https://api.ai21.com/studio/v1', {translations: ai21}),
  row('anthropic', 'Anthropic', 'https://api.anthropic.com/v1', {...x_api_key, headers: {'anthropic-version': '2023-06-01'}, endpoints: [...MESSAGES, 'listModels'], translations: anthropic, operations: anthropicOperations, models: anthropicModels, pathOf: onceV1, own_clients_send: 'anthropic-version'}),
  row('bytez', 'Bytez', 'https://api.bytez.com/models/v2', {auth: keyIn('authorization', 'Key '), endpoints: ['chatComplete', 'complete', 'embed'],
    paths: {chatComplete: '/openai/v1/chat/completions', complete: '/openai/v1/completions', embed: '/openai/v1/embeddings'}}),
  row('cohere', 'Cohere', 'https://api.cohere.ai', {translations: cohere, operations: cohereOperations, models: cohereModels}),
  row('cortex', 'Snowflake Cortex', null, {...template('https://{snowflake_account}.snowflakecomputing.com'), auth: snowflake, login: snowflakeKeyPair, translations: cortex}),
  row('deepgram', 'Deepgram', 'https://api.deepgram.com/v1', {auth: keyIn('authorization', 'Token ')}),
  row('fal-ai', 'fal', 'https://fal.run', {auth: keyIn('authorization', 'Key '), translations: falAi}),
  row('google', 'Google Gemini', 'https://generativelanguage.googleapis.com', {auth: keyIn('x-goog-api-key'), translations: gemini, operations: geminiOperations, pathOf: googlePath, models: geminiModels, own_clients_send: 'x-goog-api-client'}),
  row('meshy', 'Meshy', 'https://api.meshy.ai/openapi/v1', {baseUrlOf: meshyPlace}),
  row('milvus', 'Milvus', null),
  row('nomic', 'Nomic', 'https://api-atlas.nomic.ai/v1', {translations: nomic}),
  row('oracle', 'Oracle Cloud', null, {...template('https://inference.generativeai.{oracle_region}.oci.oraclecloud.com'), login: oci, translations: oracle}),
  row('palm', 'Google PaLM', 'https://generativelanguage.googleapis.com/v1beta3', {auth: keyIn('x-goog-api-key')}),
  row('pinecone', 'Pinecone', 'https://api.pinecone.io', {auth: keyIn('api-key'), headers: {'x-pinecone-api-version': '2025-04'}, translations: pinecone}),
  row('qdrant', 'Qdrant', null, {auth: keyIn('api-key', 'Bearer ')}),
  row('reka-ai', 'Reka', 'https://api.reka.ai', {...x_api_key, translations: reka}),
  row('replicate', 'Replicate', 'https://api.replicate.com/v1'),
  row('segmind', 'Segmind', 'https://api.segmind.com/v1', {...x_api_key, translations: segmind}),
  row('stability-ai', 'Stability AI', 'https://api.stability.ai', {headersOf: stability, translations: stabilityAi}),
  row('tripo3d', 'Tripo 3D', 'https://api.tripo3d.ai/v2/openapi'),
  row('workers-ai', 'Cloudflare Workers AI', null, {...template('https://api.cloudflare.com/client/v4/accounts/{workers_ai_account_id}/ai/run'), model_scopes: ['cf', 'hf'], translations: workersAi}),
]
