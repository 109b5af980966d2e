import {describe, expect, test} from 'vitest'
import {descriptorLimit, usualConnections} from '../../../src/base/ingress/descriptors.ts'
import {governorMetrics} from '../../../src/base/ingress/governor-metrics.ts'
import type {RawClient as Client} from '../../support/raw.ts'
import {type Governed, governed, LARGE_BYTES, LIMITS, settled} from './governed-server.ts'

const {head_timeout_ms: HEAD, body_idle_timeout_ms: BODY, keep_alive_ms: IDLE, write_timeout_ms: WRITE} = LIMITS
/** A look comes each quarter of a second, and time counts from the look before. */
const LOOKS_MS = 500
/** What a request has to come in before it gives way first. */
const FAIR_MS = 1000

const post = (path: string, more = '') => `POST ${path} HTTP/1.1\r\nHost: here\r\n${more}`
const whole = (path: string) => `${post(path, 'x-key: 1\r\n')}Content-Length: 2\r\n\r\nok`
const GET = 'GET /node HTTP/1.1\r\nHost: here\r\n\r\n'

/** Asks for more than the kernel holds, and takes none of it. */
async function askForMuch(client: Client) {
  client.socket.pause()
  client.write(whole('/plain/large'))
  await settled()
}

async function take(client: Client, bytes: number) {
  const until_bytes = client.received().length + bytes
  client.socket.resume()
  await expect.poll(() => client.received().length, {interval: 1}).toBeGreaterThan(until_bytes)
  client.socket.pause()
}

/** What a client does, how long it may, and what it hears at the end of that. */
interface Slow {
  readonly does: (client: Client, on: Governed) => Promise<void> | void
  /** Sent every second, until the time is over. */
  readonly drips?: string
  readonly limit_ms: number
  readonly hears: RegExp
  /** The state that it is counted in. */
  readonly at: string
}

const NOTHING = /^$/
const SLOW_HEAD = /HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*Connection: close\r\n[\s\S]*CLIENT_HEAD_TIMEOUT_MS/
const SLOW_BODY = /HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*onnection: close\r\n[\s\S]*CLIENT_BODY_IDLE_TIMEOUT_MS/

const says = (text: string) => (client: Client) => client.write(text)
const answered = (first: string, text: string) => async (client: Client) => {
  client.write(first)
  await settled()
  expect(client.received()).toMatch(/read (2|0)$/)
  client.write(text)
}

const SLOW: Record<string, Slow> = {
  'says nothing': {does: () => undefined, limit_ms: HEAD, hears: NOTHING, at: 'new'},
  'sends half a head': {does: says(post('/plain')), limit_ms: HEAD, hears: SLOW_HEAD, at: 'head'},
  'sends half a request line': {does: says('PO'), limit_ms: HEAD, hears: SLOW_HEAD, at: 'head'},
  'drips its head': {does: says(post('/plain')), drips: 'a: b\r\n', limit_ms: HEAD, hears: SLOW_HEAD, at: 'head'},
  'drips a second head behind a request that was read in front': {
    does: answered(whole('/plain'), 'POST /plain'),
    drips: '/a',
    limit_ms: HEAD,
    hears: SLOW_HEAD,
    at: 'head',
  },
  'drips a second head behind one that node:http read': {
    does: answered(GET, 'GET /'),
    drips: 'a',
    limit_ms: HEAD,
    hears: SLOW_HEAD,
    at: 'head',
  },
  'lies idle after a request in front': {
    does: answered(whole('/plain'), ''),
    limit_ms: IDLE + 1000,
    hears: /read 2$/,
    at: 'idle',
  },
  'lies idle after a request of node:http': {
    does: answered(GET, ''),
    limit_ms: IDLE + 1000,
    hears: /read 0$/,
    at: 'idle',
  },
  'stops in a body with a length': {
    does: says(`${post('/plain', 'x-key: 1\r\n')}Content-Length: 9\r\n\r\nabc`),
    limit_ms: BODY,
    hears: SLOW_BODY,
    at: 'body',
  },
  'stops in a body with a length that node:http reads': {
    does: says(`${post('/node', 'x-key: 1\r\n')}Content-Length: 9\r\n\r\nabc`),
    limit_ms: BODY,
    hears: SLOW_BODY,
    at: 'body',
  },
  'stops in a body in chunks': {
    does: says(`${post('/node', 'x-key: 1\r\n')}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`),
    limit_ms: BODY,
    hears: SLOW_BODY,
    at: 'body',
  },
  'drips a body though nobody knows it': {
    does: says(`${post('/node')}Content-Length: 999\r\n\r\nabc`),
    drips: 'a',
    limit_ms: BODY,
    hears: SLOW_BODY,
    at: 'body',
  },
  'drips the trailer of a body though nobody knows it': {
    does: says(`${post('/node')}Transfer-Encoding: chunked\r\n\r\n0\r\n`),
    drips: 'a: b\r\n',
    limit_ms: BODY,
    hears: SLOW_BODY,
    at: 'body',
  },
  'drips a body in front that was refused': {
    does: says(`${post('/plain')}Content-Length: 999\r\n\r\nabc`),
    drips: 'a',
    limit_ms: 5000,
    hears: /401 Unauthorized/,
    at: 'body',
  },
  'drips a body that was answered early': {
    does: says(`${post('/early')}Content-Length: 999\r\n\r\nabc`),
    drips: 'a',
    limit_ms: 5000,
    hears: /early$/,
    at: 'body',
  },
}

