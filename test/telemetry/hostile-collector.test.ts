import {expect, onTestFinished, test} from 'vitest'
import {Egress} from '../../src/base/egress/pools.ts'
import {Delivery, noCounts} from '../../src/telemetry/export/delivery.ts'
import {sender} from '../../src/telemetry/export/http.ts'
import type {SendOutcome} from '../../src/telemetry/export/outcome.ts'
import {partialSuccess} from '../../src/telemetry/export/partial-success.ts'
import {Timers} from '../support/timers.ts'
import {startCollector} from './collector.ts'

const NOW_MS = Date.parse('2026-03-04T05:06:08.000Z')
const SECRET = 'Bearer secret-of-the-collector'
const TAKEN: SendOutcome = {kind: 'taken', rejected: 0, reason: null}

async function house() {
  const collector = await startCollector()
  const egress = new Egress()
  onTestFinished(() => egress.destroy())
  const send = (timeout_ms = 5_000) =>
    sender(
      egress,
      {
        url: `${collector.url}/v1/traces`,
        content_type: 'application/json',
        headers: {authorization: SECRET},
        compression: 'none',
        timeout_ms,
        rejectedOf: partialSuccess,
      },
      () => NOW_MS,
    )(Buffer.from('{}'), new AbortController().signal)
  return {collector, send}
}

function delivery(reply: (times: number) => SendOutcome) {
  const timers = new Timers(NOW_MS)
  const counts = noCounts()
  const tries_ms: number[] = []
  const of = new Delivery<number>({
    encode: items => Buffer.alloc(items.length),
    send: async () => {
      tries_ms.push(timers.now_ms - NOW_MS)
      return reply(tries_ms.length)
    },
    most_items: 512,
    counts,
    now: timers.now,
    after: timers.after,
    random: () => 0.5,
    warn: () => undefined,
  })
  const pass = (ms: number) => timers.pass(ms, () => new Promise(resolve => setImmediate(resolve)))
  return {of, counts, tries_ms, pass}
}

test('TL17: a collector that says Retry-After: 0 for ever, or a time that is past, is not tried in a circle', async () => {
  const {of, tries_ms, pass} = delivery(() => ({kind: 'later', after_ms: 0, reason: 'status 429'}))
  void of.deliver([1], () => true)
  await pass(10_000)
  expect(tries_ms.length).toBeLessThanOrEqual(21)
  of.stop()
})

test('TL15 TL17: what is wanted no more leaves a wait, and the collector rests as long as it said', async () => {
  const {of, tries_ms, pass} = delivery(times =>
    times === 1 ? {kind: 'later', after_ms: 3_600_000, reason: 'status 429'} : TAKEN,
  )
  let is_wanted = true
  const first = of.deliver([1], () => is_wanted)
  await pass(60_000)
  expect(of.isWaiting).toBe(true)
  is_wanted = false
  of.recheck()
  expect(await first).toBe(1)
  const second = of.deliver([2], () => true)
  await pass(3_500_000)
  expect(tries_ms).toEqual([0])
  await pass(100_000)
  expect(await second).toBe(0)
  expect(tries_ms).toEqual([0, 3_600_000])
})

test('TL19: a collector that rejects more than it got does not make the counter wrong', async () => {
  const {of, counts} = delivery(() => ({kind: 'taken', rejected: Number.MAX_SAFE_INTEGER, reason: null}))
  await of.deliver([1, 2, 3], () => true)
  expect(counts).toMatchObject({sent: 0, rejected: 3})
})

test('TL19: nonsense in place of a partial success rejects nothing', () => {
  const json = (text: string) => partialSuccess('application/json', Buffer.from(text))
  const nothing = {rejected: 0, reason: null}
  const deep = `${'['.repeat(250)}1${']'.repeat(250)}`
  for (const value of ['-3', '"-3"', '1e400', '"9223372036854775807"', '[3]', '{}', 'true', deep, '2.5', '"x"', 'null'])
    expect(json(`{"partialSuccess": {"rejectedSpans": ${value}}}`), value).toEqual(nothing)
  for (const text of ['', 'null', '[]', '{', '{"partialSuccess": 3}', '"x"']) expect(json(text)).toEqual(nothing)
  for (const bytes of [[0x0a], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f], [0x0a, 2, 8], [0x0b], Array(700).fill(0xff)])
    expect(partialSuccess('', Buffer.from(bytes as number[])), String(bytes)).toEqual(nothing)
})

test('TL34: a reply without an end is read no further than any answer is long', async () => {
  const {collector, send} = await house()
  let sent = 0
  let is_over = false
  collector.answer = reply => {
    reply.writeHead(200, {'content-type': 'application/json'})
    const chunk = Buffer.alloc(64 * 1024, 0x20)
    const more = () => {
      while (!is_over && sent < 1 << 30 && reply.write(chunk)) sent += chunk.length
      if (!is_over) reply.once('drain', more)
    }
    reply.once('close', () => {
      is_over = true
    })
    more()
  }
  expect(await send()).toEqual({kind: 'taken', rejected: 0, reason: null})
  expect(sent).toBeLessThan(32 << 20)
})

test('a redirect is refused: nothing is sent elsewhere, and no reason has a header', async () => {
  const {collector, send} = await house()
  const other = await startCollector()
  for (const status of [301, 302, 307, 308]) {
    collector.answer = reply => reply.writeHead(status, {location: `${other.url}/v1/traces`}).end()
    expect(await send()).toEqual({kind: 'refused', reason: `status ${status}`})
  }
  expect(other.requests).toEqual([])
})

test('TL17: Retry-After of a year or of nonsense, a head without an end and a broken one are waited for', async () => {
  const {collector, send} = await house()
  const answer = (after: string) => {
    collector.answer = reply => reply.writeHead(429, {'retry-after': after}).end()
  }
  answer('31536000')
  expect(await send()).toMatchObject({kind: 'later', after_ms: 3_600_000})
  answer('99999999999999999999')
  expect(await send()).toMatchObject({kind: 'later'})
  for (const nonsense of ['soon', '7 s', '', 'NaN']) {
    answer(nonsense)
    expect(await send(), nonsense).toMatchObject({kind: 'later', after_ms: null})
  }
  collector.answer = reply => {
    const write = () => reply.socket?.write(`x-${'a'.repeat(4000)}: ${'b'.repeat(4000)}\r\n`, () => setImmediate(write))
    reply.socket!.write('HTTP/1.1 200 OK\r\n')
    write()
  }
  const endless = await send(2_000)
  expect(endless.kind).toBe('later')
  collector.answer = reply => reply.socket!.end('HTTP/1.1 two hundred\r\n\r\n')
  expect((await send()).kind).toBe('later')
  expect(JSON.stringify(endless)).not.toContain('secret')
})
