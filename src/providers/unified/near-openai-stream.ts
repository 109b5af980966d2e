import {isObject, object} from '../../base/json-object.ts'
import {laterReport, type Usage} from '../../schema/usage.ts'
import {cameAs, changed, changedEach, changeOf} from '../as-came.ts'
import {asksUsage, finishReason} from '../chat.ts'
import {readUsage} from '../openai/usage.ts'
import {failureOfChat, statusIn} from '../reported-failure.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamEvent,
  type StreamTranslator,
  type TranslationContext,
} from '../translation.ts'
import {anyError, faultOf, type RawError} from './fault.ts'
import {type AlmostOpenAi, indexIn, missingIn, OPENAI_FINISH, piecesIn, textOf, thoughtIn} from './near-openai.ts'
import {NearCalls} from './near-openai-calls.ts'
import {word} from './read.ts'

/**
 * A chat stream that is OpenAI's but for its members' kinds. It is whole after `[DONE]`, or when each choice has its
 * finish reason.
 */
export function normaliseStream(context: TranslationContext, request: Json, near: AlmostOpenAi): StreamTranslator {
  return new NearStream(context, request, near)
}

const NONE: readonly Json[] = []

interface Choice {
  readonly calls: NearCalls
  /** The block that text and thinking are in, as `content_blocks` counts them. */
  block: number
  kind: '' | 'text' | 'thinking'
  has_ended: boolean
}

/** Each chunk is passed on, changed only as `nearReply` changes a whole answer. */
class NearStream implements StreamTranslator {
  readonly #context: TranslationContext
  readonly #wants_usage: boolean
  readonly #reasons: AlmostOpenAi['finish']
  readonly #choices = new Map<number, Choice>()
  #id: string | null = null
  #is_done = false
  usage: Usage | null = null
  model: string | null = null
  failed: StreamTranslator['failed'] = null
  text_bytes = 0

  constructor(context: TranslationContext, request: Json, {finish}: AlmostOpenAi) {
    this.#context = context
    this.#wants_usage = asksUsage(request)
    this.#reasons = {...OPENAI_FINISH, ...finish}
  }

  event({data, text}: StreamEvent): readonly Json[] {
    if (this.failed || data === '' || data === null || data === undefined) return NONE
    if (data === '[DONE]') this.#is_done = true
    else
      try {
        if (!isObject(data)) throw new InvalidResponseFault('expected a JSON object')
        const failure =
          Array.isArray(data.choices) && data.choices.length > 0 ? failureOfChat(data, this.#context) : null
        if (failure) this.failed = {...failure.fault, status: failure.status}
        else if (!Array.isArray(data.choices)) this.#other(data)
        else return this.#chunk(data, data.choices, text)
      } catch (error) {
        if (!(error instanceof InvalidResponseFault)) throw error
        this.#fail({}, null, `its stream is not what it documents: ${error.message}`)
      }
    return NONE
  }

  end(): readonly Json[] {
    return NONE
  }

  get finished(): boolean {
    if (this.failed) return false
    return this.#is_done || (this.#choices.size > 0 && [...this.#choices.values()].every(({has_ended}) => has_ended))
  }

  /** An event that is no chunk: it tells a failure, or nothing. */
  #other(data: Json) {
    const error = anyError(data)
    if (data.error || data.object === 'error' || error.message)
      this.#fail(error, statusIn(data.status) ?? statusIn(error.code))
  }

  #fail(error: RawError, status: number | null, otherwise = 'the answer broke off') {
    this.failed = {...faultOf(this.#context, error, otherwise), status}
  }

  #chunk(data: Json, given: readonly unknown[], text: string | undefined): readonly Json[] {
    if (text !== undefined) cameAs(data, text)
    this.usage = laterReport(this.usage, isObject(data.usage) ? readUsage(data.usage, 'chatComplete') : null)
    this.model ??= word(data.model)
    this.#id ??= word(data.id)
    // Only clients that want usage look for a chunk without choices.
    if (given.length === 0 && isObject(data.usage) && !this.#wants_usage) return NONE
    const entries = given.every(isObject) ? given : given.filter(isObject)
    const choices = changedEach(entries, entry => this.#choice(entry as Json))
    const missing = missingIn(data, this.#context, 'chat.completion.chunk')
    // All chunks of an answer have one id and one model.
    const id = word(data.id) ?? this.#id ?? missing.id
    const model = word(data.model) ?? this.model ?? missing.model
    return [changeOf(data, changed(data, {...missing, id, model, choices}))]
  }

  #choice(entry: Json): Json {
    const index = indexIn(entry.index) ?? 0
    let choice = this.#choices.get(index)
    const is_first = choice === undefined
    if (!choice) {
      choice = {calls: new NearCalls(`call_${this.#context.call_id}`), block: -1, kind: '', has_ended: false}
      this.#choices.set(index, choice)
    }
    const delta = this.#delta(choice, object(entry.delta), is_first)
    const reason = word(entry.finish_reason)
    if (reason === null) return changed(entry, {index, delta})
    choice.has_ended = true
    const finish_reason = finishReason(reason, this.#reasons, this.#context.strict)
    return changed(entry, {index, delta: choice.calls.completed(delta), finish_reason})
  }

  #delta(choice: Choice, delta: Json, is_first: boolean): Json {
    const {content} = delta
    const {strict} = this.#context
    const role = is_first && !word(delta.role) ? {role: 'assistant'} : {}
    const thoughts = thoughtIn(delta)
    const pieces = [...thoughts, ...piecesIn(content)]
    const blocks: Json[] = []
    for (const piece of pieces) {
      const spoken = piece.type === 'text' ? piece.text : piece.thinking
      if (spoken === '') continue
      this.text_bytes += Buffer.byteLength(spoken)
      if (choice.kind !== piece.type) {
        choice.kind = piece.type
        choice.block++
      }
      if (choice.block > 0 || piece.type === 'thinking')
        blocks.push({index: choice.block, delta: {[piece.type]: spoken}})
    }
    const calls = choice.calls.of(delta.tool_calls)
    this.text_bytes += calls.text_bytes
    return changed(delta, {
      ...role,
      ...(Array.isArray(content) ? {content: textOf(pieces)} : {}),
      ...(thoughts.length > 0 && strict ? {reasoning_content: undefined} : {}),
      ...(blocks.length > 0 && !strict ? {content_blocks: blocks} : {}),
      ...(delta.tool_calls === undefined ? {} : {tool_calls: calls.tool_calls}),
    })
  }
}
