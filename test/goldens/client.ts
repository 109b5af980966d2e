import {connect} from 'node:net'
import {lines, type Message, readMessage} from './http.ts'

export interface ClientRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** One call on a connection of its own. */
export interface Asked {
  /** The answer; null where the connection ended before there was a head. */
  readonly answer: Promise<Message | null>
  /** Ends the connection from the client's side. */
  leave(): void
  /** Resolves at the first bytes of the answer. */
  readonly begun: Promise<void>
}

export function send(port: number, {method, path, headers, body}: ClientRequest): Asked {
  const socket = connect({port, host: '127.0.0.1', noDelay: true})
  const begun = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Message | null>()
  let bytes = Buffer.alloc(0)
  const look = (is_over: boolean) => {
    const message = readMessage(bytes, {is_over, has_body: method !== 'HEAD'})
    if (!message?.is_whole && !is_over) return
    answer.resolve(message)
    socket.destroy()
  }
  socket.on('data', more => {
    bytes = Buffer.concat([bytes, more])
    begun.resolve()
    look(false)
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    begun.resolve()
    look(true)
  })
  const is_chunked = headers['transfer-encoding'] !== undefined
  const length: Record<string, string> = body.length && !is_chunked ? {'content-length': `${body.length}`} : {}
  socket.write(
    Buffer.concat([
      Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: gateway.test\r\n${lines({...headers, ...length})}\r\n`),
      body,
    ]),
  )
  return {answer: answer.promise, begun: begun.promise, leave: () => void socket.destroy()}
}
