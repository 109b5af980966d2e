import {topLevel} from '../../base/json.ts'
import {isObject, parseJson} from '../../base/json-object.ts'
import {mostOutputTokens} from '../../providers/outputs/index.ts'
import {chargedTools} from '../../providers/unified/charged-tools.ts'
import {type ToolReading, toolReading, type Unbounded} from '../../providers/unified/reading-tools.ts'
import type {TokenClass} from '../../schema/usage.ts'
import type {Call} from '../call/call.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'
import {SHOWN_IMAGE_TOKENS} from './figures.ts'

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
/** Members that say which kinds of output may come. */
const KINDS = ['modalities', 'responseModalities', 'response_modalities', 'audio', 'speechConfig']
const OTHERS = ['speed']
/** Members that stand for text that the provider keeps: how much, no request tells. */
const STORED = [
  'previous_response_id',
  'conversation',
  'prompt',
  'cachedContent',
  'cached_content',
  'assistant_id',
  'previous_interaction_id',
] as const
const ITEM_REFERENCE = Buffer.from('"item_reference"')
/** Members that list prompts, or texts to be ranked. */
const PROMPTS = ['prompt']
const DOCUMENTS = ['documents', 'texts', 'passages', 'sources']
const NO_KEYS: ReadonlySet<string> = new Set()
const MAX_MEMBER_BYTES = 1 << 16
const MAX_TIMES = 128

const ESCAPE = Buffer.from('\\u')
const CACHES = ['cache_control', 'cachePoint'].map(word => Buffer.from(word))
const HOUR = Buffer.from('1h')

const SPEAKS = /audio|tts|voice|live|realtime/
const DRAWS = /image|banana|imagen/

/**
 * The facts of a request that decide its prompt's and its answer's cost, as it leaves; if those cannot be read, as it
 * came.
 */
export class RequestFacts {
  /** Its JSON; null for what is none, or is not read. */
  readonly bytes: Buffer | null
  readonly #members: Record<string, unknown> = {}
  /** The lengths of lists at its top. */
  readonly #counts = new Map<string, number>()
  readonly #stored: Unbounded | null
  readonly tools: ToolReading
  readonly model: string

  constructor(out: UpstreamRequest, body: Call['body']) {
    const bytes = Buffer.isBuffer(out.body) ? out.body : 'bytes' in body ? body.bytes : null
    this.bytes = body.kind === 'json' ? bytes : null
    this.model = (out.model ?? '').toLowerCase()
    this.#stored = this.bytes && this.#read(this.bytes)
    this.tools = toolReading(this.bytes ?? Buffer.alloc(0), this.model)
  }

  /** The part that has no bound; null for none. */
  get unbounded(): Unbounded | null {
    return this.#stored ?? this.tools.unbounded
  }

