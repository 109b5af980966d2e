import {list, object} from '../../base/json-object.ts'
import {emptyUsage, imageUnit, totals, type Usage} from '../../schema/usage.ts'
import {policyRefusal, type ReportedFault} from '../reported-failure.ts'
import {
  InvalidResponseFault,
  type Json,
  type Translated,
  type TranslatedResponse,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {type GeminiHost, generationOf, modelOf} from './endpoint.ts'
import {present, word} from './read.ts'
import {blockReason, refusalFor, replied} from './reply.ts'
import {readUsage} from './usage.ts'

/** A picture as it came: its bytes in base64. */
interface Picture {
  readonly type: string
  readonly data: string
}

/**
 * OpenAI image generation ⇄ Imagen's `:predict` (ai.google.dev/gemini-api/docs/imagen), or, for models that also write,
 * `generateContent` that answers in pictures (ai.google.dev/gemini-api/docs/image-generation).
 */
export function imageGeneration(place: GeminiHost): Translation {
  return {
    request(request, context): Translated {
      const model = modelOf(request, context)
      const prompt = word(request.prompt)
      if (!prompt) throw new UnsupportedInputFault('prompt', 'expected a text')
      return isImagen(model)
        ? {path: place.path(context, model, 'predict'), body: imagenBody(request, prompt)}
        : {path: place.path(context, model, 'generateContent'), body: geminiBody(request, prompt, model)}
    },
    reply(response, context, request): TranslatedResponse {
      const reply = replied(response, context)
      return isImagen(modelOf(request, context))
        ? imagenAnswer(reply, context, request)
        : geminiAnswer(reply, context, request)
    },
  }
}

function isImagen(model: string): boolean {
  return model.startsWith('imagen') || model.startsWith('imagegeneration')
}

function imagenBody(request: Json, prompt: string): Json {
  const type = formatOf(request)
  const parameters = present({
    sampleCount: request.n,
    aspectRatio: word(request.aspect_ratio) ?? aspectRatio(request.size, IMAGEN_RATIOS),
    sampleImageSize: request.image_size,
    negativePrompt: request.negative_prompt,
    seed: request.seed,
    personGeneration: request.person_generation,
    outputOptions: type ? {mimeType: type} : null,
  })
  return {instances: [{prompt}], ...(Object.keys(parameters).length > 0 ? {parameters} : {})}
}

function geminiBody(request: Json, prompt: string, model: string): Json {
  if (typeof request.n === 'number' && request.n > 1)
    throw new UnsupportedInputFault('n', `${model} makes one picture at a time`)
  const imageConfig = present({
    aspectRatio: word(request.aspect_ratio) ?? aspectRatio(request.size, GEMINI_RATIOS),
    imageSize: (generationOf(model) ?? 0) >= 3 ? (word(request.image_size) ?? resolution(request.size)) : null,
  })
  return {
    contents: [{role: 'user', parts: [{text: prompt}]}],
    generationConfig: {
      responseModalities: ['TEXT', 'IMAGE'],
      ...(Object.keys(imageConfig).length > 0 ? {imageConfig} : {}),
    },
  }
}

function formatOf({output_format}: Json): string | null {
  if (output_format === undefined || output_format === null) return null
  if (output_format === 'png' || output_format === 'jpeg') return `image/${output_format}`
  throw new UnsupportedInputFault('output_format', 'expected png or jpeg')
}

const IMAGEN_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9']
const GEMINI_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

/** Width and height of `1536x1024`; null for `auto` and nothing. */
function sizeOf(size: unknown): readonly [number, number] | null {
  if (size === undefined || size === null || size === 'auto') return null
  const found = typeof size === 'string' ? /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(size) : null
  if (!found) throw new UnsupportedInputFault('size', 'expected auto or width x height in pixels, such as 1024x1024')
  return [Number(found[1]), Number(found[2])]
}

/** The ratio of `ratios` that is nearest to the requested one: Google takes no pixels. */
function aspectRatio(size: unknown, ratios: readonly string[]): string | null {
  const dimensions = sizeOf(size)
  if (!dimensions) return null
  const distance = (ratio: string) => {
    const [width, height] = ratio.split(':').map(Number) as [number, number]
    return Math.abs(Math.log((dimensions[0] * height) / (dimensions[1] * width)))
  }
  return ratios.toSorted((one, other) => distance(one) - distance(other))[0]!
}

function resolution(size: unknown): string | null {
  const dimensions = sizeOf(size)
  if (!dimensions) return null
  const longer = Math.max(...dimensions)
  return longer > 3072 ? '4K' : longer > 1536 ? '2K' : '1K'
}

function imagenAnswer(reply: Json, context: TranslationContext, request: Json): TranslatedResponse {
  const predictions = list(reply.predictions).map(object)
  const pictures = predictions.flatMap(({bytesBase64Encoded, mimeType}) =>
    typeof bytesBase64Encoded === 'string' ? [{type: word(mimeType) ?? 'image/png', data: bytesBase64Encoded}] : [],
  )
  const reason = predictions.map(({raiFilteredReason}) => word(raiFilteredReason)).find(each => each !== null)
  const usage = emptyUsage()
  usage.units[imageUnit(word(request.quality) ?? undefined, word(request.size) ?? undefined)] = pictures.length
  if (pictures.length === 0 && reason) throw withheld(reason, context)
  return answer(pictures, null, usage, null, context, request)
}

function geminiAnswer(reply: Json, context: TranslationContext, request: Json): TranslatedResponse {
  const candidates = list(reply.candidates).map(object)
  const pictures = candidates.flatMap(({content}) =>
    list(object(content).parts).flatMap(part => {
      const {mimeType, data} = object(object(part).inlineData)
      return object(part).thought !== true && typeof mimeType === 'string' && typeof data === 'string'
        ? [{type: mimeType, data}]
        : []
    }),
  )
  const blocked = blockReason(reply)
  const reason = blocked ? refusalFor(blocked) : word(candidates[0]?.finishReason)
  const usage = readUsage(reply.usageMetadata)
  // Without a list of modalities, an image model's answer is a drawing.
  if (usage && !Array.isArray(object(reply.usageMetadata).candidatesTokensDetails)) {
    usage.image_out_tokens = usage.output_text_tokens
    usage.output_text_tokens = 0
  }
  const model = word(reply.modelVersion)
  const refusal = pictures.length === 0 ? refusalIn(candidates, blocked, reason) : null
  if (refusal) throw withheld(refusal, context, {usage, model})
  return answer(pictures, reason, usage, model, context, request)
}

/** Reasons to draw nothing that are the request's. Source: ai.google.dev/api/generate-content, FinishReason. */
const OF_POLICY: ReadonlySet<string> = new Set([
  'SAFETY',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'RECITATION',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'MODEL_ARMOR',
])

/** Why no picture was drawn, where it is the prompt: a block, a policy, or what the model says in place of one. */
function refusalIn(candidates: readonly Json[], blocked: string | null, reason: string | null): string | null {
  if (blocked) return reason
  const text = candidates.flatMap(({content}) => list(object(content).parts).map(textOf)).join('')
  if (reason !== null && OF_POLICY.has(reason)) return text ? `${reason}: ${text}` : reason
  return text === '' ? null : text
}

function textOf(part: unknown): string {
  const {text, thought} = object(part)
  return typeof text === 'string' && thought !== true ? text : ''
}

function withheld(
  reason: string,
  context: TranslationContext,
  facts: {readonly usage?: Usage | null; readonly model?: string | null} = {},
): ReportedFault {
  return policyRefusal(`there is no picture in it (${reason.slice(0, LONGEST_REASON)})`, context, facts)
}

const LONGEST_REASON = 500

function answer(
  pictures: readonly Picture[],
  reason: string | null,
  usage: Usage | null,
  model: string | null,
  context: TranslationContext,
  request: Json,
): TranslatedResponse {
  if (pictures.length === 0) throw new InvalidResponseFault(`there is no picture in it${reason ? ` (${reason})` : ''}`)
  const as_url = request.response_format === 'url'
  const data = pictures.map(({type, data}) => (as_url ? {url: `data:${type};base64,${data}`} : {b64_json: data}))
  const {prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens} = totals(usage ?? {})
  return {
    body: {
      created: context.created_s,
      data,
      provider: context.provider,
      ...(total_tokens > 0 ? {usage: {input_tokens, output_tokens, total_tokens}} : {}),
    },
    usage,
    model,
  }
}
