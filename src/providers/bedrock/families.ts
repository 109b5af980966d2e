import {isObject, object} from '../../base/json-object.ts'
import {mergeUsage, type Usage} from '../../schema/usage.ts'
import type {FinishReason} from '../chat.ts'
import {count} from '../openai/usage.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {defined, definedOrNone, numberAt, refuse, stopAt} from './ask.ts'
import {foundationModel} from './model.ts'

/** A piece of text that a model wrote, or the whole; `finish` is null while more is to come. */
export interface GeneratedText {
  readonly text: string
  readonly finish: string | null
}

/** Text completion in the words of one family of models, by InvokeModel. */
export interface ModelFamily {
  request(prompt: string, request: Json, is_stream: boolean): Json
  /** The texts of an answer, or of one part of a stream; null for what is neither. */
  read(response: Json): readonly GeneratedText[] | null
  /** The counted input and output tokens, each null where it is not reported. */
  count(response: Json): readonly [input: number | null, output: number | null]
  readonly finish: Readonly<Record<string, FinishReason>>
}

/** Source: Bedrock user guide, "Amazon Titan Text models". */
const titan: ModelFamily = {
  request(prompt, request) {
    one(request)
    const textGenerationConfig = definedOrNone({
      maxTokenCount: numberAt(request, ['max_tokens']),
      temperature: numberAt(request, ['temperature'], 1),
      topP: numberAt(request, ['top_p'], 1),
      stopSequences: stopAt(request),
    })
    return defined({inputText: prompt, textGenerationConfig})
  },
  read: reply => pieces(Array.isArray(reply.results) ? reply.results : [reply], 'outputText', 'completionReason'),
  count(reply) {
    const results = Array.isArray(reply.results) ? reply.results : null
    const written = results
      ? sum(results.map(result => count(object(result).tokenCount)))
      : count(reply.totalOutputTextTokenCount)
    return [count(reply.inputTextTokenCount), written]
  },
  finish: {
    FINISH: 'stop',
    FINISHED: 'stop',
    STOP_CRITERIA_MET: 'stop',
    LENGTH: 'length',
    CONTENT_FILTERED: 'content_filter',
  },
}

/** Source: Bedrock user guide, "Meta Llama models". */
const llama: ModelFamily = {
  request(prompt, request) {
    one(request)
    refuse(request, 'stop', () => false, 'Llama on Amazon Bedrock takes no stop sequences')
    return defined({
      prompt,
      max_gen_len: numberAt(request, ['max_tokens']),
      temperature: numberAt(request, ['temperature'], 1),
      top_p: numberAt(request, ['top_p'], 1),
    })
  },
  read: reply => pieces([reply], 'generation', 'stop_reason'),
  count: reply => [count(reply.prompt_token_count), count(reply.generation_token_count)],
  finish: {stop: 'stop', length: 'length'},
}

/** Source: Bedrock user guide, "Mistral AI text completion". It counts nothing in its answer. */
const mistral: ModelFamily = {
  request(prompt, request) {
    one(request)
    return defined({
      prompt,
      max_tokens: numberAt(request, ['max_tokens']),
      temperature: numberAt(request, ['temperature'], 1),
      top_p: numberAt(request, ['top_p'], 1),
      top_k: numberAt(request, ['top_k']),
      stop: stopAt(request),
    })
  },
  read: reply => (Array.isArray(reply.outputs) ? pieces(reply.outputs, 'text', 'stop_reason') : null),
  count: () => [null, null],
  finish: {stop: 'stop', length: 'length'},
}

/** Source: Bedrock user guide, "Cohere Command models". A stream writes its pieces bare. */
const cohere: ModelFamily = {
  request: (prompt, request, is_stream) =>
    defined({
      prompt,
      max_tokens: numberAt(request, ['max_tokens']),
      temperature: numberAt(request, ['temperature'], 5),
      p: numberAt(request, ['top_p'], 1),
      k: numberAt(request, ['top_k']),
      stop_sequences: stopAt(request),
      num_generations: numberAt(request, ['n']),
      stream: is_stream || undefined,
    }),
  read(reply) {
    if (Array.isArray(reply.generations)) return pieces(reply.generations, 'text', 'finish_reason')
    // The last part of a stream has no text.
    return reply.is_finished === true && reply.text === undefined
      ? pieces([{...reply, text: ''}], 'text', 'finish_reason')
      : pieces([reply], 'text', 'finish_reason')
  },
  count: () => [null, null],
  finish: {COMPLETE: 'stop', MAX_TOKENS: 'length', ERROR_TOXIC: 'content_filter'},
}

