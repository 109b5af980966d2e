import {mostTokens} from '../tokens/bound.ts'
import {scanMedia} from './scan.ts'
import {documentTokens, familyOf, imageTokens, soundTokens, type TokenFamily, type Tokenizer, tokenizerOf} from './tokens.ts'

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
  const tokenizer = tokenizerOf(family, model)
  const {digits_a_token} = tokenizer
  if (!body.includes(ESCAPE) && !HINTS.some(hint => body.includes(hint)))
    return {text: ofVendor(tokenizer, mostTokens(body, 0, body.length, digits_a_token), body.length), images: 0, sound: 0}
  const {text_tokens, media, more_media} = scanMedia(body, digits_a_token)
  const media_bytes = media.reduce((sum, {bytes}) => sum + ((bytes ?? 0) * 4) / 3, 0)
  const sums = {text: ofVendor(tokenizer, text_tokens, body.length - media_bytes), images: more_media * anyTokens(family, model), sound: 0}
  for (const {kind, bytes, size, seconds, detail} of media) {
    if (kind === 'image') sums.images += imageTokens(family, model, size, detail)
    else if (kind === 'sound') sums.sound += soundTokens(seconds)
    else sums.images += kind === 'document' ? documentTokens(family, bytes) : anyTokens(family, model)
  }
  return sums
}

/** The most tokens of a vendor's own tokenizer for a text, by those of public ones and by its length. */
function ofVendor({of_public, bytes_a_token}: Tokenizer, tokens: number, bytes: number): number {
  return Math.ceil(Math.max(tokens * of_public, bytes_a_token === null ? 0 : bytes / bytes_a_token))
}

/** Something that is only named: a picture or a document, whichever is more. */
function anyTokens(family: TokenFamily, model: string): number {
  return Math.max(imageTokens(family, model, null, null), documentTokens(family, null))
}
