import {own} from '../../base/json-member.ts'
import type {RpcNotification, RpcRequest} from '../wire/messages.ts'
import type {OpenCall} from './open-call.ts'
import type {CallTable} from './questions.ts'
import type {ListenFilter, StandingSink} from './upstream.ts'
import type {MessageTaker} from './wire-parts.ts'

export interface StandingListener {
  readonly filter: ListenFilter
  readonly sink: StandingSink
}

const CHANGES: Readonly<Record<string, 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged'>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
}

/** Brings what a legacy upstream sends of itself to the call, or to the listeners, that it is for. */
export class MessageRouter implements MessageTaker {
  readonly table: CallTable
  readonly listeners = new Set<StandingListener>()
  /** Sends an answer that is ours to give; failures are the upstream's. */
  reply: (text: string) => Promise<void> = async () => undefined

  readonly #onListChange: () => void

  /** `onListChange`: called for each notice that a list is another, whether or not a client listens. */
  constructor(table: CallTable, onListChange: () => void = () => undefined) {
    this.table = table
    this.#onListChange = onListChange
  }

  async onCall(call: OpenCall, message: RpcRequest | RpcNotification): Promise<void> {
    this.#look(message)
    if (message.kind === 'notification') return (this.table.callOf(message) ?? call).notified(message)
    const ours = this.table.asked(call, message)
    if (ours !== null) await this.reply(ours)
  }

  async outside(message: RpcRequest | RpcNotification): Promise<void> {
    this.#look(message)
    if (message.kind === 'notification') return this.#notified(message)
    const ours = this.table.askedOutside(message)
    if (ours !== null) await this.reply(ours)
  }

  /** Nothing more comes for the listeners. */
  end(fault: Error | null): void {
    const all = [...this.listeners]
    this.listeners.clear()
    for (const {sink} of all) sink.ended(fault)
  }

  #look({kind, method}: RpcRequest | RpcNotification) {
    if (kind === 'notification' && Object.hasOwn(CHANGES, method)) this.#onListChange()
  }

  async #notified(message: RpcNotification) {
    const call = this.table.callOf(message) ?? (this.listeners.size === 0 ? this.#onlyCall() : undefined)
    if (call) return this.#toCall(call, message)
    for (const listener of this.listeners) {
      if (!matches(listener.filter, message)) continue
      try {
        await listener.sink.notification(message)
      } catch {
        this.listeners.delete(listener) // it takes nothing any more
      }
    }
  }

  #onlyCall(): OpenCall | undefined {
    const [call, other] = this.table.all
    return other ? undefined : call
  }

  /** The stream is of others as well: a call that cannot take a message fails alone. */
  async #toCall(call: OpenCall, message: RpcNotification) {
    try {
      await call.notified(message)
    } catch (fault) {
      call.deadlines.end(fault as Error)
    }
  }
}

function matches(filter: ListenFilter, {method, params}: RpcNotification): boolean {
  if (filter === 'all') return true
  if (Object.hasOwn(CHANGES, method)) return filter[CHANGES[method]!] === true
  const uri = own(params, 'uri')
  return method === 'notifications/resources/updated' && typeof uri === 'string'
    ? (filter.resourceSubscriptions?.includes(uri) ?? false)
    : false
}
