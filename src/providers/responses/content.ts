import {arrayAt, given, objectAt, stringAt} from '../messages/fields.ts'
import {noWord, textPart} from '../messages/parts.ts'
import type {Json, TranslationContext} from '../translation.ts'

/**
 * The content of a message or of a call's output as parts of a chat message. Throws `UnsupportedInputFault` for what
 * chat has no part for.
 */
export function partsIn(content: unknown, field: string, context: TranslationContext): readonly Json[] {
  if (typeof content === 'string') return [textPart(content)]
  return arrayAt(content, field).map((part, at) =>
    partOf(objectAt(part, `${field}[${at}]`), `${field}[${at}]`, context),
  )
}

function partOf(part: Json, field: string, context: TranslationContext): Json {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return textPart(stringAt(part.text, `${field}.text`))
    case 'refusal':
      return textPart(stringAt(part.refusal, `${field}.refusal`))
    case 'input_image':
      return image(part, field, context)
    case 'input_file':
      return file(part, field, context)
    case 'input_audio':
      return {type: 'input_audio', input_audio: objectAt(part.input_audio, `${field}.input_audio`)}
    default:
      throw noWord(part.type, `${field}.type`, context)
  }
}

function image(part: Json, field: string, context: TranslationContext): Json {
  if (typeof part.image_url !== 'string' && part.file_id)
    throw noWord('the id of a stored file', `${field}.file_id`, context)
  return {
    type: 'image_url',
    image_url: given({url: stringAt(part.image_url, `${field}.image_url`), detail: part.detail}),
  }
}

function file(part: Json, field: string, context: TranslationContext): Json {
  const {filename, file_data, file_url, file_id} = part
  if (typeof file_data === 'string') return {type: 'file', file: given({filename, file_data})}
  if (typeof file_url === 'string') return {type: 'file', file: given({filename, file_url})}
  if (file_id) throw noWord('the id of a stored file', `${field}.file_id`, context)
  return {type: 'file', file: {file_data: stringAt(file_data, `${field}.file_data`)}}
}
