import {readFileSync} from 'node:fs'
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http'
import {createServer as createTlsServer} from 'node:https'
import {type AddressInfo, connect} from 'node:net'
import {join} from 'node:path'
import {connect as tlsConnect} from 'node:tls'
import {onTestFinished} from 'vitest'
import {Refusal} from '../../../src/base/errors.ts'
import {attachFastPath} from '../../../src/base/ingress/fast-path.ts'
import {GIVEN_UP, govern, vouchFor} from '../../../src/base/ingress/govern.ts'
import {Governor, type GovernorOptions} from '../../../src/base/ingress/governor.ts'
import type {FastRequest} from '../../../src/base/ingress/request.ts'
import type {ClientResponse} from '../../../src/base/ingress/response.ts'
import {type RawClient, rawClient} from '../../support/raw.ts'

const pem = (name: string) => readFileSync(join(import.meta.dirname, '../egress/fixtures', name), 'utf8')

export const LIMITS: GovernorOptions = {
  head_timeout_ms: 15_000,
  body_idle_timeout_ms: 30_000,
  keep_alive_ms: 75_000,
  write_timeout_ms: 60_000,
  connections: 100,
}

/** A governed server whose clock stands still unless it is told to go on. */
export interface Governed {
  readonly governor: Governor
  readonly server: Server
  /** `keeps_open`: it ends nothing when the server does. */
  dial(how?: {readonly handshake?: boolean; readonly keeps_open?: boolean}): Promise<RawClient>
  /** Lets time pass, and bytes that are on their way arrive first. */
  pass(ms: number): Promise<void>
}

/** More than the kernel takes for a client that reads nothing. */
export const LARGE_BYTES = 32 << 20

/**
 * `/plain` is read in front, all else by node:http; who sends `x-key` is known, and a body is answered when it is whole
 * or given up.
 */
export async function governed(options: Partial<GovernorOptions> = {}, {is_tls = false} = {}): Promise<Governed> {
  let now_ms = 1000
  const governor = new Governor({...LIMITS, ...options, now: () => now_ms})
  const secrets = is_tls ? {key: pem('models.key.pem'), cert: pem('models.pem')} : {}
  const answer = (request: IncomingMessage, response: ServerResponse) => void byNode(request, response)
  const server: Server = is_tls ? createTlsServer(secrets, answer) : createServer(answer)
  attachFastPath(server, {takes: path => path.startsWith('/plain'), handle: (...of) => void inFront(...of), governor})
  govern(server, governor)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const {port} = server.address() as AddressInfo
  return {
    governor,
    server,
    async dial({handshake = is_tls, keeps_open = false} = {}) {
      const at = {port, host: '127.0.0.1', allowHalfOpen: keeps_open}
      const socket = handshake ? tlsConnect({...at, rejectUnauthorized: false}) : connect(at)
      const client = await rawClient(socket, handshake ? 'secureConnect' : 'connect')
      await settled()
      return client
    },
    async pass(ms) {
      await settled()
      for (const until_ms = now_ms + ms; now_ms < until_ms; ) {
        now_ms += 250
        governor.sweep()
      }
      await settled()
    },
  }
}

/** Some turns of the event loop: what was written on loopback has come. */
export async function settled() {
  for (let turn = 0; turn < 12; turn++) await new Promise(resolve => setImmediate(resolve))
}

async function inFront(request: FastRequest, response: ClientResponse) {
  if (request.headers['x-key'] === undefined) return say(response, 401, 'who are you')
  try {
    const body = await request.body()
    say(response, 200, request.url === '/plain/large' ? 'x'.repeat(LARGE_BYTES) : `front read ${body.length}`)
  } catch (fault) {
    if (fault instanceof Refusal) say(response, fault.status, fault.message, true)
  }
}

async function byNode(request: IncomingMessage, response: ServerResponse) {
  const is_known = request.headers['x-key'] !== undefined
  if (is_known) vouchFor(request)
  if (request.url === '/unread') return // nobody answers, and nobody reads it
  if (request.url === '/begins') return void response.writeHead(200, {'content-length': 99}).write('begun')
  if (request.url === '/early') return say(response as ClientResponse, 200, 'early')
  if (is_known) {
    request.once(GIVEN_UP, (fault: Refusal) => say(response as ClientResponse, fault.status, fault.message, true))
  }
  let bytes = 0
  request.on('data', part => {
    bytes += part.length
  })
  request.on('end', () => say(response as ClientResponse, 200, `node read ${bytes}`))
  request.on('error', () => undefined)
}

function say(response: ClientResponse, status: number, text: string, closes = false) {
  response.writeHead(status, [
    'content-length',
    String(Buffer.byteLength(text)),
    ...(closes ? ['connection', 'close'] : []),
  ])
  response.end(text, 'utf8')
}
