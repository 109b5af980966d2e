import type {Socket} from 'node:net'
import type {Governed} from './governed.ts'

/** All that was written to it is with the kernel. */
export const isFlushed = ({socket}: Governed) => socket.writableLength === 0

interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

/**
 * Bytes of answers that have left. A socket says what was written to it alone: how much of that waits, its handle
 * knows, as node:net asks it.
 */
export function leftOf(raw: Socket): number {
  const {_handle: handle} = raw as Socket & {readonly _handle?: Handle | null}
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
