import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {setTimeout as sleep} from 'node:timers/promises'

/**
 * A provider that knows what it was asked and what it answered in full. A call is known by the `user` of its body. The
 * first attempt of one that ends in `-retry` it refuses, and each of one that ends in `-fall` that does not come by its
 * second path (`/second/v1`).
 */
export interface CountingProvider {
  readonly origin: string
  /** Attempts that reached it, by marker: how many. */
  readonly received: ReadonlyMap<string, number>
  /** Attempts whose last byte the kernel took. */
  readonly finished: ReadonlyMap<string, number>
  /** The next attempt that reaches it is never answered; resolves once it is there. */
  keepNext(): Promise<void>
  close(): Promise<void>
}

interface Asked {
  readonly user: string
  readonly stream?: boolean
}

const USAGE = {prompt_tokens: 21, completion_tokens: 8, total_tokens: 29}
const EVENTS = 5

/** Starts it; `pause_ms` says how long it thinks each time. */
export async function countingProvider(pause_ms: () => number): Promise<CountingProvider> {
  const received = new Map<string, number>()
  const finished = new Map<string, number>()
  let keep: (() => void) | undefined
  const server = createServer(async (request, response) => {
    const asked = await read(request).catch(() => undefined)
    if (!asked) return void response.destroy()
    count(received, asked.user)
    if (keep) {
      keep()
      keep = undefined
      return
    }
    // 'finish' is told when the last bytes are handed to the kernel, and not at all when the connection broke before
    response.on('finish', () => count(finished, asked.user))
    const refuses = asked.user.endsWith('-retry')
      ? received.get(asked.user) === 1
      : asked.user.endsWith('-fall') && !request.url!.startsWith('/second/')
    if (refuses)
      response
        .writeHead(503, {'content-type': 'application/json', 'retry-after-ms': '3'})
        .end('{"error":{"message":"Too busy"}}')
    else if (asked.stream) await stream(response, pause_ms)
    else await reply(response, pause_ms)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    finished,
    keepNext: () =>
      new Promise<void>(resolve => {
        keep = resolve
      }),
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function read(request: IncomingMessage): Promise<Asked> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString()) as Asked
}

async function reply(response: ServerResponse, pause_ms: () => number) {
  await sleep(pause_ms())
  const message = {role: 'assistant', content: 'Counted.'}
  const body = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-mini',
    choices: [{index: 0, message}],
    usage: USAGE,
  }
  response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(body))
}

async function stream(response: ServerResponse, pause_ms: () => number) {
  const event = (more: object) =>
    `data: ${JSON.stringify({id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', ...more})}\n\n`
  response.writeHead(200, {'content-type': 'text/event-stream'})
  for (let at = 0; at < EVENTS && !response.destroyed; at++) {
    response.write(event({choices: [{index: 0, delta: {content: `word ${at} `}, finish_reason: null}]}))
    await sleep(pause_ms())
  }
  if (response.destroyed) return
  response.write(event({choices: [{index: 0, delta: {}, finish_reason: 'stop'}], usage: USAGE}))
  response.end('data: [DONE]\n\n')
}

function count(calls: Map<string, number>, user: string) {
  calls.set(user, (calls.get(user) ?? 0) + 1)
}
