import {isObject, list, object, parsed} from '../../base/json-object.ts'
import type {Hop} from '../../schema/hops.ts'
import type {Usage} from '../../schema/usage.ts'
import {type Refusals, refusalsIn} from '../anthropic/refusals.ts'
import type {RawObject} from '../openai/usage.ts'
import {mostTokensOf} from '../tokens/bound.ts'
import type {StreamEvent} from '../translation.ts'
import {vendorModel} from './facts.ts'
import {laterUsage, type RawUsage, rawUsageOf, usageByHopOf} from './raw-usage.ts'

/** An error inside a stream, in a vendor's own words. */
export interface VendorFailure {
  readonly type: string
  readonly message: string
  readonly status: number | null
}

/** Members that hold what a model wrote, in the vendors' own words. */
const TEXT: ReadonlySet<string> = new Set([
  'text',
  'content',
  'thinking',
  'response',
  'reasoning',
  'reasoningText',
  'generated_text',
  'generation',
  'completion',
  'outputText',
  'partial_json',
  'delta',
])
/** Members of which every string is the model's: arguments of tools. */
const WHOLE: ReadonlySet<string> = new Set(['args', 'arguments', 'input', 'toolUse', 'functionCall'])
/**
 * ConverseStream's event with the reason to end; the one behind it tells the usage (Bedrock API reference,
 * ConverseStreamOutput).
 */
const BEFORE_USAGE = 'messageStop'
const DEEPEST = 12
const MOST_NODES = 5000
const LONGEST_MESSAGE = 2000

/**
 * Follows the events of a stream in a vendor's own words, and remembers what they tell: usage, model, about how much
 * text came, an error.
 */
export class VendorObserver {
  #report: RawUsage | null = null
  #refusals: Refusals | null = null
  #model: string | null = null
  #failed: VendorFailure | null = null
  #text_bytes = 0
  /** Null until the first read: it takes longer than bytes to count. */
  #most_tokens: number | null = null
  #pieces = 0
  #events = 0
  #has_reason = false
  /** An answer has begun and not ended, in a dialect that reports before its end. */
  #is_open_answer = false

  event({name, data}: StreamEvent): void {
    this.#events++
    this.#has_reason ||= name === BEFORE_USAGE
    if (!isObject(data)) return
    const json = insideChunk(data)
    this.#is_open_answer = leavesOpen(json) ?? this.#is_open_answer
    this.#report = laterUsage(this.#report, rawUsageOf(json))
    this.#refusals = refusalsIn(json, this.#refusals)
    this.#model ??= vendorModel(json)
    this.#failed ??= failureIn(name, json)
    const texts = textsOf(json)
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    if (bytes === 0) return
    this.#text_bytes += bytes
    if (this.#most_tokens !== null) this.#most_tokens += texts.reduce((sum, text) => sum + mostTokensOf(text), 0)
    this.#pieces++
  }

  get usage(): Usage | null {
    return usageByHopOf(this.#report, this.#refusals).usage
  }

  get hops(): readonly Hop[] | null {
    return usageByHopOf(this.#report, this.#refusals).hops
  }

  get model(): string | null {
    return this.#model
  }

  get failed(): VendorFailure | null {
    return this.#failed
  }

  /** About how many bytes of text the model wrote. */
  get text_bytes(): number {
    return this.#text_bytes
  }

  /** The upper bound of its tokens. Text before the first read counts a token a byte. */
  get most_tokens(): number {
    this.#most_tokens ??= this.#text_bytes
    return this.#most_tokens
  }

  get pieces(): number {
    return this.#pieces
  }

  /** True when the answer is known not to be whole where it ends now: what it has reported is not all. */
  get is_unfinished(): boolean {
    return this.#is_open_answer
  }

  /** True when all of the answer has come but its usage, which comes behind it. */
  get awaits_usage(): boolean {
    return this.#has_reason && this.#report === null && this.#failed === null
  }

  get events(): number {
    return this.#events
  }
}

/** InvokeModel's chunks carry the model's own event in base64. */
function insideChunk(json: RawObject): RawObject {
  const {bytes} = json
  if (typeof bytes !== 'string') return json
  const inner = parsed(Buffer.from(bytes, 'base64').toString('utf8'))
  return isObject(inner) ? inner : json
}

/**
 * True when an answer continues behind an event; null for one that does not tell. Of the dialects that report before
 * their end: Messages, and Gemini, of which each event has candidates, and those of an answer that has ended have a
 * `finishReason` (ai.google.dev/api/generate-content#Candidate).
 */
function leavesOpen(json: RawObject): boolean | null {
  if (json.type === 'message_start') return true
  if (json.type === 'message_delta' || json.type === 'message_stop') return false
  const [candidate] = list(json.candidates ?? object(json.response).candidates)
  return isObject(candidate) ? typeof candidate.finishReason !== 'string' : null
}

/** Google's and Ollama's `error`, an exception of AWS. */
function failureIn(name: string | null, json: RawObject): VendorFailure | null {
  const {error, message, __type} = json
  if (typeof error === 'string') return {type: 'error', message: error.slice(0, LONGEST_MESSAGE), status: null}
  if (isObject(error)) {
    const {status, code} = error
    const type = typeof status === 'string' ? status : typeof error.type === 'string' ? error.type : 'error'
    return {
      type,
      message: messageIn(error.message),
      status: typeof code === 'number' && code >= 400 && code < 600 ? code : null,
    }
  }
  const exception = typeof __type === 'string' ? __type : name
  if (exception === null || !/Exception$|Error$/.test(exception)) return null
  return {
    type: exception,
    message: messageIn(message),
    status: EXCEPTIONS[exception[0]!.toLowerCase() + exception.slice(1)] ?? null,
  }
}

const EXCEPTIONS: Readonly<Record<string, number>> = {
  throttlingException: 429,
  validationException: 400,
  internalServerException: 500,
  serviceUnavailableException: 503,
  modelTimeoutException: 408,
}

function messageIn(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_MESSAGE) : 'no message'
}

/** The strings that a model wrote; nothing is looked at deeper or longer than any event of a vendor is. */
function textsOf(json: RawObject): readonly string[] {
  const texts: string[] = []
  const open: {value: unknown; is_text: boolean; depth: number}[] = [{value: json, is_text: false, depth: 0}]
  for (let nodes = 0; open.length > 0 && nodes < MOST_NODES; nodes++) {
    const {value, is_text, depth} = open.pop()!
    if (typeof value === 'string') {
      if (is_text) texts.push(value)
    } else if (depth < DEEPEST && Array.isArray(value)) {
      for (const each of value.slice(0, MOST_NODES)) open.push({value: each, is_text, depth: depth + 1})
    } else if (depth < DEEPEST && isObject(value)) {
      for (const key in value) {
        const part = value[key]
        open.push({
          value: part,
          is_text: is_text || WHOLE.has(key) || (TEXT.has(key) && typeof part === 'string'),
          depth: depth + 1,
        })
      }
    }
  }
  return texts
}
