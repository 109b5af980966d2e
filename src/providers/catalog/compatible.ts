import {bearer, optional} from '../auth.ts'
import {databricksPath, fireworksPlace, huggingfacePlace} from '../base-urls/others.ts'
import {template} from '../base-urls/template.ts'
import {fireworksOperations} from '../fireworks/file-operations.ts'
import {hyperbolic} from '../hyperbolic/index.ts'
import {mistralOperations} from '../mistral/file-operations.ts'
import {mistral} from '../mistral/index.ts'
import {predibase} from '../predibase/index.ts'
import type {Provider} from '../provider.ts'
import {jina} from '../rerankers/jina.ts'
import {together} from '../rerankers/together.ts'
import {voyage} from '../rerankers/voyage.ts'
import {siliconflow} from '../siliconflow/index.ts'
import {togetherOperations} from '../together/file-operations.ts'
import {BATCHES, CHAT, FILES, RESPONSES, SPEECH, TEXT} from './offers.ts'
import {compatibleRow as row} from './row.ts'

/** Set only for providers that document `stream_options.include_usage`: some answer 422 to fields they do not know. */
const metered = {stream_usage: true}
const realtime = {realtime: {path: '/realtime'}}

/**
 * Providers whose wire is OpenAI's and that differ in these words only (docs/architecture.md, Providers and dialects).
 */