describe.each([false, true])('over TLS: %s', is_tls => {
  test.each(Object.entries(SLOW))(
    'a client that %s is told in its time, and not before',
    async (_, {does, drips, limit_ms, hears, at}) => {
      const on = await governed({}, {is_tls})
      const client = await on.dial()
      await does(client, on)
      await settled()
      await on.pass(LOOKS_MS)
      expect(on.governor.count(at as 'head')).toBe(1)
      for (let left = limit_ms - LOOKS_MS - 500; left > 0; left -= 4000) {
        if (drips) client.write(drips)
        await on.pass(Math.min(4000, left))
      }
      expect(client.isOver()).toBe(false)
      expect(on.governor.size).toBe(1)
      await on.pass(500 + LOOKS_MS)
      await expect.poll(client.isOver).toBe(true)
      expect(client.received()).toMatch(hears)
      expect(on.governor.size).toBe(0)
    },
  )

  test('who is known may drip a body for as long as it takes', async () => {
    const on = await governed({}, {is_tls})
    for (const path of ['/plain', '/node']) {
      const client = await on.dial()
      client.write(`${post(path, 'x-key: 1\r\n')}Content-Length: 9\r\n\r\n`)
      await expect.poll(() => on.governor.count('body')).toBe(1)
      for (const letter of 'abcdefghi') {
        await on.pass(BODY * 0.6)
        expect(client.isOver()).toBe(false)
        client.write(letter)
      }
      await expect.poll(client.received).toMatch(/200 OK[\s\S]* read 9$/)
    }
  })

  test('bytes that wait for us are not waited for', async () => {
    const on = await governed({}, {is_tls})
    const client = await on.dial()
    client.write(`${post('/unread', 'x-key: 1\r\n')}Content-Length: 900000\r\n\r\n${'x'.repeat(300_000)}`)
    await expect.poll(() => on.governor.count('body')).toBe(1)
    await on.pass(BODY * 2)
    expect(on.governor.count('body')).toBe(1)
    expect(client.isOver()).toBe(false)
  })
})

test('a handshake that does not end is cut when a head would be, and when room is needed', async () => {
  const on = await governed({connections: 1}, {is_tls: true})
  const silent = await on.dial({handshake: false})
  await on.pass(HEAD + LOOKS_MS)
  await expect.poll(silent.isOver).toBe(true)
  const half = await on.dial({handshake: false})
  half.write('\x16\x03\x01')
  await on.pass(LOOKS_MS)
  expect(on.governor.count('head')).toBe(1)
  const fresh = await on.dial()
  fresh.write(whole('/plain'))
  await expect.poll(fresh.received).toMatch(/front read 2/)
  await expect.poll(half.isOver).toBe(true)
  expect(half.received()).toBe('')
})

