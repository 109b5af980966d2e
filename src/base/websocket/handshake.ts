import {hash, randomBytes} from 'node:crypto'
import type {IncomingHttpHeaders} from 'node:http'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** A fresh `Sec-WebSocket-Key`: 16 random bytes in base64. */
export function newSocketKey(): string {
  return randomBytes(16).toString('base64')
}

/** The `Sec-WebSocket-Accept` that answers `key` (RFC 6455, 4.2.2). */
export function acceptKey(key: string): string {
  return hash('sha1', key + GUID, 'base64')
}

/** The fault of a request to open a WebSocket (RFC 6455, 4.2.1): the header, and the reason; null for none. */
export function upgradeFault(headers: IncomingHttpHeaders): {readonly header: string; readonly reason: string} | null {
  const {upgrade, 'sec-websocket-key': key, 'sec-websocket-version': version} = headers
  if (!upgrade || !listed(upgrade).some(name => name.toLowerCase() === 'websocket'))
    return {header: 'upgrade', reason: 'expected websocket'}
  if (version !== '13') return {header: 'sec-websocket-version', reason: 'expected 13'}
  if (typeof key !== 'string' || !/^[A-Za-z0-9+/]{22}==$/.test(key))
    return {header: 'sec-websocket-key', reason: 'expected 16 bytes in base64'}
  return null
}

/** The subprotocols that a `Sec-WebSocket-Protocol` header offers, in order; null when one of them is not a token. */
export function readProtocols(header: string | undefined): readonly string[] | null {
  const names = listed(header ?? '')
  return names.every(name => TOKEN.test(name)) ? names : null
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

function listed(header: string): string[] {
  return header
    .split(',')
    .map(name => name.trim())
    .filter(Boolean)
}
