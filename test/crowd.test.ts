import fc from 'fast-check'
import {expect, test} from 'vitest'
import {WORKSPACE_KEY} from './support/gateway.ts'
import {dial, type RawClient} from './support/raw.ts'
import {forRing, generated, RING, seed} from './support/ring.ts'
import {type Served, serve} from './support/served.ts'

const CHAT = JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'Hello'}]})
const KEYS = `x-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: @demo\r\nContent-Type: application/json\r\n`
const DRAIN_MS = 1000
/** Loading what the end of a process needs takes a busy machine a moment. */
const GRACE_MS = 1500

const chat = ({url}: Served) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: CHAT,
    headers: {'content-type': 'application/json', 'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-provider': '@demo', connection: 'close'},
  })

test.skipIf(RING === 'own')('600 half heads at 400 descriptors: a fresh client is served', {timeout: 120_000}, async () => {
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
})

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
}

test.skipIf(RING === 'own')('whatever is open, SIGTERM ends the process in its time', {timeout: 600_000}, async () => {
  const rounds = forRing({own: 0, ci: 1, full: 20})
  const mixes = fc.sample(fc.array(fc.constantFrom(...Object.keys(SAYS)), {minLength: 1, maxLength: 40}), {numRuns: rounds, seed: seed()})
  if (rounds === 1) mixes[0] = Object.keys(SAYS)
  for (const mix of mixes) {
    const gateway = await serve({DRAIN_TIMEOUT_MS: String(DRAIN_MS)})
    const port = Number(new URL(gateway.url).port)
    const clients: RawClient[] = []
    for (const name of mix) {
      const client = await dial(port)
      client.write(SAYS[name]!)
      clients.push(client)
    }
    await expect.poll(() => clients.filter((client, place) => /answer|page/.test(mix[place]!) && client.heard() === '').length).toBe(0)
    const ended = await gateway.stop()
    expect({mix, ...ended}).toMatchObject({code: 0, signal: null})
    expect(ended.took_ms, mix.join(', ')).toBeLessThan(DRAIN_MS + GRACE_MS)
  }
  generated('sockets open at SIGTERM', mixes.flat().length)
})