test('a process that stood still takes nobody for slow', async () => {
  let now_ms = 0
  const on = await governed({})
  const client = await on.dial()
  client.write('POST /pl')
  await on.pass(LOOKS_MS)
  Object.defineProperty(on.governor.options, 'now', {value: () => now_ms})
  now_ms = 1e9
  on.governor.sweep()
  await settled()
  expect(client.isOver()).toBe(false)
})

describe('as many connections as there may be', () => {
  /** What may stand in the way of one more, and whether it gives way. */
  const STANDING: Record<string, readonly [does: (client: Client) => Promise<void> | void, gives_way: boolean]> = {
    'nothing said': [() => undefined, true],
    'half a head': [says('POST /'), true],
    'idle in front': [answered(whole('/plain'), ''), true],
    'idle at node:http': [answered(GET, ''), true],
    'a body that nobody knows': [says(`${post('/node')}Content-Length: 9\r\n\r\nabc`), true],
    'a body that was answered': [says(`${post('/early')}Content-Length: 9\r\n\r\nabc`), true],
    'a body of a caller who is known': [says(`${post('/node', 'x-key: 1\r\n')}Content-Length: 9\r\n\r\nabc`), false],
    'a body in front of a caller who is known': [
      says(`${post('/plain', 'x-key: 1\r\n')}Content-Length: 9\r\n\r\nabc`),
      false,
    ],
    'a call under way': [says('GET /unread HTTP/1.1\r\nHost: here\r\n\r\n'), false],
  }
  test.each(Object.entries(STANDING))(
    '%s: gives way to one more, or it is told why not',
    async (_, [does, gives_way]) => {
      const on = await governed({connections: 2})
      const both = [await on.dial(), await on.dial()]
      for (const client of both) await does(client)
      await on.pass(LOOKS_MS)
      const fresh = await on.dial()
      fresh.write(whole('/plain'))
      await expect.poll(fresh.received).toMatch(gives_way ? /front read 2/ : /^HTTP\/1\.1 503 [\s\S]*MAX_CONNECTIONS/)
      await settled()
      expect(both.map(client => client.isOver())).toEqual([gives_way, false])
      if (gives_way) return expect(on.governor.ended('gave_way')).toBe(1)
      await on.pass(LOOKS_MS)
      await expect.poll(fresh.isOver).toBe(true)
      expect(on.governor.ended('full')).toBe(1)
    },
  )

  test('clients that come at once are all served: what lies idle gives way, and not they to each other', async () => {
    const on = await governed({connections: 20})
    const idle = await Promise.all(Array.from({length: 20}, () => on.dial()))
    for (const client of idle) client.write(whole('/plain'))
    await expect.poll(() => on.governor.count('idle')).toBe(20)
    const fresh = await Promise.all(Array.from({length: 15}, () => on.dial()))
    for (const client of fresh) client.write('POST')
    await settled()
    for (const client of fresh) client.write(whole('/plain').slice(4))
    for (const client of fresh) await expect.poll(client.received).toMatch(/read 2$/)
    expect(idle.filter(client => client.isOver())).toHaveLength(15)
  })

  test('an answer that still leaves is cut behind all else that may be', async () => {
    const on = await governed({connections: 3})
    const leaving = await on.dial()
    await askForMuch(leaving)
    const lies_idle = await on.dial()
    await answered(whole('/plain'), '')(lies_idle)
    const unknown = await on.dial()
    unknown.write(`${post('/node')}Content-Length: 9\r\n\r\nabc`)
    await settled()
    const standing = [leaving, lies_idle, unknown]
    const begun: Client[] = []
    for (const gone of [
      [false, true, false],
      [false, true, true],
      [false, true, true],
    ]) {
      const fresh = await on.dial()
      fresh.write('GET /')
      begun.push(fresh)
      await settled()
      expect(standing.map(client => client.isOver())).toEqual(gone)
    }
    expect(begun.map(client => client.isOver())).toEqual([true, false, false])
    for (const client of begun.slice(1)) client.write('unread HTTP/1.1\r\nHost: here\r\n\r\n')
    await on.pass(FAIR_MS + LOOKS_MS)
    await take(leaving, 8 << 20)
    await on.pass(LOOKS_MS)
    const last = await on.dial()
    last.write(whole('/plain'))
    await expect.poll(last.received).toMatch(/read 2$/)
    leaving.socket.resume()
    await expect.poll(leaving.isOver).toBe(true)
    expect(leaving.received().length).toBeLessThan(LARGE_BYTES)
  })

  test('an answer of which a client takes nothing gives way before a request that has begun', async () => {
    const on = await governed({connections: 2})
    const leaving = await on.dial()
    await askForMuch(leaving)
    await on.pass(FAIR_MS + LOOKS_MS)
    const begun = await on.dial()
    begun.write('GET /')
    const fresh = await on.dial()
    fresh.write(whole('/plain'))
    await expect.poll(fresh.received).toMatch(/read 2$/)
    expect([on.governor.ended('gave_way'), begun.isOver()]).toEqual([1, false])
  })

  test('a body that came whole since the last look is a call, whoever sent it', async () => {
    const on = await governed({connections: 1})
    const client = await on.dial()
    client.write(`${post('/unread')}Content-Length: 2\r\n\r\no`)
    await settled()
    client.write('k')
    await settled()
    expect(on.governor.count('body')).toBe(1)
    const fresh = await on.dial()
    await expect.poll(fresh.received).toContain('MAX_CONNECTIONS')
    expect([on.governor.count('call'), client.isOver()]).toEqual([1, false])
  })

  test('half a head of a second goes before one that lies idle, the oldest first', async () => {
    const on = await governed({connections: 4})
    const idle = await on.dial()
    await answered(whole('/plain'), '')(idle)
    const halves = [await on.dial(), await on.dial(), await on.dial()]
    for (const half of halves) half.write('GET /')
    await on.pass(FAIR_MS + LOOKS_MS)
    for (const left of [1, 2, 3]) {
      const fresh = await on.dial()
      fresh.write(GET)
      await settled()
      expect([idle, ...halves].map(client => client.isOver())).toEqual([false, left >= 1, left >= 2, left >= 3])
      fresh.write(post('/node', 'x-key: 1\r\nContent-Length: 5\r\n\r\n'))
      await settled()
    }
    expect(halves[0]!.received()).toMatch(/^HTTP\/1\.1 503 [\s\S]*Connection: close/)
    const last = await on.dial()
    await settled()
    expect([idle.isOver(), last.isOver()]).toEqual([true, false])
  })

  test('of one address', async () => {
    const on = await governed({connections_per_address: 2})
    const two = [await on.dial(), await on.dial()]
    const third = await on.dial()
    await expect.poll(third.received).toMatch(/^HTTP\/1\.1 503 [\s\S]*MAX_CONNECTIONS_PER_ADDRESS/)
    expect(two.map(client => client.isOver())).toEqual([false, false])
    two[0]!.socket.destroy()
    await expect.poll(() => on.governor.size).toBe(1)
    const fourth = await on.dial()
    fourth.write(GET)
    await expect.poll(fourth.received).toContain('200 OK')
  })

  test.each([GET, whole('/plain')])('requests on one of them: the last says so (%#)', async request => {
    const on = await governed({requests_per_connection: 2})
    const client = await on.dial()
    client.write(request)
    await expect.poll(client.received).toMatch(/Connection: keep-alive/i)
    client.write(request)
    await expect.poll(client.isOver).toBe(true)
    expect(client.received()).toMatch(/Connection: close\r\n[\s\S]*read \d$/)
  })
})

