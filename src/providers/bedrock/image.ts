import {isObject} from '../../base/json-object.ts'
import {emptyUsage, imageUnit} from '../../schema/usage.ts'
import {InvalidResponse, type Json, type Translation, UnsupportedInput} from '../translation.ts'
import {numberAt, refuse, said, saidOr, textAt} from './ask.ts'
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
  request(asked, context) {
    const prompt = textAt(asked, 'prompt')
    if (prompt === undefined) throw new UnsupportedInput('prompt', 'expected a text')
    refuse(asked, 'response_format', value => value === 'b64_json', 'Amazon Bedrock gives pictures in base64 alone: expected "b64_json"')
    const id = foundationModel(context.model) ?? ''
    const path = modelPath(context, 'invoke')
    if (id.startsWith('amazon.titan-image') || id.startsWith('amazon.nova-canvas'))
      return {method: 'POST', path, body: amazonBody(asked, prompt)}
    if (id.startsWith('stability.stable-diffusion-xl')) return {method: 'POST', path, body: diffusionBody(asked, prompt)}
    if (id.startsWith('stability.')) return {method: 'POST', path, body: stableImageBody(asked, prompt)}
    throw new UnsupportedInput('model', 'expected an image model of Amazon or Stability AI, by its id or an ARN that holds it')
  },
  reply(reply, context, asked) {
    const pictures = picturesIn(reply)
    const usage = emptyUsage()
    usage.units[imageUnit(word(asked.quality), word(asked.size))] = pictures.length
    const data = pictures.map(b64_json => ({b64_json}))
    return {body: {created: context.created_s, data, provider: context.provider}, usage, model: null}
  },
}

function amazonBody(asked: Json, prompt: string): Json {
  const size = sizeOf(asked)
  const quality = textAt(asked, 'quality')
  return said({
    taskType: 'TEXT_IMAGE',
    textToImageParams: said({text: prompt, negativeText: textAt(asked, 'negative_prompt')}),
    imageGenerationConfig: saidOr({
      numberOfImages: numberAt(asked, ['n']),
      width: size?.width,
      height: size?.height,
      quality:
        quality === 'hd' || quality === 'high' || quality === 'premium' ? 'premium' : quality === 'standard' ? 'standard' : undefined,
      cfgScale: numberAt(asked, ['cfg_scale']),
      seed: numberAt(asked, ['seed']),
    }),
  })
}

function diffusionBody(asked: Json, prompt: string): Json {
  refuse(asked, 'n', value => value === 1, 'this model draws one picture a call')
  const size = sizeOf(asked)
  const negative = textAt(asked, 'negative_prompt')
  return said({
    text_prompts: [{text: prompt, weight: 1}, ...(negative ? [{text: negative, weight: -1}] : [])],
    width: size?.width,
    height: size?.height,
    cfg_scale: numberAt(asked, ['cfg_scale']),
    seed: numberAt(asked, ['seed']),
    steps: numberAt(asked, ['steps']),
    style_preset: textAt(asked, 'style_preset') ?? textAt(asked, 'style'),
  })
}

function stableImageBody(asked: Json, prompt: string): Json {
  refuse(asked, 'n', value => value === 1, 'this model draws one picture a call')
  return said({
    prompt,
    negative_prompt: textAt(asked, 'negative_prompt'),
    aspect_ratio: textAt(asked, 'aspect_ratio') ?? aspectRatio(asked),
    seed: numberAt(asked, ['seed']),
    output_format: textAt(asked, 'output_format'),
  })
}

function aspectRatio(asked: Json): string | undefined {
  const size = sizeOf(asked)
  if (size === undefined) return undefined
  const found = ASPECT_RATIOS.find(([, ratio]) => Math.abs(size.width / size.height - ratio) < 0.01)
  if (!found) throw new UnsupportedInput('size', `expected one of these shapes: ${ASPECT_RATIOS.map(([name]) => name).join(', ')}`)
  return found[0]
}

/** `1024x768`; undefined where the choice is the model's. */
function sizeOf(asked: Json): {readonly width: number; readonly height: number} | undefined {
  const size = textAt(asked, 'size')
  if (size === undefined || size === 'auto') return undefined
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size) ?? []
  if (!width || !height) throw new UnsupportedInput('size', 'expected a width and a height like 1024x1024')
  return {width: Number(width), height: Number(height)}
}

/** `{images}` of Amazon and Stable Image, `{artifacts}` of Stable Diffusion; a picture that was withheld is told with its reason. */
function picturesIn(reply: unknown): readonly string[] {
  if (!isObject(reply)) throw new InvalidResponse('expected a JSON object')
  const reasons: readonly unknown[] = Array.isArray(reply.finish_reasons) ? reply.finish_reasons : []
  const withheld = [reply.error, ...reasons].find(reason => typeof reason === 'string' && reason !== '')
  if (withheld !== undefined) throw new InvalidResponse(`no picture was drawn: ${String(withheld).slice(0, 300)}`)
  const artifacts = Array.isArray(reply.artifacts) ? reply.artifacts.map(artifactPicture) : reply.images
  if (!Array.isArray(artifacts) || artifacts.length === 0 || !artifacts.every(each => typeof each === 'string' && each !== '')) {
    throw new InvalidResponse('expected pictures in base64')
  }
  return artifacts as readonly string[]
}

function artifactPicture(artifact: unknown): unknown {
  if (!isObject(artifact)) return null
  if (artifact.finishReason === 'SUCCESS' || artifact.finishReason === undefined) return artifact.base64
  throw new InvalidResponse(`no picture was drawn: ${String(artifact.finishReason).slice(0, 100)}`)
}

/** A quality or a size as it prices a picture; what was left to the provider is the default. */
function word(asked: unknown): string | undefined {
  return typeof asked === 'string' && asked !== 'auto' && /^[\w.-]{1,32}$/.test(asked) ? asked : undefined
}
