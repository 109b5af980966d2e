import type {MaybePromise} from '../../base/maybe-promise.ts'
import {mostTokens} from '../tokens/bound.ts'
import {countJson} from '../tokens/count.ts'
import {encodingOf} from '../tokens/encodings.ts'
import {scanMedia} from './scan.ts'
import {
  documentTokens,
  familyOf,
  imageTokens,
  soundTokens,
  type TokenFamily,
  type Tokenizer,
  tokenizerOf,
} from './tokens.ts'

/** The most tokens that the prompt in a body comes to, by what they cost as. */
export interface PromptTokens {
  readonly text: number
  readonly images: number
  readonly sound: number
}

/** Words without one of which no body holds or names a picture, a recording or a file. */
const HINTS = [';base64,', '"data"', '"bytes"', '"url"', 'image_url', 'file_', 'fileData', 'fileUri'].map(word =>
  Buffer.from(word),
)
const ESCAPE = Buffer.from('\\u')

/**
 * The most that `body`, JSON in any dialect, is charged for as a prompt, never less than a provider counts: its text by
 * `mostTokens` and what the vendor says of its own tokenizer; pictures, recordings and documents by the rules of whose
 * model it is. Where its text was counted, `counted` is that.
 */
export function promptTokens(
  body: Buffer,
  provider: string,
  model: string,
  counted: number | null = null,
): PromptTokens {
  const family = familyOf(provider, model)
  const tokenizer = tokenizerOf(family, model)
  const {digits_a_token} = tokenizer
  const textOf = (tokens: number, bytes: number) =>
    Math.min(ofVendor(tokenizer, tokens, bytes), counted ?? Number.POSITIVE_INFINITY)
  if (!hasMedia(body))
    return {text: textOf(mostTokens(body, 0, body.length, digits_a_token), body.length), images: 0, sound: 0}
  let text_tokens = 0
  const {media, more_media} = scanMedia(body, (start, end) => {
    text_tokens += mostTokens(body, start, end, digits_a_token)
  })
  const media_bytes = media.reduce((sum, {bytes}) => sum + ((bytes ?? 0) * 4) / 3, 0)
  const sums = {
    text: textOf(text_tokens, body.length - media_bytes),
    images: more_media * anyTokens(family, model),
    sound: 0,
  }
  for (const {kind, bytes, size, seconds, detail} of media) {
    if (kind === 'image') sums.images += imageTokens(family, model, size, detail)
    else if (kind === 'sound') sums.sound += soundTokens(seconds)
    else sums.images += kind === 'document' ? documentTokens(family, bytes) : anyTokens(family, model)
  }
  return sums
}

/** The same of words in a session: those are of OpenAI's models. */
export function sessionTokens(words: Buffer): PromptTokens {
  return promptTokens(words, 'openai', 'gpt-realtime')
}

/**
 * Counts the tokens of the text in `body` for `promptTokens`, as the model reads it; null for a model whose vocabulary
 * is not public.
 */
export function textCount(body: Buffer, model: string): (() => MaybePromise<number>) | null {
  const encoding = encodingOf(model)
  return encoding && (() => countJson(textOf(body), encoding))
}

function textOf(body: Buffer): Buffer {
  if (!hasMedia(body)) return body
  const parts: Buffer[] = []
  scanMedia(body, (start, end) => parts.push(body.subarray(start, end)))
  return parts.length === 1 ? body : Buffer.concat(parts)
}

function hasMedia(body: Buffer): boolean {
  return body.includes(ESCAPE) || HINTS.some(hint => body.includes(hint))
}

/** The most tokens of a vendor's own tokenizer for a text, by those of public ones and by its length. */
function ofVendor({of_public, bytes_a_token}: Tokenizer, tokens: number, bytes: number): number {
  return Math.ceil(Math.max(tokens * of_public, bytes_a_token === null ? 0 : bytes / bytes_a_token))
}

/** Something that is only named: a picture or a document, whichever is more. */
function anyTokens(family: TokenFamily, model: string): number {
  return Math.max(imageTokens(family, model, null, null), documentTokens(family, null))
}
