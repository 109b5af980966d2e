import type {Socket} from 'node:net'
import {connector} from './connector.ts'
import {NO_HOSTS} from './hosts.ts'
import {systemLookup} from './lookup.ts'
import {readTls, type TlsSettings} from './tls.ts'

/** A server of another protocol than HTTP that the operator named. */
export interface RawServer {
  /** Lower case, an IPv6 address without brackets. */
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
  readonly tls?: TlsSettings
}

const CONNECT_MS = 10_000

/**
 * Opens sockets to such a server through the wall: it may be a private host, and never a metadata service. Its port is
 * its own affair, and forward proxies, which are for HTTP, are passed by.
 */
export function rawConnector({hostname, port, secure, tls}: RawServer): () => Promise<Socket> {
  const shown = hostname.includes(':') ? `[${hostname}]` : hostname
  const origin = `${secure ? 'https' : 'http'}://${shown}:${port}`
  return connector({
    destination: {origin, hostname, port, secure, basePath: '', trust: 'integration', key: origin},
    trusted: NO_HOSTS,
    lookup: systemLookup,
    proxies: () => null,
    tls: {...readTls(tls), offers: []},
    connect_timeout_ms: CONNECT_MS,
    dials: new Set(),
  })
}
