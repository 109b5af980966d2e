import {isObject} from '../../base/json-object.ts'
import type {Json, TranslatedResponse, Translation, TranslationContext} from '../translation.ts'
import {pairedCalls, withoutCalls} from './calls.ts'
import {checkParts} from './contents.ts'
import {fittingFormat} from './formats.ts'
import {NamedStream} from './named-stream.ts'
import {answerWithNames, fittingNames, ownNames} from './names.ts'
import {fittingOrder, saying} from './order.ts'
import {type Demands, demandsOf} from './rows.ts'
import {fittingSampling} from './sampling.ts'
import {fittingTools} from './tools.ts'

/**
 * `chat` at a dialect, whose requests keep to what it documents to refuse, and whose answers have the client's names of
 * functions. Made once: every call needs it.
 */
export function fitting(chat: Translation, dialect: string | null): Translation {
  const known = made.get(chat)
  if (known) return known
  const nameOf = (context: TranslationContext) => dialect ?? context.provider
  const ownOf = (request: Json, context: TranslationContext) => {
    const {names} = demandsOf(nameOf(context), context.model) ?? {}
    return names ? ownNames(request, names, context) : null
  }
  const {stream} = chat
  const fitted: Translation = {
    ...chat,
    request: (request, context) => chat.request(fittedRequest(request, context, nameOf(context)), context),
    reply(response, context, request, header_usage) {
      const own = ownOf(request, context)
      const reply = chat.reply(response, context, request, header_usage)
      return own ? {...reply, body: bodyWithNames(reply.body, own)} : reply
    },
    ...(stream && {
      stream: {
        framing: stream.framing,
        open(context, request) {
          const own = ownOf(request, context)
          const inner = stream.open(context, request)
          return own ? new NamedStream(inner, own) : inner
        },
      },
    }),
  }
  made.set(chat, fitted)
  return fitted
}

const made = new WeakMap<Translation, Translation>()

function bodyWithNames(body: TranslatedResponse['body'], own: (name: string) => string): TranslatedResponse['body'] {
  return Buffer.isBuffer(body.bytes) ? body : answerWithNames(body as Json, own)
}

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
  const named = demands.names ? fittingNames(request, demands.names, context, report) : request
  return fittingMembers(named, named.messages as readonly Json[], demands, context, report)
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