  /** The most tokens of all answers of the request together. */
  get most(): number {
    const counts = BOUNDS.map(name => this.#members[name]).filter(
      count => typeof count === 'number' && Number.isSafeInteger(count) && count > 0,
    )
    const limit = counts.length > 0 ? Math.max(...(counts as number[])) : mostOutputTokens(this.model)
    const each = this.output_classes.includes('image_out_tokens') ? Math.max(limit, SHOWN_IMAGE_TOKENS) : limit
    return Math.min(each * this.times * Math.max(1, this.#listed(PROMPTS)), Number.MAX_SAFE_INTEGER)
  }

  get times(): number {
    const counts = TIMES.map(name => this.#members[name]).filter(count => typeof count === 'number' && count >= 1)
    return Math.min(Math.ceil(Math.max(1, ...(counts as number[]))), MAX_TIMES)
  }

  /** Texts that are to be ranked. */
  get documents(): number {
    return this.#listed(DOCUMENTS)
  }

  /** How fast a text is to be spoken: below 1 it takes longer. */
  get speed(): number {
    const {speed} = this.#members
    return typeof speed === 'number' && speed > 0 ? Math.max(speed, 0.25) : 1
  }

  /** Uses of tools that the provider runs itself and charges for. */
  get tool_units(): Record<string, number> {
    return {...(this.bytes && chargedTools(this.bytes))}
  }

  get thinks(): boolean {
    return THINKS.some(name => isThinking(this.#members[name]))
  }

  /** Classes that its prompt may be charged as: what is written to a cache may cost more. */
  get input_classes(): readonly TokenClass[] {
    const {bytes} = this
    if (!bytes) return ['input_uncached_tokens']
    const is_escaped = bytes.includes(ESCAPE)
    if (!is_escaped && !CACHES.some(word => bytes.includes(word))) return ['input_uncached_tokens']
    const hour: readonly TokenClass[] = is_escaped || bytes.includes(HOUR) ? ['cache_write_1h_tokens'] : []
    return ['input_uncached_tokens', 'cache_write_5m_tokens', ...hour]
  }

  /** Classes that its answer may be charged as. */
  get output_classes(): readonly TokenClass[] {
    const kinds = KINDS.map(name => JSON.stringify(this.#members[name]) ?? '')
      .join()
      .toLowerCase()
    const speaks = SPEAKS.test(this.model) ? /^,*$|audio/.test(kinds) : /audio|voice/.test(kinds)
    const draws = DRAWS.test(this.model) || kinds.includes('image')
    return ['output_text_tokens', 'output_reasoning_tokens', ...(speaks ? SPOKEN : []), ...(draws ? DRAWN : [])]
  }

  #listed(names: readonly string[]): number {
    return Math.max(0, ...names.map(name => this.#counts.get(name) ?? 0))
  }

  #read(bytes: Buffer): Unbounded | null {
    const found = this.#members
    try {
      const members = topLevel(bytes, NO_KEYS)
      for (const name of [...PROMPTS, ...DOCUMENTS]) {
        const span = members.get(name)
        if (span && bytes[span.start] === OPEN_LIST) this.#counts.set(name, listLength(bytes, span.start))
      }
      for (const name of [...INNER, ...BOUNDS, ...TIMES, ...THINKS, ...KINDS, ...OTHERS]) {
        const span = members.get(name)
        if (!span || span.end - span.start > MAX_MEMBER_BYTES) continue
        const value: unknown = parseJson(bytes.toString('utf8', span.start, span.end))
        if (INNER.includes(name) && isObject(value)) Object.assign(found, value)
        else found[name] = value
      }
      for (const name of STORED) {
        const span = members.get(name)
        if (!span || (name === 'prompt' ? bytes[span.start] !== OPEN_OBJECT : isEmpty(bytes, span.start))) continue
        return {
          what: `"${name}", which stands for text that the provider keeps`,
          remedy: 'send that text itself and leave it out',
        }
      }
    } catch {
      return null // not JSON: the provider will say so
    }
    if (!bytes.includes(ITEM_REFERENCE)) return null
    return {what: 'an "item_reference", which stands for text that the provider keeps', remedy: 'send the item itself'}
  }
}

const SPOKEN: readonly TokenClass[] = ['audio_out_tokens']
const DRAWN: readonly TokenClass[] = ['image_out_tokens']
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const LETTER_N = 0x6e

/** True of `null` and of an empty string. */
function isEmpty(bytes: Buffer, at: number): boolean {
  return bytes[at] === LETTER_N || (bytes[at] === QUOTE && bytes[at + 1] === QUOTE)
}

/**
 * How many texts or lists of tokens are in the list that begins at `start`; one where it is a list of tokens itself.
 */
function listLength(bytes: Buffer, start: number): number {
  let depth = 0
  let values = 1
  let is_of_numbers = true
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      if (depth === 1) is_of_numbers = false
      at = stringEnd(bytes, at)
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth === 2) is_of_numbers = false
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (--depth === 0) break
    } else if (byte === COMMA && depth === 1) values++
  }
  return is_of_numbers ? 1 : values
}

function stringEnd(bytes: Buffer, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

function isThinking(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 'none') return false
  return !(typeof value === 'object' && (value as {type?: unknown}).type === 'disabled')
}
