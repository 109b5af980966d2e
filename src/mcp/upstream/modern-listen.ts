import {isObject, own} from '../../base/json-member.ts'
import type {RpcMessage} from '../wire/messages.ts'
import {changesOf} from './agreed.ts'
import {CallDeadlines, Countdown} from './deadlines.ts'
import {unreachable} from './faults.ts'
import type {IncomingReply, UpstreamHttp} from './http.ts'
import {answerIn, eventsOf, formOf, messagesIn, refusedAnswer} from './replies.ts'
import {MOST_SILENCE_MS} from './standing-stream.ts'
import type {Hello, ListenFilter, Listening, NotificationFilter, StandingSink} from './upstream.ts'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

export interface ModernListening {
  readonly http: UpstreamHttp
  readonly hello: Hello
  /** Until the acknowledgement. */
  readonly timeout_ms: number
  send(params: string, signal: AbortSignal): Promise<IncomingReply>
  readonly sink: StandingSink
}

/** `subscriptions/listen`: resolves with the acknowledgement; then its stream is read until it ends. */
export async function listenModern(filter: ListenFilter, how: ModernListening): Promise<Listening> {
  const {http, hello, timeout_ms} = how
  const {server} = http.place
  const wanted: NotificationFilter = filter === 'all' ? changesOf(filter, hello.capabilities) : filter
  const deadlines = new CallDeadlines(http.services, {total_ms: timeout_ms, idle_ms: timeout_ms}, server)
  try {
    const reply = await how.send(JSON.stringify({notifications: wanted}), deadlines.signal)
    deadlines.begun()
    await stopUnlessStream(reply, server)
    const stream = new ListenStream(reply, how)
    return await stream.begin(deadlines)
  } finally {
    deadlines.clear()
  }
}

async function stopUnlessStream(reply: IncomingReply, server: string): Promise<void> {
  const {status} = reply
  if (status === 200 && formOf(reply) === 'events') return
  const is_refused = status < 200 || status >= 300
  // any id will do: there is one request, and one answer to it
  const answer = is_refused
    ? await refusedAnswer(reply, {id: -1, server, session: 'modern'})
    : await answerIn(reply, -1, server, () => undefined).catch(() => null)
  throw unreachable(server, `it cannot be listened to${answer?.error ? `: ${answer.error.message}` : ''}`)
}

class ListenStream {
  readonly #reply: IncomingReply
  readonly #how: ModernListening
  readonly #messages: AsyncGenerator<RpcMessage, void>
  readonly #silence: Countdown
  #is_over = false

  constructor(reply: IncomingReply, how: ModernListening) {
    const {http} = how
    this.#reply = reply
    this.#how = how
    this.#silence = new Countdown(http.services, MOST_SILENCE_MS, () =>
      this.#end(unreachable(http.place.server, 'its stream was silent for too long')),
    )
    this.#messages = messagesOn(reply, http.place.server, () => this.#silence.refill())
  }

  async begin({signal}: CallDeadlines): Promise<Listening> {
    const {server} = this.#how.http.place
    for (;;) {
      const {value: message, done} = await this.#messages.next()
      if (signal.aborted) throw signal.reason
      if (done) throw unreachable(server, 'its stream ended before it acknowledged anything')
      if (message.kind === 'answer') {
        this.#reply.settle()
        throw unreachable(server, `it cannot be listened to: ${message.error?.message ?? 'it ended at once'}`)
      }
      if (message.kind !== 'notification' || message.method !== ACKNOWLEDGED) continue
      const agreed = own(message.params, 'notifications')
      this.#silence.start()
      void this.#run()
      return {agreed: isObject(agreed) ? (agreed as NotificationFilter) : {}, close: () => this.#end(null)}
    }
  }

  async #run() {
    const {http, sink} = this.#how
    try {
      for await (const message of this.#messages) {
        if (this.#is_over) return
        if (message.kind === 'notification') await sink.notification(message)
        if (message.kind === 'answer') {
          const {error} = message
          return this.#end(error ? unreachable(http.place.server, `its stream ended: ${error.message}`) : null)
        }
      }
      this.#end(unreachable(http.place.server, 'its stream ended'))
    } catch (fault) {
      this.#end(fault as Error)
    }
  }

  #end(fault: Error | null) {
    if (this.#is_over) return
    this.#is_over = true
    this.#silence.clear()
    this.#reply.destroy()
    this.#how.sink.ended(fault)
  }
}

async function* messagesOn(reply: IncomingReply, server: string, alive: () => void): AsyncGenerator<RpcMessage, void> {
  for await (const event of eventsOf(reply, server, alive)) yield* messagesIn(event, server)
}