/** Source: Bedrock user guide, "AI21 Labs Jurassic-2 models". It does not stream. */
const jurassic: ModelFamily = {
  request(prompt, request, is_stream) {
    if (is_stream) throw new UnsupportedInputFault('stream', 'Jurassic-2 on Amazon Bedrock does not stream')
    const scale = (name: string) => {
      const found = numberAt(request, [name])
      return found === undefined ? undefined : {scale: found}
    }
    return defined({
      prompt,
      maxTokens: numberAt(request, ['max_tokens']),
      temperature: numberAt(request, ['temperature'], 1),
      topP: numberAt(request, ['top_p'], 1),
      stopSequences: stopAt(request),
      numResults: numberAt(request, ['n']),
      presencePenalty: scale('presence_penalty'),
      frequencyPenalty: scale('frequency_penalty'),
    })
  },
  read(reply) {
    if (!Array.isArray(reply.completions)) return null
    const flat = reply.completions.map(each => ({
      text: object(object(each).data).text,
      reason: object(object(each).finishReason).reason,
    }))
    return pieces(flat, 'text', 'reason')
  },
  count(reply) {
    const tokens = (part: unknown) => (isObject(part) && Array.isArray(part.tokens) ? part.tokens.length : null)
    const completions: readonly unknown[] = Array.isArray(reply.completions) ? reply.completions : []
    return [tokens(reply.prompt), sum(completions.map(each => tokens(object(each).data)))]
  },
  finish: {endoftext: 'stop', stop: 'stop', length: 'length'},
}

/** Beginnings of the ids of models that complete a prompt by InvokeModel; all others are called by Converse. */
const FAMILIES: readonly (readonly [prefix: string, family: ModelFamily])[] = [
  ['amazon.titan-text', titan],
  ['amazon.titan-tg1', titan],
  ['meta.llama', llama],
  ['mistral.mistral-7b', mistral],
  ['mistral.mixtral-8x7b', mistral],
  ['mistral.mistral-large-2402', mistral],
  ['mistral.mistral-small-2402', mistral],
  ['cohere.command-text', cohere],
  ['cohere.command-light', cohere],
  ['ai21.j2', jurassic],
]

/** The family that completes text for `model`; null where it is called by Converse. */
export function familyOf(model: string): ModelFamily | null {
  const id = foundationModel(model) ?? ''
  return FAMILIES.find(([prefix]) => id.startsWith(prefix))?.[1] ?? null
}

/** The counts of an answer or a part of a stream. The last part of every stream has AWS's own count, which wins. */
export function countedBy(family: ModelFamily, reply: Json): Usage | null {
  const metrics = object(reply['amazon-bedrock-invocationMetrics'])
  const [input, output] = family.count(reply)
  const counted = {
    input_uncached_tokens: count(metrics.inputTokenCount) ?? input,
    output_text_tokens: count(metrics.outputTokenCount) ?? output,
  }
  return counted.input_uncached_tokens === null && counted.output_text_tokens === null ? null : mergeUsage(counted)
}

function one(request: Json): void {
  refuse(request, 'n', value => value === 1, 'this model gives one completion')
}

function pieces(
  parts: readonly unknown[],
  text_member: string,
  finish_member: string,
): readonly GeneratedText[] | null {
  const found: GeneratedText[] = []
  for (const part of parts) {
    if (!isObject(part)) return null
    const {[text_member]: text, [finish_member]: finish} = part
    if (typeof text !== 'string') return null
    found.push({text, finish: typeof finish === 'string' ? finish : null})
  }
  return found
}

function sum(counts: readonly (number | null)[]): number | null {
  return counts.reduce<number | null>((total, each) => (each === null ? total : (total ?? 0) + each), null)
}
