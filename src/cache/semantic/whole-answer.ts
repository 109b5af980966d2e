import {isObject, list} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'

type JsonAnswer = Readonly<Record<string, unknown>>

/**
 * True of an answer that may be given to a request in other words: it is whole, ended of itself, and is text alone.
 * One that was cut off or filtered, a call of a tool, a refusal: these are for the same request again at most.
 */
export function isWholeAnswer(endpoint: EndpointName, answer: unknown): boolean {
  if (!isObject(answer) || !isNothing(answer.error)) return false
  switch (endpoint) {
    case 'chatComplete':
      return everyChoice(answer, choice => isObject(choice.message) && isSpoken(choice.message))
    case 'complete':
      return everyChoice(answer, choice => isText(choice.text))
    case 'messages':
      return ENDS.has(answer.stop_reason) && isBlocks(list(answer.content), 'text', SILENT_BLOCKS)
    case 'createModelResponse':
      return isWholeResponse(answer)
    default:
      return false
  }
}

/** Reasons for which a model ends of itself. */
const ENDS: ReadonlySet<unknown> = new Set(['stop', 'end_turn', 'stop_sequence', 'eos', 'eos_token', 'complete'])
/** Blocks beside the text that are no part of its text. */
const SILENT_BLOCKS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])
const SILENT_ITEMS: ReadonlySet<unknown> = new Set(['reasoning'])

function everyChoice({choices}: JsonAnswer, isPlain: (choice: JsonAnswer) => boolean): boolean {
  if (!Array.isArray(choices) || choices.length === 0) return false
  return choices.every(choice => isObject(choice) && ENDS.has(choice.finish_reason) && isPlain(choice))
}

function isSpoken(message: JsonAnswer): boolean {
  if (!['tool_calls', 'function_call', 'refusal', 'audio', 'images'].every(name => isNothing(message[name])))
    return false
  return isText(message.content) || isBlocks(list(message.content), 'text', SILENT_BLOCKS)
}

function isWholeResponse({status, incomplete_details, output}: JsonAnswer): boolean {
  if (status !== 'completed' || !isNothing(incomplete_details)) return false
  const items = list(output).filter(isObject)
  if (items.length === 0 || items.length !== list(output).length) return false
  const messages = items.filter(({type}) => !SILENT_ITEMS.has(type))
  return (
    messages.length > 0 &&
    messages.every(({type, content}) => type === 'message' && isBlocks(list(content), 'output_text', NO_BLOCKS))
  )
}

const NO_BLOCKS: ReadonlySet<unknown> = new Set()

/** Text in blocks, and none that is neither text nor silent. */
function isBlocks(blocks: readonly unknown[], type: string, silent: ReadonlySet<unknown>): boolean {
  const spoken = blocks.filter(block => !(isObject(block) && silent.has(block.type)))
  return (
    spoken.every(block => isObject(block) && block.type === type && typeof block.text === 'string') &&
    spoken.some(block => isText((block as JsonAnswer).text))
  )
}

const isText = (value: unknown) => typeof value === 'string' && value.trim() !== ''
const isNothing = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
