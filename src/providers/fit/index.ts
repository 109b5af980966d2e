import {isObject} from '../../base/json-object.ts'
import type {Json, Translation, TranslationContext} from '../translation.ts'
import {pairedCalls, withoutCalls} from './calls.ts'
import {checkParts} from './contents.ts'
import {fittingFormat} from './formats.ts'
import {fittingOrder, saying} from './order.ts'
import {type Demands, demandsOf} from './rows.ts'
import {fittingSampling} from './sampling.ts'
import {fittingTools} from './tools.ts'

/** `chat` at a dialect, whose requests keep to what it documents to refuse. Made once: every call needs it. */
export function fitting(chat: Translation, dialect: string | null): Translation {
  const known = made.get(chat)
  if (known) return known
  const fitted: Translation = {
    ...chat,
    request: (request, context) => chat.request(fittedRequest(request, context, dialect ?? context.provider), context),
  }
  made.set(chat, fitted)
  return fitted
}

const made = new WeakMap<Translation, Translation>()

/**
 * A chat request, or one for a text completion, as a provider takes it. Throws `UnsupportedInputFault` for what it
 * would refuse and cannot be adapted. A request of another form is left to its translation, which names the field.
 */
export function fittedRequest(request: Json, context: TranslationContext, name: string): Json {
  const demands = demandsOf(name, context.model)
  const {messages} = request
  if (!demands) return request
  const report = (adaptation: string) => context.report?.(adaptation)
  if (messages === undefined && request.prompt !== undefined) return fittingSampling(request, demands, report)
  if (!Array.isArray(messages) || !messages.every(isObject)) return request
  return fittingMembers(request, messages, demands, context, report)
}

function fittingMembers(
  request: Json,
  messages: readonly Json[],
  demands: Demands,
  context: TranslationContext,
  report: (adaptation: string) => void,
): Json {
  checkParts(messages, demands)
  const tooled = fittingTools(request, demands, report)
  const paired = demands.pairs_calls ? pairedCalls(messages, demands, report) : messages
  const is_bare = demands.calls_need_tools && (tooled.tools === undefined || tooled.tool_choice === 'none')
  const called = is_bare ? withoutCalls(paired, report) : paired
  const spoken = demands.refuses_empty ? saying(called, demands) : called
  const ordered = fittingOrder(spoken, demands, report)
  const {tools: _, tool_choice: __, ...rest} = tooled
  const bare = is_bare && called !== paired ? rest : tooled
  return fittingFormat(fittingSampling({...bare, messages: ordered}, demands, report), demands, context, report)
}
