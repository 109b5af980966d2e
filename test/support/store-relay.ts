import {once} from 'node:events'
import {type AddressInfo, connect, createServer, type Socket} from 'node:net'

/** A store behind a wire that a test may cut, or leave without a word. */
export interface StoreRelay {
  /** The address of the store, by way of the relay. */
  readonly url: string
  /** Nothing passes in either direction; connections stay. */
  hang(): void
  /** Connections break, and new ones are ended at once. */
  cut(): void
  /** All passes again. */
  heal(): void
  close(): void
}

export async function storeRelay(url: string): Promise<StoreRelay> {
  const place = new URL(url)
  const ends = new Set<Socket>()
  let state: 'open' | 'hanging' | 'cut' = 'open'
  const server = createServer(socket => {
    if (state === 'cut') return void socket.destroy()
    const store = connect(Number(place.port), place.hostname)
    for (const [one, other] of [
      [socket, store],
      [store, socket],
    ] as const) {
      ends.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        ends.delete(one)
        other.destroy()
      })
      one.on('data', part => void other.write(part))
      if (state === 'hanging') one.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: Object.assign(new URL(url), {host: `127.0.0.1:${(server.address() as AddressInfo).port}`}).href,
    hang() {
      state = 'hanging'
      for (const end of ends) end.pause()
    },
    cut() {
      state = 'cut'
      for (const end of ends) end.destroy()
    },
    heal() {
      state = 'open'
      for (const end of ends) end.resume()
    },
    close() {
      for (const end of ends) end.destroy()
      server.close()
    },
  }
}