test('a server that closes ends what no call is under way on, at once', async () => {
  const on = await governed()
  const gone: Client[] = []
  for (const {does} of Object.values(SLOW)) {
    const client = await on.dial()
    await does(client, on)
    gone.push(client)
  }
  const busy = await on.dial()
  busy.write('GET /unread HTTP/1.1\r\nHost: here\r\n\r\n')
  await on.pass(LOOKS_MS)
  on.governor.closeIdle()
  const left = () => gone.flatMap((client, place) => (client.isOver() ? [] : [Object.keys(SLOW)[place]]))
  await expect.poll(left).toEqual([])
  expect(busy.isOver()).toBe(false)
  on.governor.destroyAll()
  await expect.poll(busy.isOver).toBe(true)
  expect(on.governor.size).toBe(0)
})

test('a server that closes lets a call end whose body came whole since the last look', async () => {
  const on = await governed()
  const client = await on.dial()
  client.write(`${post('/unread', 'x-key: 1\r\n')}Content-Length: 2\r\n\r\no`)
  await settled()
  client.write('k')
  await settled()
  expect(on.governor.count('body')).toBe(1)
  on.governor.closeIdle()
  await settled()
  expect([on.governor.count('call'), client.isOver(), client.received()]).toEqual([1, false, ''])
})

