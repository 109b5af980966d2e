import type {IncomingMessage, ServerResponse} from 'node:http'
import {Readable} from 'node:stream'

/** Answers a request of Node by a handler of web standards; what it gives is aborted when the client goes away. */
export async function serveWeb(
  handle: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers.set(name, String(value))
  const reply = await handle(
    new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(request.method === 'POST' && {body}),
      signal: gone.signal,
    }),
  )
  response.writeHead(reply.status, Object.fromEntries(reply.headers))
  if (!reply.body) return void response.end()
  response.flushHeaders()
  const stream = Readable.fromWeb(reply.body as Parameters<typeof Readable.fromWeb>[0])
  response.on('close', () => stream.destroy())
  stream.on('error', () => response.destroy())
  stream.pipe(response)
}
