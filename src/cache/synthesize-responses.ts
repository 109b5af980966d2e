import {isObject, object} from '../base/json-object.ts'
import type {JsonRecord} from './exact-json.ts'
import {pieces} from './pieces.ts'

type ResponseEvent = JsonRecord & {readonly type: string}

/**
 * A response as the events of a stream: created … completed. Source:
 * platform.openai.com/docs/api-reference/responses-streaming.
 */
export function synthesizeResponse(answer: JsonRecord): ResponseEvent[] | null {
  const {output, status} = answer
  if (!Array.isArray(output) || !output.every(isObject)) return null
  const last =
    status === 'incomplete'
      ? 'response.incomplete'
      : status === undefined || status === 'completed'
        ? 'response.completed'
        : null
  if (last === null) return null
  const began = {...answer, status: 'in_progress', output: [], ...('usage' in answer ? {usage: null} : {})}
  const events: ResponseEvent[] = [
    {type: 'response.created', response: began},
    {type: 'response.in_progress', response: began},
    ...output.flatMap(replayItem),
    {type: last, response: answer},
  ]
  return events.map(({type, ...rest}, sequence_number) => ({type, sequence_number, ...rest}))
}

/** Members of an item that stream as one text: by the item's type, the member and its events. */
const ITEM_TEXTS: Readonly<Record<string, readonly [member: string, event: string]>> = {
  function_call: ['arguments', 'response.function_call_arguments'],
  custom_tool_call: ['input', 'response.custom_tool_call_input'],
  mcp_call: ['arguments', 'response.mcp_call_arguments'],
}
/** Parts of an item that stream: by the part's type, the member that holds the text and its events. */
const PART_TEXTS: Readonly<Record<string, readonly [member: string, event: string]>> = {
  output_text: ['text', 'response.output_text'],
  refusal: ['refusal', 'response.refusal'],
  reasoning_text: ['text', 'response.reasoning_text'],
  summary_text: ['text', 'response.reasoning_summary_text'],
}

function replayItem(item: JsonRecord, output_index: number): ResponseEvent[] {
  const {id: item_id, type} = item
  const at = {...(item_id === undefined ? {} : {item_id}), output_index}
  const shell: JsonRecord = {...item, ...('status' in item ? {status: 'in_progress'} : {})}
  const steps: ResponseEvent[] = []
  for (const [list, index, part] of PART_LISTS) {
    const parts = item[list]
    if (!Array.isArray(parts) || !parts.every(isObject)) continue
    shell[list] = []
    steps.push(...parts.flatMap((each, place) => replayPart(each, {...at, [index]: place}, part)))
  }
  const known = typeof type === 'string' && Object.hasOwn(ITEM_TEXTS, type) ? ITEM_TEXTS[type] : undefined
  if (known && typeof item[known[0]] === 'string') {
    const [member, event] = known
    const text = item[member] as string
    shell[member] = ''
    steps.push(...pieces(text).map(delta => ({type: `${event}.delta`, ...at, delta})), {
      type: `${event}.done`,
      ...at,
      [member]: text,
    })
  }
  return [
    {type: 'response.output_item.added', output_index, item: shell},
    ...steps,
    {type: 'response.output_item.done', output_index, item},
  ]
}

/** The lists of parts in an item, the index and the names in their events. */
const PART_LISTS = [
  ['summary', 'summary_index', 'response.reasoning_summary_part'],
  ['content', 'content_index', 'response.content_part'],
] as const

function replayPart(part: JsonRecord, at: JsonRecord, event: string): ResponseEvent[] {
  const {type, annotations} = part
  const known = typeof type === 'string' && Object.hasOwn(PART_TEXTS, type) ? PART_TEXTS[type] : undefined
  const done = {type: `${event}.done`, ...at, part}
  if (!known || typeof part[known[0]] !== 'string') return [{type: `${event}.added`, ...at, part}, done]
  const [member, block] = known
  const text = part[member] as string
  // Only output_text has probabilities, and its events must have the list.
  const logprobs = type === 'output_text' ? {logprobs: Array.isArray(part.logprobs) ? part.logprobs : []} : {}
  const none = type === 'output_text' ? {logprobs: []} : {}
  const shell: JsonRecord = {...part, [member]: ''}
  if (Array.isArray(annotations)) shell.annotations = []
  if (Array.isArray(part.logprobs)) shell.logprobs = []
  const notes = Array.isArray(annotations)
    ? annotations.map((annotation, annotation_index) => ({annotation_index, annotation: object(annotation)}))
    : []
  return [
    {type: `${event}.added`, ...at, part: shell},
    ...pieces(text).map((delta, place) => ({type: `${block}.delta`, ...at, delta, ...(place === 0 ? logprobs : none)})),
    ...notes.map(note => ({type: 'response.output_text.annotation.added', ...at, ...note})),
    {type: `${block}.done`, ...at, [member]: text, ...logprobs},
    done,
  ]
}
