import type {OnReadOpts, Socket} from 'node:net'

/** Takes the first `length` bytes of `bytes`, which hold others when it returns; false where no more are wanted now. */
type Taker = (bytes: Buffer, length: number) => boolean

/** Bytes that are read from lent sockets come here first: they are taken before anything else is read. */
const LENT = Buffer.allocUnsafeSlow(64 * 1024)
const readers = new WeakMap<Socket, Lent>()

class Lent {
  take: Taker
  constructor(take: Taker) {
    this.take = take
  }
}

/** Options of `net.connect`, and what gets its socket: what that reads needs no buffer of its own. */
export function sharedReadBuffer(): {readonly onread: OnReadOpts; lend(socket: Socket): void} {
  const lent = new Lent(() => true)
  return {
    onread: {buffer: LENT, callback: length => lent.take(LENT, length)},
    lend(socket) {
      readers.set(socket, lent)
      lent.take = () => {
        socket.destroy() // nothing was requested of it yet
        return false
      }
    },
  }
}

/** Gives `take` what `socket` reads; `is_lent` where the bytes are good until it returns only. Gives what ends that. */
export function readFrom(socket: Socket, take: (bytes: Buffer, length: number, is_lent: boolean) => void): () => void {
  const lent = readers.get(socket)
  if (!lent) {
    const listener = (bytes: Buffer) => take(bytes, bytes.length, false)
    socket.on('data', listener)
    return () => {
      socket.off('data', listener)
      socket.on('readable', nothing).off('readable', nothing) // it flows no longer, and begins to when it is read
    }
  }
  lent.take = (bytes, length) => {
    take(bytes, length, true)
    return true
  }
  return () => {
    lent.take = (bytes, length) => socket.push(Buffer.from(bytes.subarray(0, length)))
  }
}

function nothing() {}
