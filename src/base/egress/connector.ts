import {connect, isIP, type LookupFunction, type Socket} from 'node:net'
import {judge, readAddress} from './address.ts'
import {EgressFault, faultOf} from './faults.ts'
import type {HostList} from './hosts.ts'
import {sharedReadBuffer} from './http1/shared-read-buffer.ts'
import type {Lookup} from './lookup.ts'
import {opened} from './opened.ts'
import {type ForwardProxy, type ProxyChoice, tunnel} from './proxy.ts'
import type {Destination} from './target.ts'
import {securing, type Tls} from './tls.ts'

/** How sockets to one destination are opened. */
export interface Dialling {
  readonly destination: Destination
  readonly trusted: HostList
  readonly lookup: Lookup
  readonly proxies: ProxyChoice
  readonly tls: Tls
  /** From the lookup to the end of the TLS handshake. */
  readonly connect_timeout_ms: number
  /** Sockets that are being opened, so that closing the pool can stop them. */
  readonly dials: Set<AbortController>
}

const MAX_ADDRESSES = 8
const MAX_TUNNELS = 3
const NEXT_ADDRESS_AFTER_MS = 500
const KEEP_ALIVE_PROBE_AFTER_MS = 60_000

/**
 * The wall, where no call can go around it: a pool asks this connector for every socket to `destination`. It looks the
 * name up, judges every address of the answer under the destination's trust, dials those very addresses and looks again
 * where the socket went. What a call says (its `host` header) does not count. Rejects with an `EgressFault`.
 */
export function connector(how: Dialling): () => Promise<Socket> {
  const secure = securing(how.destination.hostname, how.tls)
  return async () => {
    const abort = new AbortController()
    const late = () => abort.abort(new EgressFault('unreachable', `no connection within ${how.connect_timeout_ms} ms`))
    const timer = setTimeout(late, how.connect_timeout_ms)
    how.dials.add(abort)
    try {
      return await dial(how, secure, abort.signal)
    } catch (error) {
      throw faultOf(error)
    } finally {
      clearTimeout(timer)
      how.dials.delete(abort)
    }
  }
}

async function dial(how: Dialling, secure: ReturnType<typeof securing>, signal: AbortSignal): Promise<Socket> {
  const addresses = await judged(how, signal)
  const proxy = how.proxies(how.destination, addresses)
  const raw = proxy ? await viaProxy(how, proxy, addresses, signal) : await direct(how, addresses, signal)
  return how.destination.secure ? secure(raw, signal) : raw
}

/**
 * Every address of the destination. One refused address refuses them all: who mixes them in is feeling for a way in.
 */
async function judged(
  {destination: {hostname, trust}, trusted, lookup}: Dialling,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = isIP(hostname) ? [hostname] : await Promise.race([lookup(hostname), aborted(signal)])
  if (addresses.length === 0) throw new EgressFault('unreachable', 'its host name does not resolve')
  for (const address of addresses) {
    const verdict = judge(address)
    if (verdict === 'metadata') throw new EgressFault('blocked', 'it leads to a cloud metadata service')
    if (verdict === 'private' && trust === 'public' && !trusted.covers(address)) {
      throw new EgressFault('blocked', 'it leads to a private or reserved address')
    }
  }
  return addresses.slice(0, MAX_ADDRESSES)
}

/**
 * Node.js tries the addresses in turn (RFC 8305), but gets them from us: there is no second lookup that could answer
 * otherwise.
 */
async function direct({destination}: Dialling, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  const pinned: LookupFunction = (_, __, done) =>
    done(
      null,
      addresses.map(address => ({address, family: isIP(address)})),
    )
  const lent = destination.secure ? null : sharedReadBuffer()
  const socket = connect({
    ...(lent && {onread: lent.onread}),
    host: destination.hostname,
    port: destination.port,
    lookup: pinned,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_AFTER_MS,
  })
  lent?.lend(socket)
  await opened(socket, 'connect', signal)
  const {remoteAddress} = socket
  if (addresses.some(address => readAddress(address) === readAddress(remoteAddress ?? ''))) return socket
  socket.destroy()
  // A socket that was reset at once has no address any more.
  if (remoteAddress === undefined) throw new EgressFault('unreachable', 'the connection was reset while it was opened')
  throw new EgressFault('blocked', 'the connection went to another address than the one allowed')
}

/** A tunnel to the first address that the proxy can reach: it may have no IPv6, for example. */
async function viaProxy(
  {destination, tls}: Dialling,
  proxy: ForwardProxy,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  for (const address of addresses.slice(0, MAX_TUNNELS)) {
    const socket = await tunnel(proxy, address, destination.port, tls, signal)
    if (socket) return socket
  }
  throw new EgressFault('unreachable', 'the forward proxy could not reach it')
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), {once: true}))
}
