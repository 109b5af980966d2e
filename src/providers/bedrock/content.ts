import {isObject} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {documentName, readDataUri, s3Source} from './media.ts'

/** State that the parts of one request share: documents in it must have different names. */
export interface Naming {
  readonly used: Set<string>
}

/**
 * OpenAI content (a text, or parts) as Converse content blocks, with a cache point after each part that has
 * `cache_control`. Blank texts are left out: Converse refuses them. Source: Bedrock API reference, ContentBlock.
 */
export function contentBlocks(content: unknown, field: string, naming: Naming): Json[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return isBlank(content) ? [] : [{text: content}]
  if (!Array.isArray(content)) throw new UnsupportedInputFault(field, 'expected a string or an array of parts')
  return content.flatMap((part: unknown, at) => {
    const place = `${field}[${at}]`
    if (!isObject(part)) throw new UnsupportedInputFault(place, 'expected a part with a type')
    const block = partBlock(part, place, naming)
    return block === null ? [] : marked([block], part)
  })
}

/**
 * `blocks` with the cache point that `mark`'s `cache_control` asks for after them; with nothing before it there is
 * nothing to cache.
 */
export function marked(blocks: readonly Json[], mark: Json): Json[] {
  return blocks.length > 0 ? [...blocks, ...cachePoint(mark)] : []
}

/** The cache point of a `cache_control`; five minutes are Bedrock's own default and are left out. */
export function cachePoint(part: Json): Json[] {
  const {cache_control: mark} = part
  if (!isObject(mark)) return []
  return [{cachePoint: {type: 'default', ...(mark.ttl === '1h' ? {ttl: '1h'} : {})}}]
}

function partBlock(part: Json, field: string, naming: Naming): Json | null {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textBlock(part.text, `${field}.text`)
    case 'refusal':
      return textBlock(part.refusal, `${field}.refusal`)
    case 'thinking':
      return thinkingBlock(part, field)
    case 'redacted_thinking':
      return {reasoningContent: {redactedContent: text(part.data, `${field}.data`)}}
    case 'image_url':
      return imageBlock(part, field, naming)
    case 'file':
      return fileBlock(part, field, naming)
    case 'video_url':
      return videoBlock(part, field)
    case 'input_audio':
      return audioBlock(part, field)
    default:
      throw new UnsupportedInputFault(
        `${field}.type`,
        `Amazon Bedrock has no words for a part of type ${JSON.stringify(part.type ?? null).slice(0, 60)}`,
      )
  }
}

function textBlock(value: unknown, field: string): Json | null {
  const words = text(value, field)
  return isBlank(words) ? null : {text: words}
}

/**
 * Goes back as it came: the model that wrote it checks its signature. Of a thought that is withheld there may be the
 * signature alone.
 */
function thinkingBlock(part: Json, field: string): Json {
  const signature =
    part.signature === undefined || part.signature === null
      ? {}
      : {signature: text(part.signature, `${field}.signature`)}
  return {reasoningContent: {reasoningText: {text: text(part.thinking ?? '', `${field}.thinking`), ...signature}}}
}

/**
 * Blank is what has nothing but space: models write it before their calls, and Converse refuses it in what is sent
 * back.
 */
function isBlank(words: string): boolean {
  return !/\S/.test(words)
}

const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}
const IMAGE_ENDINGS: Readonly<Record<string, string>> = {
  png: 'png',
  jpg: 'jpeg',
  jpeg: 'jpeg',
  gif: 'gif',
  webp: 'webp',
}

function imageBlock(part: Json, field: string, naming: Naming): Json {
  const place = `${field}.image_url.url`
  const url = text(isObject(part.image_url) ? part.image_url.url : part.image_url, place)
  if (url.startsWith('s3://')) {
    const format = formatOf(IMAGE_ENDINGS, ending(url))
    if (format === undefined) throw new UnsupportedInputFault(place, 'expected a png, jpeg, gif or webp image')
    return {image: {format, source: s3Source(url, place)}}
  }
  const {mime, base64} = readDataUri(url, place)
  if (formatOf(DOCUMENT_FORMATS, mime) !== undefined)
    return documentBlock(mime, undefined, {bytes: base64}, place, naming)
  const format = formatOf(IMAGE_FORMATS, mime)
  if (format === undefined)
    throw new UnsupportedInputFault(place, `expected a png, jpeg, gif or webp image, not ${mime || 'an unnamed type'}`)
  return {image: {format, source: {bytes: base64}}}
}

