import {createHmac, timingSafeEqual} from 'node:crypto'
import type {McpServer} from '../call/server.ts'
import type {McpCaller} from '../services.ts'
import {McpFault} from '../wire/faults.ts'

const MAC_BYTES = 16

/**
 * Cursors of upstreams as clients have them: bound to the principal, the server and the method. The same cursor has the
 * same text, as clients see by it that a list does not move.
 */
export class Cursors {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  close(cursor: string, method: string, of: CursorOwner): string {
    const text = Buffer.from(cursor, 'utf8')
    return Buffer.concat([this.#mac(text, method, of), text]).toString('base64url')
  }

  /** The upstream's own. Throws `params_invalid` for one that was not given to this principal for this list. */
  open(sealed: string, method: string, of: CursorOwner): string {
    const bytes = Buffer.from(sealed, 'base64url')
    const text = bytes.subarray(MAC_BYTES)
    if (bytes.length < MAC_BYTES || !timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(text, method, of)))
      throw new McpFault('params_invalid', {reason: 'cursor is none of this list'})
    return text.toString('utf8')
  }

  #mac(text: Buffer, method: string, {caller, server}: CursorOwner): Buffer {
    const of = JSON.stringify([caller.kind, caller.id, caller.user_id, server.id, method])
    return createHmac('sha256', this.#key).update(of).update(text).digest().subarray(0, MAC_BYTES)
  }
}

export interface CursorOwner {
  readonly caller: McpCaller
  readonly server: Pick<McpServer, 'id'>
}
