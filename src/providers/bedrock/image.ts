import {isObject, object} from '../../base/json-object.ts'
import {emptyUsage, imageUnit} from '../../schema/usage.ts'
import {policyRefusal} from '../reported-failure.ts'
import {
  InvalidResponseFault,
  type Json,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {defined, definedOrNone, numberAt, refuse, textAt} from './ask.ts'
import {foundationModel, modelPath} from './model.ts'

/** Shapes that Stable Image takes, by width over height. */
const ASPECT_RATIOS: readonly (readonly [name: string, ratio: number])[] = [
  ['16:9', 16 / 9],
  ['1:1', 1],
  ['21:9', 21 / 9],
  ['2:3', 2 / 3],
  ['3:2', 3 / 2],
  ['4:5', 4 / 5],
  ['5:4', 5 / 4],
  ['9:16', 9 / 16],
  ['9:21', 9 / 21],
]

/** Pictures of Titan, Nova Canvas and Stability by InvokeModel. Source: Bedrock user guide, the models' own pages. */
export const imageGenerate: Translation = {
  request(request, context) {
    const prompt = textAt(request, 'prompt')
    if (prompt === undefined) throw new UnsupportedInputFault('prompt', 'expected a text')
    refuse(
      request,
      'response_format',
      value => value === 'b64_json',
      'Amazon Bedrock gives pictures in base64 alone: expected "b64_json"',
    )
    const id = foundationModel(context.model) ?? ''
    const path = modelPath(context, 'invoke')
    if (id.startsWith('amazon.titan-image') || id.startsWith('amazon.nova-canvas'))
      return {method: 'POST', path, body: amazonBody(request, prompt)}
    if (id.startsWith('stability.stable-diffusion-xl'))
      return {method: 'POST', path, body: diffusionBody(request, prompt)}
    if (id.startsWith('stability.')) return {method: 'POST', path, body: stableImageBody(request, prompt)}
    throw new UnsupportedInputFault(
      'model',
      'expected an image model of Amazon or Stability AI, by its id or an ARN that holds it',
    )
  },
  reply(reply, context, request) {
    const pictures = picturesIn(reply, context)
    const usage = emptyUsage()
    usage.units[imageUnit(word(request.quality), word(request.size))] = pictures.length
    const data = pictures.map(b64_json => ({b64_json}))
    return {body: {created: context.created_s, data, provider: context.provider}, usage, model: null}
  },
}

function amazonBody(request: Json, prompt: string): Json {
  const size = sizeOf(request)
  const quality = textAt(request, 'quality')
  return defined({
    taskType: 'TEXT_IMAGE',
    textToImageParams: defined({text: prompt, negativeText: textAt(request, 'negative_prompt')}),
    imageGenerationConfig: definedOrNone({
      numberOfImages: numberAt(request, ['n']),
      width: size?.width,
      height: size?.height,
      quality:
        quality === 'hd' || quality === 'high' || quality === 'premium'
          ? 'premium'
          : quality === 'standard'
            ? 'standard'
            : undefined,
      cfgScale: numberAt(request, ['cfg_scale']),
      seed: numberAt(request, ['seed']),
    }),
  })
}

function diffusionBody(request: Json, prompt: string): Json {
  refuse(request, 'n', value => value === 1, 'this model draws one picture a call')
  const size = sizeOf(request)
  const negative = textAt(request, 'negative_prompt')
  return defined({
    text_prompts: [{text: prompt, weight: 1}, ...(negative ? [{text: negative, weight: -1}] : [])],
    width: size?.width,
    height: size?.height,
    cfg_scale: numberAt(request, ['cfg_scale']),
    seed: numberAt(request, ['seed']),
    steps: numberAt(request, ['steps']),
    style_preset: textAt(request, 'style_preset') ?? textAt(request, 'style'),
  })
}

function stableImageBody(request: Json, prompt: string): Json {
  refuse(request, 'n', value => value === 1, 'this model draws one picture a call')
  return defined({
    prompt,
    negative_prompt: textAt(request, 'negative_prompt'),
    aspect_ratio: textAt(request, 'aspect_ratio') ?? aspectRatio(request),
    seed: numberAt(request, ['seed']),
    output_format: textAt(request, 'output_format'),
  })
}

function aspectRatio(request: Json): string | undefined {
  const size = sizeOf(request)
  if (size === undefined) return undefined
  const found = ASPECT_RATIOS.find(([, ratio]) => Math.abs(size.width / size.height - ratio) < 0.01)
  if (!found)
    throw new UnsupportedInputFault(
      'size',
      `expected one of these shapes: ${ASPECT_RATIOS.map(([name]) => name).join(', ')}`,
    )
  return found[0]
}

/** `1024x768`; undefined where the choice is the model's. */
function sizeOf(request: Json): {readonly width: number; readonly height: number} | undefined {
  const size = textAt(request, 'size')
  if (size === undefined || size === 'auto') return undefined
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size) ?? []
  if (!width || !height) throw new UnsupportedInputFault('size', 'expected a width and a height like 1024x1024')
  return {width: Number(width), height: Number(height)}
}

/**
 * `{images}` of Amazon and Stable Image, `{artifacts}` of Stable Diffusion. Of several pictures those that were drawn
 * count; where all were withheld the reason is the provider's policy.
 */
function picturesIn(reply: unknown, context: TranslationContext): readonly string[] {
  if (!isObject(reply)) throw new InvalidResponseFault('expected a JSON object')
  const reasons: readonly unknown[] = Array.isArray(reply.finish_reasons) ? reply.finish_reasons : []
  const artifacts: readonly unknown[] = Array.isArray(reply.artifacts) ? reply.artifacts : []
  const withheld = [reply.error, ...reasons, ...artifacts.map(failureOf)].find(isText)
  const all: unknown = artifacts.length > 0 ? artifacts.map(pictureOf) : reply.images
  const drawn =
    Array.isArray(all) && withheld !== undefined
      ? all.filter((each, at) => isText(each) && !isText(reasons[at]) && !failureOf(artifacts[at]))
      : all
  if (Array.isArray(drawn) && drawn.length > 0 && drawn.every(isText)) return drawn
  if (withheld !== undefined) throw policyRefusal(`no picture was drawn: ${withheld.slice(0, 300)}`, context)
  throw new InvalidResponseFault('expected pictures in base64')
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Why a picture of Stable Diffusion was withheld; null where it was not. */
function failureOf(artifact: unknown): string | null {
  const {finishReason} = object(artifact)
  return finishReason === 'SUCCESS' || finishReason === undefined ? null : String(finishReason)
}

function pictureOf(artifact: unknown): unknown {
  return object(artifact).base64
}

/** A quality or a size as it prices a picture; what was left to the provider is the default. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== 'auto' && /^[\w.-]{1,32}$/.test(value) ? value : undefined
}
