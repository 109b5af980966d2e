import type {Json} from '../translation.ts'
import {contentOf, textPart} from './parts.ts'

/** The result of a tool, as parts of a chat message. */
export interface ToolResult {
  readonly call_id: string
  readonly parts: readonly Json[]
  readonly is_error: boolean
}

/**
 * Results of one turn's calls as chat messages. A `tool` message takes text alone (OpenAI API reference), so pictures
 * and files follow in a user's message, each result's after a line that names its call; `after` is what the user says
 * besides. Chat has no word for a failed call: its text begins with `Error`, and `is_error` is there for providers that
 * know it.
 */
export function toolMessages(results: readonly ToolResult[], after: readonly Json[]): readonly Json[] {
  const messages = results.map(({call_id, parts, is_error}) => {
    const texts = parts.filter(({type}) => type === 'text')
    const rest = parts.length - texts.length
    const pointer = rest > 0 && texts.length === 0 ? [textPart('See the next message of the user.')] : []
    const content = contentOf(withError([...texts, ...pointer], is_error))
    return {role: 'tool', tool_call_id: call_id, content, ...(is_error ? {is_error} : {})}
  })
  const shown = results.flatMap(({call_id, parts}) => {
    const others = parts.filter(({type}) => type !== 'text')
    return others.length > 0 ? [textPart(`Result of the call ${call_id}:`), ...others] : []
  })
  const user_parts = [...shown, ...after]
  return user_parts.length > 0 ? [...messages, {role: 'user', content: contentOf(user_parts)}] : messages
}

function withError(texts: readonly Json[], is_error: boolean): readonly Json[] {
  const [first, ...others] = texts
  if (!is_error) return texts
  if (!first) return [textPart('Error')]
  const text = String(first.text)
  return /^\W{0,8}error/i.test(text) ? texts : [{...first, text: `Error: ${text}`}, ...others]
}
