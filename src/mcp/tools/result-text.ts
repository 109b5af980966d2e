import {isList, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'

/** A model is given no more of one result. */
export const MOST_RESULT_CHARS = 256 * 1024

/**
 * The result of a tool as a text for a model: its texts in their order, the address of a resource, and what a block of
 * another kind is in the place of its bytes. Structured content stands for a result without a text.
 */
export function textOfResult(result: JsonObject | undefined): string {
  const content = own(result, 'content')
  const parts = (isList(content) ? content : []).flatMap(block => textOf(block))
  const structured = own(result, 'structuredContent')
  if (parts.length === 0 && structured !== undefined) parts.push(JSON.stringify(structured))
  const text = parts.join('\n')
  if (text.length <= MOST_RESULT_CHARS) return text.toWellFormed()
  return `${text.slice(0, MOST_RESULT_CHARS).toWellFormed()}\n[cut here: the result has ${text.length} characters]`
}

function textOf(block: JsonValue): readonly string[] {
  const type = own(block, 'type')
  const text = own(block, 'text')
  if (type === 'text') return typeof text === 'string' ? [text] : []
  const resource = own(block, 'resource')
  const inner = own(resource, 'text')
  if (type === 'resource' && typeof inner === 'string') return [inner]
  if (type === 'resource_link') return [`${own(block, 'name') ?? 'resource'}: ${own(block, 'uri') ?? ''}`]
  const mime = own(block, 'mimeType') ?? own(resource, 'mimeType')
  return [`[${type ?? 'content'}${typeof mime === 'string' ? ` of the type ${mime}` : ''}, which is not shown]`]
}
