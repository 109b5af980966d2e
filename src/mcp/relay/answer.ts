import {type JsonObject, own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import type {McpServer} from '../call/server.ts'
import {isListMethod, LISTS, type ListMethod} from '../content/entries.ts'
import {errorForModern, statusOfError} from '../content/errors.ts'
import {checkedList, type LeftOutEntry} from '../content/lists.ts'
import {kindOfResult, legacyResult, modernResult, privateResult, repairedResult} from '../content/results.ts'
import {structuredForLegacy} from '../content/structured.ts'
import type {McpCaller} from '../services.ts'
import type {Hello} from '../upstream/upstream.ts'
import {edited, type TextEdit} from '../wire/edits.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {errorMemberText, type RpcAnswer, resultText} from '../wire/messages.ts'
import type {Era} from '../wire/versions.ts'
import {judgedEntry} from './allowed.ts'
import type {Cursors} from './cursors.ts'
import {sealedTasks, type TaskIds} from './task-ids.ts'
import type {ToolBook} from './tool-book.ts'

/** An answer as the client gets it. */
export interface RelayedAnswer {
  readonly kind: 'result' | 'error'
  /** JSON text of the result or of the error object. */
  readonly text: string
  readonly status: number
  readonly outcome: 'ok' | 'tool_error' | 'rpc_error' | 'input_required'
  readonly rpc_code: number | null
  /** Entries of a list that clients do not see, for they break the protocol. */
  readonly left_out: readonly LeftOutEntry[]
}

/** The facts by which an answer is written for its client. */
export interface AnswerView {
  readonly method: string
  readonly name: string | null
  readonly client_era: Era
  readonly hello: Hello
  readonly server: McpServer
  readonly caller: McpCaller
  readonly cursors: Cursors
  readonly task_ids: TaskIds
  readonly tools: ToolBook
  /** The cursor of the request, as the upstream has it. */
  readonly cursor: string | null
  /** Takes entries that the rows do not have. */
  sighted(method: ListMethod, entries: readonly JsonObject[]): void
  /** True where another caller may see the list otherwise. */
  readonly is_private: boolean
}

/** A result that is private may be kept for no longer. */
const PRIVATE_MS = 60_000

/** An upstream's answer as a client of an era gets it: filtered, and in the form of its era. */
export function relayedAnswer(answer: RpcAnswer, view: AnswerView): RelayedAnswer {
  const {client_era, hello} = view
  const {result, error} = answer
  if (error) {
    const text = errorMemberText(answer)!
    return {
      kind: 'error',
      text: client_era === 'modern' && hello.era === 'legacy' ? errorForModern(error, text) : text,
      status: statusOfError(error.code, client_era),
      outcome: 'rpc_error',
      rpc_code: error.code,
      left_out: [],
    }
  }
  const text = resultText(answer)!
  const is_question = hello.era === 'modern' && kindOfResult(result!) === 'input_required'
  const {edits, left_out} = isListMethod(view.method) && !is_question ? listEdits(view.method, result!, view) : NO_LIST
  const is_tool_error = own(result, 'isError') === true
  return {
    kind: 'result',
    text: edited(text, [...edits, ...eraEdits(result!, text, view, edits.length > 0), ...taskEdits(result!, view)]),
    status: 200,
    outcome: is_question ? 'input_required' : is_tool_error ? 'tool_error' : 'ok',
    rpc_code: null,
    left_out,
  }
}

const NO_LIST = {edits: [] as readonly TextEdit[], left_out: [] as readonly LeftOutEntry[]}

/** Edits of a list: what breaks the protocol or is switched off goes, and the cursor is bound to its caller. */
function listEdits(method: ListMethod, result: JsonObject, view: AnswerView) {
  const {client_era, hello, server, caller, cursors, tools, cursor} = view
  const checked = checkedList(method, result, {client: client_era, upstream: hello.era})
  if (method === 'tools/list' && hello.era === 'modern')
    tools.note(
      server,
      checked.listed.map(({entry}) => entry),
    )
  const {member} = LISTS[method]
  const judged = checked.listed.map(listed => ({...listed, ...judgedEntry(method, listed, server)}))
  const hidden = judged
    .filter(({is_visible}) => !is_visible)
    .map(({at}): TextEdit => ({path: [member, at], set: undefined}))
  const news = judged.filter(({is_news}) => is_news).map(({entry}) => entry)
  if (news.length > 0) view.sighted(method, news)
  const edits = [...checked.edits, ...hidden]
  const next = own(result, 'nextCursor')
  if (typeof next === 'string')
    edits.push({
      path: ['nextCursor'],
      set: next === cursor ? undefined : JSON.stringify(cursors.close(next, method, {caller, server})),
    })
  return {edits, left_out: checked.left_out}
}

/** Between the eras nothing of a result is a task. */
function taskEdits(result: JsonObject, view: AnswerView): readonly TextEdit[] {
  if (view.client_era !== view.hello.era) return []
  return sealedTasks(view.method, result, id => view.task_ids.close(id, view))
}

function eraEdits(result: JsonObject, text: string, view: AnswerView, is_filtered: boolean): readonly TextEdit[] {
  const {client_era, hello, method, name, server, tools, is_private} = view
  if (client_era === 'legacy') {
    if (hello.era === 'legacy') return []
    const structured =
      method === 'tools/call'
        ? structuredForLegacy(
            result,
            memberText(text, 'structuredContent'),
            name !== null && tools.find(server, name)?.is_wrapped === true,
          )
        : []
    return [...legacyResult(result), ...structured]
  }
  if (hello.era === 'legacy') return modernResult(method, serverInfoOf(hello), 0)
  const edits = repairedResult(method, result)
  return is_filtered || is_private || !server.switches.hides_nothing
    ? [...edits, ...privateResult(result, PRIVATE_MS)]
    : edits
}

/** The JSON text of what an upstream says of itself; null where it says nothing. */
export function serverInfoOf({era, server_info, text}: Hello): string | null {
  if (!server_info) return null
  if (era === 'legacy') return memberText(text, 'serverInfo') ?? null
  return memberText(memberText(text, '_meta') ?? '{}', META_KEYS.server_info) ?? null
}
