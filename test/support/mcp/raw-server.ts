import type {IncomingMessage, ServerResponse} from 'node:http'
import {listen, type McpListener, type SeenRequest} from './listener.ts'

/** Does something with one request. */
export type Script = (answer: RawAnswer, seen: SeenRequest) => void | Promise<void>

/** By JSON-RPC method, or HTTP method (`GET`, `DELETE`); `answer` and `other` are answers of clients, and the rest. */
export type Scripts = Readonly<Record<string, Script | undefined>>

export interface RawFixture extends McpListener {
  readonly url: string
  /** Scripts from now on, over those that there are. */
  play(scripts: Scripts): void
}

export const RAW_INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {tools: {listChanged: true}, resources: {subscribe: true}, logging: {}},
  serverInfo: {name: 'raw', version: '0'},
}

/** A legacy server with a session `raw-1`, without a stream of its own; each script changes one thing of it. */
const USUAL: Scripts = {
  initialize: answer => answer.headers({'mcp-session-id': 'raw-1'}).result(RAW_INITIALIZE),
  'notifications/initialized': answer => answer.status(202),
  'notifications/cancelled': answer => answer.status(202),
  'server/discover': answer => answer.refuse(400, -32000, 'Bad Request: Server not initialized'),
  answer: answer => answer.status(202),
  GET: answer => answer.status(405),
  DELETE: answer => answer.status(200),
  other: answer => answer.result({content: [{type: 'text', text: 'usual'}]}),
}

/** A server that does with a request whatever a script says, as hostile and odd servers do. */
export async function openRaw(scripts: Scripts = {}, {path = '/mcp'} = {}): Promise<RawFixture> {
  let played: Scripts = {...USUAL, ...scripts}
  const listener = await listen((request, response, seen) => {
    const {message, method} = seen
    const name = method !== 'POST' ? method : (message?.method ?? 'answer')
    return (played[name] ?? played.other)!(new RawAnswer(request, response, seen), seen)
  })
  return {
    ...listener,
    url: `${listener.origin}${path}`,
    play(more) {
      played = {...played, ...more}
    },
  }
}

/** The reply to one request, byte by byte or by the usual forms. */
export class RawAnswer {
  readonly response: ServerResponse
  readonly #seen: SeenRequest
  #headers: Record<string, string> = {}

  constructor(_: IncomingMessage, response: ServerResponse, seen: SeenRequest) {
    this.response = response
    this.#seen = seen
  }

  get id(): string | number | null {
    return this.#seen.message?.id ?? null
  }

  headers(headers: Readonly<Record<string, string>>): this {
    Object.assign(this.#headers, headers)
    return this
  }

  status(status: number, body: string | Buffer = '', type = 'text/plain'): void {
    this.response.writeHead(status, {...(body.length > 0 && {'content-type': type}), ...this.#headers})
    this.response.end(body)
  }

  json(value: unknown, status = 200): void {
    this.status(status, JSON.stringify(value), 'application/json')
  }

  result(result: unknown): void {
    this.json({jsonrpc: '2.0', id: this.id, result})
  }

  refuse(status: number, code: number, message: string, data?: unknown): void {
    this.json({jsonrpc: '2.0', id: this.id, error: {code, message, data}}, status)
  }

  /** The text of the answer to this request. */
  resultText(result: unknown = {content: []}): string {
    return JSON.stringify({jsonrpc: '2.0', id: this.id, result})
  }

  /** Begins a stream; its headers leave at once. */
  stream(): this {
    this.response.writeHead(200, {'content-type': 'text/event-stream', ...this.#headers})
    this.response.flushHeaders()
    return this
  }

  /** Bytes as they are. */
  write(bytes: string | Buffer): this {
    this.response.write(bytes)
    return this
  }

  /** One event; `message` is a value, or a text as it is. */
  event(message: unknown, {id, retry, event}: {id?: string; retry?: number; event?: string} = {}): this {
    const data = typeof message === 'string' ? message : JSON.stringify(message)
    const lines = [
      ...(event === undefined ? [] : [`event: ${event}`]),
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(retry === undefined ? [] : [`retry: ${retry}`]),
      `data: ${data}`,
    ]
    return this.write(`${lines.join('\n')}\n\n`)
  }

  /** The result as the last event. */
  done(result: unknown = {content: []}): void {
    this.event(this.resultText(result)).response.end()
  }

  end(): void {
    this.response.end()
  }

  /** Ends the connection in the middle. */
  cut(): void {
    this.response.destroy()
  }
}
