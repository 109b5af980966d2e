import type {RequestListener} from 'node:http'
import {Readable} from 'node:stream'
import {expect, test} from 'vitest'
import {seeded} from '../../../../src/base/seeded-random.ts'
import {CALLER, egress, serve, serveProxy, serveSecure} from '../harness.ts'
import {codeOf, tell} from './dispatched.ts'

const CALLS = 600

/** Says again what it was sent, after the path: whole or in pieces, and now and then closes behind it. */
const echo: RequestListener = (request, reply) => {
  const parts: Buffer[] = []
  request.on('data', part => parts.push(part))
  request.on('end', () => {
    const said = Buffer.concat([Buffer.from(`${request.url} `), ...parts])
    const way = request.headers['x-way']
    if (way === 'close') reply.setHeader('connection', 'close')
    if (way === 'counted') reply.setHeader('content-length', said.length)
    for (let at = 0; at < said.length; at += 7001) reply.write(said.subarray(at, at + 7001))
    reply.end()
  })
}

test.each(['plain', 'secure', 'tunnelled'])(
  'of many calls at once each has its own answer, whatever others do: %s',
  async kind => {
    const there = kind === 'secure' ? await serveSecure(echo) : await serve(echo)
    const proxy = kind === 'tunnelled' ? await serveProxy(there.port) : null
    const proxies = () => proxy && {secure: false, hostname: '127.0.0.1', port: proxy.port, authorization: null}
    const way = egress(
      ['models.example'],
      {'models.example': ['127.0.0.1']},
      {connections: 20, waiting_calls: CALLS, proxies},
    )
    const pool = way.pool(
      way.destination(`${kind === 'secure' ? 'https' : 'http'}://models.example:${there.port}`, CALLER),
    )
    const random = seeded(kind)
    const call = async (number: number) => {
      const length = Math.floor(random() ** 4 * 200_000)
      const sent = String(number).padEnd(Math.max(length, 3), '.')
      const body = random() < 0.2 ? Readable.from([Buffer.from(sent)]) : Buffer.from(sent)
      const headers = {'x-way': ['close', 'counted', 'chunked', 'chunked'][Math.floor(random() * 4)]}
      const gives_up = random() < 0.1
      const pauses = random() < 0.1
      const told = await tell(
        pool,
        {method: 'POST', path: `/${number}`, headers, body},
        {
          onResponseStart(controller) {
            if (gives_up) controller.abort(new Error('given up'))
          },
          onResponseData(controller) {
            if (!pauses) return
            controller.pause()
            setImmediate(() => controller.resume())
          },
        },
      )
      if (gives_up) expect(codeOf(told)).toBe('given up')
      else expect([told.end, told.body === `/${number} ${sent}`]).toEqual(['whole', true])
    }
    await Promise.all(Array.from({length: CALLS}, (_, number) => call(number)))
    expect(there.requests).toHaveLength(CALLS)
    await way.close()
  },
  60_000,
)
