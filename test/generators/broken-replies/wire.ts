import {type AddressInfo, createServer, type Socket} from 'node:net'

/** What a provider writes for one request: bytes in pieces, and what becomes of the connection behind them. */
export interface Bytes {
  readonly pieces: readonly (Buffer | string)[]
  /**
   * `kept`: it waits for the next request. `closed`: it ends. `comments`: an SSE comment comes every 20 ms, for ever.
   */
  readonly end: 'kept' | 'closed' | 'comments'
  /** How long it waits after each piece. */
  readonly pause_ms?: number
}

/** A provider that answers each request with bytes of a script that the request names by `/s/NUMBER` in its path. */
export interface WireProvider {
  readonly origin: string
  /** Adds a script; gives the base URL under which it is played. */
  play(bytes: Bytes): string
  /** How often the script at this URL was asked for. */
  asked(url: string): number
  close(): Promise<void>
}

export async function wireProvider(): Promise<WireProvider> {
  const scripts: Bytes[] = []
  const asked: number[] = []
  const sockets = new Set<Socket>()
  const server = createServer({noDelay: true}, socket => {
    sockets.add(socket)
    let text = ''
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', bytes => {
      text += bytes.toString('latin1')
      const head_end = text.indexOf('\r\n\r\n')
      if (head_end < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head_end))?.[1] ?? 0)
      if (text.length < head_end + 4 + length) return
      const at = Number(/\/s\/(\d+)/.exec(text)?.[1])
      text = text.slice(head_end + 4 + length)
      asked[at] = (asked[at] ?? 0) + 1
      void write(socket, scripts[at]!)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    play: bytes => `${origin}/s/${scripts.push(bytes) - 1}`,
    asked: url => asked[Number(/\/s\/(\d+)/.exec(url)![1])] ?? 0,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function write(socket: Socket, {pieces, end, pause_ms}: Bytes) {
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise(resolve => (pause_ms ? setTimeout(resolve, pause_ms) : setImmediate(resolve)))
  }
  if (end === 'closed') socket.end()
  if (end !== 'comments') return
  const timer = setInterval(() => socket.write(chunk(Buffer.from(': still here\n\n'))), 20)
  socket.on('close', () => clearInterval(timer))
}

/** One chunk of a chunked body. */
export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

/** A reply of status 200 whose body comes in chunks; `is_whole`: the chunk that ends it comes too. */
export function reply(type: string, parts: readonly Buffer[], {head = '', is_whole = true} = {}): Bytes {
  return {
    pieces: [
      `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n${head}\r\n`,
      ...parts.filter(part => part.length > 0).map(chunk),
      ...(is_whole ? ['0\r\n\r\n'] : []),
    ],
    end: is_whole ? 'kept' : 'closed',
  }
}
