import {isObject, list} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'
import {slugOfLabel, USE_PREFIX} from './labels.ts'
import type {RunOffer} from './offer.ts'

/**
 * The messages of a request with earlier runs in the words of providers: each turn of a run is a message of its own,
 * and the results of its tools come back in the next message of the user.
 */
export function earlierMessages(messages: readonly unknown[], offer: RunOffer): readonly unknown[] {
  const all: unknown[] = []
  let results: Json[] = []
  for (const message of messages) {
    let current = message
    if (results.length > 0) {
      if (isObject(message) && message.role === 'user')
        current = {...message, content: [...results, ...blocksOf(message.content)]}
      else all.push({role: 'user', content: results})
      results = []
    }
    if (!isObject(current) || current.role !== 'assistant' || !holdsRun(current.content)) {
      all.push(current)
      continue
    }
    for (const turn of turnsOf(list(current.content), offer)) {
      if (results.length > 0) all.push({role: 'user', content: results})
      all.push({...current, content: turn.blocks})
      results = turn.results
    }
  }
  if (results.length > 0) all.push({role: 'user', content: results})
  return all
}

function blocksOf(content: unknown): readonly unknown[] {
  return typeof content === 'string' ? [{type: 'text', text: content}] : list(content)
}

function holdsRun(content: unknown): boolean {
  return list(content).some(block => isUse(block))
}

function isUse(block: unknown): block is Json {
  return isObject(block) && block.type === 'mcp_tool_use' && slugOfLabel(block.server_name) !== null
}

interface EarlierTurn {
  readonly blocks: unknown[]
  readonly results: Json[]
}

/** A turn ends with the results of its tools. */
function turnsOf(content: readonly unknown[], offer: RunOffer): readonly EarlierTurn[] {
  const uses = new Set(content.filter(isUse).map(({id}) => id))
  const turns: EarlierTurn[] = []
  let turn: EarlierTurn = {blocks: [], results: []}
  for (const block of content) {
    if (isObject(block) && block.type === 'mcp_tool_result' && uses.has(block.tool_use_id)) {
      const {tool_use_id, is_error, content: of_result = ''} = block
      turn.results.push({
        ...{type: 'tool_result', tool_use_id: idOf(tool_use_id), content: of_result},
        ...(is_error === true && {is_error}),
      })
      continue
    }
    if (turn.results.length > 0) {
      turns.push(turn)
      turn = {blocks: [], results: []}
    }
    turn.blocks.push(isUse(block) ? ownUse(block, offer) : block)
  }
  turns.push(turn)
  return turns
}

function ownUse({id, name, server_name, input}: Json, offer: RunOffer): Json {
  const slug = slugOfLabel(server_name)!
  return {type: 'tool_use', id: idOf(id), name: offer.functionOf(slug, String(name)), input: input ?? {}}
}

function idOf(id: unknown): string {
  const text = String(id)
  return text.startsWith(USE_PREFIX) ? text.slice(USE_PREFIX.length) : text
}
