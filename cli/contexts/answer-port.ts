import {createHash, timingSafeEqual} from 'node:crypto'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

const MOST_CONNECTIONS = 16
const HEAD_MS = 5000
const MAX_HEAD_BYTES = 8192
const CODE = /^[\w-]{16,255}$/
const WORD = /^\w{1,64}$/
const PAGE = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Gateway</title>
<p>The command line has its answer. You may close this page.</p>
`
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
}

/** The answer that a person's browser brings back. */
export type BroughtBack = {readonly code: string} | {readonly error: string}

/** A port of this machine to which a browser brings the answer of a sign-in. */
export interface AnswerPort {
  readonly port: number
  /** The first answer with the right state; nothing else that comes changes anything. */
  readonly answer: Promise<BroughtBack>
  close(): Promise<void>
}

/** Listens on loopback alone, on any free port, for one answer with this state. */
export async function openAnswerPort(state: string): Promise<AnswerPort> {
  const {promise: answer, resolve} = Promise.withResolvers<BroughtBack>()
  let is_answered = false
  const server = createServer({maxHeaderSize: MAX_HEAD_BYTES, headersTimeout: HEAD_MS}, (request, response) => {
    const brought = is_answered ? undefined : broughtBack(request, state, port)
    if (!brought) return refuse(response)
    is_answered = true
    // the page first: the port closes with the answer
    response.writeHead(200, HEADERS).end(PAGE, () => resolve(brought))
    response.once('close', () => resolve(brought))
  })
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(0, '127.0.0.1', done)
  })
  const {port} = server.address() as AddressInfo
  return {
    port,
    answer,
    close: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function refuse(response: ServerResponse) {
  response.writeHead(404, {...HEADERS, 'content-type': 'text/plain'}).end('There is nothing here.\n')
}

/** The answer of a request; undefined where it is none of ours. */
function broughtBack({method, url, headers}: IncomingMessage, state: string, port: number): BroughtBack | undefined {
  // a name that leads here is another site's
  if (method !== 'GET' || headers.host !== `127.0.0.1:${port}`) return undefined
  const place = URL.parse(url ?? '', `http://127.0.0.1:${port}`)
  if (place?.pathname !== '/' || !isSame(onlyOne(place, 'state') ?? '', state)) return undefined
  const [code, error] = [onlyOne(place, 'code'), onlyOne(place, 'error')]
  if (code !== undefined && error === undefined && CODE.test(code)) return {code}
  return error !== undefined && code === undefined && WORD.test(error) ? {error} : undefined
}

function onlyOne({searchParams}: URL, name: string): string | undefined {
  const values = searchParams.getAll(name)
  return values.length === 1 ? values[0] : undefined
}

/** Compares in a time that tells nothing of where they differ. */
function isSame(sent: string, known: string): boolean {
  return timingSafeEqual(digest(sent), digest(known))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
