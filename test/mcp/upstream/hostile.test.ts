import {brotliCompressSync, deflateSync, gzipSync, zstdCompressSync} from 'node:zlib'
import {afterAll, afterEach, beforeEach, describe, expect, test} from 'vitest'
import {SessionLostFault, UnauthorisedFault} from '../../../src/mcp/upstream/faults.ts'
import {MOST_DROPPED, MOST_NOTIFICATIONS} from '../../../src/mcp/upstream/open-call.ts'
import type {McpUpstream} from '../../../src/mcp/upstream/upstream.ts'
import {openRaw, type RawFixture, type Script} from '../../support/mcp/raw-server.ts'
import {Collected, callTool, faultIn, textIn, UpstreamTests} from '../../support/mcp/upstream.ts'
import {Timers} from '../../support/timers.ts'

const tests = new UpstreamTests()
let server: RawFixture
let upstream: McpUpstream
beforeEach(async () => {
  server = await openRaw()
  upstream = await tests.upstream(server.url, {era: 'legacy', declares: {roots: {}}})
})
afterEach(() => server.close())
afterAll(() => tests.close())

const RESULT = {content: [{type: 'text', text: 'hä 𝄞'}]}
const note = (data: unknown) => ({jsonrpc: '2.0', method: 'notifications/message', params: {level: 'info', data}})
const play = (script: Script) => server.play({'tools/call': script})
const call = (how = {}) => callTool(upstream, 'x', {}, how)

describe('37: a stream is read right', () => {
  const bytes = (id: unknown) => ({
    'an event of an id and no data first': `id: 7\nretry: 5\ndata: \n\ndata: ${answerOf(id)}\n\n`,
    'comments between all lines': `: a\n\n:\n: b\ndata: ${answerOf(id)}\n: c\n\n`,
    CRLF: `id: 7\r\ndata: \r\n\r\nevent: message\r\ndata: ${answerOf(id)}\r\n\r\n`,
    'CR alone': `data: ${answerOf(id)}\r\r`,
    'data of several lines':
      `data: {"jsonrpc":"2.0",\ndata: "id":${id},\n` + `data: "result":${JSON.stringify(RESULT)}}\n\n`,
    'events of other names': `event: ping\ndata: x\n\nevent: message\ndata: ${answerOf(id)}\n\n`,
    'a byte order mark': `\uFEFFdata: ${answerOf(id)}\n\n`,
    'an empty object, as stores of events repeat it': `id: 1\ndata: {}\n\ndata: ${answerOf(id)}\n\n`,
    'a batch': `data: [${JSON.stringify(note(1))},${answerOf(id)}]\n\n`,
    'no space behind the colon': `data:${answerOf(id)}\n\n`,
  })

  test.each(Object.keys(bytes(1)))('%s', async name => {
    play(answer => {
      answer.stream().write(bytes(answer.id)[name as keyof ReturnType<typeof bytes>])
      answer.end()
    })
    expect((await call()).result).toEqual(RESULT)
  })

  test('however it is cut, also within a character', async () => {
    play(async answer => {
      answer.stream()
      for (const byte of Buffer.from(`id: 7\r\ndata: ${answer.resultText(RESULT)}\r\n\r\n`)) {
        answer.write(Buffer.from([byte]))
        await new Promise(setImmediate)
      }
      answer.end()
    })
    expect((await call()).result).toEqual(RESULT)
  })

  test('unknown members, numbers beyond 2^53 and the order of keys keep their bytes', async () => {
    const text = (id: unknown) =>
      `{"result":{"z":1,"a":9007199254740993,"__proto__":{"x":1e0}},"x":1, "jsonrpc":"2.0","id":${id}}`
    play(answer => answer.stream().event(text(answer.id)).end())
    const {text: got, id} = await call()
    expect(got).toBe(text(id))
  })
})

async function until(holds: () => boolean) {
  while (!holds()) await new Promise(setImmediate)
}

function answerOf(id: unknown): string {
  return JSON.stringify({jsonrpc: '2.0', id, result: RESULT})
}

