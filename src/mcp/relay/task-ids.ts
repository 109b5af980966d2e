import {createHmac, timingSafeEqual} from 'node:crypto'
import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {kindOfResult} from '../content/results.ts'
import {type EditPath, edited, type TextEdit} from '../wire/edits.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {McpFault} from '../wire/faults.ts'
import type {RpcNotification} from '../wire/messages.ts'
import type {Era} from '../wire/versions.ts'
import type {CursorOwner} from './cursors.ts'

const MAC_BYTES = 16
const LONGEST_ID = 4096

/** True for each method about a task that began before. */
export function isTaskMethod(method: string): boolean {
  return method.startsWith('tasks/')
}

/**
 * Ids of an upstream's tasks as clients have them: bound to the principal and the server, for one who knows an id may
 * read its result. The same id has the same text: clients compare those of notices with theirs.
 */
export class TaskIds {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  close(id: string, of: CursorOwner): string {
    const text = Buffer.from(id, 'utf8')
    return Buffer.concat([this.#mac(text, of), text]).toString('base64url')
  }

  /** The upstream's own. Throws `params_invalid` for one that was not given to this principal at this server. */
  open(sealed: string, of: CursorOwner): string {
    const bytes = sealed.length <= LONGEST_ID ? Buffer.from(sealed, 'base64url') : Buffer.alloc(0)
    const text = bytes.subarray(MAC_BYTES)
    if (bytes.length < MAC_BYTES || !timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(text, of)))
      throw new McpFault('params_invalid', {reason: 'taskId names no task of this caller'})
    return text.toString('utf8')
  }

  #mac(text: Buffer, {caller, server}: CursorOwner): Buffer {
    const of = JSON.stringify(['task', caller.kind, caller.id, caller.user_id, server.id])
    return createHmac('sha256', this.#key).update(of).update(text).digest().subarray(0, MAC_BYTES)
  }
}

type Change = (id: string) => string

/** Edits that open the ids in a client's `params`; between the eras there are no tasks. */
export function openedTasks(
  method: string,
  params: JsonObject | undefined,
  eras: {readonly client: Era; readonly upstream: Era},
  open: Change,
): readonly TextEdit[] {
  if (isTaskMethod(method) && eras.client !== eras.upstream) throw new McpFault('method_unknown', {method})
  return [...(isTaskMethod(method) ? idEdit(params, [], open) : []), ...relatedEdit(params, [], open)]
}

/** Edits that seal the ids in a result: of a new task, of one or a list of those that began, and of a related one. */
export function sealedTasks(method: string, result: JsonObject, seal: Change): readonly TextEdit[] {
  const is_task = isTaskMethod(method) || kindOfResult(result) === 'task'
  const tasks = method === 'tasks/list' ? own(result, 'tasks') : undefined
  const listed = Array.isArray(tasks) ? tasks.flatMap((task, at) => idEdit(task, ['tasks', at], seal)) : []
  return [
    ...(is_task ? idEdit(result, [], seal) : []),
    ...(method === 'tools/call' ? idEdit(own(result, 'task'), ['task'], seal) : []),
    ...listed,
    ...relatedEdit(result, [], seal),
  ]
}

/** The text of a notification with the ids in it sealed. */
export function sealedNotice({method, params, text}: RpcNotification, seal: Change): string {
  const is_task = method === 'notifications/tasks' || method.startsWith('notifications/tasks/')
  return edited(text, [...(is_task ? idEdit(params, ['params'], seal) : []), ...relatedEdit(params, ['params'], seal)])
}

/** The edit of the task that a message is related to (legacy, `_meta`). */
export function relatedEdit(params: unknown, at: EditPath, change: Change): readonly TextEdit[] {
  const meta = isObject(params) ? own(params, '_meta') : undefined
  const related = isObject(meta) ? own(meta, META_KEYS.related_task) : undefined
  return idEdit(related, [...at, '_meta', META_KEYS.related_task], change)
}

function idEdit(of: unknown, at: EditPath, change: Change): readonly TextEdit[] {
  const id = isObject(of) ? own(of, 'taskId') : undefined
  return typeof id === 'string' ? [{path: [...at, 'taskId'], set: JSON.stringify(change(id))}] : []
}
