import type {Socket} from 'node:net'
import type {Refusal} from '../errors.ts'
import {refusalText} from './refusal-text.ts'

const MOST = 32
const MOST_MS = 1000
const MOST_BYTES = 64 << 20

/**
 * Connections that are refused and read on for a moment, so that their clients read why before the line is cut. A
 * further one takes the place of the oldest.
 */
export class RefusedConnections {
  readonly #since_ms = new Map<Socket, number>()

  get size(): number {
    return this.#since_ms.size
  }

  /** `now_ms` is of the clock that `sweep` gets. */
  add(socket: Socket, now_ms: number): void {
    for (const oldest of this.#since_ms.keys()) {
      if (this.size < MOST) break
      this.#since_ms.delete(oldest)
      oldest.destroy()
    }
    this.#since_ms.set(socket, now_ms)
    socket.on('error', ignore)
    socket.once('close', () => this.#since_ms.delete(socket))
  }

  sweep(now_ms: number): void {
    for (const [socket, since_ms] of this.#since_ms)
      if (now_ms - since_ms >= MOST_MS || socket.bytesRead > MOST_BYTES) socket.destroy()
  }

  destroyAll(): void {
    for (const socket of this.#since_ms.keys()) socket.destroy()
  }
}

/** Sends the reason to a client whose connection is not taken. */
export function sendRefusal(socket: Socket, refusal: Refusal): void {
  socket.on('error', ignore)
  socket.resume() // unread bytes would have the client hear of a reset, and not of why
  socket.end(refusalText(refusal), 'latin1')
}

const ignore = () => undefined
