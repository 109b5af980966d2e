import {mostTokens} from '../tokens/bound.ts'
import {scanMedia} from './scan.ts'
import {documentTokens, familyOf, imageTokens, soundTokens, type TokenFamily, tokenizerOf} from './tokens.ts'

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
 * The most that `body`, JSON in any dialect, is charged for as a prompt, never less than a provider counts: its text by `mostTokens` and
 * what the vendor says of its own tokenizer; pictures, recordings and documents by the rules of whose model it is.
 */
export function promptTokens(body: Buffer, provider: string, model: string): PromptTokens {
  const family = familyOf(provider, model)
  const {digits_a_token, of_public} = tokenizerOf(family, model)
  if (!body.includes(ESCAPE) && !HINTS.some(hint => body.includes(hint)))
    return {text: Math.ceil(mostTokens(body, 0, body.length, digits_a_token) * of_public), images: 0, sound: 0}
  const {text_tokens, media, more_media} = scanMedia(body, digits_a_token)
  const sums = {text: Math.ceil(text_tokens * of_public), images: more_media * anyTokens(family, model), sound: 0}
  for (const {kind, bytes, size, seconds, detail} of media) {
    if (kind === 'image') sums.images += imageTokens(family, model, size, detail)
    else if (kind === 'sound') sums.sound += soundTokens(seconds)
    else sums.images += kind === 'document' ? documentTokens(family, bytes) : anyTokens(family, model)
  }
  return sums
}

/** Something that is only named: a picture or a document, whichever is more. */
function anyTokens(family: TokenFamily, model: string): number {
  return Math.max(imageTokens(family, model, null, null), documentTokens(family, null))
}
