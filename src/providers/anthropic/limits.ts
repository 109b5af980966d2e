import {list} from '../../base/json-object.ts'
import type {Json} from '../translation.ts'
import type {ConversationTurn} from './content.ts'

/** Blocks of a request that may carry `cache_control` (platform.claude.com/docs, Prompt caching). */
const MAX_MARKS = 4

type Report = (adaptation: string) => void

/** A prefill without the white space at its end, which Anthropic refuses. */
export function trimPrefill(turns: readonly ConversationTurn[], report?: Report) {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block?.type !== 'text' || typeof block.text !== 'string') return
  const text = block.text.trimEnd()
  if (text === block.text) return
  last.content[last.content.length - 1] = {...block, text}
  report?.('converted messages: no white space at the end of the last one')
}

/** Takes the first marks off where there are more than Anthropic takes: those behind them cover the same prefix. */
export function withFewMarks(parts: readonly (readonly Json[])[], report?: Report): readonly (readonly Json[])[] {
  let surplus = parts.flat().reduce((sum, block) => sum + marksOf(block), 0) - MAX_MARKS
  if (surplus <= 0) return parts
  report?.(`dropped cache_control: the first ${surplus}, of more than ${MAX_MARKS}`)
  const unmarked = (block: Json): Json => {
    if (surplus <= 0 || marksOf(block) === 0) return block
    const {content} = block
    const inner = Array.isArray(content) ? {content: content.map(unmarked)} : {}
    if (block.cache_control === undefined || surplus <= 0) return {...block, ...inner}
    surplus--
    const {cache_control: _, ...rest} = block
    return {...rest, ...inner}
  }
  return parts.map(blocks => blocks.map(unmarked))
}

function marksOf(block: Json): number {
  const inner = list(block.content).reduce<number>((sum, each) => sum + marksOf(each as Json), 0)
  return inner + (block.cache_control === undefined || block.cache_control === null ? 0 : 1)
}
