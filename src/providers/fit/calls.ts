import {list, object} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import type {Demands} from './rows.ts'

type Report = (adaptation: string) => void

const callsOf = (message: Json): readonly Json[] =>
  message.role === 'assistant' ? list(message.tool_calls).map(object) : []

/**
 * The messages with each call answered right behind the message that makes it, its id one that the provider takes and
 * that no other call has. Later results are moved there. A call without a result, and a result without its
 * call, are refused: no provider takes them, and no words of ours may replace either.
 */
export function pairedCalls(messages: readonly Json[], {id: fittingId}: Demands, report: Report): readonly Json[] {
  if (!messages.some(message => message.role === 'tool' || callsOf(message).length > 0)) return messages
  if (!messages.every(isNamed)) return messages
  const answers = answersIn(messages)
  const used = new Set<string>()
  const moved: number[] = []
  const paired = messages.flatMap((message, at): readonly Json[] => {
    const calls = callsOf(message)
    if (message.role === 'tool') return []
    if (calls.length === 0) return [message]
    const results = answers.get(at) ?? new Map<string, number>()
    const ids = new Map(calls.map(({id}) => [String(id), fittingId ? newId(String(id), fittingId, used) : String(id)]))
    const places = [...results.values()].toSorted((one, other) => one - other)
    moved.push(...places.filter((place, nth) => place !== at + 1 + nth))
    const named = calls.some(({id}) => ids.get(String(id)) !== id)
    const tool_calls = named ? calls.map(call => ({...call, id: ids.get(String(call.id))})) : message.tool_calls
    return [
      {...message, tool_calls},
      ...places.map(place => ({...messages[place]!, tool_call_id: ids.get(String(messages[place]!.tool_call_id))})),
    ]
  })
  for (const place of moved) report(`converted messages[${place}]: the result follows its call`)
  return paired
}

/** A message whose ids are texts; others are left to the translation, which names the field. */
function isNamed(message: Json): boolean {
  const isId = (id: unknown) => typeof id === 'string' && id !== ''
  return message.role === 'tool' ? isId(message.tool_call_id) : callsOf(message).every(({id}) => isId(id))
}

/** Places of results by the place of the message that called. Throws for calls and results without the other. */
function answersIn(messages: readonly Json[]): ReadonlyMap<number, ReadonlyMap<string, number>> {
  const answers = new Map<number, Map<string, number>>()
  const latest = new Map<string, Map<string, number>>()
  messages.forEach((message, place) => {
    const calls = callsOf(message)
    if (calls.length > 0) {
      const results = new Map<string, number>()
      answers.set(place, results)
      for (const {id} of calls) latest.set(String(id), results)
    }
    if (message.role !== 'tool') return
    const id = String(message.tool_call_id)
    const results = latest.get(id)
    if (!results || results.has(id)) {
      const reason = 'expected the id of a call that a message of the assistant before makes and nothing else answers'
      throw new UnsupportedInputFault(`messages[${place}].tool_call_id`, reason)
    }
    results.set(id, place)
  })
  messages.forEach((message, at) => {
    const open = callsOf(message).findIndex(({id}) => !answers.get(at)?.has(String(id)))
    if (open >= 0)
      throw new UnsupportedInputFault(
        `messages[${at}].tool_calls[${open}].id`,
        'expected a message of role tool that answers it',
      )
  })
  return answers
}

function newId(id: string, fittingId: (id: string) => string, used: Set<string>): string {
  let fitted = fittingId(id)
  for (let next = 2; used.has(fitted); next++) fitted = fittingId(`${id}_${next}`)
  used.add(fitted)
  return fitted
}

/** The messages with calls and their results as text, for a provider that takes calls with tools alone. */
export function withoutCalls(messages: readonly Json[], report: Report): readonly Json[] {
  if (!messages.some(message => message.role === 'tool' || callsOf(message).length > 0)) return messages
  const names = new Map<unknown, string>()
  report('converted messages: calls and their results are text, as no tools may be called')
  return messages.map(message => {
    if (message.role === 'tool') {
      const label = {type: 'text', text: `[Result of ${names.get(message.tool_call_id) ?? 'a call'}]`}
      return {role: 'user', content: [label, ...partsOf(message.content)]}
    }
    const calls = callsOf(message)
    if (calls.length === 0) return message
    const texts = calls.map(({id, function: called}) => {
      const {name, arguments: given} = object(called)
      names.set(id, String(name))
      return {
        type: 'text',
        text: `[Call of ${String(name)}: ${typeof given === 'string' ? given : JSON.stringify(given ?? {})}]`,
      }
    })
    const {tool_calls: _, ...others} = message
    const blocks = list(message.content_blocks)
    return {
      ...others,
      content: [...partsOf(message.content), ...texts],
      ...(blocks.length > 0 ? {content_blocks: [...blocks, ...texts]} : {}),
    }
  })
}

function partsOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return content === '' ? [] : [{type: 'text', text: content}]
  return list(content)
}
