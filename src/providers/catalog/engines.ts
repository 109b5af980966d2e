import type {EndpointName} from '../../schema/endpoints.ts'
import {bearer, optional} from '../auth.ts'
import {belowV1, rootMeansV1} from '../base-urls/others.ts'
import {countTokensBy} from '../engines/count-tokens.ts'
import {LLAMA_CPP, type PromptCounter, VLLM} from '../engines/prompt-counters.ts'
import {plainFault} from '../openai/fault.ts'
import type {Provider} from '../provider.ts'
import {triton} from '../triton/index.ts'
import {SPEECH, TEXT} from './offers.ts'
import {compatibleRow, type More, nativeRow} from './row.ts'

/** The routes of other clients. */
const BOTH: readonly EndpointName[] = ['messages', 'createModelResponse']
const keyless = {auth: optional(bearer)}
/** Their routes beside `/v1` are reached too, so the base URL may be written with or without it. */
const either = {pathOf: belowV1}
const root = {pathOf: rootMeansV1}

/**
 * Engines of one's own, each at a host that its operator names (`custom_host`): there is no address to guess. All serve
 * OpenAI's routes. What else a client's library speaks (`/messages`, `/responses`) is translated, unless the engine at
 * that host is found to serve it: newer versions do. Sources: llama.cpp's server README, vLLM's documentation of online
 * serving, docs.ollama.com, lmstudio.ai/docs, localai.io, docs.sglang.ai.
 */
// biome-ignore format: a table is read by its lines
export const engines: readonly Provider[] = [
  engine('aphrodite', 'Aphrodite Engine', [...TEXT, 'embed']),
  engine('docker-model-runner', 'Docker Model Runner', [...TEXT, 'embed']),
  engine('gpustack', 'GPUStack', [...TEXT, 'embed', 'rerank', 'imageGenerate', ...SPEECH]),
  engine('infinity', 'Infinity', ['embed', 'rerank', 'listModels']),
  engine('jan', 'Jan', TEXT),
  engine('koboldcpp', 'KoboldCpp', [...TEXT, 'embed', 'createSpeech', 'createTranscription']),
  engine('litellm', 'LiteLLM Proxy', 'all'),
  engine('llama-cpp', 'llama.cpp', [...TEXT, 'embed', 'rerank'], {...root, may_serve: BOTH, ...counting(LLAMA_CPP)}),
  engine('llamafile', 'llamafile', [...TEXT, 'embed']),
  engine('lm-studio', 'LM Studio', [...TEXT, 'embed'], {...root, may_serve: BOTH}),
  engine('lmdeploy', 'LMDeploy', TEXT),
  engine('localai', 'LocalAI', [...TEXT, 'embed', 'rerank', 'imageGenerate', ...SPEECH], {may_serve: BOTH}),
  engine('mistral-rs', 'mistral.rs', [...TEXT, 'embed', 'imageGenerate', 'createSpeech']),
  engine('mlx-lm', 'MLX LM', TEXT),
  engine('nvidia-nim', 'NVIDIA NIM', [...TEXT, 'embed']),
  engine('ollama', 'Ollama', [...TEXT, 'embed'], {...either, may_serve: BOTH}),
  engine('openllm', 'OpenLLM', TEXT),
  engine('openvino', 'OpenVINO Model Server', [...TEXT, 'embed', 'rerank', 'imageGenerate']),
  engine('ray-serve', 'Ray Serve LLM', [...TEXT, 'embed']),
  engine('sglang', 'SGLang', [...TEXT, 'embed', 'rerank'], {...root, may_serve: BOTH}),
  engine('speaches', 'Speaches', SPEECH),
  engine('tabbyapi', 'TabbyAPI', [...TEXT, 'embed']),
  engine('tensorrt-llm', 'TensorRT-LLM', TEXT),
  engine('text-embeddings-inference', 'Text Embeddings Inference', ['embed']),
  engine('text-generation-webui', 'Text Generation Web UI', [...TEXT, 'embed']),
  engine('tgi', 'Text Generation Inference', TEXT),
  nativeRow('triton', 'NVIDIA Triton', null, {...keyless, translations: triton}),
  engine('vllm', 'vLLM', [...TEXT, 'embed', 'rerank', 'createTranscription', 'createTranslation'], {...root, may_serve: BOTH, ...counting(VLLM)}),
  engine('xinference', 'Xinference', [...TEXT, 'embed', 'rerank', 'imageGenerate', ...SPEECH]),
]

/** Counts the tokens of its prompts itself. */
function counting(prompt_counters: readonly PromptCounter[]): More {
  return {
    prompt_counters,
    operations: {endpoints: {messagesCountTokens: countTokensBy(prompt_counters)}, fault: plainFault},
  }
}

function engine(slug: string, name: string, endpoints: readonly EndpointName[] | 'all', more: More = {}): Provider {
  return compatibleRow(slug, name, null, endpoints, {...keyless, is_engine: true, stream_usage: true, ...more})
}
