import {once} from 'node:events'
import {createServer, type IncomingHttpHeaders, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {gunzipSync} from 'node:zlib'
import {onTestFinished} from 'vitest'

export interface LokiRow {
  readonly stream: Readonly<Record<string, string>>
  readonly at_ns: string
  readonly line: string
}

export interface LokiServer {
  readonly url: string
  readonly requests: {headers: IncomingHttpHeaders; path: string; rows: LokiRow[]}[]
  /** As Loki keeps them: one of those with one stream, time and text. */
  readonly rows: LokiRow[]
  /** Answers in its place; null: it takes them. */
  answer: ((reply: ServerResponse) => void) | null
}

/** A double of Loki's push API: it keeps what it answers 204 for, and of equal entries one. */
export async function startLoki(): Promise<LokiServer> {
  const kept = new Map<string, LokiRow>()
  const loki: {-readonly [K in keyof LokiServer]: LokiServer[K]} = {url: '', requests: [], rows: [], answer: null}
  const server = createServer(async (request, reply) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const {streams} = JSON.parse(gunzipSync(Buffer.concat(parts)).toString()) as {
      streams: {stream: Record<string, string>; values: [string, string][]}[]
    }
    const rows = streams.flatMap(({stream, values}) => values.map(([at_ns, line]) => ({stream, at_ns, line})))
    for (const {at_ns} of rows) if (!/^\d{19}$/.test(at_ns)) throw new Error(`no nanoseconds: ${at_ns}`)
    loki.requests.push({headers: request.headers, path: request.url ?? '', rows})
    if (loki.answer) return loki.answer(reply)
    for (const row of rows) {
      const key = JSON.stringify(row)
      if (!kept.has(key)) loki.rows.push(row)
      kept.set(key, row)
    }
    reply.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  loki.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return loki
}
