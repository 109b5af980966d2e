import {readFileSync} from 'node:fs'
import {createServer, type IncomingMessage, type RequestListener} from 'node:http'
import {createServer as createSecureServer} from 'node:https'
import {type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket} from 'node:net'
import {join} from 'node:path'
import type {Dispatcher} from 'undici'
import {onTestFinished} from 'vitest'
import type {Lookup} from '../../../src/base/egress/lookup.ts'
import {Egress, type EgressOptions} from '../../../src/base/egress/pools.ts'
import type {Asker, Destination} from '../../../src/base/egress/target.ts'
import {readTrusted} from '../../../src/base/egress/trust.ts'

export const CALLER: Asker = {kind: 'caller'}
export const ca = fixture('ca.pem')
const identity = {cert: fixture('models.pem'), key: fixture('models.key.pem')}

/** A server on loopback until the test is over: its port, and the sockets and requests it saw. */
export interface Upstream {
  readonly port: number
  readonly sockets: Socket[]
  readonly requests: {readonly method: string; readonly url: string; readonly host: string | undefined}[]
}

const greet: RequestListener = (_, reply) => void reply.end('hello')

export function serve(answer: RequestListener = greet, host = '127.0.0.1'): Promise<Upstream> {
  return upstream(createServer(), answer, host)
}

/** Its certificate is for models.example and 127.0.0.1. */
export function serveSecure(answer: RequestListener = greet): Promise<Upstream> {
  return upstream(createSecureServer(identity), answer, '127.0.0.1')
}

/** Takes connections and never says a word. */
export function serveSilence(): Promise<Upstream> {
  return listening(createTcpServer(), '127.0.0.1', [])
}

export interface Tunnels extends Upstream {
  /** What it was asked to CONNECT to, and with which authorization. */
  readonly asked: {readonly target: string; readonly authorization: string | undefined}[]
}

/**
 * A forward proxy that leads every tunnel to `port` of this machine, or answers `status` of the target when that is not
 * 200.
 */
export async function serveProxy(
  port: number,
  status: (target: string) => number = () => 200,
  secure = false,
): Promise<Tunnels> {
  const asked: {target: string; authorization: string | undefined}[] = []
  const server = secure ? createSecureServer(identity) : createServer()
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push({target: request.url ?? '', authorization: request.headers['proxy-authorization']})
    client.on('error', () => client.destroy())
    const answer = status(request.url ?? '')
    if (answer !== 200) return client.end(`HTTP/1.1 ${answer} No\r\n\r\n`)
    const there = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    there.on('error', () => client.destroy())
    client.on('close', () => there.destroy())
    return there.pipe(client).pipe(there)
  })
  return {...(await upstream(server, greet, '127.0.0.1')), asked}
}

/** An Egress that trusts `trusted` and knows the addresses of `names` alone; `asked` are the names it looked up. */
export function egress(
  trusted: string[],
  names: Record<string, string[] | (() => string[])>,
  options: EgressOptions = {},
) {
  const asked: string[] = []
  const lookup: Lookup = async name => {
    asked.push(name)
    const known = names[name]
    if (!known) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {code: 'ENOTFOUND'})
    return typeof known === 'function' ? known() : known
  }
  const way = new Egress({trusted: readTrusted(trusted), lookup, tls: {ca}, ...options})
  onTestFinished(() => way.destroy())
  return Object.assign(way, {asked})
}

export async function get(
  way: Egress,
  place: Destination,
  options: {path?: string; workspace?: string; headers?: Record<string, string>} = {},
) {
  const {path = '/', workspace = '', headers = {}} = options
  const reply = await way.pool(place, workspace).request({origin: place.origin, path, method: 'GET', headers})
  return {status: reply.statusCode, headers: reply.headers, body: await reply.body.text()}
}

/** A call whose end is watched: `ended` settles with the status, or with the error the handler was given. */
export function dispatch(pool: Dispatcher, atEnd: () => void = () => {}): {ended: Promise<number>; accepted: boolean} {
  const {promise: ended, resolve, reject} = Promise.withResolvers<number>()
  ended.catch(() => {})
  let status = 0
  const accepted = pool.dispatch(
    {path: '/', method: 'GET'},
    {
      onRequestStart() {},
      onResponseStart(_, code) {
        status = code
      },
      onResponseData() {},
      onResponseEnd() {
        atEnd()
        resolve(status)
      },
      onResponseError: (_, error) => reject(error),
    },
  )
  return {ended, accepted}
}

async function upstream(server: Server, answer: RequestListener, host: string): Promise<Upstream> {
  const requests: {method: string; url: string; host: string | undefined}[] = []
  server.on('request', (request: IncomingMessage, reply) => {
    requests.push({method: request.method ?? '', url: request.url ?? '', host: request.headers.host})
    answer(request, reply)
  })
  return listening(server, host, requests)
}

async function listening(server: Server, host: string, requests: Upstream['requests']): Promise<Upstream> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {port: (server.address() as AddressInfo).port, sockets, requests}
}

function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8')
}
