import type {McpServer} from '../call/server.ts'
import {faultOf} from '../serve/end.ts'
import type {ServingParts} from '../serve/exchange.ts'
import type {ListenFilter} from '../upstream/upstream.ts'
import type {RpcNotification} from '../wire/messages.ts'
import {memberClient, type VirtualClient, viewOf} from './client.ts'
import {openTools} from './meant.ts'
import {viewsOf} from './views.ts'

/** Several servers may change together, and a client hears at most so often. */
const PAUSE_MS = 1_000
const FIRST_MS = 100
/** Pauses before the stream of a server is opened again. */
const LEAST_RETRY_MS = 5_000
const MOST_RETRY_MS = 60_000

interface MemberStream {
  readonly server: McpServer
  readonly stop: AbortController
  /** Ends the pause before the next try. */
  wake: () => void
}

/**
 * The streams of all servers behind a virtual one, for one stream of a client: a change at one of them is one notice.
 * Anything else that they send on their own has no place in a list that is of several servers.
 */
export class MemberStreams {
  readonly #client: VirtualClient
  readonly #parts: ServingParts
  readonly #send: () => void
  readonly #streams = new Map<string, MemberStream>()
  readonly #over: AbortSignal
  #is_due = false
  #is_waiting = false

  /** `send` sends a notice to the client. All ends with `over`. */
  constructor(client: VirtualClient, over: AbortSignal, send: () => void, parts: ServingParts) {
    this.#client = client
    this.#over = over
    this.#send = send
    this.#parts = parts
  }

  /** Until `over` is aborted. */
  async run(): Promise<void> {
    const {list_changes} = this.#parts
    const {exchange} = this.#client
    const unwatch = list_changes.watch({exchange, kinds: new Set(['tools']), send: () => this.#rowsChanged()})
    const forget = viewsOf(this.#parts).watch(viewOf(this.#client), {look: id => this.#streams.get(id)?.wake()})
    this.#follow(exchange.server)
    await new Promise<void>(resolve => {
      this.#over.addEventListener('abort', () => resolve(), {once: true})
      if (this.#over.aborted) resolve()
    })
    unwatch()
    forget()
    for (const {stop} of this.#streams.values()) stop.abort()
  }

  /** The tools of the virtual server are others, or a switch of one is: the servers may be others too. */
  #rowsChanged() {
    this.#notify()
    const {organisation_id, workspace_id, slug: server, id} = this.#client.exchange.server
    const {services} = this.#parts
    void (async () => {
      const now = await services.findServer({organisation_id, workspace_id, workspace: workspace_id, server})
      if (now?.virtual && now.id === id) this.#follow(now)
    })().catch(fault => services.log.warn({fault}, 'the servers of a virtual MCP server were not read'))
  }

  #follow(server: McpServer) {
    const members = new Map(openTools(server, this.#client.exchange.caller).map(each => [each.server.id, each.server]))
    for (const [id, {stop}] of this.#streams)
      if (!members.has(id)) {
        stop.abort()
        this.#streams.delete(id)
      }
    for (const [id, member] of members) {
      if (this.#streams.has(id) || this.#over.aborted) continue
      const stream = {server: member, stop: new AbortController(), wake: () => {}}
      this.#streams.set(id, stream)
      void this.#keep(stream)
    }
  }

  /** Opens a server's stream again and again: sooner after one that was open, later each time after one that failed. */
  async #keep(stream: MemberStream) {
    const {signal} = stream.stop
    for (let pause_ms = LEAST_RETRY_MS; !signal.aborted; ) {
      const was_open = await this.#listen(stream)
      if (was_open) pause_ms = LEAST_RETRY_MS
      if (!signal.aborted) await this.#pause(stream, pause_ms)
      if (!was_open) pause_ms = Math.min(2 * pause_ms, MOST_RETRY_MS)
    }
  }

  /** Until the server's stream ends. False where it could not be opened. */
  async #listen({server, stop: {signal}}: MemberStream): Promise<boolean> {
    const {source, services} = this.#parts
    const views = viewsOf(this.#parts)
    let was_open = false
    try {
      await source.use(await memberClient(this.#client, server, this.#parts), signal, async upstream => {
        const over = Promise.withResolvers<void>()
        const filter: ListenFilter = upstream.hello.era === 'legacy' ? 'all' : {toolsListChanged: true}
        const listening = await upstream.listen(filter, {
          notification: message => this.#noticed(message, server),
          ended: () => over.resolve(),
        })
        was_open = true
        if (views.hasReturned(viewOf(this.#client), server.id)) this.#notify()
        const close = () => {
          listening.close()
          over.resolve()
        }
        signal.addEventListener('abort', close, {once: true})
        if (signal.aborted) close()
        await over.promise
        signal.removeEventListener('abort', close)
        listening.close()
      })
    } catch (thrown) {
      if (!signal.aborted) {
        const {reason} = faultOf(thrown, services.log)
        services.log.warn({reason, server: server.slug}, 'the stream of a server behind a virtual one ended')
      }
    }
    return was_open
  }

  #noticed({method}: RpcNotification, server: McpServer) {
    if (method !== 'notifications/tools/list_changed') return
    this.#parts.services.noticed(server.integration_id)
    viewsOf(this.#parts).forget(server)
    this.#notify()
  }

  #notify() {
    this.#is_due = true
    if (!this.#is_waiting) this.#wait(FIRST_MS)
  }

  #wait(ms: number) {
    this.#is_waiting = true
    this.#parts.services.after(ms, () => {
      this.#is_waiting = false
      if (!this.#is_due || this.#over.aborted) return
      this.#is_due = false
      this.#send()
      this.#wait(PAUSE_MS)
    })
  }

  #pause(stream: MemberStream, ms: number): Promise<void> {
    const {signal} = stream.stop
    return new Promise(resolve => {
      const end = () => {
        callOff()
        signal.removeEventListener('abort', end)
        stream.wake = () => {}
        resolve()
      }
      const callOff = this.#parts.services.after(ms, end)
      signal.addEventListener('abort', end, {once: true})
      stream.wake = end
    })
  }
}
