import type {IncomingMessage} from 'node:http'
import type {Duplex} from 'node:stream'
import type {RealtimeParts} from './connect.ts'
import {open} from './open.ts'

export type {FindTarget, RealtimeParts} from './connect.ts'

/** Sessions over WebSocket: takes what a server's `upgrade` event gives. */
export interface Realtime {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/**
 * `GET /v1/realtime`: a session is opened with the provider, then with the client, and frames pass both ways as they
 * are. Sessions are live calls: `live` drains them, and ends those that are left with 1001.
 */
export function createRealtime(parts: RealtimeParts): Realtime {
  return {
    handleUpgrade(request, socket, head) {
      open(request, socket, head, parts).catch(fault => {
        parts.services.log.error({fault}, 'a session could not be refused')
        socket.destroy()
      })
    },
  }
}
