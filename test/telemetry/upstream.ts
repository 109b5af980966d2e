import {once} from 'node:events'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {onTestFinished} from 'vitest'

export interface ChatUpstream {
  readonly url: string
  /** Answers each request, the first with 0. */
  answer: (reply: ServerResponse, times: number, body: unknown) => void
}

export const REPLY = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-2024-08-06',
  choices: [{index: 0, message: {role: 'assistant', content: 'an answer'}, finish_reason: 'stop'}],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: {cached_tokens: 40},
  },
}

export const json = (reply: ServerResponse, status: number, body: object, headers = {}) =>
  reply.writeHead(status, {'content-type': 'application/json', ...headers}).end(JSON.stringify(body))

export async function startUpstream(): Promise<ChatUpstream> {
  const upstream: {-readonly [K in keyof ChatUpstream]: ChatUpstream[K]} = {
    url: '',
    answer: reply => json(reply, 200, REPLY),
  }
  let times = 0
  const server = createServer(async (request, reply) => {
    let text = ''
    for await (const part of request) text += part
    upstream.answer(reply, times++, text === '' ? null : JSON.parse(text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return upstream
}
