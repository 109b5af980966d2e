import {isFilm, kindOf, type Size, sizeOf} from './size.ts'
import {soundSeconds} from './tokens.ts'

/** A picture, a recording or a file in a body. */
export interface Media {
  /** `any`: it is only named, without its kind. */
  readonly kind: 'image' | 'sound' | 'document' | 'any'
  /** Its own; null where it is only named. */
  readonly bytes: number | null
  readonly size: Size | null
  /** How long a recording lasts at most. */
  readonly seconds: number | null
  /** OpenAI's word for how closely a picture is looked at. */
  detail: string | null
  /** Its string counts as text too: it is a name, or no file that is known by its head. */
  readonly is_text: boolean
}

export interface Scanned {
  readonly media: readonly Media[]
  /** Media that were seen behind the most that are looked at. */
  readonly more_media: number
}

/** An object that is open: the member that is read, and what was seen of it. */
interface Frame {
  readonly key: string
  /** The key whose value comes next. */
  next: string
  type: string
  detail: string | null
  readonly media: Media[]
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN = 0x7b
const CLOSE = 0x7d
/** Deeper objects are read over. */
const MAX_DEPTH = 64
const LONGEST_KEY = 24
/** A camera writes up to this much before the size of its picture. */
const HEAD_CHARACTERS = 256 * 1024
const MAX_MEDIA = 10_000

/** Members whose text is a file in base64, in the words of Anthropic, Gemini, Bedrock and OpenAI's sound. */
const RAW: ReadonlySet<string> = new Set(['data', 'bytes'])
/** Members that name one which is elsewhere. */
const NAMES: ReadonlySet<string> = new Set(['image_url', 'file_id', 'file_url', 'fileUri', 'file_uri'])
/** Objects whose `url` or `uri` does, and what it is. */
const OF: Readonly<Record<string, Media['kind']>> = {
  image_url: 'image',
  source: 'any',
  audio_url: 'sound',
  video_url: 'any',
  s3Location: 'any',
}
/** Members whose text may be a data URL: anywhere else it is text, whatever it begins with. */
const FILES: ReadonlySet<string> = new Set([
  ...RAW,
  ...NAMES,
  ...['url', 'uri', 'image', 'images', 'audio_url', 'video_url', 'pdf_url', 'document_url', 'file_data'],
])
const DATA_URL = /^data:([a-z]+)\/([\w.+-]+)[^,]{0,200};base64,/i

/**
 * Goes once over a body: no string of it is made but keys and heads of files. `onText` hears of each stretch that is no
 * medium's, JSON's own signs among them: together they are the same JSON, with empty strings for media. What is no JSON
 * is text as far as it is not.
 */
export function scanMedia(body: Buffer, onText: (start: number, end: number) => void): Scanned {
  const media: Media[] = []
  let more_media = 0
  const frames: Frame[] = []
  let too_deep = 0
  let frame: Frame | undefined
  let text_from = 0
  const found = (one: Media) => {
    if (media.length >= MAX_MEDIA) more_media++
    else {
      media.push(one)
      frame?.media.push(one)
    }
  }
  for (let at = 0; at < body.length; at++) {
    switch (body[at]) {
      case OPEN:
        if (frames.length >= MAX_DEPTH) too_deep++
        else {
          frame = {key: frame?.next ?? '', next: '', type: '', detail: null, media: []}
          frames.push(frame)
        }
        break
      case CLOSE:
        if (too_deep > 0) too_deep--
        else {
          const closed = frames.pop()
          if (closed?.detail) for (const one of closed.media) one.detail = closed.detail
          frame = frames.at(-1)
        }
        break
      case QUOTE: {
        const end = stringEnd(body, at)
        if (frame && too_deep === 0) {
          if (isKey(body, end + 1)) frame.next = end - at - 1 <= LONGEST_KEY ? body.toString('latin1', at + 1, end) : ''
          else {
            const one = mediumAt(body, at + 1, end, frame, frames.at(-2))
            if (one) {
              found(one)
              if (!one.is_text) {
                onText(text_from, at + 1)
                text_from = end
              }
            } else note(frame, body, at + 1, end)
          }
        }
        at = end
      }
    }
  }
  onText(text_from, body.length)
  return {media, more_media}
}

/** Keeps what a frame says of a medium in it, before or behind it. */
function note(frame: Frame, body: Buffer, start: number, end: number) {
  if (end - start > LONGEST_KEY) return
  if (frame.next === 'type') frame.type = body.toString('latin1', start, end)
  if (frame.next !== 'detail') return
  frame.detail = body.toString('latin1', start, end)
}

/** The medium that a string is or names; null for text. */
function mediumAt(body: Buffer, start: number, end: number, frame: Frame, parent: Frame | undefined): Media | null {
  const length = end - start
  if (length === 0) return null
  const {next} = frame
  if (body[start] === 0x64 && length > 12 && FILES.has(next)) {
    const match = DATA_URL.exec(unescaped(body.toString('latin1', start, Math.min(end, start + 256))))
    if (match) return fileOr(body, body.indexOf(',', start) + 1, end, MAJOR[match[1]!.toLowerCase()] ?? 'document')
  }
  if (RAW.has(next)) {
    const kind = kindOf(head(body, start, Math.min(end, start + 64)))
    return kind ? fileAt(body, start, end, kind) : null
  }
  if (next === 'file_data') return fileOr(body, start, end, 'document')
  if (NAMES.has(next)) return named(next === 'image_url' || /image/.test(frame.type) ? 'image' : 'any')
  if (next !== 'url' && next !== 'uri') return null
  const kind = Object.hasOwn(OF, frame.key) ? OF[frame.key]! : null
  return kind === null ? null : named(kind === 'any' && parent?.type === 'image' ? 'image' : kind)
}

const MAJOR: Readonly<Record<string, Media['kind']>> = {image: 'image', audio: 'sound'}

function named(kind: Media['kind']): Media {
  return {kind, bytes: null, size: null, seconds: null, detail: null, is_text: true}
}

function fileAt(body: Buffer, start: number, end: number, kind: Media['kind']): Media {
  const bytes = Math.ceil(((end - start) * 3) / 4)
  const one = {kind, bytes, size: null, seconds: null, detail: null, is_text: false}
  if (kind === 'document') return one
  if (kind === 'sound') return {...one, seconds: soundSeconds(head(body, start, Math.min(end, start + 64)), bytes)}
  return {...one, size: sizeOf(head(body, start, Math.min(end, start + HEAD_CHARACTERS)))}
}

/** A value in the place of a file; when its head does not tell, it may be prose, so the larger of both counts. */
function fileOr(body: Buffer, start: number, end: number, kind: Media['kind']): Media {
  const one = fileAt(body, start, end, kind)
  const first = head(body, start, Math.min(end, start + 64))
  return kindOf(first) || isFilm(first) ? one : {...one, is_text: true}
}

/** The first bytes of a file in base64. */
function head(body: Buffer, start: number, end: number): Buffer {
  return Buffer.from(unescaped(body.toString('latin1', start, end)), 'base64')
}

/** Some write a slash as `\/`. */
function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll('\\/', '/') : text
}

/** The index of the closing quote of the string that begins at `at`; the end of the body without one. */
function stringEnd(body: Buffer, at: number): number {
  let end = at
  for (;;) {
    end = body.indexOf(QUOTE, end + 1)
    if (end < 0) return body.length
    let slashes = 0
    while (body[end - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
}

function isKey(body: Buffer, from: number): boolean {
  let at = from
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++
  return body[at] === COLON
}
