/**
 * Each source's name of a provider → our slug. `null` leaves it out: a subscription whose notional prices are not paid
 * per token, or an engine that runs at home. A provider that is in no table stops the build.
 */
type Slugs = Readonly<Record<string, string | null>>

const SAME = (...slugs: string[]): Slugs => Object.fromEntries(slugs.map(slug => [slug, slug]))

// biome-ignore format: a table is read by its lines
export const GENAI_SLUGS: Slugs = {
  ...SAME('anthropic', 'arcee', 'avian', 'baseten', 'cerebras', 'cohere', 'cursor', 'deepseek', 'doubleword', 'github-copilot', 'google', 'groq',
    'minimax', 'modal', 'openai', 'openrouter', 'ovhcloud', 'quicksilverpro', 'typesafe', 'x-ai'),
  aws: 'bedrock', azure: 'azure-openai', cloudflare: 'workers-ai', fireworks: 'fireworks-ai', mistral: 'mistral-ai', moonshotai: 'moonshot',
  novita: 'novita-ai', perplexity: 'perplexity-ai', together: 'together-ai', voyageai: 'voyage', zai: 'z-ai', zhipuai: 'zhipu',
}

/**
 * `huggingface_together` is Hugging Face's router over another provider: our slug is huggingface, and a caller writes
 * `model:together`.
 */
export const GENAI_ROUTED = /^huggingface_(.+)$/

// biome-ignore format: a table is read by its lines
export const PI_SLUGS: Slugs = {
  ...SAME('anthropic', 'cerebras', 'cloudflare-ai-gateway', 'deepseek', 'google', 'groq', 'huggingface', 'minimax', 'openai', 'opencode',
    'openrouter', 'vercel-ai-gateway', 'xiaomi'),
  'amazon-bedrock': 'bedrock', 'azure-openai-responses': 'azure-openai', 'cloudflare-workers-ai': 'workers-ai', fireworks: 'fireworks-ai',
  'google-vertex': 'vertex-ai', 'minimax-cn': 'minimax', mistral: 'mistral-ai', moonshotai: 'moonshot', 'moonshotai-cn': 'moonshot',
  xai: 'x-ai', zai: 'z-ai',
  'github-copilot': null, 'kimi-coding': null, 'openai-codex': null, 'opencode-go': null,
  'xiaomi-token-plan-ams': null, 'xiaomi-token-plan-cn': null, 'xiaomi-token-plan-sgp': null,
}

// biome-ignore format: a table is read by its lines
export const TOKENLENS_SLUGS: Slugs = {
  ...SAME('anthropic', 'baseten', 'cerebras', 'chutes', 'deepinfra', 'deepseek', 'fastrouter', 'fireworks-ai', 'google', 'groq', 'huggingface',
    'inception', 'modelscope', 'morph', 'nvidia', 'openai', 'opencode', 'openrouter', 'requesty', 'submodel', 'synthetic', 'upstage', 'v0', 'venice',
    'wandb'),
  alibaba: 'dashscope', 'alibaba-cn': 'dashscope', 'amazon-bedrock': 'bedrock', azure: 'azure-openai', 'cloudflare-workers-ai': 'workers-ai',
  'github-models': 'github', 'google-vertex': 'vertex-ai', 'google-vertex-anthropic': 'vertex-ai', inference: 'inference-net', llama: 'meta-llama',
  mistral: 'mistral-ai', moonshotai: 'moonshot', 'moonshotai-cn': 'moonshot', perplexity: 'perplexity-ai', togetherai: 'together-ai',
  vercel: 'vercel-ai-gateway', xai: 'x-ai', zai: 'z-ai', zhipuai: 'zhipu',
  'github-copilot': null, lmstudio: null, 'zai-coding-plan': null,
}

// biome-ignore format: a table is read by its lines
export const AICOST_SLUGS: Slugs = {
  ...SAME('ai21', 'anthropic', 'anyscale', 'bedrock', 'cerebras', 'cohere', 'dashscope', 'databricks', 'deepinfra', 'deepseek', 'groq', 'heroku',
    'hyperbolic', 'moonshot', 'morph', 'nscale', 'openai', 'openrouter', 'ovhcloud', 'replicate', 'sagemaker', 'sambanova', 'v0', 'vertex-ai',
    'volcengine', 'voyage', 'wandb', 'watsonx'),
  aleph_alpha: 'aleph-alpha', azure: 'azure-openai', azure_ai: 'azure-ai', azure_text: 'azure-openai', bedrock_converse: 'bedrock',
  cloudflare: 'workers-ai', codestral: 'mistral-ai', cohere_chat: 'cohere', featherless_ai: 'featherless-ai', fireworks_ai: 'fireworks-ai',
  'fireworks_ai-embedding-models': 'fireworks-ai', friendliai: 'friendli', gradient_ai: 'gradient-ai', lambda_ai: 'lambda',
  meta_llama: 'meta-llama', mistral: 'mistral-ai', nlp_cloud: 'nlp-cloud', oci: 'oracle', perplexity: 'perplexity-ai', snowflake: 'cortex',
  'text-completion-codestral': 'mistral-ai', 'text-completion-openai': 'openai', together_ai: 'together-ai', vercel_ai_gateway: 'vercel-ai-gateway',
  'vertex_ai-ai21_models': 'vertex-ai', 'vertex_ai-anthropic_models': 'vertex-ai', 'vertex_ai-code-chat-models': 'vertex-ai',
  'vertex_ai-deepseek_models': 'vertex-ai', 'vertex_ai-llama_models': 'vertex-ai', 'vertex_ai-minimax_models': 'vertex-ai',
  'vertex_ai-mistral_models': 'vertex-ai', 'vertex_ai-moonshot_models': 'vertex-ai', 'vertex_ai-openai_models': 'vertex-ai',
  'vertex_ai-qwen_models': 'vertex-ai', xai: 'x-ai',
  lemonade: null, ollama: null,
}

/** Our slug for `provider`, null when it is left out. */
export function slugOf(slugs: Slugs, provider: string, source: string): string | null {
  const slug = Object.hasOwn(slugs, provider) ? slugs[provider] : undefined
  if (slug === undefined)
    throw new Error(`${source} has a provider "${provider}" that no table of bin/prices/providers.ts names`)
  return slug
}
