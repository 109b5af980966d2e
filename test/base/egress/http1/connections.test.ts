import {once} from 'node:events'
import {connect} from 'node:net'
import {setImmediate as turn} from 'node:timers/promises'
import {afterEach, expect, test, vi} from 'vitest'
import {ConnectionPool} from '../../../../src/base/egress/http1/pool.ts'
import {endTurn} from '../../../../src/base/turn-end.ts'
import {codeOf, control, poolTo, serveText, type Told, tell, wired} from './dispatched.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
afterEach(() => void vi.useRealTimers())

/** Asks, and answers on the wire that the call went over. */
async function answered(there: ReturnType<typeof wired>, place: number, reply = OK): Promise<Told> {
  const call = tell(there.pool)
  const wire = await there.wire(place)
  wire.push(reply)
  wire.written = ''
  return call
}

test('calls of a turn leave at its end, and the line used last goes first', async () => {
  const there = wired()
  const calls = [tell(there.pool), tell(there.pool)]
  for (const place of [1, 0]) (await there.wire(place)).push(OK)
  await Promise.all(calls)
  for (const wire of there.wires) wire.written = ''
  const next = tell(there.pool)
  expect(there.wires.map(({written}) => written)).toEqual(['', ''])
  await turn()
  expect(there.wires.map(({written}) => written)).toEqual([expect.stringContaining('GET / HTTP/1.1\r\n'), ''])
  there.wires[0]!.push(OK)
  expect((await next).end).toBe('whole')
})

test('a call that the end of a turn lets go leaves in that turn', async () => {
  const there = wired()
  const first = tell(there.pool)
  ;(await there.wire(0)).push(OK)
  await first
  there.wires[0]!.written = ''
  let next: Promise<Told> | undefined
  let written_then = ''
  setImmediate(() => {
    endTurn(() => {
      next = tell(there.pool)
    })
  })
  setImmediate(() => {
    written_then = there.wires[0]!.written
  })
  await turn()
  expect(written_then).toContain('GET / HTTP/1.1\r\n')
  there.wires[0]!.push(OK)
  expect((await next!).end).toBe('whole')
})

test('a line rests for a minute, or two seconds less than the server says', async () => {
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout', 'performance']})
  for (const [header, rests_ms] of [
    ['', 60_000],
    ['keep-alive: timeout=7\r\n', 5000],
    ['keep-alive: timeout=3600\r\n', 600_000],
  ] as const) {
    const there = wired()
    const reply = `HTTP/1.1 200 OK\r\nconnection: keep-alive\r\n${header}content-length: 0\r\n\r\n`
    await answered(there, 0, reply)
    vi.advanceTimersByTime(rests_ms - 1)
    await answered(there, 0, reply)
    vi.advanceTimersByTime(rests_ms - 1)
    expect(there.wires[0]!.destroyed).toBe(false)
    vi.advanceTimersByTime(1)
    expect(there.wires[0]!.destroyed).toBe(true)
    await answered(there, 1, reply)
    await there.pool.destroy()
  }
})

test.each([
  ['connection: close', 'HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length: 0\r\n\r\n'],
  ['close in a list', 'HTTP/1.1 200 OK\r\nconnection: keep-alive, close\r\ncontent-length: 0\r\n\r\n'],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a keep-alive of two seconds', 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n'],
  [
    'close among the news',
    'HTTP/1.1 103 Soon\r\nconnection: close\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
  ],
  ['204 with a body', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n'],
  ['304 with chunks', 'HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n'],
])('%s is the last answer of a line', async (_, reply) => {
  const there = wired()
  expect((await answered(there, 0, reply)).end).toBe('whole')
  expect(there.wires[0]!.destroyed).toBe(true)
})