describe('82: an answer in an encoding that was not wanted is read', () => {
  const encoders = {gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync}
  const cases = Object.entries(encoders).map(([name, encode]) => [name, encode] as const)

  test.each(cases)('%s', async (name, encode) => {
    play(answer => {
      const text = Buffer.from(answer.resultText(RESULT))
      answer.headers({'content-encoding': name}).status(200, encode(text), 'application/json')
    })
    expect((await call()).result).toEqual(RESULT)
    play(answer => {
      const events = Buffer.from(`data: ${JSON.stringify(note(1))}\n\ndata: ${answer.resultText(RESULT)}\n\n`)
      answer.headers({'content-encoding': name}).status(200, encode(events), 'text/event-stream')
    })
    const sink = new Collected()
    expect((await call({sink})).result).toEqual(RESULT)
    expect(sink.methods).toEqual(['notifications/message'])
  })

  test.each([
    ['gzip', Buffer.from('{"no":"gzip"}')],
    ['br', Buffer.from('{"no":"brotli at all"}')],
    ['zstd', Buffer.from('{"no":"zstd"}')],
    ['x-unknown', gzipSync('{}')],
    ['gzip, gzip, gzip, gzip', gzipSync('{}')],
  ])('%s that cannot be read is a fault', async (encoding, bytes) => {
    play(answer => answer.headers({'content-encoding': encoding}).status(200, bytes, 'application/json'))
    expect(await faultIn(call())).toMatchObject({reason: 'upstream_nonsense'})
  })

  test('limits count what comes of it', async () => {
    const bomb = gzipSync(Buffer.alloc(20 << 20, 32))
    play(answer => answer.headers({'content-encoding': 'gzip'}).status(200, bomb, 'application/json'))
    expect(await faultIn(call())).toMatchObject({reason: 'result_too_large'})
  })
})

describe('bounds', () => {
  const large = Buffer.alloc(1 << 20, 97)
  const flood = async ({response}: Parameters<Script>[0]) => {
    response.setMaxListeners(0)
    for (let sent = 0; sent < 100 && !response.destroyed; sent++)
      if (!response.write(large)) await new Promise(done => response.once('drain', done).once('close', done))
    response.end()
  }

  test('a result of 100 MB in JSON is given up at 16 MiB, and the upstream is notified', async () => {
    play(answer => {
      answer.response.writeHead(200, {'content-type': 'application/json'}).write('"')
      return flood(answer)
    })
    expect(await faultIn(call())).toMatchObject({reason: 'result_too_large', facts: {limit: 16 << 20}})
    await expect.poll(() => server.of('tools/call')[0]!.left).toBe(true)
    await expect.poll(() => server.of('notifications/cancelled')).toHaveLength(1)
  })

  test('one of 100 MB in an event too', async () => {
    play(answer => {
      answer.stream().write('data: ')
      return flood(answer)
    })
    expect(await faultIn(call())).toMatchObject({reason: 'result_too_large'})
    await expect.poll(() => server.of('tools/call')[0]!.left).toBe(true)
  })

  test('a result of several megabytes on one line is none of them', async () => {
    play(answer => answer.stream().done({content: [{type: 'text', text: large.toString().repeat(3)}]}))
    expect(textIn(await call())).toHaveLength(3 << 20)
  })

  test('of a flood of notifications so many are passed on, and the answer arrives', async () => {
    play(answer => {
      answer.stream()
      for (let sent = 0; sent < MOST_NOTIFICATIONS + 500; sent++) answer.event(note(sent))
      answer.done(RESULT)
    })
    const sink = new Collected()
    expect((await call({sink})).result).toEqual(RESULT)
    expect(sink.notifications).toHaveLength(MOST_NOTIFICATIONS)
  })

  test('one that does not end is ended', async () => {
    play(async answer => {
      const many = `data: ${JSON.stringify(note('x'))}\n\n`.repeat(500)
      answer.stream()
      for (let sent = 0; sent < MOST_DROPPED + 5_000 && !answer.response.destroyed; sent += 500) {
        answer.write(many)
        await new Promise(setImmediate)
      }
    })
    expect(await faultIn(call())).toMatchObject({reason: 'upstream_nonsense'})
    await expect.poll(() => server.of('notifications/cancelled')).toHaveLength(1)
  })

  test('of questions that wait at once there is a bound; the others are refused', async () => {
    play(async answer => {
      answer.stream()
      for (let sent = 0; sent < 20; sent++) answer.event({jsonrpc: '2.0', id: `q${sent}`, method: 'roots/list'})
      await until(() => server.of('answer').length === 4)
      answer.done(RESULT)
    })
    const sink = new Collected()
    await call({sink})
    expect(sink.questions).toHaveLength(16)
    expect(server.of('answer').map(({message}) => [message!.id, message!.error!.code])).toEqual(
      ['q16', 'q17', 'q18', 'q19'].map(id => [id, -32601]),
    )
  })

  test('a slow client holds the upstream back', async () => {
    let written = 0
    play(async answer => {
      answer.stream()
      const event = `data: ${JSON.stringify(note('x'.repeat(1 << 20)))}\n\n`
      for (; written < 40; written++)
        if (!answer.response.write(event)) await new Promise(done => answer.response.once('drain', done))
      answer.done(RESULT)
    })
    const {promise, resolve} = Promise.withResolvers<void>()
    const done = call({sink: {notification: () => promise, question: () => undefined}})
    await expect.poll(() => written).toBeGreaterThan(0)
    for (let turns = 0; turns < 500; turns++) await new Promise(setImmediate)
    expect(written).toBeLessThan(30)
    resolve()
    expect((await done).result).toEqual(RESULT)
  })
})

