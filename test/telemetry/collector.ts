import {once} from 'node:events'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {gunzipSync} from 'node:zlib'
import {onTestFinished} from 'vitest'
import {type ForeignSpan, spansIn} from './decoder.ts'

export interface CollectedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly type: string
  readonly body: Buffer
  readonly at_ms: number
}

/** A receiver of OTLP/HTTP that decodes with the decoder of others, and counts. */
export interface Collector {
  readonly url: string
  readonly requests: CollectedRequest[]
  /** Of the requests that it took. */
  readonly spans: ForeignSpan[]
  /** Answers the next requests in its place; null: takes them. */
  answer: ((reply: ServerResponse, request: CollectedRequest) => void) | null
}

export async function startCollector(): Promise<Collector> {
  const collector: {-readonly [K in keyof Collector]: Collector[K]} = {url: '', requests: [], spans: [], answer: null}
  const server = createServer(async (request, reply) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const sent = Buffer.concat(parts)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    const headers = request.headers as Record<string, string>
    const type = headers['content-type'] ?? ''
    const received = {path: request.url ?? '', headers, type, body, at_ms: Date.now()}
    collector.requests.push(received)
    if (collector.answer) return collector.answer(reply, received)
    if (received.path.endsWith('/v1/traces')) collector.spans.push(...spansIn(type, body))
    reply.writeHead(200, {'content-type': type}).end(type.includes('json') ? '{}' : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return collector
}
