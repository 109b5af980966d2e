import type {Socket} from 'node:net'
import type {After} from '../../base/delay.ts'
import {readFrom} from '../../base/egress/http1/shared-read-buffer.ts'
import {DELIVERY_MS, SinkFault, type SinkTarget} from './target.ts'

/** A receiver that closes at once does so within this time. */
const SETTLE_MS = 100

/**
 * Sends lines over TCP or TLS with octet counting (RFC 6587, 3.4.1; RFC 5425, 4.3), a connection for each delivery.
 * Syslog has no acknowledgement: the receiver has all lines when it has read the end of the connection and closes its
 * side. One that closes sooner, or resets it, may have lost some.
 */
export function syslogTarget(dial: () => Promise<Socket>, after: After): SinkTarget {
  return {
    async deliver(lines, stopped) {
      const frames = Buffer.concat(lines.map(framed))
      const socket = await dialled(dial, stopped)
      await taken(socket, frames, {stopped, after})
    },
  }
}

export function framed(line: string): Buffer {
  const bytes = Buffer.from(line)
  return Buffer.concat([Buffer.from(`${bytes.length} `), bytes])
}

async function dialled(dial: () => Promise<Socket>, stopped: AbortSignal): Promise<Socket> {
  let socket: Socket
  try {
    socket = await dial()
  } catch (fault) {
    throw new SinkFault(fault instanceof Error ? fault.message : 'no connection', {cause: fault})
  }
  if (!stopped.aborted) return socket
  socket.destroy()
  throw new SinkFault('the gateway stops')
}

interface Waits {
  readonly stopped: AbortSignal
  readonly after: After
}

function taken(socket: Socket, frames: Buffer, {stopped, after}: Waits): Promise<void> {
  const {promise, resolve, reject} = Promise.withResolvers<void>()
  const fail = (reason: string) => reject(new SinkFault(reason))
  const stop = () => fail('the gateway stops')
  const cancel = after(DELIVERY_MS, () => fail(`it did not take the lines within ${DELIVERY_MS / 1000} s`))
  let settle = () => {}
  let has_ended = false
  stopped.addEventListener('abort', stop, {once: true})
  // a receiver has nothing to say; what it sends is not kept
  readFrom(socket, () => undefined)
  socket.on('error', (fault: NodeJS.ErrnoException) => fail(`the connection failed (${fault.code ?? fault.name})`))
  socket.on('close', () => fail('the connection was closed before it had the lines'))
  socket.on('end', () => {
    if (!has_ended || !socket.writableFinished) return fail('the receiver closed before it had the lines')
    resolve()
  })
  socket.write(frames, () => {
    settle = after(SETTLE_MS, () => {
      has_ended = true
      socket.end()
    })
  })
  return promise.finally(() => {
    cancel()
    settle()
    stopped.removeEventListener('abort', stop)
    socket.destroy()
  })
}
