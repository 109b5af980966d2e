import {hash} from 'node:crypto'
import type {McpServer} from '../call/server.ts'
import type {McpCaller, McpUses} from '../services.ts'
import {notificationText} from '../wire/messages.ts'

/** Kinds of lists that may change for a client. */
export const LIST_KINDS = ['tools', 'prompts', 'resources'] as const
export type ListKind = (typeof LIST_KINDS)[number]

/** A standing stream of a client. */
export interface ChangeStream {
  readonly exchange: {readonly caller: McpCaller; readonly server: McpServer}
  readonly kinds: ReadonlySet<ListKind>
  send(method: string, text: string): void
}

interface Watched {
  readonly stream: ChangeStream
  /** A digest of each kind of list, as the client knows it. */
  readonly seen: Map<ListKind, string>
}

/** Several rows change together, and each client hears at most so often. */
const PAUSE_MS = 1_000
const FIRST_MS = 100

/**
 * Tells standing streams that a list is another one now: a capability was switched, or came into quarantine or out of
 * it. Each hears of its own server, and only where its own view is another.
 */
export class ListChanges {
  readonly #services: McpUses<'after' | 'findServer' | 'log'>
  readonly #streams = new Set<Watched>()
  #is_due = false
  #is_waiting = false

  constructor(services: McpUses<'after' | 'findServer' | 'log'>) {
    this.#services = services
  }

  /** Watches for a stream until the function that this gives is called. */
  watch(stream: ChangeStream): () => void {
    const {server} = stream.exchange
    const watched = {stream, seen: new Map([...stream.kinds].map(kind => [kind, viewOf(server, kind)]))}
    this.#streams.add(watched)
    return () => void this.#streams.delete(watched)
  }

  /** Rows of MCP servers were written, here or in another process. */
  changed(): void {
    if (this.#streams.size === 0) return
    this.#is_due = true
    if (!this.#is_waiting) this.#wait(FIRST_MS)
  }

  #wait(ms: number) {
    this.#is_waiting = true
    this.#services.after(ms, () => {
      this.#is_waiting = false
      if (!this.#is_due) return
      this.#is_due = false
      this.#wait(PAUSE_MS)
      void this.#look().catch(fault =>
        this.#services.log.warn({fault}, 'clients of MCP servers did not hear of a change'),
      )
    })
  }

  async #look() {
    for (const {stream, seen} of [...this.#streams]) {
      const {caller, server} = stream.exchange
      const {organisation_id, workspace_id} = caller
      const place = {organisation_id, workspace_id, workspace: workspace_id, server: server.slug}
      const now = await this.#services.findServer(place)
      if (!now || now.id !== server.id) continue
      for (const [kind, before] of seen) {
        const view = viewOf(now, kind)
        if (view === before) continue
        seen.set(kind, view)
        const method = `notifications/${kind}/list_changed`
        stream.send(method, notificationText(method, undefined))
      }
    }
  }
}

const views = new WeakMap<McpServer, Map<ListKind, string>>()

/** A digest of all that a server's rows hide of a kind. */
function viewOf(server: McpServer, kind: ListKind): string {
  const known = views.get(server) ?? new Map<ListKind, string>()
  views.set(server, known)
  const found = known.get(kind) ?? hash('sha256', server.hidden(TYPES[kind]).join('\n'))
  known.set(kind, found)
  return found
}

const TYPES = {
  tools: ['tool'],
  prompts: ['prompt'],
  resources: ['resource', 'resource_template'],
} as const
