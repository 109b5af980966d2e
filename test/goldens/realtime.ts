import {WORKSPACE_KEY} from '../support/gateway.ts'
import {ACCEPT, rawClient, realtimeProvider} from '../support/realtime-provider.ts'
import type {Message} from './http.ts'
import type {Row, Scene} from './scene.ts'

const MODEL = 'gpt-4o-realtime-preview-2024-12-17'
const DONE = {
  type: 'response.done',
  response: {
    ...{id: 'resp_1', status: 'completed', output: []},
    usage: {
      ...{total_tokens: 150, input_tokens: 100, output_tokens: 50},
      input_token_details: {text_tokens: 100, audio_tokens: 0, cached_tokens: 0},
      output_token_details: {text_tokens: 50, audio_tokens: 0},
    },
  },
}

/** A close frame of a client: 1000, with a mask of zeros. */
const CLOSE = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])

/** A head and the messages behind it, as one message of HTTP. */
function told(first: string, raw_headers: readonly string[], messages: readonly string[]): Message {
  const fields = raw_headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${raw_headers[at + 1]}\r\n`] : []))
  const body = Buffer.from(messages.join('\n'))
  return {head: `${first}\r\n${fields.join('')}`, body, is_whole: true, size: body.length}
}

/** A handshake and one turn. `refuses`: the provider has no session to give. */
function session(name: string, {refuses = false} = {}): Row {
  return {
    name,
    asks: [],
    async run({gateway, port, names}: Scene) {
      const provider = await realtimeProvider()
      ;(names as Map<string, string>).set(new URL(provider.url).host, 'voice.test')
      const slug = refuses ? 'mute' : 'voice'
      await gateway.provider(slug, 'openai', provider.url)
      if (refuses) {
        const body = JSON.stringify({error: {message: 'No session.', type: 'invalid_request_error'}})
        provider.refuse({status: 403, headers: {'content-type': 'application/json'}, body})
      }
      provider.answer((_, peer) => {
        peer.say({type: 'response.created', response: {id: 'resp_1', status: 'in_progress'}})
        peer.say(DONE)
      })
      const path = `/v1/realtime?model=${MODEL}`
      const headers = {
        'x-gateway-api-key': WORKSPACE_KEY,
        'x-gateway-trace-id': name,
        'x-gateway-span-id': 'span-1',
        'x-gateway-provider': `@${slug}`,
      }
      const client = await rawClient(`http://127.0.0.1:${port}${path}`, {
        ...headers,
        'sec-websocket-protocol': 'realtime',
      })
      const {peer} = client
      if (peer) {
        peer.say({type: 'response.create'})
        await peer.until(() => peer.messages.length >= 2)
        peer.write(CLOSE)
        await peer.until(() => peer.closing() !== null)
        await peer.ended
        await provider.peers[0]!.ended
      }
      const raw = Object.entries(client.headers).flatMap(([field, value]) => [
        field === 'date' ? 'Date' : field,
        String(value),
      ])
      const answer = told(
        `HTTP/1.1 ${client.status}`,
        peer ? peer.request.rawHeaders : raw,
        peer?.messages ?? [client.body],
      )
      const received = provider.peers.map(({request, messages}) =>
        told(`${request.method} ${request.url}`, request.rawHeaders, messages),
      )
      await provider.close()
      if (peer && client.headers['sec-websocket-accept'] !== ACCEPT) throw new Error('the handshake is not accepted')
      return {
        asked: [{method: 'GET', path, headers, body: Buffer.alloc(0)}],
        answers: [answer],
        providers: {voice: {received, answered: []}},
      }
    },
  }
}

export const REALTIME: readonly Row[] = [
  session('realtime: one turn'),
  session('realtime: refused by the provider', {refuses: true}),
]
