import {isAscii} from 'node:buffer'
import {estimateTokens} from '../openai/observe.ts'
import {scanMedia} from './scan.ts'
import {documentTokens, familyOf, imageTokens, soundTokens, type TokenFamily} from './tokens.ts'

/** The most tokens that the prompt in a body comes to, by what they cost as. */
export interface PromptTokens {
  readonly text: number
  readonly images: number
  readonly sound: number
}

/** Words without one of which no body holds or names a picture, a recording or a file. */
const HINTS = [';base64,', '"data"', '"bytes"', '"url"', 'image_url', 'file_', 'fileData', 'fileUri'].map(word => Buffer.from(word))
const ESCAPE = Buffer.from('\\u')

/**
 * The most that `body`, JSON in any dialect, is charged for as a prompt, never less than a provider counts: text of ASCII at four bytes a
 * token, as prose and code come to; of any other at one for each byte of its UTF-8, which no tokenizer exceeds; pictures, recordings and
 * documents by the rules of whose model it is.
 */
export function promptTokens(body: Buffer, provider: string, model: string): PromptTokens {
  const is_plain = isAscii(body) && !body.includes(ESCAPE)
  if (is_plain && !HINTS.some(hint => body.includes(hint))) return {text: estimateTokens(body.length), images: 0, sound: 0}
  const {text_bytes, wide_bytes, media, more_media} = scanMedia(body)
  const family = familyOf(provider, model)
  const sums = {text: estimateTokens(text_bytes) + wide_bytes, images: more_media * anyTokens(family, model), sound: 0}
  for (const {kind, bytes, size, detail} of media) {
    if (kind === 'image') sums.images += imageTokens(family, model, size, detail)
    else if (kind === 'sound') sums.sound += soundTokens(bytes)
    else sums.images += kind === 'document' ? documentTokens(family, bytes) : anyTokens(family, model)
  }
  return sums
}

/** Something that is only named: a picture or a document, whichever is more. */
function anyTokens(family: TokenFamily, model: string): number {
  return Math.max(imageTokens(family, model, null, null), documentTokens(family, null))
}
