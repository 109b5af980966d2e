import {request as requestPlain} from 'node:http'
import {request as requestSecure} from 'node:https'
import {isIP, type Socket} from 'node:net'
import {EgressFault} from './faults.ts'
import {type HostEntry, type HostList, hostList, readHostEntry} from './hosts.ts'
import type {Destination} from './target.ts'
import type {Tls} from './tls.ts'

/**
 * A forward proxy: a server that opens a tunnel (CONNECT, RFC 9110 9.3.6) to an address it is given, for http as for
 * https.
 */
export interface ForwardProxy {
  readonly secure: boolean
  readonly hostname: string
  readonly port: number
  /** The value of `proxy-authorization`; null when the proxy asks for none. */
  readonly authorization: string | null
}

/** The proxy for a destination whose judged addresses are `addresses`; null when it is reached directly. */
export type ProxyChoice = (destination: Destination, addresses: readonly string[]) => ForwardProxy | null

export interface ProxySettings {
  readonly HTTP_PROXY?: string | undefined
  readonly HTTPS_PROXY?: string | undefined
  readonly NO_PROXY?: readonly string[] | undefined
}

/**
 * Reads the settings of the forward proxy. An entry of NO_PROXY is `*`, an IP address, a CIDR range, or a host,
 * `.domain` or `*.domain`, which all mean the name and what is below it; `:port` at its end limits it to that port.
 * Addresses count for the names that lead to them, too. Loopback is never sent to a proxy: it would be the proxy's own.
 * A setting that cannot be read is an Error, which does not show the proxy's password.
 */
export function readProxies(settings: ProxySettings): ProxyChoice {
  const ofPlain = readProxy('HTTP_PROXY', settings.HTTP_PROXY)
  const ofSecure = readProxy('HTTPS_PROXY', settings.HTTPS_PROXY)
  const direct = [
    {hosts: LOOPBACK, port: null},
    ...(settings.NO_PROXY ?? []).filter(entry => entry.trim()).map(readDirect),
  ]
  return ({hostname, port, secure}, addresses) => {
    const unproxied = ({hosts}: Direct) => hosts.names(hostname) || addresses.some(hosts.covers)
    return direct.some(rule => (rule.port ?? port) === port && unproxied(rule)) ? null : secure ? ofSecure : ofPlain
  }
}

/**
 * A socket through `proxy` to `address`, an IP address: the proxy never resolves a name. Null when the proxy says that
 * it cannot reach it (5xx); any other refusal is an EgressFault.
 */
export function tunnel(
  proxy: ForwardProxy,
  address: string,
  port: number,
  tls: Tls,
  signal: AbortSignal,
): Promise<Socket | null> {
  const target = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
  const {hostname: host, authorization} = proxy
  const headers = {host: target, ...(authorization && {'proxy-authorization': authorization})}
  const options = {host, port: proxy.port, method: 'CONNECT', path: target, headers, agent: false, signal}
  const servername = isIP(host) ? '' : host // else Node.js would take it from the `host` header
  return new Promise((resolve, reject) => {
    const request = proxy.secure ? requestSecure({...options, ...tls, servername}) : requestPlain(options)
    request.once('connect', (reply, socket: Socket, head) => {
      socket.on('error', reject) // stays: an error must have a listener until a line adds its own
      const status = reply.statusCode ?? 0
      if (status >= 200 && status < 300) {
        if (head.length > 0) socket.unshift(head)
        return resolve(socket)
      }
      socket.destroy()
      if (status >= 500) return resolve(null)
      reject(new EgressFault('unreachable', `the forward proxy answered ${status}`))
    })
    request.once('error', cause =>
      reject(
        signal.aborted
          ? signal.reason
          : new EgressFault('unreachable', 'the forward proxy could not be reached', {cause}),
      ),
    )
    request.end()
  })
}

const LOOPBACK: HostList = hostList([
  {domain: 'localhost'},
  ...['127.0.0.0/8', '::1'].map(text => readHostEntry(text)!),
])

function readProxy(name: string, text: string | undefined): ForwardProxy | null {
  if (!text) return null
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) {
    throw new Error(`${name} is not a URL such as http://proxy.example.com:3128.`)
  }
  const secure = url.protocol === 'https:'
  const user = `${decoded(url.username)}:${decoded(url.password)}`
  return {
    secure,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port ? Number(url.port) : secure ? 443 : 80,
    authorization: user === ':' ? null : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a lone % is literal
  }
}

interface Direct {
  readonly hosts: HostList
  readonly port: number | null
}

function readDirect(text: string): Direct {
  const trimmed = text.trim()
  if (trimmed === '*') return {hosts: EVERYWHERE, port: null}
  const [, host = trimmed, port] = /^(\[[^\]]*\]|[^:]+):(\d{1,5})$/.exec(trimmed) ?? []
  const entry = readHostEntry(host.replace(/^\./, '*.'))
  if (!entry)
    throw new Error(
      `NO_PROXY: ${JSON.stringify(trimmed.slice(0, 100))} is not *, a host, .domain, IP address or CIDR range.`,
    )
  return {hosts: hostList([withBelow(entry)]), port: port === undefined ? null : Number(port)}
}

/** A name in NO_PROXY has always meant what is below it, too. */
function withBelow(entry: HostEntry): HostEntry {
  return 'name' in entry ? {domain: entry.name} : entry
}

const EVERYWHERE: HostList = {names: () => true, covers: () => true}
