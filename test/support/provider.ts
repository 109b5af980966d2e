import {createHash} from 'node:crypto'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

export interface Heard {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export type Answer = (received: Heard, response: ServerResponse, request: IncomingMessage) => unknown

/** A provider on loopback that keeps what it heard, and the bytes of every body it sent. */
export interface FakeProvider {
  readonly url: string
  readonly port: number
  readonly received: Heard[]
  /** SHA-256 of the body bytes of each answer, in order. */
  readonly sent: string[]
  /** Answers from now on with `answer`. */
  answer(answer: Answer): void
  close(): Promise<void>
}

export async function fakeProvider(first: Answer = openaiLike): Promise<FakeProvider> {
  let answer = first
  const received: Heard[] = []
  const sent: string[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('error', () => undefined)
    request.on('end', () => {
      const one = {method: request.method!, path: request.url!, headers: request.headers, body: Buffer.concat(parts)}
      received.push(one)
      const hash = createHash('sha256')
      const {write, end} = response
      response.write = ((chunk: Buffer | string) => {
        hash.update(chunk)
        return write.call(response, chunk, 'utf8')
      }) as typeof write
      response.end = ((chunk: Buffer | string = '') => {
        hash.update(chunk)
        sent.push(hash.digest('hex'))
        response.write = write
        return end.call(response, chunk, 'utf8')
      }) as typeof end
      answer(one, response, request)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    received,
    sent,
    answer(next) {
      answer = next
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export const USAGE = {
  prompt_tokens: 12,
  completion_tokens: 5,
  total_tokens: 17,
  prompt_tokens_details: {cached_tokens: 4},
}

export function chatReply(model: string, content = 'Hello from the provider') {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{index: 0, message: {role: 'assistant', content}, finish_reason: 'stop', logprobs: null}],
    usage: USAGE,
  }
}

export function chatEvents(model: string, {usage = true, words = ['Hel', 'lo', ' you']} = {}): string[] {
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...more})}\n\n`
  return [
    chunk([{index: 0, delta: {role: 'assistant', content: ''}, finish_reason: null}]),
    ...words.map(content => chunk([{index: 0, delta: {content}, finish_reason: null}])),
    chunk([{index: 0, delta: {}, finish_reason: 'stop'}]),
    ...(usage ? [chunk([], {usage: USAGE})] : []),
    'data: [DONE]\n\n',
  ]
}

/** Sends `body` as JSON. */
export function json(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) {
  response.writeHead(status, {'content-type': 'application/json', ...headers}).end(JSON.stringify(body))
}

/** Answers the routes that OpenAI's clients use. */
export function openaiLike({path, body, headers}: Heard, response: ServerResponse): void {
  const route = path.replace(/^\/v1/, '').split('?', 1)[0]
  const asked =
    headers['content-type']?.includes('json') && body.length
      ? (JSON.parse(body.toString()) as Record<string, unknown>)
      : {}
  const model = String(asked.model ?? 'unknown')
  if (route === '/chat/completions' && asked.stream === true) {
    response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'})
    const usage = (asked.stream_options as {include_usage?: boolean} | undefined)?.include_usage === true
    for (const event of chatEvents(model, {usage})) response.write(event)
    response.end()
  } else if (route === '/chat/completions') json(response, chatReply(model))
  else if (route === '/embeddings')
    json(response, {
      object: 'list',
      model,
      data: [{object: 'embedding', index: 0, embedding: [0.25, -0.5]}],
      usage: {prompt_tokens: 3, total_tokens: 3},
    })
  else if (route === '/files')
    json(response, {
      id: 'file-1',
      object: 'file',
      bytes: body.length,
      created_at: 1,
      filename: 'a.jsonl',
      purpose: 'batch',
      status: 'processed',
    })
  else if (route === '/audio/speech')
    response
      .writeHead(200, {'content-type': 'audio/mpeg'})
      .end(Buffer.from(Array.from({length: 9000}, (_, at) => at % 251)))
  else if (route === '/images/generations') json(response, {created: 1, data: [{b64_json: 'aGk='}]})
  else if (route === '/models')
    json(response, {object: 'list', data: [{id: 'm', object: 'model', created: 1, owned_by: 'x'}]})
  else json(response, {path: route, received: body.length}, 200)
}
