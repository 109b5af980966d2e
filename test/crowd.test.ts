import fc from 'fast-check'
import {expect, onTestFinished, test} from 'vitest'
import {WORKSPACE_KEY} from './support/gateway.ts'
import {chatEvents, fakeProvider} from './support/provider.ts'
import {dial, type RawClient} from './support/raw.ts'
import {forRing, generated, RING, seed} from './support/ring.ts'
import {type Served, serve} from './support/served.ts'

const CHAT = JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'Hello'}]})
const KEYS = `x-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: @demo\r\nContent-Type: application/json\r\n`
const DRAIN_MS = 1000
/** What docs/cli.md promises beyond the drain limit. */
const GRACE_MS = 1000

const chat = ({url}: Served) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: CHAT,
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': WORKSPACE_KEY,
      'x-gateway-provider': '@demo',
      connection: 'close',
    },
  })

test.skipIf(RING === 'own')(
  '600 half heads at 400 descriptors: a fresh client is served',
  {timeout: 120_000},
  async () => {
    const gateway = await serve({}, {descriptors: 400})
    const port = Number(new URL(gateway.url).port)
    const before = await dial(port)
    for (let opened = 0; opened < 600; opened += 50) {
      const halves = await Promise.all(Array.from({length: 50}, () => dial(port)))
      for (const half of halves) half.write('POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n')
      const reply = await chat(gateway)
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('You said: Hello')])
    }
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).toContain('gateway_connections_limit 136\n')
    expect(metrics).toMatch(/^gateway_connections\{state="head"\} 1[0-3]\d$/m)
    expect(before.isOver()).toBe(true) // it said nothing, and was the oldest
    expect(await gateway.stop()).toMatchObject({code: 0})
  },
)

/** What a socket may be at when the process is told to end. */
const SAYS: Record<string, string> = {
  nothing: '',
  'half a head': 'POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n',
  'half a body in front': `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Length: 99\r\n\r\n{"model":`,
  'half a body of nobody': 'POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\n{"model":',
  'half a body in chunks': `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEYS}Transfer-Encoding: chunked\r\n\r\n5\r\n{"mod\r\n`,
  'half a body of the administration': `POST /v1/configs HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Length: 99\r\n\r\n{"name":`,
  'an answer, and idle': `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Length: ${CHAT.length}\r\n\r\n${CHAT}`,
  'an answer, and half a head': `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Length: ${CHAT.length}\r\n\r\n${CHAT}GET /`,
  'a page, and idle': 'GET /v1/health HTTP/1.1\r\nHost: h\r\n\r\n',
  'what is no HTTP': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'a call that the provider does not answer': asks('silent'),
  'an answer that does not go on': asks('stops'),
  'an answer that nobody takes': asks('much'),
}
/** These are calls under way: they last until the drain limit. */
const LASTS = [
  'a call that the provider does not answer',
  'an answer that does not go on',
  'an answer that nobody takes',
]

/** A call to the provider of the test, which does as `model` says. */
function asks(model: string) {
  const body = JSON.stringify({model, stream: true, messages: [{role: 'user', content: 'Hello'}]})
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nx-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: openai\r\n`
  return `${head}Authorization: Bearer sk-1\r\nx-gateway-custom-host: {provider}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** More than kernels and buffers hold for a client that reads nothing. */
const MUCH = Array.from({length: 400}, () => 'x'.repeat(64 << 10))

async function unendingProvider() {
  const provider = await fakeProvider((received, response) => {
    const {model} = JSON.parse(received.body.toString()) as {model: string}
    if (model === 'silent') return
    response.writeHead(200, {'content-type': 'text/event-stream'})
    for (const event of chatEvents(model, model === 'much' ? {words: MUCH} : {}).slice(0, -2)) response.write(event)
  })
  onTestFinished(() => provider.close())
  return provider
}

test.skipIf(RING === 'own')('whatever is open, SIGTERM ends the process in its time', {timeout: 600_000}, async () => {
  const rounds = forRing({own: 0, ci: 1, full: 20})
  const mixes = fc.sample(fc.array(fc.constantFrom(...Object.keys(SAYS)), {minLength: 1, maxLength: 40}), {
    numRuns: rounds,
    seed: seed(),
  })
  if (rounds === 1) mixes[0] = Object.keys(SAYS)
  const provider = await unendingProvider()
  for (const mix of mixes) {
    const gateway = await serve({DRAIN_TIMEOUT_MS: String(DRAIN_MS), TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
    const port = Number(new URL(gateway.url).port)
    const lasting = mix.filter(name => LASTS.includes(name)).length
    const asked = provider.received.length + lasting
    const clients: RawClient[] = []
    for (const name of mix) {
      const client = await dial(port)
      if (name === 'an answer that nobody takes') client.socket.pause()
      client.write(SAYS[name]!.replace('{provider}', provider.url))
      clients.push(client)
    }
    const waits = (client: RawClient, name: string) =>
      /^an? (answer|page)/.test(name) && !client.socket.isPaused() && client.received() === ''
    await expect.poll(() => clients.filter((client, place) => waits(client, mix[place]!)).length).toBe(0)
    await expect.poll(() => provider.received.length).toBe(asked)
    const ended = await gateway.stop()
    expect({mix, ...ended}).toMatchObject({code: 0, signal: null})
    if (lasting > 0) expect(ended.took_ms, mix.join(', ')).toBeGreaterThan(DRAIN_MS - 1)
    expect(ended.took_ms, mix.join(', ')).toBeLessThan(DRAIN_MS + GRACE_MS)
  }
  generated('sockets open at SIGTERM', mixes.flat().length)
})
