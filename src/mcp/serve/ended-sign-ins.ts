import type {HeldCalls} from '../held/held-calls.ts'
import type {UpstreamSource} from '../pool/source.ts'
import type {McpUses} from '../services.ts'
import type {HeldRelay} from './held-relay.ts'

interface Parts {
  readonly source: Pick<UpstreamSource, 'signIns' | 'endSignIns'>
  readonly held: Pick<HeldCalls<HeldRelay>, 'calls' | 'end'>
}

/**
 * Ends what this process holds of sign-ins that are over: connections to their servers, and calls that wait for an
 * answer there. A second sign-in is another one, perhaps to another account.
 */
export class EndedSignIns {
  readonly #parts: Parts
  readonly #services: McpUses<'log' | 'signInTimes'>
  #is_due = false
  #looking: Promise<void> | null = null

  constructor(parts: Parts, services: McpUses<'log' | 'signInTimes'>) {
    this.#parts = parts
    this.#services = services
  }

  /** Rows of sign-ins were written, here or in another process: one look at a time. */
  changed(): void {
    this.#is_due = true
    this.#looking ??= this.#look()
      .catch(fault => this.#services.log.warn({fault}, 'connections of ended sign-ins at MCP servers were not ended'))
      .finally(() => {
        this.#looking = null
      })
  }

  /** Resolves when no look is in progress. */
  async settled(): Promise<void> {
    await this.#looking
  }

  async #look() {
    while (this.#is_due) {
      this.#is_due = false
      const open = this.#parts.source.signIns()
      const waiting = this.#parts.held.calls.flatMap(call => (call.sign_in ? [call.sign_in] : []))
      const all = [...open, ...waiting]
      if (all.length === 0) return
      const times = await this.#services.signInTimes(all)
      const isOver = ({server_id, user_id, connected_at}: (typeof all)[number]) =>
        times.get(`${server_id} ${user_id}`) !== connected_at
      this.#parts.source.endSignIns(isOver)
      for (const call of this.#parts.held.calls)
        if (call.sign_in && isOver(call.sign_in)) this.#parts.held.end(call, 'disconnected')
    }
  }
}
