import type {EndpointName} from '../../schema/endpoints.ts'
import {bearer, optional} from '../auth.ts'
import type {Provider} from '../provider.ts'

type Offer = readonly EndpointName[] | 'all'
type More = Partial<Omit<Provider, 'slug' | 'name' | 'base_url' | 'endpoints'>>

const CHAT = ['chatComplete', 'listModels'] as const
const TEXT = [...CHAT, 'complete'] as const
const RESPONSES = ['createModelResponse', 'getModelResponse', 'deleteModelResponse', 'listResponseInputItems'] as const
const SPEECH = ['createSpeech', 'createTranscription', 'createTranslation'] as const
const FILES = ['uploadFile', 'listFiles', 'retrieveFile', 'deleteFile', 'retrieveFileContent'] as const
const BATCHES = ['createBatch', 'listBatches', 'retrieveBatch', 'cancelBatch'] as const
const FINETUNES = ['createFinetune', 'listFinetunes', 'retrieveFinetune', 'cancelFinetune'] as const

/** Said only of providers that document `stream_options.include_usage`: some answer 422 to what they do not know. */
const metered = {stream_usage: true}
/** Engines of one's own, each at a host that its operator names: there is no address to guess. */
const engine = {auth: optional(bearer), stream_usage: true}

/** Providers whose wire is OpenAI's and that differ in these words only (reference: data plane, catalogue). */
// biome-ignore format: a table is read by its lines
export const compatible: readonly Provider[] = [
  row('openai', 'OpenAI', 'https://api.openai.com/v1', 'all', metered),
  row('302ai', '302.AI', 'https://api.302.ai/v1', CHAT),
  row('aibadgr', 'AI Badgr', 'https://aibadgr.com/api/v1', CHAT),
  row('anyscale', 'Anyscale', 'https://api.endpoints.anyscale.com/v1', [...TEXT, 'embed']),
  row('byteplus', 'BytePlus ModelArk', 'https://ark.ap-southeast.bytepluses.com/api/v3', [...CHAT, 'embed', 'imageGenerate'], metered),
  row('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', TEXT, metered),
  row('cometapi', 'CometAPI', 'https://api.cometapi.com/v1', [...CHAT, 'embed']),
  row('dashscope', 'Alibaba DashScope', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', [...CHAT, 'embed', ...FILES, ...BATCHES], metered),
  row('deepbricks', 'DeepBricks', 'https://api.deepbricks.ai/v1', [...CHAT, 'imageGenerate']),
  row('deepinfra', 'DeepInfra', 'https://api.deepinfra.com/v1/openai', [...TEXT, 'embed', 'imageGenerate', ...SPEECH], metered),
  row('deepseek', 'DeepSeek', 'https://api.deepseek.com', TEXT, {...metered, paths: {chatComplete: '/v1/chat/completions', complete: '/beta/completions'}}),
  row('featherless-ai', 'Featherless AI', 'https://api.featherless.ai/v1', TEXT),
  row('fireworks-ai', 'Fireworks AI', 'https://api.fireworks.ai/inference/v1', [...TEXT, 'embed', 'createModelResponse'], metered),
  row('github', 'GitHub Models', 'https://models.github.ai/inference', ['chatComplete', 'embed'], metered),
  row('groq', 'Groq', 'https://api.groq.com/openai/v1', [...CHAT, 'createModelResponse', ...SPEECH, ...FILES, ...BATCHES], metered),
  row('huggingface', 'Hugging Face', 'https://router.huggingface.co/v1', [...CHAT, 'createModelResponse'], metered),
  row('hyperbolic', 'Hyperbolic', 'https://api.hyperbolic.xyz/v1', TEXT),
  row('inference-net', 'Inference.net', 'https://api.inference.net/v1', CHAT),
  row('iointelligence', 'io.net Intelligence', 'https://api.intelligence.io.solutions/api/v1', [...CHAT, 'embed']),
  row('jina', 'Jina AI', 'https://api.jina.ai/v1', ['embed', 'rerank']),
  row('kluster-ai', 'kluster.ai', 'https://api.kluster.ai/v1', [...CHAT, 'embed', ...FILES, ...BATCHES]),
  row('krutrim', 'Krutrim', 'https://cloud.olakrutrim.com/v1', CHAT),
  row('lambda', 'Lambda', 'https://api.lambdalabs.com/v1', TEXT),
  row('lemonfox-ai', 'Lemonfox.ai', 'https://api.lemonfox.ai/v1', [...CHAT, 'imageGenerate', ...SPEECH]),
  row('lepton', 'Lepton AI', 'https://api.lepton.ai/api/v1', [...TEXT, 'createTranscription']),
  row('lingyi', '01.AI', 'https://api.lingyiwanwu.com/v1', CHAT),
  row('matterai', 'MatterAI', 'https://api.matterai.so/v1', CHAT),
  row('minimax', 'MiniMax', 'https://api.minimax.io/v1', CHAT),
  row('mistral-ai', 'Mistral AI', 'https://api.mistral.ai/v1', [...CHAT, 'embed', 'ocr', 'moderate', 'createTranscription', ...FILES, ...FINETUNES]),
  row('modal', 'Modal', 'https://api.modal.com/v1', [...TEXT, 'embed'], {auth: optional(bearer)}),
  row('monsterapi', 'MonsterAPI', 'https://llm.monsterapi.ai/v1', CHAT),
  row('moonshot', 'Moonshot AI', 'https://api.moonshot.cn/v1', [...CHAT, ...FILES], metered),
  row('ncompass', 'nCompass', 'https://api.ncompass.tech/v1', CHAT),
  row('nebius', 'Nebius AI Studio', 'https://api.studio.nebius.ai/v1', [...TEXT, 'embed', 'imageGenerate'], metered),
  row('nextbit', 'NextBit', 'https://api.nextbit256.com/v1', TEXT),
  row('novita-ai', 'Novita AI', 'https://api.novita.ai/v3/openai/v1', [...TEXT, 'embed'], metered),
  row('nscale', 'Nscale', 'https://inference.api.nscale.com/v1', [...CHAT, 'imageGenerate']),
  row('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', [...TEXT, 'embed', 'createModelResponse'], metered),
  row('ovhcloud', 'OVHcloud AI Endpoints', 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1', [...CHAT, 'embed'], metered),
  row('perplexity-ai', 'Perplexity', 'https://api.perplexity.ai', ['chatComplete', 'createModelResponse'], {paths: {createModelResponse: '/v1/responses'}}),
  row('recraft-ai', 'Recraft', 'https://external.api.recraft.ai/v1', ['imageGenerate']),
  row('sambanova', 'SambaNova', 'https://api.sambanova.ai/v1', [...CHAT, 'embed'], metered),
  row('siliconflow', 'SiliconFlow', 'https://api.siliconflow.cn/v1', [...CHAT, 'embed', 'rerank', 'imageGenerate'], metered),
  row('together-ai', 'Together AI', 'https://api.together.xyz/v1', [...TEXT, 'embed', 'rerank', 'imageGenerate', ...SPEECH], metered),
  row('upstage', 'Upstage', 'https://api.upstage.ai/v1/solar', [...CHAT, 'embed'], metered),
  row('voyage', 'Voyage AI', 'https://api.voyageai.com/v1', ['embed', 'rerank']),
  row('x-ai', 'xAI', 'https://api.x.ai/v1', [...TEXT, 'embed', 'imageGenerate', ...RESPONSES], metered),
  row('z-ai', 'Z.ai', 'https://api.z.ai/api/paas/v4', CHAT),
  row('zhipu', 'Zhipu AI', 'https://open.bigmodel.cn/api/paas/v4', [...CHAT, 'embed']),

  row('azure-ai', 'Azure AI Foundry', null, [...TEXT, 'embed', 'imageGenerate', ...SPEECH], metered),
  row('bedrock-mantle', 'Amazon Bedrock Mantle', null, [...CHAT, ...RESPONSES], metered),
  row('databricks', 'Databricks', null, [...CHAT, 'embed', 'createModelResponse']),
  row('predibase', 'Predibase', null, CHAT),
  row('passthrough', 'Any host', null, 'all', {auth: optional(bearer)}),

  row('ollama', 'Ollama', null, [...TEXT, 'embed', 'createModelResponse'], {...engine, paths: {
    chatComplete: '/v1/chat/completions', complete: '/v1/completions', embed: '/v1/embeddings', createModelResponse: '/v1/responses', listModels: '/v1/models',
  }}),
  row('llama-cpp', 'llama.cpp', null, 'all', engine),
  row('lm-studio', 'LM Studio', null, 'all', engine),
  row('localai', 'LocalAI', null, 'all', engine),
  row('tgi', 'Text Generation Inference', null, 'all', engine),
  row('vllm', 'vLLM', null, 'all', engine),
]

function row(slug: string, name: string, base_url: string | null, endpoints: Offer, more: More = {}): Provider {
  return {slug, name, base_url, endpoints, dialect: 'openai', available: true, auth: bearer, stream_usage: false, ...more}
}