test.each([false, true])(
  'the last answer may take as long as its bytes go on to leave; while the server closes it may not (TLS: %s)',
  async is_tls => {
    const on = await governed({requests_per_connection: 1}, {is_tls})
    const [slow, slow_at_end] = [await on.dial(), await on.dial()]
    for (const client of [slow, slow_at_end]) await askForMuch(client)
    await expect.poll(() => on.governor.count('closing')).toBe(2)
    for (let part = 0; part < 3; part++) {
      await on.pass(WRITE * 0.7)
      expect(on.governor.count('closing')).toBe(2)
      for (const client of [slow, slow_at_end]) await take(client, 5 << 20)
    }
    on.governor.closeIdle()
    await on.pass(5000 - LOOKS_MS)
    expect(on.governor.count('closing')).toBe(2)
    await take(slow, 5 << 20)
    await on.pass(2 * LOOKS_MS)
    expect(on.governor.size).toBe(0)
  },
)

test('of the last answer nothing leaves: it is cut in the time of one write', async () => {
  const on = await governed({requests_per_connection: 1})
  const client = await on.dial()
  await askForMuch(client)
  await on.pass(WRITE - LOOKS_MS)
  expect(on.governor.count('closing')).toBe(1)
  await on.pass(2 * LOOKS_MS)
  expect(on.governor.size).toBe(0)
})

test('no refusal is put into the middle of the answer to a request before', async () => {
  const on = await governed()
  const client = await on.dial()
  client.write(`GET /begins HTTP/1.1\r\nHost: here\r\n\r\n${post('/node')}Content-Length: 9\r\n\r\nabc`)
  await settled()
  expect(client.received()).toMatch(/\r\n\r\nbegun$/)
  await on.pass(BODY + LOOKS_MS)
  await expect.poll(client.isOver).toBe(true)
  expect(client.received()).toMatch(/\r\n\r\nbegun$/)
})

test('connections are counted by what they are at', async () => {
  const on = await governed()
  const clients = await Promise.all([on.dial(), on.dial(), on.dial()])
  clients[0]!.write('GET')
  await answered(GET, '')(clients[1]!)
  await on.pass(LOOKS_MS)
  const text = governorMetrics(on.governor)
  expect(text).toContain('gateway_connections{state="new"} 1\n')
  expect(text).toContain('gateway_connections{state="head"} 1\n')
  expect(text).toContain('gateway_connections{state="idle"} 1\n')
  expect(text).toContain('gateway_connections_limit 100\n')
  await on.pass(HEAD)
  expect(governorMetrics(on.governor)).toContain('gateway_connections_ended_total{why="head_timeout"} 2\n')
})

test('half of the descriptors less 64 are for connections of clients', () => {
  const limits = (of: string) => () =>
    `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${of}                 4096       files\n`
  expect([limits('400'), limits('unlimited'), () => ''].map(descriptorLimit)).toEqual([
    400,
    Number.MAX_SAFE_INTEGER,
    null,
  ])
  expect(
    descriptorLimit(() => {
      throw new Error('no /proc')
    }),
  ).toBeNull()
  expect([400, 100, null].map(usualConnections)).toEqual([136, 16, 448])
})
