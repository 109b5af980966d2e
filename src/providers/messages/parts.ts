import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {arrayAt, given, objectAt, stringAt} from './fields.ts'

/**
 * A block of a user's message or a tool's result, as parts of a chat message. `cache_control` stays on them, for
 * dialects that know it (`withoutOwnMembers` takes it off for the others). Throws `UnsupportedInputFault` for what chat
 * has no part for.
 */
export function partsOf(block: unknown, field: string, context: TranslationContext): readonly Json[] {
  const parsed = objectAt(block, field)
  const {type, cache_control} = parsed
  const marked = (part: Json) => (cache_control ? {...part, cache_control} : part)
  if (type === 'text') return [marked(textPart(stringAt(parsed.text, `${field}.text`)))]
  if (type === 'image') return [marked(image(objectAt(parsed.source, `${field}.source`), `${field}.source`, context))]
  if (type === 'document') return withMark(document(parsed, field, context), marked)
  if (type === 'search_result') return [marked(searchResult(parsed, field))]
  throw noWord(type, `${field}.type`, context)
}

export function textPart(text: string): Json {
  return {type: 'text', text}
}

/** An error in place of `type`, whose value only one provider knows. */
export function noWord(type: unknown, field: string, {provider}: TranslationContext): UnsupportedInputFault {
  const shown = typeof type === 'string' ? type.slice(0, 64) : typeof type
  return new UnsupportedInputFault(
    field,
    `${shown} cannot be said to ${provider}, which is asked through chat completions`,
  )
}

/** Parts as chat's content: one text that carries nothing else is a string, which every server reads. */
export function contentOf(parts: readonly Json[]): string | readonly Json[] {
  const [first] = parts
  if (!first) return ''
  return parts.length === 1 && first.type === 'text' && first.cache_control === undefined
    ? (first.text as string)
    : parts
}

function image(source: Json, field: string, context: TranslationContext): Json {
  if (source.type === 'url') return {type: 'image_url', image_url: {url: stringAt(source.url, `${field}.url`)}}
  if (source.type === 'base64') return {type: 'image_url', image_url: {url: dataUri(source, field)}}
  throw noWord(source.type, `${field}.type`, context)
}

/** A document with its title and context in front, which the model is to read too. */
function document(block: Json, field: string, context: TranslationContext): readonly Json[] {
  const source = objectAt(block.source, `${field}.source`)
  const title = typeof block.title === 'string' ? block.title : ''
  const lead = [title, typeof block.context === 'string' ? block.context : ''].filter(Boolean).join('\n')
  const led = (parts: readonly Json[]) => (lead ? [textPart(lead), ...parts] : parts)
  switch (source.type) {
    case 'base64':
      return led([
        {type: 'file', file: {filename: title || 'document.pdf', file_data: dataUri(source, `${field}.source`)}},
      ])
    case 'url':
      return led([
        {type: 'file', file: given({filename: title || null, file_url: stringAt(source.url, `${field}.source.url`)})},
      ])
    case 'text':
      return led([textPart(stringAt(source.data, `${field}.source.data`))])
    case 'content':
      return led(nested(source.content, `${field}.source.content`, context))
    default:
      throw noWord(source.type, `${field}.source.type`, context)
  }
}

function nested(content: unknown, field: string, context: TranslationContext): readonly Json[] {
  if (typeof content === 'string') return [textPart(content)]
  return arrayAt(content, field).flatMap((block, at) => {
    const {type} = objectAt(block, `${field}[${at}]`)
    if (type !== 'text' && type !== 'image') throw noWord(type, `${field}[${at}].type`, context)
    return partsOf(block, `${field}[${at}]`, context)
  })
}

function searchResult(result: Json, field: string): Json {
  const texts = arrayAt(result.content, `${field}.content`).map((block, at) => {
    return stringAt(objectAt(block, `${field}.content[${at}]`).text, `${field}.content[${at}].text`)
  })
  return textPart(
    [stringAt(result.title, `${field}.title`), stringAt(result.source, `${field}.source`), '', ...texts].join('\n'),
  )
}

function dataUri(source: Json, field: string): string {
  return `data:${stringAt(source.media_type, `${field}.media_type`)};base64,${stringAt(source.data, `${field}.data`)}`
}

/** A cache mark ends what is to be cached: the last part has it. */
function withMark(parts: readonly Json[], marked: (part: Json) => Json): readonly Json[] {
  return parts.map((part, at) => (at === parts.length - 1 ? marked(part) : part))
}
