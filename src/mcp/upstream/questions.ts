import {type JsonObject, own} from '../../base/json-member.ts'
import {errorObjectText, McpFault} from '../wire/faults.ts'
import {answerText, type RpcId, type RpcNotification, type RpcRequest} from '../wire/messages.ts'
import type {OpenCall} from './open-call.ts'

/** The capability that a client declares for a question of a server. */
const NEEDS: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
  'tasks/get': 'tasks',
  'tasks/result': 'tasks',
  'tasks/list': 'tasks',
  'tasks/cancel': 'tasks',
}

/** Capabilities whose questions an upstream may send on its standing stream. */
const ASKING = ['elicitation', 'sampling', 'roots'] as const

/** True where an upstream may have questions for a client. */
export function mayBeAsked(capabilities: JsonObject): boolean {
  return ASKING.some(each => own(capabilities, each) !== undefined)
}

/** The text of an answer of ours to a message; null: it is passed on. */
function answerOfOurs(message: RpcRequest, capabilities: JsonObject): string | null {
  if (message.method === 'ping') return answerText(message.id_text, {result: '{}'})
  const need = Object.hasOwn(NEEDS, message.method) ? NEEDS[message.method]! : null
  return need !== null && own(capabilities, need) !== undefined ? null : refusal(message)
}

/** A refusal: for an elicitation what a person might say, for others that the method is not there. */
function refusal(message: RpcRequest): string {
  if (message.method === 'elicitation/create') return answerText(message.id_text, {result: '{"action":"decline"}'})
  const fault = new McpFault('method_unknown', {method: message.method})
  return answerText(message.id_text, {error: errorObjectText(fault)})
}

/** The calls of one legacy conversation and the questions in them. */
export class CallTable {
  readonly #capabilities: JsonObject
  readonly #calls = new Map<number, OpenCall>()
  /** By its id: whose question it is, and how its id is written. */
  readonly #questions = new Map<string, {readonly call: OpenCall; readonly id_text: string}>()
  asks_outside = false

  constructor(client_capabilities: JsonObject) {
    this.#capabilities = client_capabilities
  }

  get size(): number {
    return this.#calls.size
  }

  get all(): readonly OpenCall[] {
    return [...this.#calls.values()]
  }

  add(call: OpenCall): void {
    this.#calls.set(call.id, call)
  }

  delete(call: OpenCall): void {
    this.#calls.delete(call.id)
    for (const key of call.questions) this.#questions.delete(key)
    call.questions.clear()
  }

  get(id: unknown): OpenCall | undefined {
    return typeof id === 'number' ? this.#calls.get(id) : undefined
  }

  /** A question on the stream of a call: the text of an answer that is ours to give, else null. */
  asked(call: OpenCall, message: RpcRequest): string | null {
    const ours = answerOfOurs(message, this.#capabilities)
    if (ours !== null) return ours
    const key = keyOf(message.id)
    if (this.#questions.has(key)) return refusal(message)
    this.#questions.set(key, {call, id_text: message.id_text})
    if (call.asked(key, message)) return null
    this.#questions.delete(key)
    return refusal(message)
  }

  /** One that came outside of a call's stream: that of the only call that may ask, if there is one. */
  askedOutside(message: RpcRequest): string | null {
    const ours = answerOfOurs(message, this.#capabilities)
    if (ours !== null) return ours
    this.asks_outside = true
    const asking = this.all.filter(({may_ask}) => may_ask)
    return asking.length === 1 ? this.asked(asking[0]!, message) : refusal(message)
  }

  /** The question that an answer is for, as its id is written, and no longer open; null where its call has ended. */
  answered(id: RpcId): string | null {
    const key = keyOf(id)
    const open = this.#questions.get(key)
    if (!open) return null
    this.#questions.delete(key)
    open.call.settled(key)
    return open.id_text
  }

  /** The call of a notification that is outside of a call's stream: by its token, or by the question it cancels. */
  callOf({method, params}: RpcNotification): OpenCall | undefined {
    if (method === 'notifications/progress') return this.get(own(params, 'progressToken'))
    if (method === 'notifications/cancelled') return this.#takenBack(own(params, 'requestId'))
    return undefined
  }

  /** A server takes a question back: nothing waits for its answer. */
  #takenBack(id: unknown): OpenCall | undefined {
    if (typeof id !== 'string' && typeof id !== 'number') return undefined
    const call = this.#questions.get(keyOf(id))?.call
    if (call) this.answered(id)
    return call
  }
}

/** `1` and `"1"` are two ids. */
function keyOf(id: RpcId): string {
  return typeof id === 'number' ? `${id}` : `"${id}`
}
