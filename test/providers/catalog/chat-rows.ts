/**
 * Chat with bodies as they are, `Authorization: Bearer k`: slug, and the whole URL (reference: catalogue; each
 * provider's own pages).
 */
const BEARER_CHAT = `
openai            https://api.openai.com/v1/chat/completions
302ai             https://api.302.ai/v1/chat/completions
aibadgr           https://aibadgr.com/api/v1/chat/completions
aimlapi           https://api.aimlapi.com/v1/chat/completions
anyscale          https://api.endpoints.anyscale.com/v1/chat/completions
avian             https://api.avian.io/v1/chat/completions
baseten           https://inference.baseten.co/v1/chat/completions
byteplus          https://ark.ap-southeast.bytepluses.com/api/v3/chat/completions
cerebras          https://api.cerebras.ai/v1/chat/completions
chutes            https://llm.chutes.ai/v1/chat/completions
cometapi          https://api.cometapi.com/v1/chat/completions
dashscope         https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions
deepbricks        https://api.deepbricks.ai/v1/chat/completions
deepinfra         https://api.deepinfra.com/v1/openai/chat/completions
deepseek          https://api.deepseek.com/v1/chat/completions
featherless-ai    https://api.featherless.ai/v1/chat/completions
fireworks-ai      https://api.fireworks.ai/inference/v1/chat/completions
friendli          https://api.friendli.ai/serverless/v1/chat/completions
github            https://models.github.ai/inference/chat/completions
gradient-ai       https://inference.do-ai.run/v1/chat/completions
groq              https://api.groq.com/openai/v1/chat/completions
huggingface       https://router.huggingface.co/v1/chat/completions
hyperbolic        https://api.hyperbolic.xyz/v1/chat/completions
inception         https://api.inceptionlabs.ai/v1/chat/completions
inference-net     https://api.inference.net/v1/chat/completions
iointelligence    https://api.intelligence.io.solutions/api/v1/chat/completions
kluster-ai        https://api.kluster.ai/v1/chat/completions
krutrim           https://cloud.olakrutrim.com/v1/chat/completions
lambda            https://api.lambdalabs.com/v1/chat/completions
lemonfox-ai       https://api.lemonfox.ai/v1/chat/completions
lepton            https://api.lepton.ai/api/v1/chat/completions
lingyi            https://api.lingyiwanwu.com/v1/chat/completions
matterai          https://api.matterai.so/v1/chat/completions
minimax           https://api.minimax.io/v1/chat/completions
modal             https://api.modal.com/v1/chat/completions
monsterapi        https://llm.monsterapi.ai/v1/chat/completions
moonshot          https://api.moonshot.cn/v1/chat/completions
morph             https://api.morphllm.com/v1/chat/completions
ncompass          https://api.ncompass.tech/v1/chat/completions
nebius            https://api.studio.nebius.ai/v1/chat/completions
nextbit           https://api.nextbit256.com/v1/chat/completions
novita-ai         https://api.novita.ai/v3/openai/v1/chat/completions
nscale            https://inference.api.nscale.com/v1/chat/completions
nvidia            https://integrate.api.nvidia.com/v1/chat/completions
openrouter        https://openrouter.ai/api/v1/chat/completions
ovhcloud          https://oai.endpoints.kepler.ai.cloud.ovh.net/v1/chat/completions
parasail          https://api.parasail.io/v1/chat/completions
perplexity-ai     https://api.perplexity.ai/chat/completions
requesty          https://router.requesty.ai/v1/chat/completions
sambanova         https://api.sambanova.ai/v1/chat/completions
scaleway          https://api.scaleway.ai/v1/chat/completions
siliconflow       https://api.siliconflow.cn/v1/chat/completions
stepfun           https://api.stepfun.com/v1/chat/completions
together-ai       https://api.together.xyz/v1/chat/completions
upstage           https://api.upstage.ai/v1/solar/chat/completions
v0                https://api.v0.dev/v1/chat/completions
venice            https://api.venice.ai/api/v1/chat/completions
vercel-ai-gateway https://ai-gateway.vercel.sh/v1/chat/completions
volcengine        https://ark.cn-beijing.volces.com/api/v3/chat/completions
wandb             https://api.inference.wandb.ai/v1/chat/completions
x-ai              https://api.x.ai/v1/chat/completions
z-ai              https://api.z.ai/api/paas/v4/chat/completions
zhipu             https://open.bigmodel.cn/api/paas/v4/chat/completions
`

/** Engines at a host of their operator's, chat without a key: the slug alone. */
const ENGINES_SAID = `aphrodite docker-model-runner gpustack jan koboldcpp litellm llama-cpp llamafile lm-studio lmdeploy localai mistral-rs mlx-lm
  nvidia-nim ollama openllm openvino passthrough ray-serve sglang tabbyapi tensorrt-llm text-generation-webui tgi vllm xinference`

/** Slug and URL of each. */
export const bearerChat = BEARER_CHAT.trim()
  .split('\n')
  .map(line => line.split(/\s+/) as [slug: string, url: string])

export const ENGINES = ENGINES_SAID.split(/\s+/)
