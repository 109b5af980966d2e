import {describe, expect, test} from 'vitest'
import type {RawClient as Client} from '../../support/raw.ts'
import {governed, settled} from './governed-server.ts'

/** A look comes each quarter of a second, and time counts from the look before. */
const LOOKS_MS = 500
/** In that time a client could read its answer. */
const FAIR_MS = 1000

const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: here\r\n`
const GET = 'GET /node HTTP/1.1\r\nHost: here\r\n\r\n'

describe.each([false, true])('the rest of a request that has its answer, over TLS: %s', is_tls => {
  const MB = 1 << 20
  const EARLY = {
    'node:http': [post('/early'), /early$/],
    'the fast path': [post('/plain'), /401 Unauthorized/],
  } as const

  test('may be large: it is read, and the next request is answered', async () => {
    const on = await governed({}, {is_tls})
    const client = await on.dial()
    client.write(`${post('/early')}Content-Length: ${8 * MB}\r\n\r\n`)
    await expect.poll(client.received).toMatch(/early$/)
    client.write('x'.repeat(6 * MB))
    await allCame(client)
    await on.pass(LOOKS_MS)
    expect([client.isOver(), on.governor.ended('left_over')]).toEqual([false, 0])
    client.write('x'.repeat(2 * MB))
    await allCame(client)
    client.write(GET)
    await expect.poll(client.received).toMatch(/read 0$/)
  })

  test('has a bound, once its client could read the answer', async () => {
    const on = await governed({}, {is_tls})
    const client = await on.dial()
    client.write(`${post('/early')}Content-Length: ${99 * MB}\r\n\r\n`)
    await expect.poll(client.received).toMatch(/early$/)
    client.write('x'.repeat(66 * MB))
    await allCame(client)
    await on.pass(LOOKS_MS)
    expect(on.governor.ended('left_over')).toBe(0)
    await on.pass(FAIR_MS)
    expect(on.governor.ended('left_over')).toBe(1)
    await expect.poll(client.isOver).toBe(true)
  })

  test.each(Object.entries(EARLY))(
    'on its last request, by %s: no client learns of a reset',
    async (_, [head, says]) => {
      const on = await governed({requests_per_connection: 1}, {is_tls})
      const client = await on.dial()
      const faults: Error[] = []
      client.socket.on('error', fault => faults.push(fault))
      const bytes = head.includes('plain') ? MB : 8 * MB // the fast path leaves longer ones to node:http
      client.write(`${head}Content-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`)
      await expect.poll(client.isOver).toBe(true)
      expect(faults).toEqual([])
      expect(client.received()).toMatch(says)
      await expect.poll(() => on.governor.size).toBe(0)
    },
  )

  test('that never comes is not waited for on a last request', async () => {
    const on = await governed({requests_per_connection: 1}, {is_tls})
    const client = await on.dial({keeps_open: true})
    client.write(`${post('/early')}Content-Length: 9\r\n\r\nabc`)
    await expect.poll(() => on.governor.count('closing')).toBe(1)
    await on.pass(5000 - LOOKS_MS)
    expect(on.governor.size).toBe(1)
    await on.pass(2 * LOOKS_MS)
    expect(on.governor.size).toBe(0)
  })
})

/** All that a client wrote has left it, and most of it was read. */
async function allCame({socket}: Client) {
  await expect.poll(() => socket.writableLength, {interval: 1}).toBe(0)
  for (let turn = 0; turn < 10; turn++) await settled()
}
