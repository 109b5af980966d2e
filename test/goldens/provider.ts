import {type AddressInfo, createServer, type Socket} from 'node:net'
import {chunked, lines, type Message, readMessage} from './http.ts'

/** What a provider answers: bytes, and what becomes of the connection behind them. */
export interface Reply {
  readonly bytes: Buffer
  /** What is in them but for head and framing. */
  readonly body: Buffer
  /** `hangs`: nothing more comes. `breaks`: the connection ends behind the bytes. */
  readonly ends: 'done' | 'hangs' | 'breaks'
  /** Nothing is answered before this. */
  readonly waits?: () => Promise<unknown>
}

/** A provider on loopback that answers the bytes of a script and keeps the bytes that it heard. */
export interface RawProvider {
  readonly port: number
  /** Since the last `play`. */
  readonly received: Message[]
  readonly answered: Reply[]
  play(replies: readonly Reply[]): void
  /** Resolves once so many requests were heard since the last `play`. */
  until(requests: number): Promise<void>
  close(): Promise<void>
}

const UNEXPECTED = whole({error: {message: 'The script has no answer for this.'}}, {status: 599})

export async function rawProvider(): Promise<RawProvider> {
  const received: Message[] = []
  const answered: Reply[] = []
  const sockets = new Set<Socket>()
  let replies: Reply[] = []
  let waiting: {requests: number; resolve: () => void}[] = []
  const server = createServer(socket => {
    let bytes = Buffer.alloc(0)
    sockets.add(socket.setNoDelay())
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', async more => {
      bytes = Buffer.concat([bytes, more])
      const message = readMessage(bytes)
      if (!message?.is_whole) return
      bytes = bytes.subarray(message.size)
      const reply = replies.shift() ?? UNEXPECTED
      received.push(message)
      answered.push(reply)
      for (const each of waiting) if (received.length >= each.requests) each.resolve()
      waiting = waiting.filter(each => received.length < each.requests)
      await reply.waits?.()
      if (reply.ends === 'breaks') socket.end(reply.bytes)
      else socket.write(reply.bytes)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    answered,
    play(next) {
      replies = [...next]
      received.length = answered.length = 0
    },
    until: requests =>
      new Promise(resolve => {
        if (received.length >= requests) resolve()
        else waiting.push({requests, resolve})
      }),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

interface Said {
  readonly status?: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly ends?: Reply['ends']
  readonly waits?: () => Promise<unknown>
}

/** An answer in one piece, with its length; an object is its JSON. */
export function whole(
  said: unknown,
  {status = 200, type = 'application/json', headers = {}, ends = 'done', waits}: Said = {},
): Reply {
  const body = Buffer.isBuffer(said) ? said : Buffer.from(typeof said === 'string' ? said : JSON.stringify(said))
  const head = `HTTP/1.1 ${status} Said\r\n${lines({'content-type': type, 'x-request-id': 'req_1', ...headers, 'content-length': `${body.length}`})}\r\n`
  return {bytes: Buffer.concat([Buffer.from(head), body]), body, ends, ...(waits && {waits})}
}

/** A stream of these parts. Where it hangs or breaks, its end is missing. */
export function stream(
  parts: readonly (Buffer | string)[],
  {status = 200, type = 'text/event-stream', headers = {}, ends = 'done', waits}: Said = {},
): Reply {
  const head = `HTTP/1.1 ${status} Said\r\n${lines({'content-type': type, 'x-request-id': 'req_1', ...headers, 'transfer-encoding': 'chunked'})}\r\n`
  const end = ends === 'done' ? '0\r\n\r\n' : ''
  const bytes = Buffer.concat([Buffer.from(head), chunked(parts), Buffer.from(end)])
  return {bytes, body: Buffer.concat(parts.map(part => Buffer.from(part))), ends, ...(waits && {waits})}
}

/** Nothing at all. */
export const silence: Reply = {bytes: Buffer.alloc(0), body: Buffer.alloc(0), ends: 'hangs'}
