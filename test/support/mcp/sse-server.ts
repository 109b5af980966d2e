import {randomUUID} from 'node:crypto'
import type {ServerResponse} from 'node:http'
import {listen, type McpListener} from './listener.ts'
import {RAW_INITIALIZE} from './raw-server.ts'
import {FixtureState} from './tools.ts'

export interface SseOptions {
  /** The data of the `endpoint` event; null: none comes. */
  readonly endpoint?: (usual: string, origin: string) => string | null
  readonly protocol_version?: string
}

export interface SseFixture extends McpListener {
  readonly url: string
  readonly state: FixtureState
  /** Sends an event on every open stream. */
  send(message: unknown): void
  /** Ends every stream. */
  end(): void
}

/** A server of HTTP with SSE (2024-11-05), by hand: that of the SDK does nothing odd. */
export async function openSse({endpoint, protocol_version = '2024-11-05'}: SseOptions = {}): Promise<SseFixture> {
  const state = new FixtureState()
  const streams = new Map<string, ServerResponse>()
  const write = (stream: ServerResponse, message: unknown) =>
    void stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  const listener = await listen(async (request, response, {message}) => {
    const url = new URL(request.url ?? '', listener.origin)
    if (request.method === 'GET' && url.pathname === '/sse') {
      const id = randomUUID()
      const usual = `/messages?session=${id}`
      const data = endpoint ? endpoint(usual, listener.origin) : usual
      response.writeHead(200, {'content-type': 'text/event-stream'}).flushHeaders()
      if (data !== null) response.write(`event: endpoint\ndata: ${data}\n\n`)
      streams.set(id, response)
      response.on('close', () => streams.delete(id))
      return
    }
    const stream = streams.get(url.searchParams.get('session') ?? '')
    if (request.method !== 'POST' || !stream) return void response.writeHead(404).end()
    response.writeHead(202).end('Accepted')
    if (message?.id === undefined || message.method === undefined) return
    state.ran(message.method)
    const answer = (result: unknown) => write(stream, {jsonrpc: '2.0', id: message.id, result})
    if (message.method === 'initialize') return answer({...RAW_INITIALIZE, protocolVersion: protocol_version})
    const {name, arguments: input} = (message.params ?? {}) as {name?: string; arguments?: {text?: string}}
    if (name === 'hold') {
      const gone = new AbortController()
      stream.on('close', () => gone.abort())
      const end = await state.hold(gone.signal)
      return answer({content: [{type: 'text', text: end}]})
    }
    const progressToken = message.params?._meta?.progressToken
    if (name === 'slow')
      for (const progress of [1, 2, 3])
        write(stream, {jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken, progress}})
    answer({content: [{type: 'text', text: input?.text ?? message.method}]})
  })
  return {
    ...listener,
    url: `${listener.origin}/sse`,
    state,
    send: message => streams.forEach(stream => void write(stream, message)),
    end: () => streams.forEach(stream => void stream.end()),
  }
}
