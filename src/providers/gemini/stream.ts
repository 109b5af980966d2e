import {list} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {asksUsage, chunk, usageChunk} from '../chat.ts'
import {mergeRawUsage} from '../openai/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type ProviderFault,
  type StreamEvent,
  type StreamTranslator,
  type TranslationContext,
} from '../translation.ts'
import {CandidateReader, extrasOf, logprobsOf} from './candidate.ts'
import {errorIn, faultOf} from './errors.ts'
import {word} from './read.ts'
import {blockReason, candidateOf, indexOf, refusalFor, replied} from './reply.ts'
import {readUsage, searchesIn} from './usage.ts'

/** One candidate as far as its stream goes. */
interface Candidate {
  readonly reader: CandidateReader
  /** The reason to finish; null while it continues. */
  reason: string | null
  extras: Json
  searches: number
}

/**
 * Follows `streamGenerateContent`. Each event is a `GenerateContentResponse` with what is new of its candidates; usage
 * and grounding are the totals so far. Some models give a reason to finish with every event, so that it is passed on
 * only when the stream ends.
 */
export class GeminiStream implements StreamTranslator {
  readonly #context: TranslationContext
  readonly #request: Json
  readonly #candidates = new Map<number, Candidate>()
  #id: string | null = null
  #model: string | null = null
  #metadata: Json = {}
  #blocked: string | null = null
  #failed: (ProviderFault & {readonly status: number | null}) | null = null

  constructor(context: TranslationContext, request: Json) {
    this.#context = context
    this.#request = request
  }

  get finished(): boolean {
    if (this.#failed) return false
    const all = [...this.#candidates.values()]
    return this.#blocked !== null || (all.length > 0 && all.every(({reason}) => reason !== null))
  }

  get usage(): Usage | null {
    let searches = 0
    for (const candidate of this.#candidates.values()) searches += candidate.searches
    return readUsage(this.#metadata, searches)
  }

  get model(): string | null {
    return this.#model
  }

  get failed(): (ProviderFault & {readonly status: number | null}) | null {
    return this.#failed
  }

  get text_bytes(): number {
    let bytes = 0
    for (const {reader} of this.#candidates.values()) bytes += reader.text_bytes
    return bytes
  }

  event({data}: StreamEvent): readonly Json[] {
    return Array.isArray(data) ? data.flatMap(each => this.#event(each)) : this.#event(data)
  }

  #event(data: unknown): readonly Json[] {
    if (this.#failed || data === '[DONE]' || data === '') return []
    const error = errorIn(data)
    if (error) {
      this.#failed = faultOf(error, this.#context)
      return []
    }
    try {
      return this.#read(replied(data, this.#context))
    } catch (error) {
      if (!(error instanceof InvalidResponseFault)) throw error
      const message = `Invalid response received from ${this.#context.provider}: ${error.message}`
      this.#failed = {message, type: null, param: null, code: null, status: null}
      return []
    }
  }

  end(): readonly Json[] {
    if (!this.finished) return []
    const usage = this.usage
    return [
      ...this.#finishes(),
      ...(usage && asksUsage(this.#request)
        ? [usageChunk(this.#context, {id: this.#id, model: this.#model}, usage)]
        : []),
    ]
  }

  #read(reply: Json): readonly Json[] {
    this.#id ??= word(reply.responseId)
    this.#model = word(reply.modelVersion) ?? this.#model
    this.#metadata = mergeRawUsage(this.#metadata, reply.usageMetadata) ?? this.#metadata
    const candidates = list(reply.candidates).map(candidateOf)
    const chunks = candidates.flatMap((candidate, at) => this.#candidate(candidate, at))
    const reason = blockReason(reply)
    if (!reason || this.#blocked !== null || this.#candidates.size > 0) return chunks
    this.#blocked = reason
    return [...chunks, this.#chunk(0, {role: 'assistant', content: null, refusal: refusalFor(reason)})]
  }

  #candidate(update: Json, at: number): readonly Json[] {
    const index = indexOf(update, at)
    const known = this.#candidates.get(index)
    const candidate = known ?? {
      reader: new CandidateReader(this.#context, index),
      reason: null,
      extras: {},
      searches: 0,
    }
    const delta = candidate.reader.delta(update.content)
    this.#candidates.set(index, candidate)
    candidate.reason = word(update.finishReason) ?? candidate.reason
    candidate.extras = {...candidate.extras, ...extrasOf(update, this.#context.strict)}
    candidate.searches = Math.max(
      candidate.searches,
      searchesIn(update.groundingMetadata, this.#model ?? this.#context.model),
    )
    const logprobs = logprobsOf(update.logprobsResult)
    if (known && !delta && !logprobs) return []
    const role = known ? {} : {role: 'assistant', content: delta?.tool_calls ? null : ''}
    return [this.#chunk(index, {...role, ...delta}, null, logprobs ? {logprobs} : {})]
  }

  #finishes(): readonly Json[] {
    if (this.#blocked !== null) return [this.#chunk(0, {}, this.#context.strict ? 'content_filter' : this.#blocked)]
    return [...this.#candidates].flatMap(([index, {reader, reason, extras}]) => {
      const rest = reader.rest()
      return [...(rest ? [this.#chunk(index, rest)] : []), this.#chunk(index, {}, reader.finish(reason), extras)]
    })
  }

  /** `more` belongs to the choice. */
  #chunk(index: number, delta: Json, finish: string | null = null, more: Json = {}): Json {
    const whole = chunk(this.#context, {id: this.#id, model: this.#model}, delta, finish, index)
    const [choice] = whole.choices as readonly Json[]
    return {...whole, choices: [{...choice, ...more}]}
  }
}
