import {isObject, list, object} from '../base/json-object.ts'
import {type JsonRecord, without} from './exact-json.ts'
import {pieces} from './pieces.ts'

/**
 * Chat completions: the role and all that has no pieces, the texts cut up, each tool call whole, then the reason it
 * ended.
 */
export function synthesizeChat(answer: JsonRecord, include_usage: boolean): JsonRecord[] | null {
  return replayChoices(answer, 'chat.completion.chunk', include_usage, choice => {
    const {message} = choice
    if (!isObject(message)) return null
    const {tool_calls, content_blocks, ...rest} = message
    const first: JsonRecord = {...rest}
    const steps: JsonRecord[] = [first]
    for (const key of TEXTS) {
      const text = rest[key]
      if (typeof text !== 'string' || text === '') continue
      if (key === 'content') first[key] = ''
      else delete first[key]
      for (const piece of pieces(text)) steps.push({[key]: piece})
    }
    if (content_blocks !== undefined) steps.push(...blocks(content_blocks))
    if (Array.isArray(tool_calls) && tool_calls.length > 0) {
      steps.push({tool_calls: tool_calls.map((call, index) => ({index, ...object(call)}))})
    } else if (tool_calls !== undefined) {
      first.tool_calls = tool_calls
    }
    const text_at = steps.findIndex(({content}) => typeof content === 'string' && content !== '')
    return {steps: steps.map(delta => ({delta})), text_at, last: {delta: {}}, rest: without(choice, 'message')}
  })
}

/** Text completions: as the whole answer is, with the text cut up. */
export function synthesizeText(answer: JsonRecord, include_usage: boolean): JsonRecord[] | null {
  return replayChoices(answer, 'text_completion', include_usage, choice => {
    const {text} = choice
    const steps = typeof text === 'string' ? pieces(text).map(piece => ({text: piece})) : []
    return {steps, text_at: 0, last: typeof text === 'string' ? {text: ''} : {}, rest: without(choice, 'text')}
  })
}

/** Members of a message whose text streams in pieces. */
const TEXTS = ['reasoning', 'reasoning_content', 'content', 'refusal'] as const

interface Steps {
  readonly steps: readonly JsonRecord[]
  /** The step with the first of the text; less than 0 where there is none. */
  readonly text_at: number
  /** The members of the chunk that ends the choice, besides the reason. */
  readonly last: JsonRecord
  readonly rest: JsonRecord
}

function replayChoices(
  answer: JsonRecord,
  object: string,
  include_usage: boolean,
  cut: (choice: JsonRecord) => Steps | null,
): JsonRecord[] | null {
  const {choices, usage} = answer
  if (!Array.isArray(choices) || choices.length === 0) return null
  const template = {...without(answer, 'choices', 'usage'), ...('object' in answer ? {object} : {})}
  const deltas: JsonRecord[] = []
  for (const [place, choice] of choices.entries()) {
    if (!isObject(choice)) return null
    const parts = cut(choice)
    if (!parts) return null
    const {index = place, logprobs, finish_reason, ...rest} = parts.rest
    const quiet = 'logprobs' in choice ? {logprobs: null} : {}
    for (const [at, step] of parts.steps.entries()) {
      // Probabilities of tokens go with the first of the text: they are a list that a client only adds to.
      deltas.push({
        index,
        ...step,
        ...quiet,
        ...(at === Math.max(0, parts.text_at) && isObject(logprobs) ? {logprobs} : {}),
        finish_reason: null,
      })
    }
    const unsaid = parts.steps.length === 0 && isObject(logprobs) ? {logprobs} : {}
    deltas.push({
      index,
      ...parts.last,
      ...quiet,
      ...unsaid,
      ...rest,
      ...('finish_reason' in choice ? {finish_reason} : {}),
    })
  }
  const chunks: JsonRecord[] = deltas.map(choice => ({
    ...template,
    choices: [choice],
    ...(include_usage && usage !== undefined ? {usage: null} : {}),
  }))
  if (usage === undefined) return chunks
  if (include_usage) return [...chunks, {...template, choices: [], usage}]
  return [...chunks.slice(0, -1), {...chunks.at(-1), usage}]
}

/** Members of a content block whose text streams, and the type that each of them tells. */
const BLOCK_TEXTS = {thinking: 'thinking', text: 'text', signature: 'thinking', data: 'redacted_thinking'} as const

/**
 * Blocks of text and thinking, as far as a client sees a provider's own: `[{index, delta}]`, the member alone names the
 * type.
 */
function blocks(content_blocks: unknown): JsonRecord[] {
  const steps = list(content_blocks).flatMap((block, index) => {
    const {type, ...rest} = object(block)
    const text_block = Object.entries(BLOCK_TEXTS).find(([key]) => typeof rest[key] === 'string')
    const start: JsonRecord = {...rest, ...(type !== undefined && text_block?.[1] !== type ? {type} : {})}
    const deltas: JsonRecord[] = [start]
    for (const key of Object.keys(BLOCK_TEXTS)) {
      const text = rest[key]
      if (typeof text !== 'string') continue
      const [first, ...more] = key === 'text' || key === 'thinking' ? pieces(text) : [text]
      start[key] = first
      for (const piece of more) deltas.push({[key]: piece})
    }
    return deltas.map(delta => ({content_blocks: [{index, delta}]}))
  })
  return steps.length > 0 ? steps : [{content_blocks}]
}