describe('answers that are none', () => {
  const nonsense: Readonly<Record<string, Script>> = {
    'a page': answer => answer.status(200, '<html>hi</html>', 'text/html; charset=utf-8'),
    'a page of 502': answer => answer.status(418, '<html>hi</html>', 'text/html'),
    garbage: answer => answer.status(200, '{"jsonrpc":"2.0",', 'application/json'),
    'another type': answer => answer.status(200, 'hello', 'text/plain'),
    nothing: answer => answer.status(200),
    '202': answer => answer.status(202),
    'the answer to another request': answer => answer.json({jsonrpc: '2.0', id: 99, result: {}}),
    'an id of another kind': answer => answer.json({jsonrpc: '2.0', id: String(answer.id), result: {}}),
    'a result without an id': answer => answer.json({jsonrpc: '2.0', id: null, result: {}}),
    'a result that is no object': answer => answer.result([1]),
    'a member twice': answer =>
      answer.status(200, `{"jsonrpc":"2.0","id":${answer.id},"id":2,"result":{}}`, 'application/json'),
    'JSON of depth': answer => answer.status(200, `${'['.repeat(2_000)}${']'.repeat(2_000)}`, 'application/json'),
    'garbage in an event': answer => void answer.stream().event('{"a":').end(),
    'a place elsewhere': answer => answer.headers({location: 'http://127.0.0.1:1/'}).status(302),
    gone: answer => answer.status(410),
  }

  test.each(Object.keys(nonsense))('%s', async name => {
    play(nonsense[name]!)
    expect(await faultIn(call())).toMatchObject({reason: 'upstream_nonsense'})
    expect(server.of('tools/call')).toHaveLength(1)
  })

  test.each([500, 502, 503, 504, 429])('%i, of whose text no more than 300 characters are repeated', async status => {
    play(answer => answer.status(status, `${'\u0007secret '.repeat(200)}`))
    const fault = await faultIn(call())
    expect(fault.reason).toBe('upstream_unreachable')
    expect(fault.message).toContain(`status ${status}`)
    expect(fault.message.length).toBeLessThan(420)
    expect(fault.message).not.toContain('\u0007')
  })

  test.each([401, 403])('34: %i is the credential’s, with its challenge', async status => {
    play(answer => answer.headers({'www-authenticate': 'Bearer x="y"'}).status(status, 'no'))
    const fault = await faultIn(call())
    expect(fault).toBeInstanceOf(UnauthorisedFault)
    expect(fault).toMatchObject({status, www_authenticate: 'Bearer x="y"'})
  })

  test.each<[string, Script]>([
    ['404', answer => answer.status(404)],
    [
      '404 with an error of JSON-RPC',
      answer =>
        answer.json({jsonrpc: '2.0', id: 'server-error', error: {code: -32600, message: 'Session not found'}}, 404),
    ],
    [
      '400 -32000',
      answer =>
        answer.json(
          {jsonrpc: '2.0', error: {code: -32000, message: 'Bad Request: No valid session ID provided'}, id: null},
          400,
        ),
    ],
    [
      '400 -32600 of another id',
      answer =>
        answer.json({jsonrpc: '2.0', id: 'server-error', error: {code: -32600, message: 'Missing session ID'}}, 400),
    ],
    ['400 of no JSON', answer => answer.status(400, 'Bad Request')],
  ])('31: %s means that the session is gone', async (_, script) => {
    play(script)
    expect(await faultIn(call())).toBeInstanceOf(SessionLostFault)
    expect(upstream.is_lost).toBe(true)
    expect(server.of('tools/call')).toHaveLength(1)
  })

  test.each([400, 404, 500])('an error of the request itself with status %i is its answer', async status => {
    play(answer => answer.refuse(status, -32602, 'Invalid params'))
    expect((await call()).error).toMatchObject({code: -32602})
    expect(upstream.is_lost).toBe(false)
  })

  test('the error of a request that could not be read has no id', async () => {
    play(answer => answer.json({jsonrpc: '2.0', id: null, error: {code: -32700, message: 'Parse error'}}))
    expect((await call()).error).toMatchObject({code: -32700})
  })

  test('an answer that comes twice counts once; one of a foreign id on the stream is passed over', async () => {
    play(answer => {
      answer
        .stream()
        .event({jsonrpc: '2.0', id: 77, result: {wrong: 1}})
        .event(answer.resultText(RESULT))
      answer.event(answer.resultText({second: 1})).end()
    })
    expect((await call()).result).toEqual(RESULT)
    play(answer => answer.result(RESULT))
    expect((await call()).result).toEqual(RESULT)
  })

  test('a connection that ends at once, or in the middle, is one fault', async () => {
    play(answer => answer.cut())
    expect(await faultIn(call())).toMatchObject({reason: 'upstream_unreachable'})
    play(answer => {
      answer.response.writeHead(200, {'content-type': 'application/json', 'content-length': '100'})
      answer.response.write('{"jsonrpc"', () => answer.cut())
    })
    expect(await faultIn(call())).toMatchObject({reason: 'upstream_unreachable'})
    expect(server.of('tools/call')).toHaveLength(2)
  })
})

