import {createHash} from 'node:crypto'
import {isObject} from '../../base/json-object.ts'
import {
  type Dialect,
  InvalidResponseFault,
  type Json,
  type Translated,
  type TranslatedResponse,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {type RawError, readFault} from '../unified/fault.ts'
import {fromBase64, imageList, manyIn, promptIn, sizeIn} from '../unified/images.ts'
import {modelPath, objectIn, oneChoice, pick} from '../unified/read.ts'

/** Stability AI: pictures of its first API (JSON) and of its second (forms), by model. Base URL without a version. */
const imageGenerate: Translation = {
  request: (request, context) => (secondApi(context) ? formRequest(request, context) : jsonRequest(request, context)),
  reply: (response, context, request) =>
    secondApi(context) ? formReply(response, context, request) : jsonReply(response, context, request),
}

export const stabilityAi: Dialect = {
  name: 'stability-ai',
  endpoints: {imageGenerate},
  fault: (status, body, context) => readFault(status, body, context, find),
}

/** The path of a model of the second API, and whether the model is named in the form (the models of one path). */
function secondApi({model}: TranslationContext): {readonly path: string; readonly is_named: boolean} | null {
  const name = model.replace(/^stable-image-/, '')
  if (name === 'core' || name === 'ultra') return {path: name, is_named: false}
  return /^sd3/.test(name) ? {path: 'sd3', is_named: name !== 'sd3'} : null
}

/** Source: platform.stability.ai, REST API v1, text to image. */
function jsonRequest(request: Json, context: TranslationContext): Translated {
  const size = sizeIn(request)
  const negative = request.negative_prompt
  const body = {
    text_prompts: [
      {text: promptIn(request), weight: 1},
      ...(typeof negative === 'string' && negative ? [{text: negative, weight: -1}] : []),
    ],
    ...(size ?? {}),
    samples: manyIn(request),
    ...pick(request, 'steps cfg_scale clip_guidance_preset sampler seed style>style_preset style_preset extras'),
  }
  return {path: `/v1/generation/${modelPath(context)}/text-to-image`, headers: {accept: 'application/json'}, body}
}

function jsonReply(response: unknown, context: TranslationContext, request: Json): TranslatedResponse {
  const {artifacts} = objectIn(response)
  if (!Array.isArray(artifacts) || artifacts.length === 0) throw new InvalidResponseFault('artifacts: expected some')
  const pictures = artifacts.map((artifact, at) => {
    const picture = isObject(artifact) && artifact.finishReason !== 'ERROR' ? fromBase64(artifact) : null
    if (!picture) throw new InvalidResponseFault(`artifacts[${at}]: expected a picture`)
    return picture
  })
  return imageList(context, request, pictures)
}

/** Source: platform.stability.ai, REST API v2beta, stable image, generate: a form, one picture. */
function formRequest(request: Json, context: TranslationContext): Translated {
  oneChoice(request)
  const {path, is_named} = secondApi(context)!
  const more = pick(request, 'negative_prompt aspect_ratio seed output_format style_preset mode strength cfg_scale')
  const ratio = more.aspect_ratio === undefined ? ratioIn(request) : undefined
  const fields = {
    prompt: promptIn(request),
    ...(is_named ? {model: context.model.replace(/^stable-image-/, '')} : {}),
    ...(ratio ? {aspect_ratio: ratio} : {}),
    ...more,
  }
  const {bytes, content_type} = form(fields)
  return {
    path: `/v2beta/stable-image/generate/${path}`,
    headers: {accept: 'application/json', 'content-type': content_type},
    body: bytes,
  }
}

function formReply(response: unknown, context: TranslationContext, request: Json): TranslatedResponse {
  const {image, finish_reason} = objectIn(response)
  const picture = fromBase64(image)
  if (!picture)
    throw new InvalidResponseFault(
      `image: expected a picture${typeof finish_reason === 'string' ? `, not ${finish_reason.slice(0, 64)}` : ''}`,
    )
  return imageList(context, request, [picture])
}

const RATIOS = ['21:9', '16:9', '3:2', '5:4', '1:1', '4:5', '2:3', '9:16', '9:21']

/** The ratio of a size, where Stability has it. */
function ratioIn(request: Json): string | undefined {
  const size = sizeIn(request)
  if (!size) return undefined
  const found = RATIOS.find(ratio => {
    const [wide, high] = ratio.split(':').map(Number)
    return size.width * high! === size.height * wide!
  })
  if (!found) throw new UnsupportedInputFault('size', `expected a size whose sides are as one of ${RATIOS.join(', ')}`)
  return found
}

/**
 * A `multipart/form-data` body of plain fields (RFC 7578). Its boundary comes from its bytes, so that one request is
 * one body.
 */
function form(fields: Readonly<Record<string, unknown>>): {readonly bytes: Buffer; readonly content_type: string} {
  const values = Object.entries(fields).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  )
  const boundary = `form-${createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 32)}`
  const parts = values.map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    bytes: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
    content_type: `multipart/form-data; boundary=${boundary}`,
  }
}

/** `{id, name, message}` of the first API, `{id, name, errors: [text]}` of the second. */
function find(body: Json): RawError {
  const {errors, message, name} = body
  return {message: message ?? errors, type: name}
}