test('HTTP/1.0 is kept where it says so', async () => {
  const there = wired()
  for (let round = 0; round < 2; round++)
    await answered(there, 0, 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n')
  expect(there.wires).toHaveLength(1)
})

test('nothing follows on a line after HEAD, nor after a body where none belongs', async () => {
  for (const asked of [{method: 'HEAD'}, {method: 'DELETE', body: 'x'}] as const) {
    const there = wired()
    const call = tell(there.pool, asked)
    const wire = await there.wire(0)
    wire.push(asked.method === 'HEAD' ? 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n' : OK)
    expect((await call).end).toBe('whole')
    expect(wire.destroyed).toBe(true)
  }
})

test('a line that the server closed while it rested is not used, and one that closes under a call is not tried again', async () => {
  const there = wired()
  await answered(there, 0)
  const second = tell(there.pool, {method: 'POST', body: 'x'})
  there.wires[0]!.push(null)
  const other = await there.wire(1)
  other.push(OK)
  expect((await second).end).toBe('whole')
  other.written = ''
  const third = tell(there.pool, {method: 'POST', body: 'x'})
  await there.wire(1)
  other.push(null)
  expect(codeOf(await third)).toBe('UND_ERR_SOCKET')
  expect(there.wires).toHaveLength(2)
})

const SAFE = ['GET', 'HEAD', 'OPTIONS'] as const
test.each(SAFE)('%s is sent once more, over a new line, where its kept one closed', async method => {
  const there = wired()
  await Promise.all([0, 1].map(place => answered(there, place)))
  const begun: number[] = []
  const call = tell(there.pool, {method}, {onRequestStart: () => void begun.push(1)})
  await turn()
  const kept = there.wires.find(({written}) => written !== '')!
  kept.push(null)
  const fresh = await there.wire(2)
  expect(fresh.written).toBe(kept.written)
  fresh.push(method === 'HEAD' ? 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n' : OK)
  expect((await call).end).toBe('whole')
  expect([begun.length, there.wires.length, there.pool.live]).toEqual([1, 3, 0])
})

test.each<[string, Parameters<typeof tell>[1], string | null]>([
  ['with a body', {method: 'GET', body: 'x'}, null],
  ['that writes', {method: 'DELETE'}, null],
  ['whose reply had begun', {method: 'GET'}, 'HTTP/1.1 2'],
  ['with news before its reply', {method: 'GET'}, 'HTTP/1.1 103 Soon\r\n\r\n'],
])('a call %s is not sent again', async (_, asked, reply) => {
  const there = wired()
  await answered(there, 0)
  const call = tell(there.pool, asked)
  const wire = await there.wire(0)
  if (reply !== null) wire.push(reply)
  wire.push(null)
  expect(codeOf(await call)).toBe('UND_ERR_SOCKET')
  expect(there.wires).toHaveLength(1)
})

test('a call is sent again once, not on the first call of a line, and not after it was given up', async () => {
  const there = wired()
  const first = tell(there.pool)
  ;(await there.wire(0)).push(null)
  expect(codeOf(await first)).toBe('UND_ERR_SOCKET')
  await answered(there, 1)
  const second = tell(there.pool)
  ;(await there.wire(1)).push(null)
  ;(await there.wire(2)).push(null)
  expect(codeOf(await second)).toBe('UND_ERR_SOCKET')
  await answered(there, 3)
  const {call, controller} = control(there.pool)
  await there.wire(3)
  controller().abort(new Error('enough'))
  expect(codeOf(await call)).toBe('enough')
  expect([there.wires.length, there.pool.live]).toEqual([4, 0])
})

test('who aborts is told at once, with the reason, and the line is closed', async () => {
  const there = wired()
  const seen: string[] = []
  const {call, controller} = control(there.pool, {}, {onResponseError: (_, error) => void seen.push(error.message)})
  const wire = await there.wire(0)
  controller().abort(new Error('enough'))
  seen.push('aborted')
  controller().abort(new Error('again'))
  expect(seen).toEqual(['enough', 'aborted'])
  expect(controller()).toMatchObject({aborted: true, reason: new Error('enough')})
  expect(wire.destroyed).toBe(true)
  expect((await call).body).toBe('')
  expect(there.pool.live).toBe(0)
})

test('a call that is given up before its turn ended is sent all the same, once', async () => {
  const there = wired()
  await answered(there, 0)
  const {call: given_up, controller} = control(there.pool, {method: 'POST', body: 'asked'})
  const other = tell(there.pool)
  expect(there.wires[0]!.written).toBe('')
  controller().abort(new Error('gone'))
  expect(there.wires[0]!.written).toMatch(/^POST .*asked$/s)
  expect(there.wires[0]!.destroyed).toBe(true)
  expect((await given_up).end).toEqual(new Error('gone'))
  ;(await there.wire(1)).push(OK)
  expect((await other).end).toBe('whole')
  expect(there.wires.map(({written}) => written.match(/HTTP/g)?.length)).toEqual([1, 1])
})

test('a call that is aborted as it begins leaves nothing on its line, which the next one has', async () => {
  const there = wired()
  await answered(there, 0)
  const given_up = await tell(there.pool, {}, {onRequestStart: controller => controller.abort(new Error('too late'))})
  expect(codeOf(given_up)).toBe('too late')
  expect(there.wires[0]!.written).toBe('')
  expect((await answered(there, 0)).end).toBe('whole')
})

test('a paused call is told nothing until it is resumed, not even its end', async () => {
  for (const framed of [
    'content-length: 6\r\n\r\nabcdef',
    'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n',
    '\r\nabcdef',
  ]) {
    const there = wired()
    const pieces: string[] = []
    const {call, controller} = control(
      there.pool,
      {},
      {
        onResponseStart: given => given.pause(),
        onResponseData(given, piece) {
          pieces.push(piece.toString())
          given.pause()
        },
      },
    )
    const wire = await there.wire(0)
    wire.push(`HTTP/1.1 200 OK\r\n${framed}`)
    if (framed.startsWith('\r\n')) wire.push(null)
    let is_over = false
    void call.then(() => {
      is_over = true
    })
    for (let round = 0; !is_over; round++) {
      const before = pieces.length
      await turn()
      expect(pieces.length).toBe(before)
      if (round === 0) expect(pieces).toEqual([])
      controller().resume()
      expect(pieces.length - before).toBeLessThanOrEqual(1)
      await turn()
    }
    expect([pieces.join(''), (await call).end]).toEqual(['abcdef', 'whole'])
  }
})

test('what was held of a paused call comes, though its connection is gone; unless the pool is destroyed', async () => {
  for (const is_destroyed of [false, true]) {
    const there = wired()
    const {call, controller} = control(there.pool, {}, {onResponseStart: given => given.pause()})
    const wire = await there.wire(0)
    wire.push('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabcdef')
    wire.destroy()
    await once(wire, 'close')
    if (is_destroyed) await there.pool.destroy()
    controller().resume()
    const {body, end} = await call
    if (is_destroyed) expect(end).toMatchObject({code: 'UND_ERR_DESTROYED'})
    else expect([body, end]).toEqual(['abcdef', 'whole'])
    await there.pool.close()
  }
})

test('a call that is paused and resumed while it is told what was held misses nothing', async () => {
  const there = wired()
  const {call, controller} = control(
    there.pool,
    {},
    {
      onResponseStart: given => given.pause(),
      onResponseData(given) {
        given.pause()
        given.resume()
      },
    },
  )
  const wire = await there.wire(0)
  wire.push('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n')
  await turn()
  wire.destroy()
  await once(wire, 'close')
  controller().resume()
  const {body, end} = await call
  expect([body, end]).toEqual(['abcdef', 'whole'])
})

test('no more is read of a paused call than sockets hold', async () => {
  const big = Buffer.alloc(64 << 20)
  const {port, sockets} = await serveText(socket => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\n`)
    socket.write(big)
  })
  for (const is_lent of [true, false]) {
    let received = 0
    const {promise: begun, resolve} = Promise.withResolvers<void>()
    const {call, controller} = control(
      poolTo(port, is_lent),
      {},
      {
        onResponseStart(given) {
          given.pause()
          resolve()
        },
        onResponseData(_, piece) {
          received += piece.length
        },
      },
    )
    await begun
    const socket = sockets.at(-1)!
    let before = -1
    for (let still = 0; still < 50; before = socket.bytesWritten - socket.writableLength) {
      still = socket.bytesWritten - socket.writableLength === before ? still + 1 : 0
      await turn()
    }
    expect([received, socket.writableLength > 0]).toEqual([0, true])
    controller().resume()
    expect((await call).end).toBe('whole')
    expect(received).toBe(big.length)
  }
}, 60_000)

test.each(['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onBodySent'])(
  'a fault of the handler in %s ends its call, and no other',
  async place => {
    const there = wired()
    const faulty = () => {
      throw new Error(place)
    }
    const call = tell(there.pool, {method: 'POST', body: 'x'}, {[place]: faulty})
    if (place !== 'onRequestStart') (await there.wire(0)).push(OK)
    expect(codeOf(await call)).toBe(place)
    expect(there.pool.live).toBe(0)
    for (const wire of there.wires) wire.written = ''
    const next = tell(there.pool)
    const wire = await vi.waitUntil(() => there.wires.find(({written, destroyed}) => written !== '' && !destroyed))
    wire.push(OK)
    expect((await next).end).toBe('whole')
  },
)

test('an upgrade hands over a socket that nobody reads, and what came behind the head', async () => {
  const {port, sockets} = await serveText(socket =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello'),
  )
  for (const is_lent of [true, false]) {
    const pool = poolTo(port, is_lent)
    const {socket, headers} = await pool.upgrade({path: '/', protocol: 'websocket'})
    expect([headers.upgrade, pool.live]).toEqual(['websocket', 0])
    await turn()
    const there = sockets.at(-1)!
    there.write(' again')
    let echoed = ''
    socket.on('data', bytes => {
      echoed += bytes
    })
    while (echoed !== 'hello again') await turn()
    const bytes = once(there, 'data')
    socket.write('and here')
    expect(String((await bytes)[0])).toBe('and here')
    const ended = once(socket, 'end')
    there.end()
    await ended
    await pool.close()
  }
})

test('a refused upgrade is an answer like others', async () => {
  const there = wired()
  const call = tell(there.pool, {upgrade: 'websocket'})
  const wire = await there.wire(0)
  expect(wire.written).toContain('connection: upgrade\r\nupgrade: websocket\r\n')
  wire.push('HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nno')
  expect(await call).toMatchObject({heads: [{status: 403}], body: 'no', end: 'whole'})
  expect(wire.destroyed).toBe(true)
})

test('lines at rest keep no process', async () => {
  const {port} = await serveText(socket => socket.write(OK))
  const seen: string[] = []
  const socket = connect({port, host: '127.0.0.1'})
  await once(socket, 'connect')
  for (const name of ['ref', 'unref'] as const) {
    vi.spyOn(socket, name).mockImplementation(() => {
      seen.push(name)
      return socket
    })
  }
  const pool = new ConnectionPool({host: 'x', connections: 1, waiting_calls: 0, dial: async () => socket})
  for (let round = 0; round < 2; round++) await tell(pool)
  await pool.close()
  expect(seen).toEqual(['unref', 'ref', 'unref'])
})

test('work on an answer of which much has come at once leaves others their turn', async () => {
  const there = wired()
  const bytes = 16 * 1024
  const pieces = Array.from({length: 20}, (_, at) => Buffer.alloc(bytes, 0x61 + at))
  let in_turn = 0
  let most_in_turn = 0
  const {call} = control(
    there.pool,
    {},
    {
      onResponseData() {
        most_in_turn = Math.max(most_in_turn, ++in_turn)
        for (const until = performance.now() + 5; performance.now() < until; );
      },
    },
  )
  const wire = await there.wire(0)
  wire.push(`HTTP/1.1 200 OK\r\ncontent-length: ${pieces.length * bytes}\r\n\r\n`)
  await turn()
  for (const piece of pieces) wire.push(piece)
  let is_over = false
  void call.then(() => {
    is_over = true
  })
  while (!is_over) {
    await turn()
    in_turn = 0
  }
  const {body, end} = await call
  expect([body, end]).toEqual([Buffer.concat(pieces).toString(), 'whole'])
  // two pieces take longer than a turn may, and a turn of ours may see the end of one and the beginning of the next
  expect(most_in_turn).toBeLessThanOrEqual(4)
})
