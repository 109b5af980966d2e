import {randomBytes} from 'node:crypto'
import {parsed} from '../../../base/json-object.ts'
import type {Json} from '../../../providers/translation.ts'

/** Shorter bodies are parsed as they are. */
const MIN_BODY_BYTES = 256 << 10
/** Shorter data is not worth holding. */
const MIN_DATA_BYTES = 64 << 10
const MAX_HEAD_BYTES = 200
const OPENING = Buffer.from('"data:')
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
/** The beginning of data that every dialect moves unchanged, and none reads. */
const HEAD = /^data:(?:(?:image|audio|video)\/|application\/pdf)[\w.+;=-]*;base64$/i

/**
 * A JSON body whose large inline files are held back while it is translated: marks take their place, and their bytes
 * leave as they came, without being parsed, written or copied on the way. A picture would else be in memory six times.
 */
export interface DetachedFiles {
  /** The body parsed, with marks. */
  readonly json: Json
  /** Cuts JSON text at its marks and puts the files back there; the pieces are the whole. */
  restore(text: string): readonly Buffer[]
}

/** Null where there is nothing large to hold, or the body does not parse. */
export function detachInlineFiles(body: Buffer): DetachedFiles | null {
  if (body.length < MIN_BODY_BYTES) return null
  const mark = `held${randomBytes(16).toString('hex')}n` // of the letters of base64, and not to be guessed
  const files: Buffer[] = []
  let text = ''
  let from = 0
  for (let at = body.indexOf(OPENING); at >= 0; at = body.indexOf(OPENING, at + 1)) {
    const file = body[at - 1] === BACKSLASH ? null : fileAt(body, at + 1)
    if (!file) continue
    text += `${body.toString('utf8', from, file.start)}${mark}${String(files.length).padStart(DIGITS, '0')}`
    files.push(body.subarray(file.start, file.end))
    from = at = file.end
  }
  if (files.length === 0 || files.length >= 10 ** DIGITS) return null
  const fields = parsed(text + body.toString('utf8', from)) as Json | null | undefined
  return fields === null || fields === undefined
    ? null
    : {json: fields, restore: written => restored(written, mark, files)}
}

const DIGITS = 6

/** The range of a data URL's data that begins at `start`; null for one that is short, escaped or something else. */
function fileAt(body: Buffer, start: number): {readonly start: number; readonly end: number} | null {
  const comma = body.subarray(start, start + MAX_HEAD_BYTES).indexOf(COMMA)
  if (comma < 0 || !HEAD.test(body.toString('latin1', start, start + comma))) return null
  const data = start + comma + 1
  const end = body.indexOf(QUOTE, data)
  if (end - data < MIN_DATA_BYTES || body.subarray(data, end).includes(BACKSLASH)) return null
  return {start: data, end}
}

function restored(text: string, mark: string, files: readonly Buffer[]): readonly Buffer[] {
  const parts: Buffer[] = []
  let from = 0
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, from)) {
    const after = at + mark.length + DIGITS
    parts.push(Buffer.from(text.slice(from, at)), files[Number(text.slice(at + mark.length, after))]!)
    from = after
  }
  return [...parts, Buffer.from(text.slice(from))]
}
