import {isObject, list} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import type {Demands} from './rows.ts'

type Report = (adaptation: string) => void

/** A word of the user, where a provider wants to hear the user first. */
const OPENING: Json = {role: 'user', content: '(The conversation begins.)'}
/** A word of the assistant, where a provider wants to hear it between results and the user. */
const BRIDGE: Json = {role: 'assistant', content: 'I have the results.'}

const isSystem = ({role}: Json) => role === 'system' || role === 'developer'

/** The messages in an order that the provider takes. */
export function fittingOrder(messages: readonly Json[], demands: Demands, report: Report): readonly Json[] {
  const {system_first, begins, bridges_results, marks_prefix, ends_with_user} = demands
  let ordered = system_first ? withSystemFirst(messages, report) : messages
  if (begins) ordered = begun(ordered, begins, report)
  if (bridges_results) ordered = bridged(ordered, report)
  if (ends_with_user) ordered = ended(ordered, report)
  return marks_prefix ? prefixed(ordered, report) : ordered
}

/** The messages that say something. Throws where none is left that the provider could answer. */
export function saying(
  messages: readonly Json[],
  {refuses_empty, takes_blank = false, begins}: Demands,
): readonly Json[] {
  const judged = refuses_empty === 'both' ? ['user', 'assistant'] : ['assistant']
  const spoken = messages.filter(message => !judged.includes(String(message.role)) || !isEmpty(message, takes_blank))
  const at = messages.findIndex(({role}) => role === 'user')
  if (spoken.length === 0 || (begins === 'user' && spoken.every(isSystem)))
    throw new UnsupportedInputFault(
      at < 0 ? 'messages' : `messages[${at}].content`,
      'expected a message of the user that says something',
    )
  return spoken.length === messages.length ? messages : spoken
}

function withSystemFirst(messages: readonly Json[], report: Report): readonly Json[] {
  const system = messages.filter(isSystem)
  if (messages.slice(0, system.length).every(isSystem)) return messages
  report('converted messages: those of the system come first')
  return [...system, ...messages.filter(message => !isSystem(message))]
}

function begun(messages: readonly Json[], begins: NonNullable<Demands['begins']>, report: Report): readonly Json[] {
  const at = messages.findIndex(message => !isSystem(message))
  if (at < 0 || messages[at]!.role !== 'assistant') return messages
  const behind = messages.slice(at).filter(message => !isSystem(message))
  const run = behind.slice(0, behind.findIndex(({role}) => role !== 'assistant') >>> 0)
  if (begins === 'user before calls' && !run.some(({tool_calls}) => list(tool_calls).length > 0)) return messages
  report(`converted messages[${at}]: the user has the first word`)
  return [...messages.slice(0, at), OPENING, ...messages.slice(at)]
}

function bridged(messages: readonly Json[], report: Report): readonly Json[] {
  return messages.flatMap((message, at) => {
    if (message.role !== 'user' || messages[at - 1]?.role !== 'tool') return [message]
    report('converted messages: the assistant has a word between results and the user')
    return [BRIDGE, message]
  })
}

function ended(messages: readonly Json[], report: Report): readonly Json[] {
  if (messages.findLast(message => !isSystem(message))?.role !== 'assistant') return messages
  report('converted messages: the user has the last word, as the model continues no message')
  return [...messages, {role: 'user', content: 'Continue.'}]
}

function prefixed(messages: readonly Json[], report: Report): readonly Json[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || last.prefix === true) return messages
  report('converted messages: the last one begins the answer')
  return [...messages.slice(0, -1), {...last, prefix: true}]
}

function isEmpty({content, content_blocks, tool_calls, refusal}: Json, takes_blank: boolean): boolean {
  const parts = typeof content === 'string' ? [{type: 'text', text: content}] : list(content)
  const blank = [...parts, ...list(content_blocks)].every(
    part =>
      isObject(part) &&
      part.type === 'text' &&
      typeof part.text === 'string' &&
      (takes_blank ? part.text : part.text.trim()) === '',
  )
  return blank && list(tool_calls).length === 0 && !(typeof refusal === 'string' && refusal !== '')
}
