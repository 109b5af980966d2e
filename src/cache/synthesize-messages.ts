import {isObject, list} from '../base/json-object.ts'
import type {JsonRecord} from './exact-json.ts'
import {pieces} from './pieces.ts'

type MessageEvent = JsonRecord & {readonly type: string}

/**
 * A message as the events of a stream: message_start … message_stop. Source: docs.anthropic.com, streaming messages.
 */
export function synthesizeMessage(answer: JsonRecord): MessageEvent[] | null {
  const {content, usage, ...rest} = answer
  if (!Array.isArray(content) || !content.every(isObject)) return null
  const ends = Object.fromEntries(ENDS.filter(name => name in rest).map(name => [name, rest[name]]))
  const unsaid = Object.fromEntries(Object.keys(ends).map(name => [name, null]))
  const began = isObject(usage) && 'output_tokens' in usage ? {...usage, output_tokens: 0} : usage
  return [
    {type: 'message_start', message: {...rest, ...unsaid, content: [], ...(usage === undefined ? {} : {usage: began})}},
    ...content.flatMap(replayBlock),
    {type: 'message_delta', delta: ends, ...(usage === undefined ? {} : {usage})},
    {type: 'message_stop'},
  ]
}

/** Members that are known when the message ends. */
const ENDS = ['stop_reason', 'stop_sequence', 'stop_details'] as const
/** Members of a block that stream as text, and the delta that carries them. */
const TEXTS = {text: 'text_delta', thinking: 'thinking_delta', signature: 'signature_delta'} as const
/** Types of block whose `input` streams as pieces of JSON. */
const TOOLS: ReadonlySet<unknown> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use'])

function replayBlock(block: JsonRecord, index: number): MessageEvent[] {
  const {type, citations, input} = block
  const start: JsonRecord = {...block}
  const deltas: JsonRecord[] = []
  for (const [key, delta] of Object.entries(TEXTS)) {
    const text = block[key]
    // Blocks of other types may have members of these names that do not stream.
    if (typeof text !== 'string' || (type !== 'text' && type !== 'thinking')) continue
    start[key] = ''
    if (text !== '')
      deltas.push(...(key === 'signature' ? [text] : pieces(text)).map(piece => ({type: delta, [key]: piece})))
  }
  if (type === 'text' && Array.isArray(citations)) {
    start.citations = []
    deltas.push(...list(citations).map(citation => ({type: 'citations_delta', citation})))
  }
  if (TOOLS.has(type) && isObject(input)) {
    start.input = {}
    if (Object.keys(input).length > 0) {
      deltas.push(...pieces(JSON.stringify(input)).map(partial_json => ({type: 'input_json_delta', partial_json})))
    }
  }
  return [
    {type: 'content_block_start', index, content_block: start},
    ...deltas.map(delta => ({type: 'content_block_delta', index, delta})),
    {type: 'content_block_stop', index},
  ]
}
