import {maxHeaderSize} from 'node:http'
import type {Socket} from 'node:net'
import {setImmediate as turn} from 'node:timers/promises'
import {expect, test} from 'vitest'
import {refusalOf} from '../../../../src/base/egress/faults.ts'
import {ConnectionPool} from '../../../../src/base/egress/http1/pool.ts'
import {codeOf, LATIN1, poolTo, serveText, tell, Wire, wired} from './dispatched.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const many = (letters: string) => letters.repeat(maxHeaderSize)

test.each([
  ['another protocol', 'SSH-2.0-x\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['HTTP/0.9', '<html>hello</html>'],
  ['a version of two digits', 'HTTP/1.10 200 OK\r\n\r\n'],
  ['no status', 'HTTP/1.1\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['a status line without CR', 'HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n'],
  ['a line without LF', 'HTTP/1.1 200 OK\rcontent-length: 0\r\n\r\n'],
  ['a name that is no token', `${OK}a(b): c\r\n\r\n`],
  ['space before the colon', `${OK}content-length : 0\r\n\r\n`],
  ['no name', `${OK}: x\r\n\r\n`],
  ['no colon', `${OK}hello\r\n\r\n`],
  ['CR in a value', `${OK}a: b\rc\r\n\r\n`],
  ['LF in a value', `${OK}a: b\nc: d\r\n\r\n`],
  ['NUL in a value', `${OK}a: b\0c\r\n\r\n`],
  ['DEL in a value', `${OK}a: b\x7fc\r\n\r\n`],
  ['a folded value', `${OK}a: b\r\n c\r\n\r\n`],
  ['a first line that is folded', `${OK} a: b\r\n\r\n`],
  ['an empty content-length', `${OK}content-length: \r\n\r\n`],
  ['a signed content-length', `${OK}content-length: +5\r\n\r\nhello`],
  ['a content-length in hex', `${OK}content-length: 0x5\r\n\r\nhello`],
  ['a list of content-lengths', `${OK}content-length: 5, 5\r\n\r\nhello`],
  ['two content-lengths', `${OK}content-length: 5\r\ncontent-length: 5\r\n\r\nhello`],
  ['a content-length that no number holds', `${OK}content-length: 99999999999999999999\r\n\r\n`],
  ['both lengths', `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['both lengths the other way round', `${OK}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n`],
  ['another transfer-encoding', `${OK}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['chunked twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunked not last', `${OK}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
  ['no chunk size', `${CHUNKED}\r\n\r\n`],
  ['a chunk size that is no number', `${CHUNKED}x\r\n\r\n`],
  ['a signed chunk size', `${CHUNKED}+5\r\nhello\r\n0\r\n\r\n`],
  ['a chunk size with 0x', `${CHUNKED}0x5\r\nhello\r\n0\r\n\r\n`],
  ['space behind a chunk size', `${CHUNKED}5 \r\nhello\r\n0\r\n\r\n`],
  ['a chunk size that no number holds', `${CHUNKED}ffffffffffffffff\r\n`],
  ['a chunk size without CR', `${CHUNKED}5\nhello\r\n0\r\n\r\n`],
  ['a chunk that is longer than its size', `${CHUNKED}4\r\nhello\r\n0\r\n\r\n`],
  ['a chunk that ends without CR', `${CHUNKED}5\r\nhello\n0\r\n\r\n`],
  ['an extension with a line in it', `${CHUNKED}5;a=b\nc\r\nhello\r\n0\r\n\r\n`],
  ['an extension that is none', `${CHUNKED}5;"a"\r\nhello\r\n0\r\n\r\n`],
  ['a trailer that is none', `${CHUNKED}0\r\nhello\r\n\r\n`],
  ['a trailer with a line in it', `${CHUNKED}0\r\na: b\nc: d\r\n\r\n`],
  ['news without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17)],
  ['another protocol that was not asked for', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
  ['101 without a word', `HTTP/1.1 101 Switching\r\n\r\n${OK}content-length: 0\r\n\r\n`],
  ['a head without end', `${OK}${'a: b\r\n'.repeat(maxHeaderSize)}`],
  ['a reason without end', `HTTP/1.1 200 ${many('hello')}`],
  ['a value too long', `${OK}a: ${many('b')}\r\n\r\n`],
  ['a name too long', `${OK}${many('a')}: b\r\n\r\n`],
  ['an extension too long', `${CHUNKED}5;a=${many('b')}\r\nhello\r\n0\r\n\r\n`],
  ['trailers too long', `${CHUNKED}0\r\n${'a: b\r\n'.repeat(maxHeaderSize)}\r\n`],
])('%s ends the call and the line', async (_, said) => {
  const {pool, wire, wires} = wired()
  const call = tell(pool)
  const there = await wire(0)
  there.push(Buffer.from(said, LATIN1))
  const {end, body} = await call
  expect(refusalOf(end, 'x')).toMatchObject({code: 'upstream.bad_reply', status: 502})
  expect('hello').toContain(body)
  expect(there.destroyed).toBe(true)
  const next = tell(pool)
  const other = await wire(1)
  other.push(`${OK}content-length: 2\r\n\r\nok`)
  expect(await next).toMatchObject({body: 'ok', end: 'whole'})
  expect(wires).toHaveLength(2)
})

test.each([
  ['before a head', '', 'UND_ERR_SOCKET'],
  ['in a head', OK, 'UND_ERR_SOCKET'],
  ['in a body that is counted', `${OK}content-length: 5\r\n\r\nhell`, 'UND_ERR_SOCKET'],
  [
    'in the last such body',
    `${OK}connection: close\r\ncontent-length: 5\r\n\r\nhell`,
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  ],
  ['in chunks', `${CHUNKED}5\r\nhello\r\n`, 'UND_ERR_SOCKET'],
  [
    'in the last chunks',
    `${OK}connection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    'HPE_INVALID_EOF_STATE',
  ],
  ['before the last line', `${CHUNKED}5\r\nhello\r\n0\r\n`, 'UND_ERR_SOCKET'],
])('a connection that ends %s is broken', async (_, said, code) => {
  const {port} = await serveText(socket => socket.end(said))
  for (const is_lent of [true, false]) expect(codeOf(await tell(poolTo(port, is_lent)))).toBe(code)
})

test('a head may come to 16 KiB of names and values', async () => {
  const name = 'x-long'
  const value = 'v'.repeat(maxHeaderSize - name.length - 'content-length0'.length - 1)
  const {port} = await serveText(socket => socket.write(`${OK}${name}: ${value}\r\ncontent-length: 0\r\n\r\n`))
  expect((await tell(poolTo(port))).heads).toMatchObject([{headers: {[name]: value}}])
})

test('who speaks before it is asked is not asked', async () => {
  const wire = new Wire()
  wire.push(`${OK}content-length: 0\r\n\r\n`)
  const pool = new ConnectionPool({
    host: 'models.example',
    connections: 1,
    waiting_calls: 0,
    dial: async () => wire as unknown as Socket,
  })
  expect(codeOf(await tell(pool))).toBe('UND_ERR_SOCKET')
  expect([wire.written, wire.destroyed, pool.live]).toEqual(['', true, 0])
})

test('what follows an answer is not the answer to the next call', async () => {
  const {pool, wire} = wired()
  const first = tell(pool)
  const there = await wire(0)
  there.push(`${OK}content-length: 2\r\n\r\nok${OK}content-length: 4\r\n\r\nevil`)
  expect(await first).toMatchObject({body: 'ok', end: 'whole'})
  expect(there.destroyed).toBe(true)
})

test('neither is what comes while the line rests, also in the turn in which the next call is made', async () => {
  const {pool, wire, wires} = wired()
  const first = tell(pool)
  const there = await wire(0)
  there.push(`${OK}content-length: 2\r\n\r\nok`)
  await first
  const second = tell(pool)
  there.push(`${OK}content-length: 4\r\n\r\nevil`)
  const other = await wire(1)
  other.push(`${OK}content-length: 4\r\n\r\ngood`)
  expect(await second).toMatchObject({body: 'good', end: 'whole'})
  expect([wires[0]!.destroyed, wires.length]).toEqual([true, 2])
})

test.each([
  ['it has two content-lengths', `${OK}content-length: 5\r\ncontent-length: 5\r\n\r\nhello`],
  ['its content-length is not a number', `${OK}content-length: 0x5\r\n\r\nhello`],
  ['it does not begin with HTTP/1', 'SSH-2.0-x\r\n\r\n'],
  ['its head is too long', `${OK}a: ${many('b')}\r\n\r\n`],
  ['a chunk of it has a malformed size', `${CHUNKED}x\r\nhello\r\n0\r\n\r\n`],
  ['a chunk of it does not end where it says', `${CHUNKED}4\r\nhello\r\n0\r\n\r\n`],
  [
    'it changes to a protocol that nobody asked for',
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
  ],
  ['too many replies of status 1xx come before it', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17)],
])('a broken reply is told as what was wrong: %s', async (reason, said) => {
  const {pool, wire} = wired()
  const call = tell(pool)
  ;(await wire(0)).push(Buffer.from(said, LATIN1))
  const refusal = refusalOf((await call).end, 'x', true)
  expect(refusal.message).toBe(`Invalid response received from x: ${reason}.`)
})

test.each([
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 100 Continue\r\nconnection: keep-alive\r\ncontent-length: 3\r\n\r\n',
])('a 100 that was not asked for is passed over, and the line is kept: %j', async news => {
  const {pool, wire, wires} = wired()
  for (const [at, body] of ['one', 'two'].entries()) {
    const call = tell(pool)
    const there = await wire(0)
    while (there.written.split('\r\n\r\n').length < at + 2) await turn()
    there.push(`${news}${news}${OK}content-length: 3\r\n\r\n${body}`)
    expect(await call).toMatchObject({heads: [{status: 200}], body, end: 'whole'})
  }
  expect(wires).toHaveLength(1)
})
