import {type Json, UnsupportedInputFault} from '../translation.ts'

/** By the end of a name (cloud.google.com/vertex-ai/generative-ai/docs/multimodal, supported types). */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  aac: 'audio/aac',
  aiff: 'audio/aiff',
  m4a: 'audio/m4a',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
}
/** A data URI tells its type in fewer characters than these. */
const MAX_HEAD = 256

/** The type that a name or an address ends in; null when it tells none. */
export function typeOfName(name: string): string | null {
  const path = name.slice(0, 4096).split(/[?#]/, 1)[0]!
  const end = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(TYPES, end) ? TYPES[end]! : null
}

/**
 * A part of Gemini's for the content of `url`: the bytes of a data URI, or a file that Google fetches (`gs://`,
 * `https://`, a file of the Files API). `type`: the type that the caller gave; `usual`: the type when none is known.
 */
export function mediaPart(
  url: string,
  {type, usual}: {readonly type?: string | null; readonly usual: string},
  field: string,
): Json {
  if (url.startsWith('data:')) return inlinePart(url, field)
  if (!/^(?:https?|gs):\/\/[^\s]/i.test(url.slice(0, 16)))
    throw new UnsupportedInputFault(field, 'expected a data:, https: or gs: address')
  return {fileData: {mimeType: registered(type ?? typeOfName(url) ?? usual), fileUri: url}}
}

/** Source: RFC 2397. */
function inlinePart(url: string, field: string): Json {
  const comma = url.slice(0, MAX_HEAD).indexOf(',')
  if (comma < 0) throw new UnsupportedInputFault(field, 'expected a data URI: data:image/png;base64,...')
  const [type, ...parameters] = url.slice('data:'.length, comma).split(';')
  const mimeType = registered(type || 'text/plain')
  const data = url.slice(comma + 1)
  if (parameters.includes('base64')) return {inlineData: {mimeType, data}}
  try {
    return {inlineData: {mimeType, data: Buffer.from(decodeURIComponent(data)).toString('base64')}}
  } catch {
    throw new UnsupportedInputFault(field, 'expected a data URI in base64 or percent-encoded')
  }
}

/** Google knows no `image/jpg`. Source: ogkalu2/comic-translate#399, "Unsupported MIME type: image/jpg". */
function registered(type: string): string {
  return /^image\/jpg$/i.test(type.trim()) ? 'image/jpeg' : type
}
