import {readFileSync} from 'node:fs'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join, resolve} from 'node:path'

export const PAGES = resolve(import.meta.dirname, '../../src/sign-in/pages')
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
}
const FILES: Readonly<Record<string, string>> = {
  '/v2/auth/sign-in': 'sign-in.html',
  '/v2/auth/ldap': 'sign-in.html',
  '/v2/auth/password': 'sign-in.html',
  '/v2/auth/device': 'device.html',
  '/v2/auth/cli': 'cli.html',
  '/v2/auth/account': 'account.html',
  '/v2/auth/invite': 'invite.html',
}
const TYPES: Readonly<Record<string, string>> = {css: 'text/css', html: 'text/html', js: 'text/javascript'}

/** A call that a page made. */
export interface CallOfPage {
  readonly route: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

/** The gateway as the pages see it: their files, the headers they are served with, and answers that a test chose. */
export interface FakeGateway {
  readonly url: string
  /** The same server by a name that is another origin: a provider of identities, or a command line. */
  readonly elsewhere: string
  readonly calls: CallOfPage[]
  /** Answers a route (`GET /v1/auth/self`) from now on. */
  answer(route: string, body: unknown, status?: number): void
  /** Leaves calls of a route without an answer; `drop` ends their connections. */
  hang(route: string): void
  drop(route: string): void
  refuse(route: string, status: number, message: string, more?: object): void
  /** Serves this HTML at a path, for GET. */
  serve(path: string, html: string): void
  /** Forgets answers and calls. */
  reset(): void
  close(): void
}

export async function startFakeGateway(): Promise<FakeGateway> {
  const answers = new Map<string, {readonly status: number; readonly body: unknown}>()
  const served = new Map<string, string>()
  const silent = new Map<string, 'hang' | 'drop'>()
  const calls: CallOfPage[] = []
  const server = createServer(async (request, reply) => {
    const {method, headers, url = '/'} = request
    const {pathname} = new URL(url, 'http://gateway')
    if (method === 'GET' && (serveFile(pathname, reply) || serveHtml(served.get(pathname), reply))) return
    const text = await textOf(request)
    const route = `${method} ${pathname}`
    calls.push({route, url, headers, body: bodyOf(text, headers['content-type'])})
    if (silent.get(route) === 'hang') return
    if (silent.get(route) === 'drop') return void request.socket.destroy()
    const {status, body} = answers.get(route) ?? {status: 404, body: refusal(`Nothing is at ${route}.`)}
    reply.writeHead(status, {...HEADERS, 'content-type': 'application/json'}).end(JSON.stringify(body))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const {port} = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    elsewhere: `http://localhost:${port}`,
    calls,
    answer: (route, body, status = 200) => void answers.set(route, {status, body}),
    hang: route => void silent.set(route, 'hang'),
    drop: route => void silent.set(route, 'drop'),
    refuse: (route, status, message, more = {}) => void answers.set(route, {status, body: refusal(message, more)}),
    serve: (path, html) => void served.set(path, html),
    reset() {
      answers.clear()
      served.clear()
      silent.clear()
      calls.length = 0
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function serveFile(path: string, reply: ServerResponse): boolean {
  const asset = /^\/v2\/auth\/assets\/([\w-]+\.(?:css|js))$/.exec(path)?.[1]
  const file = asset ?? FILES[path]
  if (!file) return false
  const type = `${TYPES[file.split('.').at(-1)!]}; charset=utf-8`
  reply.writeHead(200, {...HEADERS, 'content-type': type}).end(readFileSync(join(PAGES, file)))
  return true
}

function serveHtml(html: string | undefined, reply: ServerResponse): boolean {
  if (html === undefined) return false
  reply.writeHead(200, {...HEADERS, 'content-type': 'text/html; charset=utf-8'}).end(html)
  return true
}

function bodyOf(text: string, type = ''): unknown {
  if (text === '') return null
  return type.startsWith('application/json') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
}

function refusal(message: string, more: object = {}) {
  return {success: false, data: {message, errorCode: 'AB03', ...more}}
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
