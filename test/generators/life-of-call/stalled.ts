import {type AddressInfo, connect, createServer, type Socket} from 'node:net'

/** A way to a store that can fall silent: its connections stay open, and nothing passes. */
export interface Line {
  /** The store's URL, by this way. */
  readonly url: string
  /** Lets so many more messages pass to the store, then none; resolves when the first one is held. */
  stall(after?: number): Promise<void>
  /** Lets all that is held pass. */
  resume(): void
  close(): Promise<void>
}

export async function openLine(store_url: string, usual_port: number): Promise<Line> {
  const store = new URL(store_url)
  const sockets = new Set<Socket>()
  const held: (() => void)[] = []
  let passes = Number.POSITIVE_INFINITY
  let hold = () => {}
  const server = createServer(client => {
    const place = connect(Number(store.port || usual_port), store.hostname)
    for (const [from, to] of [
      [client, place],
      [place, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
      from.on('data', chunk => {
        const pass = () => void (to.destroyed || to.write(chunk))
        if (passes > 0 && held.length === 0) {
          if (from === client) passes--
          return pass()
        }
        held.push(pass)
        hold()
      })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = Object.assign(new URL(store_url), {
    hostname: '127.0.0.1',
    port: String((server.address() as AddressInfo).port),
  }).href
  return {
    url,
    stall(after = 0) {
      passes = after
      return new Promise(resolve => {
        hold = resolve
      })
    },
    resume() {
      passes = Number.POSITIVE_INFINITY
      for (const pass of held.splice(0)) pass()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
