import {isIP, type Socket} from 'node:net'
import {connect, createSecureContext, type SecureContext} from 'node:tls'
import {opened} from './opened.ts'

export interface TlsSettings {
  /** Authorities in PEM, instead of those that Node.js trusts (which NODE_EXTRA_CA_CERTS adds to). */
  readonly ca?: string | undefined
  readonly rejectUnauthorized?: boolean | undefined
  /** The client's certificate and its private key, in PEM. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** How certificates are checked, read once: to read the authorities for every socket would take milliseconds each. */
export interface Tls {
  readonly secureContext: SecureContext
  readonly rejectUnauthorized: boolean
  /** Protocols that are offered. @default HTTP/1.1 */
  readonly offers?: readonly string[]
}

export function readTls({ca, cert, key, rejectUnauthorized = true}: TlsSettings = {}): Tls {
  const given = {...(ca !== undefined && {ca}), ...(cert !== undefined && {cert}), ...(key !== undefined && {key})}
  return {secureContext: createSecureContext(given), rejectUnauthorized}
}

/**
 * A function that puts TLS on an open socket, for one host: its certificate must be for `hostname`, whatever address
 * the socket goes to and whatever `host` header a call carries. Sessions are resumed.
 */
export function securing(hostname: string, tls: Tls): (raw: Socket, signal: AbortSignal) => Promise<Socket> {
  const {offers = ['http/1.1'], ...checks} = tls
  const offered = offers.length > 0 ? {ALPNProtocols: [...offers]} : {}
  let session: Buffer | undefined
  const named = isIP(hostname) ? {} : {servername: hostname} // an address has no place in SNI (RFC 6066, 3)
  return (raw, signal) => {
    const socket = connect({...checks, ...named, ...offered, socket: raw, host: hostname, session})
    socket.on('session', fresh => {
      session = fresh
    })
    return opened(socket, 'secureConnect', signal)
  }
}