const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
}
const DOCUMENT_ENDINGS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(DOCUMENT_FORMATS).map(format => [format, format]),
)

/** `file`: `file_data` (a data URI, or bare base64 with `mime_type` or a file name that tells), or `file_url` in S3. */
function fileBlock(part: Json, field: string, naming: Naming): Json {
  const file = part.file
  if (!isObject(file)) throw new UnsupportedInputFault(`${field}.file`, 'expected an object with file_data')
  const {file_data, file_url, filename, mime_type} = file
  const name = typeof filename === 'string' ? filename : undefined
  const declared_mime = typeof mime_type === 'string' ? mime_type : ''
  if (typeof file_url === 'string') {
    return documentBlock(
      declared_mime,
      name ?? file_url,
      s3Source(file_url, `${field}.file.file_url`),
      `${field}.file.file_url`,
      naming,
    )
  }
  if (typeof file_data !== 'string') {
    throw new UnsupportedInputFault(
      `${field}.file`,
      'Amazon Bedrock reads no uploaded files: expected file_data, or a file_url that begins with s3://',
    )
  }
  const place = `${field}.file.file_data`
  if (!file_data.startsWith('data:')) return documentBlock(declared_mime, name, {bytes: file_data}, place, naming)
  const {mime, base64} = readDataUri(file_data, place)
  const image = formatOf(IMAGE_FORMATS, mime)
  if (image !== undefined) return {image: {format: image, source: {bytes: base64}}}
  return documentBlock(mime, name, {bytes: base64}, place, naming)
}

function documentBlock(mime: string, name: string | undefined, source: Json, field: string, naming: Naming): Json {
  const format = formatOf(DOCUMENT_FORMATS, mime) ?? formatOf(DOCUMENT_ENDINGS, ending(name ?? ''))
  if (format === undefined)
    throw new UnsupportedInputFault(field, 'expected a pdf, csv, doc, docx, xls, xlsx, html, txt or md document')
  return {document: {format, name: documentName(name, naming.used), source}}
}

const VIDEO_FORMATS: Readonly<Record<string, string>> = {
  mkv: 'mkv',
  mov: 'mov',
  mp4: 'mp4',
  webm: 'webm',
  flv: 'flv',
  mpeg: 'mpeg',
  mpg: 'mpg',
  wmv: 'wmv',
  '3gp': 'three_gp',
  '3gpp': 'three_gp',
  quicktime: 'mov',
  'x-matroska': 'mkv',
  'x-flv': 'flv',
  'x-ms-wmv': 'wmv',
}

function videoBlock(part: Json, field: string): Json {
  const place = `${field}.video_url.url`
  const url = text(isObject(part.video_url) ? part.video_url.url : part.video_url, place)
  const is_s3 = url.startsWith('s3://')
  const data = is_s3 ? null : readDataUri(url, place)
  const format = formatOf(VIDEO_FORMATS, data ? data.mime.replace(/^video\//, '') : ending(url))
  if (format === undefined)
    throw new UnsupportedInputFault(place, 'expected an mkv, mov, mp4, webm, flv, mpeg, wmv or 3gp video')
  return {video: {format, source: data ? {bytes: data.base64} : s3Source(url, place)}}
}

const AUDIO_FORMATS = new Set('mp3 opus wav aac flac mp4 ogg mkv mka m4a mpeg mpga pcm webm'.split(' '))

function audioBlock(part: Json, field: string): Json {
  const audio = part.input_audio
  if (!isObject(audio))
    throw new UnsupportedInputFault(`${field}.input_audio`, 'expected an object with data and format')
  const format = text(audio.format, `${field}.input_audio.format`)
  if (!AUDIO_FORMATS.has(format))
    throw new UnsupportedInputFault(`${field}.input_audio.format`, `expected one of ${[...AUDIO_FORMATS].join(', ')}`)
  return {audio: {format, source: {bytes: text(audio.data, `${field}.input_audio.data`)}}}
}

/** The text after the last dot of a name or an address, in lower case; empty without one. */
function ending(name: string): string {
  return /\.([A-Za-z0-9]{1,5})$/.exec(name.slice(-8))?.[1]?.toLowerCase() ?? ''
}

function formatOf(formats: Readonly<Record<string, string>>, word: string): string | undefined {
  return Object.hasOwn(formats, word) ? formats[word] : undefined
}

function text(value: unknown, field: string): string {
  if (typeof value !== 'string') throw new UnsupportedInputFault(field, 'expected a string')
  return value
}
