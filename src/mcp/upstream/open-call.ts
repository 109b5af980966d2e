import {type JsonValue, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import {memberText} from '../../base/json-splice.ts'
import {edited, type TextEdit} from '../wire/edits.ts'
import {META_KEYS, progressTokenEdit} from '../wire/envelope.ts'
import {type RpcNotification, type RpcRequest, requestText} from '../wire/messages.ts'
import type {CallDeadlines} from './deadlines.ts'
import {nonsense} from './faults.ts'
import type {RequestSink} from './upstream.ts'

/** So many notifications of one call are passed on; further ones are dropped. */
export const MOST_NOTIFICATIONS = 1_000
/** A call that sends so many is ended. */
export const MOST_DROPPED = 20_000
const MOST_QUESTIONS = 16

export const PROGRESS = 'notifications/progress'

/** A request that has no answer yet. Its id is also its progress token, in each conversation another. */
export class OpenCall {
  readonly id: number
  readonly method: string
  readonly deadlines: CallDeadlines
  /** Keys of its questions that have no answer yet. */
  readonly questions = new Set<string>()
  readonly #sink: RequestSink
  readonly #server: string
  /** The token of the caller as JSON text; null where the caller gave none. */
  readonly #token_text: string | null
  #notifications = 0

  constructor(request: {
    readonly id: number
    readonly method: string
    readonly params: string | undefined
    readonly sink: RequestSink
    readonly deadlines: CallDeadlines
    readonly server: string
  }) {
    this.id = request.id
    this.method = request.method
    this.deadlines = request.deadlines
    this.#sink = request.sink
    this.#server = request.server
    this.#token_text = tokenIn(request.params)
  }

  /** True for requests in which the protocol lets a server ask. */
  get may_ask(): boolean {
    return MAY_ASK.has(this.method)
  }

  /** Its message. */
  text(params: string | undefined): string {
    const {edits} = this
    const sent = edits.length > 0 ? edited(params ?? '{}', edits) : params
    return requestText(String(this.id), this.method, sent)
  }

  /** The changes of its parameters: a progress token of ours in the place of the caller's. */
  get edits(): readonly TextEdit[] {
    const is_marked = TAKES_TOKEN.has(this.method) || this.#token_text !== null
    return is_marked ? [progressTokenEdit(String(this.id), [])] : []
  }

  /** Passes a notification on; resolves when the stream may be read further. */
  async notified(message: RpcNotification): Promise<void> {
    let passed: RpcNotification | null = message
    if (message.method === PROGRESS) {
      if (own(message.params, 'progressToken') !== this.id) return
      passed = this.#token_text === null ? null : withToken(message, this.#token_text)
    }
    this.deadlines.touched()
    this.#notifications++
    if (this.#notifications > MOST_DROPPED) {
      const fault = nonsense(this.#server, `it sent more than ${MOST_DROPPED} notifications for one call`)
      this.deadlines.end(fault)
      throw fault
    }
    if (passed === null || this.#notifications > MOST_NOTIFICATIONS) return
    await this.deadlines.aside(() => this.#sink.notification(passed))
  }

  /** Passes a question on; its call's time stops until it has an answer. False where too many wait already. */
  asked(key: string, message: RpcRequest): boolean {
    if (this.questions.size >= MOST_QUESTIONS || this.questions.has(key)) return false
    this.questions.add(key)
    this.deadlines.touched()
    this.deadlines.hold()
    this.#sink.question(message)
    return true
  }

  /** A question has its answer, or was taken back. */
  settled(key: string): void {
    if (this.questions.delete(key)) this.deadlines.release()
  }
}

const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])
const TAKES_TOKEN: ReadonlySet<string> = new Set([...MAY_ASK, 'completion/complete'])

function tokenIn(params: string | undefined): string | null {
  if (params === undefined || !params.includes(META_KEYS.progress_token)) return null
  const meta = memberText(params, '_meta')
  return (meta?.startsWith('{') && memberText(meta, META_KEYS.progress_token)) || null
}

function withToken(message: RpcNotification, token_text: string): RpcNotification {
  const text = edited(message.text, [{path: ['params', 'progressToken'], set: token_text}])
  const params = {...message.params, progressToken: parsed(token_text) as JsonValue}
  return {...message, text, params, value: {...message.value, params}}
}
