import {object} from '../../base/json-object.ts'
import {emptyUsage, imageUnit, type Usage} from '../../schema/usage.ts'
import {count} from '../openai/usage.ts'
import {type Answer, type Context, InvalidResponse, type Json, UnsupportedInput} from '../translation.ts'

/** A picture as a provider gives it. */
export type Picture = {readonly url: string} | {readonly b64_json: string}

/** The prompt. */
export function promptIn(asked: Json, field = 'prompt'): string {
  const prompt = asked[field]
  if (typeof prompt !== 'string' || prompt === '') throw new UnsupportedInput(field, 'expected a text')
  return prompt
}

/** `1024x768` as numbers; undefined where the provider may choose. */
export function sizeIn(asked: Json): {readonly width: number; readonly height: number} | undefined {
  const {size} = asked
  if (size === undefined || size === null || size === 'auto') return undefined
  const found = typeof size === 'string' ? /^(\d{1,5})x(\d{1,5})$/.exec(size) : null
  if (!found) throw new UnsupportedInput('size', 'expected a size as 1024x1024')
  return {width: Number(found[1]), height: Number(found[2])}
}

/** OpenAI's list of pictures, charged by the picture. Throws `BadReply` when there is none. */
export function imageList(context: Context, asked: Json, data: readonly Picture[]): Answer {
  if (data.length === 0) throw new InvalidResponse('expected pictures')
  return {
    body: {created: context.created_s, data, provider: context.provider},
    usage: pictures(asked, data.length),
    model: context.model || null,
  }
}

function pictures(asked: Json, made: number): Usage {
  const usage = emptyUsage()
  usage.units[imageUnit(unitWord(asked.quality), unitWord(asked.size))] = made
  return usage
}

function unitWord(said: unknown): string | undefined {
  return typeof said === 'string' && said !== 'auto' && /^[\w.-]{1,32}$/.test(said) ? said : undefined
}

/** How many pictures are wanted: 1 where nobody says. */
export function manyIn(asked: Json): number {
  const {n} = asked
  if (n === undefined || n === null) return 1
  if (!count(n)) throw new UnsupportedInput('n', 'expected a number above 0')
  return n as number
}

/** A picture from base64 text or a data URI; null for anything else. */
export function fromBase64(said: unknown): Picture | null {
  const text = typeof said === 'string' ? said : object(said).base64
  if (typeof text !== 'string' || text === '') return null
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1
  return {b64_json: text.slice(comma + 1)}
}
