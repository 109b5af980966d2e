import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import type {TextEdit} from '../wire/edits.ts'

/**
 * Edits that write the structured content of a `tools/call` result for legacy clients, which know objects alone
 * (2025-06-18, "Structured content"). `is_wrapped`: its tool's `outputSchema` was given to them under `result`.
 * `text`: the JSON of `structuredContent` as it came.
 */
export function structuredForLegacy(
  result: JsonObject,
  text: string | undefined,
  is_wrapped: boolean,
): readonly TextEdit[] {
  const value = own(result, 'structuredContent')
  if (value === undefined || text === undefined || (isObject(value) && !is_wrapped)) return []
  const wrap: TextEdit = {path: ['structuredContent'], wrap: ['{"result":', '}']}
  if (isObject(value) || hasText(result)) return [wrap]
  // clients of the first revisions read content alone: they find the value there
  return [wrap, {path: ['content'], append: `{"type":"text","text":${JSON.stringify(text)}}`}]
}

function hasText(result: JsonObject): boolean {
  const content = own(result, 'content')
  return Array.isArray(content) && content.some(block => own(block, 'type') === 'text')
}
