import {topLevel} from '../../base/json.ts'
import {parseJson} from '../../base/json-object.ts'
import {promptTokens} from '../../providers/media/prompt.ts'
import {estimateTokens, requestUnits} from '../../providers/openai/observe.ts'
import {hidesOutput, mostOutputTokens} from '../../providers/outputs/index.ts'
import {chargedTools} from '../../providers/unified/charged-tools.ts'
import {emptyUsage, imageUnit, UNIT, type Usage} from '../../schema/usage.ts'
import type {Call} from '../call/call.ts'
import {isFree} from '../call/operation.ts'
import {FREE_METHODS} from '../records/usage.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'
import {NO_PROMPT, type PromptUsage, SLICE_TOKENS, type UsageEstimate} from './reservation.ts'

/** An image at its largest, in tokens (OpenAI, image generation: high, 1024×1536). */
const IMAGE_TOKENS = 6240
const MAX_IMAGES = 10
/** Sound is hardly ever sent with fewer bytes a second. */
const SOUND_BYTES_A_SECOND = 4000
const SOUND_TOKENS_A_SECOND = 10
/** The longest document that is read at once (Mistral, OCR). */
const MAX_PAGES = 1000

/** What the next attempt of a call may use; null for what uses nothing up. */
export function estimateUsage(call: Call, provider: string, out: UpstreamRequest): UsageEstimate | null {
  const {endpoint, body, incoming} = call
  if (FREE_METHODS.has(incoming.method) || isFree(call)) return null
  const bytes = 'bytes' in body ? body.bytes.length : Number(incoming.headers['content-length'] ?? 0)
  const model = out.model ?? ''
  const prompt = promptOf(body, bytes, provider, model)
  const request = new OutputRequest(out, body)
  switch (endpoint) {
    case 'chatComplete':
    case 'complete':
    case 'createModelResponse':
    case 'messages':
    case 'proxy': {
      const most = request.most(model)
      const is_shown = 'stream' in body && body.stream && !hidesOutput(model, request.thinks)
      const first = is_shown ? Math.min(SLICE_TOKENS, most) : most
      return {forms: [{...tokensOf(prompt, first), units: request.tools}], prompt, first, most}
    }
    case 'embed':
      return whole(tokensOf(prompt, 0))
    case 'imageGenerate':
    case 'imageEdit':
    case 'imageVariation': {
      const units = body.kind === 'json' ? requestUnits('imageGenerate', body.bytes) : null
      const count = body.kind === 'json' ? request.times : MAX_IMAGES
      return whole(units ?? unitsOf(imageUnit(), count), {...tokensOf(prompt, 0), image_out_tokens: IMAGE_TOKENS * count})
    }
    case 'createSpeech': {
      const units = body.kind === 'json' ? requestUnits(endpoint, body.bytes) : null
      return whole(units ?? unitsOf(UNIT.characters, bytes), {...tokensOf(prompt, 0), audio_out_tokens: bytes * 2})
    }
    case 'createTranscription':
    case 'createTranslation': {
      const seconds = Math.ceil(bytes / SOUND_BYTES_A_SECOND)
      const heard = seconds * SOUND_TOKENS_A_SECOND
      return whole(unitsOf(UNIT.audio_seconds, seconds), {...tokensOf(NO_PROMPT, heard), audio_in_tokens: heard})
    }
    case 'rerank':
      return whole(unitsOf(UNIT.search_units, Math.ceil((bytes + 1) / 100_000)), tokensOf(prompt, 0))
    case 'ocr':
      return whole(unitsOf(UNIT.pages, MAX_PAGES), tokensOf(prompt, mostOutputTokens(model)))
    case 'moderate':
      return whole(tokensOf(prompt, 0))
    default:
      return null
  }
}

function whole(...forms: readonly Usage[]): UsageEstimate {
  return {forms, prompt: NO_PROMPT, first: 0, most: 0}
}

/** JSON is looked into; of what is none, or passes unread, the length is known. */
function promptOf(body: Call['body'], bytes: number, provider: string, model: string): PromptUsage {
  if (body.kind !== 'json') return {...NO_PROMPT, input_uncached_tokens: estimateTokens(bytes)}
  const {text, images, sound} = promptTokens(body.bytes, provider, model)
  return {input_uncached_tokens: text, image_in_tokens: images, audio_in_tokens: sound}
}

function tokensOf(prompt: PromptUsage, answer: number): Usage {
  return {...emptyUsage(), ...prompt, output_text_tokens: answer}
}

function unitsOf(unit: string, count: number): Usage {
  return {...emptyUsage(), units: {[unit]: count}}
}

/** Field names that bound an answer, in the dialects of all providers. */
const BOUNDS = [
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens',
  'max_tokens_to_sample',
  'max_new_tokens',
  'maxOutputTokens',
  'maxTokens',
  'maxTokenCount',
  'max_gen_len',
  'num_predict',
]
/** Members that hold such names. */
const INNER = ['generationConfig', 'inferenceConfig', 'textGenerationConfig', 'parameters', 'options']
const TIMES = ['n', 'best_of', 'candidateCount', 'num_generations']
const THINKS = ['thinking', 'reasoning', 'reasoning_effort', 'thinkingConfig']
const NO_KEYS: ReadonlySet<string> = new Set()
const MAX_MEMBER_BYTES = 1 << 16
const MAX_TIMES = 128

/** What a request says of its answer's length, as it leaves; where that cannot be read, as it came. */
class OutputRequest {
  readonly #members: Readonly<Record<string, unknown>>
  readonly #bytes: Buffer | null

  constructor(out: UpstreamRequest, body: Call['body']) {
    const bytes = Buffer.isBuffer(out.body) ? out.body : 'bytes' in body ? body.bytes : null
    this.#bytes = body.kind === 'form' ? null : bytes
    this.#members = this.#bytes ? membersOf(this.#bytes) : {}
  }

  /** Of all answers of the request together. */
  most(model: string): number {
    const counts = BOUNDS.map(name => this.#members[name]).filter(
      count => typeof count === 'number' && Number.isSafeInteger(count) && count > 0,
    )
    const each = counts.length > 0 ? Math.max(...(counts as number[])) : mostOutputTokens(model)
    return Math.min(each * this.times, Number.MAX_SAFE_INTEGER)
  }

  get times(): number {
    const counts = TIMES.map(name => this.#members[name]).filter(count => typeof count === 'number' && count >= 1)
    return Math.min(Math.ceil(Math.max(1, ...(counts as number[]))), MAX_TIMES)
  }

  /** Uses of tools that the provider runs itself and charges for. */
  get tools(): Record<string, number> {
    return {...(this.#bytes && chargedTools(this.#bytes))}
  }

  get thinks(): boolean {
    return THINKS.some(name => isThinking(this.#members[name]))
  }
}

function isThinking(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 'none') return false
  return !(typeof value === 'object' && (value as {type?: unknown}).type === 'disabled')
}

function membersOf(bytes: Buffer): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  try {
    const members = topLevel(bytes, NO_KEYS)
    for (const name of [...INNER, ...BOUNDS, ...TIMES, ...THINKS]) {
      const span = members.get(name)
      if (!span || span.end - span.start > MAX_MEMBER_BYTES) continue
      const value: unknown = parseJson(bytes.toString('utf8', span.start, span.end))
      if (INNER.includes(name) && typeof value === 'object') Object.assign(found, value)
      else found[name] = value
    }
  } catch {
    return found // not JSON: the provider will say so
  }
  return found
}
