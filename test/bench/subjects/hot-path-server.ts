import {hash, randomUUID} from 'node:crypto'
import type {ServerResponse} from 'node:http'
import Sqlite from 'better-sqlite3'
import fastify from 'fastify'
import {type Dispatcher, Pool} from 'undici'

/**
 * The hot path of a gateway and nothing around it: key, request counter, model, usage and a row of a log, on Fastify,
 * undici and better-sqlite3, with no layers, no routing, no refusals worth the name: `node hot-path-server.ts PORT
 * UPSTREAM DATABASE`.
 */
const [port, upstream, file] = process.argv.slice(2)
const PATH = '/v1/chat/completions'
const KEYS = 1000
const PER_MINUTE = 100_000_000
const FLUSH_MS = 50

interface Key {
  readonly id: string
  minute: number
  calls: number
}

interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

interface Call {
  readonly key: Key
  readonly model: string
  readonly began: number
}

const keys = new Map<string, Key>()
for (let at = 0; at < KEYS; at++) keys.set(hash('sha256', `key-${at}`), {id: randomUUID(), minute: 0, calls: 0})

const db = new Sqlite(file!)
db.pragma('journal_mode = wal')
db.pragma('synchronous = normal')
db.exec(
  'create table log (id text primary key, at text, key text, model text, status integer, took_ms real, asked integer, said integer, cost integer) strict',
)
const insert = db.prepare('insert into log values (?, ?, ?, ?, ?, ?, ?, ?, ?)')
const insertAll = db.transaction((rows: readonly unknown[][]) => {
  for (const row of rows) insert.run(row)
})
let rows: unknown[][] = []
setInterval(() => {
  if (rows.length === 0) return
  const written = rows
  rows = []
  insertAll(written)
}, FLUSH_MS)

function record({key, model, began}: Call, status: number, usage: Usage | undefined) {
  const asked = usage?.prompt_tokens ?? 0
  const said = usage?.completion_tokens ?? 0
  rows.push([
    randomUUID(),
    new Date().toISOString(),
    key.id,
    model,
    status,
    performance.now() - began,
    asked,
    said,
    asked * 150 + said * 600,
  ])
}

/** The call, or the status it is refused with. */
function admit(authorization: string | undefined, body: Buffer): Call | number {
  const key = keys.get(hash('sha256', authorization?.slice('Bearer '.length) ?? ''))
  if (!key) return 401
  const minute = Math.floor(Date.now() / 60_000)
  if (key.minute !== minute) Object.assign(key, {minute, calls: 0})
  if (++key.calls > PER_MINUTE) return 429
  const {model} = JSON.parse(body.toString()) as {model?: unknown}
  return typeof model === 'string' ? {key, model, began: performance.now()} : 400
}

const USAGE = '"usage":{'

class Answer implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  readonly #call: Call
  readonly #parts: Buffer[] = []
  #status = 0
  #type = ''
  #is_stream = false
  #usage: Usage | undefined

  constructor(response: ServerResponse, call: Call) {
    this.#response = response
    this.#call = call
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#response.on('close', () => {
      if (!this.#response.writableFinished) controller.abort(new Error('the client left'))
    })
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ) {
    this.#status = status
    this.#type = String(headers['content-type'])
    this.#is_stream = this.#type.startsWith('text/event-stream')
    if (this.#is_stream) this.#response.writeHead(status, {'content-type': this.#type}).flushHeaders()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (!this.#is_stream) return void this.#parts.push(chunk)
    if (chunk.includes(USAGE)) this.#usage = usageIn(chunk)
    if (this.#response.write(chunk)) return
    controller.pause()
    this.#response.once('drain', () => controller.resume())
  }

  onResponseEnd() {
    if (this.#is_stream) {
      this.#response.end()
    } else {
      const body = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
      this.#usage = (JSON.parse(body.toString()) as {usage?: Usage}).usage
      this.#response.writeHead(this.#status, {'content-type': this.#type, 'content-length': body.length}).end(body)
    }
    record(this.#call, this.#status, this.#usage)
  }

  onResponseError() {
    if (this.#response.headersSent) this.#response.destroy()
    else this.#response.writeHead(502).end()
    record(this.#call, 502, undefined)
  }
}

function usageIn(chunk: Buffer): Usage | undefined {
  const line = chunk
    .toString()
    .split('\n')
    .find(each => each.includes(USAGE))
  return line ? (JSON.parse(line.slice('data: '.length)) as {usage: Usage}).usage : undefined
}

const pool = new Pool(upstream!, {connections: 256, pipelining: 1})
const server = fastify({bodyLimit: 8 << 20})
server.removeAllContentTypeParsers()
server.addContentTypeParser('*', {parseAs: 'buffer'}, (_, body, done) => done(null, body))
server.post(PATH, (request, reply) => {
  const body = request.body as Buffer
  const call = admit(request.headers.authorization, body)
  if (typeof call === 'number') return void reply.code(call).send()
  reply.hijack()
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    authorization: 'Bearer sk-upstream',
  }
  pool.dispatch({path: PATH, method: 'POST', headers, body}, new Answer(reply.raw, call))
})
process.on('SIGTERM', () => process.exit(0))
await server.listen({port: Number(port), host: '127.0.0.1'})
