import {Refusal} from '../../base/errors.ts'
import {readProtocols} from '../../base/websocket/index.ts'
import {type ReceivedRequest, type RequestCredentials, readCredentials} from '../inbound/request.ts'

/**
 * A browser cannot set headers on a WebSocket: its key comes as a subprotocol (OpenAI, Realtime API, WebSocket
 * connections).
 */
const KEY_PROTOCOLS = ['openai-insecure-api-key.', 'gateway-insecure-api-key.']

/** A request to open a session, without secrets in the subprotocols it offers. */
export interface UpgradeRequest {
  /** The request; its header of subprotocols names no key any more, so that none is forwarded, echoed or kept. */
  readonly incoming: ReceivedRequest
  readonly credentials: RequestCredentials
  /** The subprotocols that are passed to the provider, in order. */
  readonly protocols: readonly string[]
}

/** Reads key and subprotocols. The key: our header, else `Authorization: Bearer`, else a subprotocol. */
export function readOffer(incoming: ReceivedRequest): UpgradeRequest {
  const offered = readProtocols(incoming.headers['sec-websocket-protocol'])
  if (!offered)
    throw new Refusal('header.invalid', {header: 'sec-websocket-protocol', reason: 'expected names by commas'})
  const key = offered.map(keyIn).find(found => found !== null) ?? null
  const protocols = offered.filter(name => keyIn(name) === null)
  const {'sec-websocket-protocol': _, ...others} = incoming.headers
  const headers = protocols.length ? {...others, 'sec-websocket-protocol': protocols.join(', ')} : others
  const cleaned = {...incoming, headers}
  const has_header = Boolean(incoming.own.values['api-key'] || headers.authorization)
  const shown = key === null || has_header ? headers : {...headers, authorization: `Bearer ${key}`}
  return {incoming: cleaned, credentials: readCredentials({...cleaned, headers: shown}), protocols}
}

function keyIn(protocol: string): string | null {
  const prefix = KEY_PROTOCOLS.find(each => protocol.startsWith(each))
  return prefix === undefined ? null : protocol.slice(prefix.length)
}