test('a server may take its question back; its answer goes nowhere then', async () => {
  const kept = new Collected()
  let finish = () => {}
  play(answer => {
    answer.stream().event({jsonrpc: '2.0', id: 5, method: 'roots/list'})
    answer.event({jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 5}})
    finish = () => answer.done(RESULT)
  })
  const done = call({sink: kept})
  await expect.poll(() => kept.methods).toEqual(['notifications/cancelled'])
  expect(kept.questions).toHaveLength(1)
  await upstream.answer(5, {result: '{"roots":[]}'})
  finish()
  await done
  expect(server.of('answer')).toEqual([])
})

test('35: progress of a token that is of no call here is dropped', async () => {
  play(answer => {
    answer.stream()
    for (const progressToken of [answer.id, 999, String(answer.id), null])
      answer.event({jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken, progress: 1}})
    answer.done(RESULT)
  })
  const sink = new Collected()
  await call({sink, meta: '{"progressToken":"mine"}'})
  expect(sink.notifications.map(({params}) => params)).toEqual([{progressToken: 'mine', progress: 1}])
})

test('a stream that stays open behind the answer is ended after a second', async () => {
  const timers = new Timers(0)
  const other = await tests.upstream(server.url, {era: 'legacy', timers})
  play(answer => void answer.stream().event(answer.resultText(RESULT)))
  expect((await callTool(other, 'x')).result).toEqual(RESULT)
  await timers.pass(999, () => new Promise(setImmediate))
  expect(server.of('tools/call')[0]!.left).toBe(false)
  await timers.pass(1, () => new Promise(setImmediate))
  await expect.poll(() => server.of('tools/call')[0]!.left).toBe(true)
})

test('36: the answer to a question has its id as it came', async () => {
  const ids = ['7', '"7"', '0', '-1', '9007199254740993']
  play(async answer => {
    answer.stream()
    for (const id of ids) answer.event(`{"jsonrpc":"2.0","id":${id},"method":"roots/list"}`)
    await until(() => server.of('answer').length === ids.length)
    answer.done(RESULT)
  })
  const sink = new Collected(({id}) => void upstream.answer(id, {result: '{"roots":[]}'}))
  await call({sink})
  expect(
    server
      .of('answer')
      .map(({body}) => /"id":([^,]+),/.exec(body)![1])
      .toSorted(),
  ).toEqual(ids.toSorted())
})

test('cookies of an upstream are not kept', async () => {
  play(answer => answer.headers({'set-cookie': 'a=b'}).result(RESULT))
  await call()
  await call()
  expect(server.requests.every(({headers}) => headers.cookie === undefined)).toBe(true)
})
