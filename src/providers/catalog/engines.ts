import type {EndpointName} from '../../schema/endpoints.ts'
import {bearer, optional} from '../auth.ts'
import {belowV1} from '../base-urls/others.ts'
import type {Provider} from '../provider.ts'
import {triton} from '../triton/index.ts'
import {SPEECH, TEXT} from './offers.ts'
import {compatibleRow, type More, nativeRow} from './row.ts'

const keyless = {auth: optional(bearer)}
/** Their routes beside `/v1` are reached too, so the base URL may be written with or without it. */
const either = {pathOf: belowV1}

/**
 * Engines of one's own, each at a host that its operator names (`custom_host`): there is no address to guess. All serve OpenAI's routes; what
 * else a client's library speaks (`/messages`, `/responses`) is translated, since not every version of them has it.
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
  engine('llama-cpp', 'llama.cpp', [...TEXT, 'embed', 'rerank']),
  engine('llamafile', 'llamafile', [...TEXT, 'embed']),
  engine('lm-studio', 'LM Studio', [...TEXT, 'embed', 'createModelResponse']),
  engine('lmdeploy', 'LMDeploy', TEXT),
  engine('localai', 'LocalAI', [...TEXT, 'embed', 'rerank', 'imageGenerate', ...SPEECH]),
  engine('mistral-rs', 'mistral.rs', [...TEXT, 'embed', 'imageGenerate', 'createSpeech']),
  engine('mlx-lm', 'MLX LM', TEXT),
  engine('nvidia-nim', 'NVIDIA NIM', [...TEXT, 'embed']),
  engine('ollama', 'Ollama', [...TEXT, 'embed', 'createModelResponse'], either),
  engine('openllm', 'OpenLLM', TEXT),
  engine('openvino', 'OpenVINO Model Server', [...TEXT, 'embed', 'rerank', 'imageGenerate']),
  engine('ray-serve', 'Ray Serve LLM', [...TEXT, 'embed']),
  engine('sglang', 'SGLang', [...TEXT, 'embed', 'rerank']),
  engine('speaches', 'Speaches', SPEECH),
  engine('tabbyapi', 'TabbyAPI', [...TEXT, 'embed']),
  engine('tensorrt-llm', 'TensorRT-LLM', TEXT),
  engine('text-embeddings-inference', 'Text Embeddings Inference', ['embed']),
  engine('text-generation-webui', 'Text Generation Web UI', [...TEXT, 'embed']),
  engine('tgi', 'Text Generation Inference', TEXT),
  nativeRow('triton', 'NVIDIA Triton', null, {...keyless, translations: triton}),
  engine('vllm', 'vLLM', [...TEXT, 'embed', 'rerank', 'createModelResponse', 'createTranscription', 'createTranslation']),
  engine('xinference', 'Xinference', [...TEXT, 'embed', 'rerank', 'imageGenerate', ...SPEECH]),
]

function engine(slug: string, name: string, endpoints: readonly EndpointName[] | 'all', more: More = {}): Provider {
  return compatibleRow(slug, name, null, endpoints, {...keyless, is_engine: true, stream_usage: true, ...more})
}
