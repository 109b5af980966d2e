import {setTimeout as sleep} from 'node:timers/promises'
import type {FastifyInstance, FastifyReply} from 'fastify'

const LOOK_MS = 20

/** Requests that were read in full and have no answer yet, but for calls: the data plane takes over their sockets. */
export class OpenAnswers {
  readonly #open = new Set<FastifyReply>()

  /** Before the routes of the server, which it sees. */
  watch(server: FastifyInstance): void {
    // a body that is still read belongs to a client that may send no more of it
    server.addHook('preHandler', async (_, reply) => {
      this.#open.add(reply)
      reply.raw.once('close', () => this.#open.delete(reply))
    })
    server.addHook('onSend', async (_, reply) => void this.#open.delete(reply))
  }

  /** Resolves once there are none, at the latest after `limit_ms`. */
  async ended(limit_ms: number): Promise<void> {
    for (const until = performance.now() + limit_ms; this.#isOpen() && performance.now() < until; ) await sleep(LOOK_MS)
  }

  #isOpen(): boolean {
    return [...this.#open].some(({sent}) => !sent)
  }
}
