import {connect, type Socket} from 'node:net'
import {onTestFinished} from 'vitest'

/** A client that says the bytes it is told to, and keeps what it hears. */
export interface RawClient {
  readonly socket: Socket
  received(): string
  isOver(): boolean
  write(text: string): void
}

export function dial(port: number): Promise<RawClient> {
  return rawClient(connect({port, host: '127.0.0.1', noDelay: true}))
}

/** A client of a socket, when it is `connected` or closed. */
export async function rawClient(socket: Socket, connected = 'connect'): Promise<RawClient> {
  let received = ''
  let is_over = false
  socket.setEncoding('latin1')
  socket.on('data', text => {
    received += text
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    is_over = true
  })
  onTestFinished(() => void socket.destroy())
  await new Promise(resolve => socket.once(connected, resolve).once('close', resolve))
  return {socket, received: () => received, isOver: () => is_over, write: text => void socket.write(text, 'latin1')}
}
