import type {Socket} from 'node:net'

/**
 * `socket` once it says `event`; rejects with its error, and with the reason of `signal` (the socket is destroyed) when
 * that comes first.
 */
export function opened<T extends Socket>(
  socket: T,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => void socket.destroy(signal.reason)
    socket.on('error', reject) // stays: an error must have a listener until a line adds its own
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, {once: true})
    socket.once(event, () => {
      signal.removeEventListener('abort', stop)
      resolve(socket)
    })
  })
}
