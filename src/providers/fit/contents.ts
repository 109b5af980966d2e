import {isObject, list, object} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import type {Demands} from './rows.ts'

/** A data URI tells its type in fewer characters than these. */
const MAX_HEAD = 256

/** Refuses parts of contents that the provider does not take. */
export function checkParts(messages: readonly Json[], demands: Demands) {
  const {parts, pictures, files, inline_files} = demands
  if (!parts && !pictures && !files && !inline_files) return
  messages.forEach(({content}, at) => {
    list(content).forEach((part, index) => {
      if (isObject(part)) checkPart(part, demands, `messages[${at}].content[${index}]`)
    })
  })
}

function checkPart(part: Json, {parts, pictures, files, inline_files}: Demands, field: string) {
  if (parts && typeof part.type === 'string' && !parts.has(part.type)) {
    const reason = `expected ${[...parts].join(', ')}; the provider takes no other parts`
    throw new UnsupportedInputFault(`${field}.type`, reason)
  }
  if (inline_files && object(part.file).file_url !== undefined) {
    const reason = 'expected file_data or file_id; the provider fetches no files'
    throw new UnsupportedInputFault(`${field}.file.file_url`, reason)
  }
  const type = typeIn(part)
  if (type === null) return
  // A file that is no picture is for its translation to judge where the row has no files.
  const is_refused = (pictures && type.startsWith('image/') && !pictures.test(type)) || (files && !files.test(type))
  if (!is_refused) return
  const place = part.type === 'image_url' ? 'image_url.url' : 'file.file_data'
  const reason = `expected a file of another type than ${type.slice(0, 40)}, which the provider refuses`
  throw new UnsupportedInputFault(`${field}.${place}`, reason)
}

/** The type that a part's data URI tells; null where it has none. */
function typeIn(part: Json): string | null {
  const {image_url, file} = part
  const url = part.type === 'image_url' ? (isObject(image_url) ? image_url.url : image_url) : object(file).file_data
  if (typeof url !== 'string' || !url.startsWith('data:')) return null
  const type = url.slice('data:'.length, MAX_HEAD).split(/[;,]/, 1)[0]!.trim().toLowerCase()
  return type === '' ? null : type
}
