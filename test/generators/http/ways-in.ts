import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http'
import type {Socket} from 'node:net'
import {Duplex} from 'node:stream'
import {setImmediate as turn} from 'node:timers/promises'
import {onTestFinished} from 'vitest'
import {attachFastPath} from '../../../src/base/ingress/fast-path.ts'
import {govern} from '../../../src/base/ingress/govern.ts'
import {Governor} from '../../../src/base/ingress/governor.ts'
import type {ClientRequest} from '../../../src/base/ingress/request.ts'
import type {ClientResponse} from '../../../src/base/ingress/response.ts'
import type {Sent} from './requests.ts'

/** A client's connection in memory: what the server wrote to it, and whether it ended it. */
class Line extends Duplex {
  written = ''
  is_closed = false
  bytesRead = 0

  override _read() {}

  override _write(chunk: Buffer, _: string, done: () => void) {
    this.written += chunk.toString('latin1')
    done()
  }

  override _final(done: () => void) {
    this.is_closed = true
    done()
  }

  override _destroy(fault: Error | null, done: (fault: Error | null) => void) {
    this.is_closed = true
    done(fault)
  }

  come(text: string) {
    this.bytesRead += text.length
    if (!this.destroyed) this.push(Buffer.from(text, 'latin1'))
  }

  destroySoon() {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  setNoDelay() {
    return this
  }

  setTimeout() {
    return this
  }
}

/**
 * What came of a connection: what handlers were told (node:http tells of requests that were sent ahead at once), what
 * the client heard, and whether the connection was closed.
 */
export interface CameOf {
  readonly told: readonly string[]
  readonly received: string
  readonly is_closed: boolean
}

export interface WaysIn {
  /** What comes of the same bytes on our way in, and on node:http alone. */
  besideNode(of: Sent): Promise<{readonly ours: CameOf; readonly theirs: CameOf; readonly in_front: number}>
  /**
   * What comes of them on node:http alone when the first `count` requests, which are well formed, come one after the
   * other's answer.
   */
  inOrder(of: Sent, count: number): Promise<CameOf>
  /** Requests that were read in front of node:http. */
  readonly in_front: number
}

const PLAIN_HTTP = {shouldUpgradeCallback: () => false}
/** What is read in front: of the gateway the paths of a table, too. */
const PATHS: ReadonlySet<string> = new Set(['/plain', '/plain?a=b', '/plain/early'])
const TURNS = 4

export async function waysIn(): Promise<WaysIn> {
  let in_front = 0
  const told = {ours: [] as string[], theirs: [] as string[]}
  const ours = createServer(PLAIN_HTTP, (request, response) => void answer(request, response, told.ours))
  const theirs = createServer(PLAIN_HTTP, (request, response) => void answer(request, response, told.theirs))
  const limits = {
    head_timeout_ms: 1e9,
    body_idle_timeout_ms: 1e9,
    keep_alive_ms: 5000,
    write_timeout_ms: 1e9,
    connections: 1e9,
  }
  const governor = new Governor(limits)
  attachFastPath(ours, {
    takes: path => PATHS.has(path),
    handle: (request, response) => {
      in_front++
      void answer(request, response, told.ours)
    },
    governor,
  })
  govern(ours, governor)
  for (const server of [ours, theirs]) await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const server of [ours, theirs]) server.close().closeAllConnections()
  })
  return {
    get in_front() {
      return in_front
    },
    async besideNode({text, cuts}) {
      told.ours = []
      told.theirs = []
      const before = in_front
      const both = [lineTo(ours), lineTo(theirs)] as const
      let from = 0
      for (const to of [...cuts, text.length]) {
        if (to > from) for (const line of both) line.come(text.slice(from, to))
        from = to
        await turn()
      }
      return {
        ours: await cameOf(both[0], told.ours),
        theirs: await cameOf(both[1], told.theirs),
        in_front: in_front - before,
      }
    },
    async inOrder({text, cuts}, count) {
      told.theirs = []
      const line = lineTo(theirs)
      const ends = endsOf(text, count)
      let from = 0
      for (const to of [...ends, ...cuts.filter(cut => cut > ends.at(-1)!), text.length]) {
        line.come(text.slice(from, to))
        from = to
        for (let turns = 0; turns < TURNS; turns++) await turn()
      }
      return cameOf(line, told.theirs)
    },
  }
}

/** Where the first `count` requests end, each of which says its length. */
function endsOf(text: string, count: number): number[] {
  const ends: number[] = []
  for (let at = 0; ends.length < count; ends.push(at)) {
    const end = text.indexOf('\r\n\r\n', at) + 4
    at = end + Number(/\r\ncontent-length:[ \t]*(\d+)/i.exec(text.slice(at, end))![1])
  }
  return ends
}

async function cameOf(line: Line, told: string[]): Promise<CameOf> {
  for (let turns = 0; turns < TURNS; turns++) await turn()
  const received = line.written.replaceAll(/\r\nDate: [^\r]*/g, '')
  const came = {told: [...told].sort(), received, is_closed: line.is_closed}
  line.destroy()
  return came
}

function lineTo(server: Server): Line {
  const line = new Line()
  line.on('error', () => undefined)
  server.emit('connection', line as unknown as Socket)
  return line
}

/**
 * Says what it was told, so that an answer in the wrong place shows; a path with `early` is answered before its body is
 * read.
 */
async function answer(
  request: ClientRequest,
  response: ClientResponse | ServerResponse,
  told: string[],
): Promise<void> {
  const head = `${request.method} ${request.url} ${JSON.stringify(Object.entries(request.headers).sort())}`
  if (request.url!.includes('early')) {
    told.push(head)
    return say(response as ClientResponse, 'early')
  }
  try {
    const body = 'body' in request ? await request.body() : await whole(request)
    told.push(`${head} ${body.toString('latin1')}`)
    say(response as ClientResponse, `${request.url} ${body.length}`)
  } catch {
    told.push(`${head} without its body`)
  }
}

async function whole(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

function say(response: ClientResponse, text: string) {
  response.writeHead(200, ['content-length', String(text.length)])
  response.end(text, 'latin1')
}
