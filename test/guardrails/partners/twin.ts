import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {request} from 'undici'
import type {Http} from '../../../src/guardrails/http.ts'
import {type PhaseOutcome, runHooks} from '../../../src/guardrails/run.ts'
import {type CheckSetup, hooks, world} from '../support.ts'

/** What a partner was asked, as it stood on the wire. */
export interface Asked {
  /** The host that the check named; the twin stands in its place. */
  readonly host: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}

/** What the twin answers: JSON, other words with a status, no end of bytes, or nothing ever. */
export type Reply =
  | {readonly json: unknown}
  | {readonly status: number; readonly text: string; readonly headers?: Record<string, string>}
  | 'endless'
  | 'silent'

/** A server on loopback that stands for every partner. */
export interface Twin {
  readonly asked: Asked[]
  /** By path, else for all; a list is answered in its order. */
  answer(reply: Reply | readonly Reply[]): void
  readonly http: Http
  close(): Promise<void>
}

const PLACE = 'x-twin-host'
const HEADERS_OF_TRANSPORT = ['connection', 'content-length', 'host', 'transfer-encoding', PLACE]

export async function openTwin(): Promise<Twin> {
  const asked: Asked[] = []
  let replies: readonly Reply[] = []
  const server = createServer(async (message, response) => {
    const index = asked.length
    const taken = take(message)
    asked.push(taken.asked)
    Object.assign(taken.asked, {body: parsed(await taken.body)})
    send(replies[Math.min(index, replies.length - 1)] ?? 'silent', response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  return {
    asked,
    answer(reply) {
      asked.length = 0
      replies = Array.isArray(reply) ? reply : [reply as Reply]
    },
    async http({method, url, headers, body}, signal) {
      const {protocol, host, pathname, search} = new URL(url)
      if (protocol !== 'https:') throw new Error(`asked without TLS: ${url}`)
      const reply = await request(`http://127.0.0.1:${port}${pathname}${search}`, {
        method,
        headers: {...headers, [PLACE]: host},
        body: body ?? null,
        signal,
      })
      const flat = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, String(value)]))
      return {status: reply.statusCode, headers: flat, body: reply.body}
    },
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function take(message: IncomingMessage) {
  const headers = Object.fromEntries(
    Object.entries(message.headers).filter(([name]) => !HEADERS_OF_TRANSPORT.includes(name)),
  )
  const asked: Asked = {
    host: String(message.headers[PLACE]),
    method: message.method!,
    path: message.url!,
    headers: headers as Asked['headers'],
    body: undefined,
  }
  return {asked, body: message.toArray().then(chunks => Buffer.concat(chunks).toString('utf8'))}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function send(reply: Reply, response: ServerResponse) {
  if (reply === 'silent') return
  if (reply === 'endless') {
    const chunk = Buffer.alloc(256 * 1024, 0x20)
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', more)
    return more()
  }
  if ('json' in reply) response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(reply.json))
  else response.writeHead(reply.status, {'content-type': 'text/html', ...reply.headers}).end(reply.text)
}

/** Runs one check of a partner against its twin. */
export async function judge(
  twin: Twin,
  guardrail: Readonly<Record<string, unknown>>,
  of: CheckSetup,
): Promise<PhaseOutcome> {
  const {view, context} = world(of)
  return runHooks(hooks(of.side ?? 'input', [guardrail]), view, {...context, http: twin.http})
}
