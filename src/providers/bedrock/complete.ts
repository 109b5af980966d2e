import {isObject, object, parseJson} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {asksUsage, finishReason} from '../chat.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamTranslator,
  type TranslatedResponse,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {textChoice, textCompletion} from '../unified/texts.ts'
import {refuse} from './ask.ts'
import {brokenStream, isException, streamFault} from './errors.ts'
import {countedBy, familyOf, type ModelFamily} from './families.ts'
import {modelPath} from './model.ts'
import {converseReply} from './reply.ts'
import {converseRequest} from './request.ts'
import {ConverseStream} from './stream.ts'

const NONE: readonly Json[] = []

/**
 * Text completion: by the model's own body where its family completes prompts, else by Converse with the prompt as a
 * user's turn.
 */
export const complete: Translation = {
  request(request, context) {
    const prompt = promptOf(request)
    refuse(request, 'suffix', value => value === '', 'Amazon Bedrock completes at the end alone')
    refuse(request, 'echo', value => value === false, 'Amazon Bedrock does not repeat the prompt')
    refuse(request, 'best_of', value => value === 1, 'Amazon Bedrock gives what the model wrote')
    refuse(request, 'logprobs', value => value === 0, 'Amazon Bedrock tells no log probabilities')
    const family = familyOf(context.model)
    if (family === null) {
      const {prompt: _, logprobs: __, ...rest} = request
      return converseRequest({...rest, messages: [{role: 'user', content: prompt}]}, context)
    }
    const operation = context.is_stream ? 'invoke-with-response-stream' : 'invoke'
    return {
      method: 'POST',
      path: modelPath(context, operation),
      body: family.request(prompt, request, context.is_stream),
    }
  },
  reply(response, context) {
    const family = familyOf(context.model)
    return family === null
      ? fromConverse(converseReply(response, context), context)
      : fromFamily(family, response, context)
  },
  stream: {
    framing: 'aws_event_stream',
    open(context, request) {
      const family = familyOf(context.model)
      return family === null ? new ConverseCompletion(context, request) : new FamilyStream(family, context, request)
    },
  },
}

function promptOf({prompt}: Json): string {
  const one: unknown = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt
  if (typeof one !== 'string')
    throw new UnsupportedInputFault('prompt', 'expected one text: Amazon Bedrock completes one prompt a call')
  return one
}

function fromFamily(family: ModelFamily, response: unknown, context: TranslationContext): TranslatedResponse {
  const pieces = isObject(response) ? family.read(response) : null
  if (!isObject(response) || pieces === null || pieces.length === 0)
    throw new InvalidResponseFault("expected the model's text")
  const usage = countedBy(family, response)
  const choices = pieces.map(({text, finish}, at) =>
    textChoice(at, text, finishReason(finish, family.finish, context.strict)),
  )
  return {body: textCompletion(context, {choices, usage}), usage, model: null}
}

function fromConverse(answer: TranslatedResponse, context: TranslationContext): TranslatedResponse {
  const [first] = (answer.body as Json).choices as readonly Json[]
  const text = object(first?.message).content
  const choices = [textChoice(0, typeof text === 'string' ? text : '', String(first?.finish_reason))]
  return {...answer, body: textCompletion(context, {choices, usage: answer.usage})}
}

/** A completion that Converse streams. */
class ConverseCompletion implements StreamTranslator {
  readonly #context: TranslationContext
  readonly #inner: ConverseStream

  constructor(context: TranslationContext, request: Json) {
    this.#context = context
    this.#inner = new ConverseStream(context, request)
  }

  get finished() {
    return this.#inner.finished
  }
  get usage() {
    return this.#inner.usage
  }
  get failed() {
    return this.#inner.failed
  }
  get text_bytes() {
    return this.#inner.text_bytes
  }
  readonly model = null

  event(event: Parameters<StreamTranslator['event']>[0]): readonly Json[] {
    return this.#inner.event(event).flatMap(each => {
      const [first] = each.choices as readonly Json[]
      if (!first) return [textCompletion(this.#context, {choices: [], usage: this.usage})]
      const text = object(first.delta).content
      const finish = typeof first.finish_reason === 'string' ? first.finish_reason : null
      return text || finish
        ? [textCompletion(this.#context, {choices: [textChoice(0, typeof text === 'string' ? text : '', finish)]})]
        : []
    })
  }

  end(): readonly Json[] {
    return NONE
  }
}

/**
 * A completion that InvokeModelWithResponseStream streams: events `chunk`, each with a part of the family's own JSON in
 * base64. Source: Bedrock API reference, ResponseStream.
 */
class FamilyStream implements StreamTranslator {
  finished = false
  usage: Usage | null = null
  readonly model = null
  failed: StreamTranslator['failed'] = null
  text_bytes = 0
  readonly #family: ModelFamily
  readonly #context: TranslationContext
  readonly #asks_usage: boolean
  #told_usage = false

  constructor(family: ModelFamily, context: TranslationContext, request: Json) {
    this.#family = family
    this.#context = context
    this.#asks_usage = asksUsage(request)
  }

  event({name, data}: Parameters<StreamTranslator['event']>[0]): readonly Json[] {
    if (this.failed) return NONE
    if (isException(name, data)) {
      this.failed = streamFault(name, data, this.#context)
      return NONE
    }
    if (name !== 'chunk') return NONE
    const part = partIn(data)
    const pieces = part && this.#family.read(part)
    if (!part || !pieces) {
      this.failed = brokenStream(this.#context, 'a chunk is not as documented')
      return NONE
    }
    this.#count(part)
    return pieces.flatMap(({text, finish}, at) => {
      this.text_bytes += Buffer.byteLength(text)
      if (finish !== null) this.finished = true
      if (text === '' && finish === null) return []
      const reason = finish === null ? null : finishReason(finish, this.#family.finish, this.#context.strict)
      return [textCompletion(this.#context, {choices: [textChoice(at, text, reason)]})]
    })
  }

  end(): readonly Json[] {
    if (!this.#asks_usage || this.usage === null || !this.finished || this.#told_usage) return NONE
    this.#told_usage = true
    return [textCompletion(this.#context, {choices: [], usage: this.usage})]
  }

  #count(part: Json) {
    const counted = countedBy(this.#family, part)
    if (counted === null) return
    // A part that says one of the two leaves the other as it was.
    this.usage = {
      ...counted,
      input_uncached_tokens: counted.input_uncached_tokens || (this.usage?.input_uncached_tokens ?? 0),
      output_text_tokens: counted.output_text_tokens || (this.usage?.output_text_tokens ?? 0),
    }
  }
}

function partIn(data: unknown): Json | null {
  if (!isObject(data) || typeof data.bytes !== 'string') return null
  try {
    const part: unknown = parseJson(Buffer.from(data.bytes, 'base64').toString('utf8'))
    return isObject(part) ? part : null
  } catch {
    return null
  }
}
