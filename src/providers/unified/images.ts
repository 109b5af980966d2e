import {object} from '../../base/json-object.ts'
import {emptyUsage, imageUnit, type Usage} from '../../schema/usage.ts'
import {count} from '../openai/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type TranslatedResponse,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'

/** A picture as a provider gives it. */
export type Picture = {readonly url: string} | {readonly b64_json: string}

/** The prompt. */
export function promptIn(request: Json, field = 'prompt'): string {
  const prompt = request[field]
  if (typeof prompt !== 'string' || prompt === '') throw new UnsupportedInputFault(field, 'expected a text')
  return prompt
}

/** `1024x768` as numbers; undefined where the provider may choose. */
export function sizeIn(request: Json): {readonly width: number; readonly height: number} | undefined {
  const {size} = request
  if (size === undefined || size === null || size === 'auto') return undefined
  const found = typeof size === 'string' ? /^(\d{1,5})x(\d{1,5})$/.exec(size) : null
  if (!found) throw new UnsupportedInputFault('size', 'expected a size as 1024x1024')
  return {width: Number(found[1]), height: Number(found[2])}
}

/** OpenAI's list of pictures, charged by the picture. Throws `InvalidResponseFault` when there is none. */
export function imageList(context: TranslationContext, request: Json, data: readonly Picture[]): TranslatedResponse {
  if (data.length === 0) throw new InvalidResponseFault('expected pictures')
  return {
    body: {created: context.created_s, data, provider: context.provider},
    usage: pictures(request, data.length),
    model: context.model || null,
  }
}

function pictures(request: Json, made: number): Usage {
  const usage = emptyUsage()
  usage.units[imageUnit(unitWord(request.quality), unitWord(request.size))] = made
  return usage
}

function unitWord(value: unknown): string | undefined {
  return typeof value === 'string' && value !== 'auto' && /^[\w.-]{1,32}$/.test(value) ? value : undefined
}

/** The number of pictures requested: 1 by default. */
export function manyIn(request: Json): number {
  const {n} = request
  if (n === undefined || n === null) return 1
  if (!count(n)) throw new UnsupportedInputFault('n', 'expected a number above 0')
  return n as number
}

/** A picture from base64 text or a data URI; null for anything else. */
export function fromBase64(value: unknown): Picture | null {
  const text = typeof value === 'string' ? value : object(value).base64
  if (typeof text !== 'string' || text === '') return null
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1
  return {b64_json: text.slice(comma + 1)}
}