// biome-ignore format: a table is read by its lines
export const compatible: readonly Provider[] = [
  row('openai', 'OpenAI', 'https://api.openai.com/v1', 'all', {...metered, ...realtime}),
  row('302ai', '302.AI', 'https://api.302.ai/v1', CHAT),
  row('aibadgr', 'AI Badgr', 'https://aibadgr.com/api/v1', CHAT),
  row('aimlapi', 'AI/ML API', 'https://api.aimlapi.com/v1', [...CHAT, 'embed', 'imageGenerate']),
  row('anyscale', 'Anyscale', 'https://api.endpoints.anyscale.com/v1', [...TEXT, 'embed']),
  row('avian', 'Avian', 'https://api.avian.io/v1', CHAT),
  row('baseten', 'Baseten', 'https://inference.baseten.co/v1', CHAT, metered),
  row('byteplus', 'BytePlus ModelArk', 'https://ark.ap-southeast.bytepluses.com/api/v3', [...CHAT, 'embed', 'imageGenerate'], {...metered,
    ...template('https://ark.{byteplus_region}.bytepluses.com/api/v3', {byteplus_region: 'ap-southeast'})}),
  row('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', TEXT, metered),
  row('chutes', 'Chutes', 'https://llm.chutes.ai/v1', TEXT, metered),
  row('cometapi', 'CometAPI', 'https://api.cometapi.com/v1', [...CHAT, 'embed']),
  row('dashscope', 'Alibaba DashScope', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', [...CHAT, 'embed', ...FILES, ...BATCHES], metered),
  row('databricks', 'Databricks', null, [...TEXT, 'embed', 'createModelResponse'], {
    ...template('https://{databricks_workspace}.cloud.databricks.com/serving-endpoints'), pathOf: databricksPath}),
  row('deepbricks', 'DeepBricks', 'https://api.deepbricks.ai/v1', [...CHAT, 'imageGenerate']),
  row('deepinfra', 'DeepInfra', 'https://api.deepinfra.com/v1/openai', [...TEXT, 'embed', 'imageGenerate', ...SPEECH], metered),
  row('deepseek', 'DeepSeek', 'https://api.deepseek.com', TEXT, {...metered, paths: {chatComplete: '/v1/chat/completions', complete: '/beta/completions'}}),
  row('featherless-ai', 'Featherless AI', 'https://api.featherless.ai/v1', TEXT),
  row('fireworks-ai', 'Fireworks AI', 'https://api.fireworks.ai/inference/v1', [...TEXT, 'embed', 'createModelResponse'], {...metered, baseUrlOf: fireworksPlace, operations: fireworksOperations}),
  row('friendli', 'Friendli', 'https://api.friendli.ai/serverless/v1', TEXT, metered),
  row('github', 'GitHub Models', 'https://models.github.ai/inference', ['chatComplete', 'embed'], metered),
  row('gradient-ai', 'DigitalOcean Gradient AI', 'https://inference.do-ai.run/v1', [...CHAT, 'imageGenerate']),
  row('groq', 'Groq', 'https://api.groq.com/openai/v1', [...CHAT, 'createModelResponse', ...SPEECH, ...FILES, ...BATCHES], metered),
  row('huggingface', 'Hugging Face', 'https://router.huggingface.co/v1', [...TEXT, 'createModelResponse'], {...metered,
    baseUrlOf: huggingfacePlace, base_url_template: 'https://router.huggingface.co/v1, or {huggingface_base_url}/v1', host_option: 'huggingface_base_url'}),
  row('hyperbolic', 'Hyperbolic', 'https://api.hyperbolic.xyz/v1', TEXT, {translations: hyperbolic}),
  row('inception', 'Inception', 'https://api.inceptionlabs.ai/v1', CHAT),
  row('inference-net', 'Inference.net', 'https://api.inference.net/v1', CHAT),
  row('iointelligence', 'io.net Intelligence', 'https://api.intelligence.io.solutions/api/v1', [...CHAT, 'embed']),
  row('jina', 'Jina AI', 'https://api.jina.ai/v1', [], {translations: jina}),
  row('kluster-ai', 'kluster.ai', 'https://api.kluster.ai/v1', [...CHAT, 'embed', ...FILES, ...BATCHES]),
  row('krutrim', 'Krutrim', 'https://cloud.olakrutrim.com/v1', CHAT),
  row('lambda', 'Lambda', 'https://api.lambdalabs.com/v1', TEXT),
  row('lemonfox-ai', 'Lemonfox.ai', 'https://api.lemonfox.ai/v1', [...CHAT, 'imageGenerate', ...SPEECH]),
  row('lepton', 'Lepton AI', 'https://api.lepton.ai/api/v1', [...TEXT, 'createTranscription']),
  row('lingyi', '01.AI', 'https://api.lingyiwanwu.com/v1', CHAT),
  row('matterai', 'MatterAI', 'https://api.matterai.so/v1', CHAT),
  row('minimax', 'MiniMax', 'https://api.minimax.io/v1', CHAT),
  row('mistral-ai', 'Mistral AI', 'https://api.mistral.ai/v1', ['listModels', 'ocr', 'moderate', 'createTranscription', ...FILES], {translations: mistral, operations: mistralOperations}),
  row('modal', 'Modal', 'https://api.modal.com/v1', [...TEXT, 'embed'], {auth: optional(bearer), hands_on: ['modal-key', 'modal-secret']}),
  row('monsterapi', 'MonsterAPI', 'https://llm.monsterapi.ai/v1', CHAT),
  row('moonshot', 'Moonshot AI', 'https://api.moonshot.cn/v1', [...CHAT, ...FILES], metered),
  row('morph', 'Morph', 'https://api.morphllm.com/v1', [...CHAT, 'embed']),
  row('ncompass', 'nCompass', 'https://api.ncompass.tech/v1', CHAT),
  row('nebius', 'Nebius AI Studio', 'https://api.studio.nebius.ai/v1', [...TEXT, 'embed', 'imageGenerate'], metered),
  row('nextbit', 'NextBit', 'https://api.nextbit256.com/v1', TEXT),
  row('novita-ai', 'Novita AI', 'https://api.novita.ai/v3/openai/v1', [...TEXT, 'embed'], metered),
  row('nscale', 'Nscale', 'https://inference.api.nscale.com/v1', [...CHAT, 'imageGenerate']),
  row('nvidia', 'NVIDIA API catalogue', 'https://integrate.api.nvidia.com/v1', [...TEXT, 'embed'], metered),
  row('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', [...TEXT, 'embed', 'createModelResponse'], {...metered, hands_on: ['http-referer', 'x-title']}),
  row('ovhcloud', 'OVHcloud AI Endpoints', 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1', [...CHAT, 'embed'], metered),
  row('parasail', 'Parasail', 'https://api.parasail.io/v1', TEXT),
  row('passthrough', 'Any host', null, 'all', {auth: optional(bearer)}),
  row('perplexity-ai', 'Perplexity', 'https://api.perplexity.ai', ['chatComplete', 'createModelResponse'], {paths: {createModelResponse: '/v1/responses'}}),
  row('predibase', 'Predibase', 'https://serving.app.predibase.com', [], {translations: predibase}),
  row('recraft-ai', 'Recraft', 'https://external.api.recraft.ai/v1', ['imageGenerate']),
  row('requesty', 'Requesty', 'https://router.requesty.ai/v1', [...CHAT, 'embed'], metered),
  row('sambanova', 'SambaNova', 'https://api.sambanova.ai/v1', [...CHAT, 'embed'], metered),
  row('scaleway', 'Scaleway Generative APIs', 'https://api.scaleway.ai/v1', [...CHAT, 'embed'], metered),
  row('siliconflow', 'SiliconFlow', 'https://api.siliconflow.cn/v1', [...CHAT, 'embed'], {...metered, translations: siliconflow}),
  row('stepfun', 'StepFun', 'https://api.stepfun.com/v1', CHAT),
  row('together-ai', 'Together AI', 'https://api.together.xyz/v1', [...TEXT, 'embed', 'imageGenerate', ...SPEECH], {...metered, translations: together, operations: togetherOperations}),
  row('upstage', 'Upstage', 'https://api.upstage.ai/v1/solar', [...CHAT, 'embed'], metered),
  row('v0', 'v0', 'https://api.v0.dev/v1', CHAT),
  row('venice', 'Venice', 'https://api.venice.ai/api/v1', [...CHAT, 'embed', 'imageGenerate'], metered),
  row('vercel-ai-gateway', 'Vercel AI Gateway', 'https://ai-gateway.vercel.sh/v1', [...CHAT, 'embed'], metered),
  row('volcengine', 'Volcengine Ark', 'https://ark.cn-beijing.volces.com/api/v3', [...CHAT, 'embed', 'imageGenerate'], metered),
  row('voyage', 'Voyage AI', 'https://api.voyageai.com/v1', [], {translations: voyage}),
  row('wandb', 'W&B Inference', 'https://api.inference.wandb.ai/v1', CHAT, metered),
  row('x-ai', 'xAI', 'https://api.x.ai/v1', [...TEXT, 'embed', 'imageGenerate', ...RESPONSES], {...metered, ...realtime}),
  row('z-ai', 'Z.ai', 'https://api.z.ai/api/paas/v4', CHAT),
  row('zhipu', 'Zhipu AI', 'https://open.bigmodel.cn/api/paas/v4', [...CHAT, 'embed']),
]
