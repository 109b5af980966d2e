import {object} from '../../../src/base/json-object.ts'
import type {Json} from '../../../src/providers/translation.ts'

/**
 * The message that a client puts together from chunks, `content_blocks` as Anthropic's own clients put theirs together.
 */
export function assembled(chunks: readonly Json[]): {
  readonly message: Json
  readonly finish_reason: unknown
  readonly usage: unknown
} {
  let content = ''
  let refusal: string | null = null
  let finish_reason: unknown = null
  let usage: unknown
  let role: unknown
  const calls: Record<string, {id: unknown; name: unknown; arguments: string}> = {}
  const blocks = new Map<unknown, Record<string, unknown>>()
  for (const chunk of chunks) {
    usage = chunk.usage ?? usage
    for (const choice of chunk.choices as readonly Json[]) {
      finish_reason = choice.finish_reason ?? finish_reason
      const delta = object(choice.delta)
      role = delta.role ?? role
      content += (delta.content as string | undefined) ?? ''
      refusal = (delta.refusal as string | undefined) ?? refusal
      for (const call of (delta.tool_calls as readonly Json[] | undefined) ?? []) {
        const made = object(call.function)
        calls[String(call.index)] ??= {id: call.id, name: made.name, arguments: ''}
        calls[String(call.index)]!.arguments += made.arguments as string
      }
      for (const {index, delta: more} of (delta.content_blocks as readonly Json[] | undefined) ?? [])
        grow(blocks, index, object(more))
    }
  }
  const tool_calls = Object.values(calls).map(call => ({
    id: call.id,
    type: 'function',
    function: {name: call.name, arguments: call.arguments},
  }))
  const message = {
    role,
    content: content === '' && tool_calls.length > 0 ? null : content,
    refusal,
    ...(blocks.size > 0 ? {content_blocks: [...blocks.values()].map(whole)} : {}),
    ...(tool_calls.length > 0 ? {tool_calls} : {}),
  }
  return {message, finish_reason, usage}
}

function grow(blocks: Map<unknown, Record<string, unknown>>, index: unknown, more: Json) {
  const block = blocks.get(index)
  if (!block) {
    blocks.set(index, {...more})
    return
  }
  for (const [key, value] of Object.entries(more)) {
    if (key === 'citation') block.citations = [...((block.citations as readonly unknown[] | undefined) ?? []), value]
    else block[key] = ((block[key] as string | undefined) ?? '') + (value as string)
  }
}

function whole({partial_json, ...block}: Record<string, unknown>): Json {
  return partial_json === undefined ? block : {...block, input: JSON.parse(partial_json as string) as unknown}
}
