import {once} from 'node:events'
import {type AddressInfo, connect, createServer, type Server, type Socket} from 'node:net'
import {setTimeout as sleep} from 'node:timers/promises'

/**
 * What a way to a server does. `frozen`: it takes connections and carries nothing. `refused`: nothing listens. `reset`:
 * it takes connections and cuts each. `slow`: what it carries comes late. `stale`: connections from before carry
 * nothing, new ones do.
 */
export type LineState = 'open' | 'frozen' | 'refused' | 'reset' | 'slow' | 'stale'

/** A way to a store, of the test's own: the server stays as it is. */
export interface Line {
  /** The store's URL, by this way. */
  readonly url: string
  /** `slow_ms`: how much later each part comes of what passes a slow way. */
  become(state: LineState, slow_ms?: number): Promise<void>
  /** Cuts the connections that are there. */
  cut(): void
  close(): Promise<void>
}

export async function openLine(store_url: string, {usual_port}: {usual_port: number}): Promise<Line> {
  const store = new URL(store_url)
  const sockets = new Set<Socket>()
  let state: LineState = 'open'
  let era = 0
  let slow_ms = 0
  let server = listening()
  await once(server, 'listening')
  const {port} = server.address() as AddressInfo

  function listening(at = 0): Server {
    return createServer(client => {
      if (state === 'reset') return void client.resetAndDestroy()
      const born = era
      const place = connect(Number(store.port || usual_port), store.hostname)
      for (const [from, to] of [
        [client, place],
        [place, client],
      ] as const) {
        sockets.add(from)
        from.on('error', () => undefined)
        from.on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
        let last: Promise<unknown> = Promise.resolve()
        from.on('data', chunk => {
          const carries = () => state !== 'frozen' && born === era && !to.destroyed && to.write(chunk)
          if (state === 'slow') last = last.then(() => sleep(slow_ms)).then(carries)
          else carries()
        })
      }
    }).listen(at, '127.0.0.1')
  }

  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const stop = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      cut()
    })

  return {
    url: Object.assign(new URL(store_url), {hostname: '127.0.0.1', port: String(port)}).href,
    async become(next, delay_ms = 0) {
      const was = state
      state = next
      slow_ms = delay_ms
      if (next === 'stale') era++
      if (next === 'refused') await stop()
      else if (was === 'refused') {
        server = listening(port)
        await once(server, 'listening')
      }
      if (next === 'reset') cut()
      // what a frozen way swallowed never comes: a connection that missed something is of no more use
      if (was === 'frozen' && next === 'open') cut()
    },
    cut,
    async close() {
      if (server.listening) await stop()
    },
  }
}
