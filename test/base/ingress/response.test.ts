import type {Socket} from 'node:net'
import {Writable} from 'node:stream'
import {expect, test} from 'vitest'
import {FastResponse} from '../../../src/base/ingress/response.ts'

/** An answer in chunks whose head has left, and what leaves behind that: write by write. */
function chunked() {
  const writes: Buffer[] = []
  const socket = new Writable({
    decodeStrings: true,
    write(bytes: Buffer, _encoding, done) {
      writes.push(bytes)
      done()
    },
  })
  const response = new FastResponse(socket as unknown as Socket, null, () => undefined)
  response.writeHead(200, ['content-type', 'text/event-stream'])
  response.flushHeaders()
  writes.length = 0
  return {response, writes, text: () => Buffer.concat(writes).toString('latin1')}
}

test.each([
  ['bytes', Buffer.from([0, 128, 255])],
  ['a text of bytes', '\u0000\u0080\u00ff'],
])('the last chunk, given as %s, and the end of an answer in chunks are one write', (_, last) => {
  const {response, writes, text} = chunked()
  response.end(last, 'latin1')
  expect(text()).toBe('3\r\n\u0000\u0080\u00ff\r\n0\r\n\r\n')
  expect(writes).toHaveLength(1)
})

test('an end behind the last chunk has none of its own, and a text in UTF-8 has the length of its bytes', () => {
  const empty = chunked()
  empty.response.end('', 'latin1')
  expect(empty.text()).toBe('0\r\n\r\n')
  const written = chunked()
  written.response.end('é', 'utf8')
  expect(written.text()).toBe(`2\r\n${Buffer.from('é').toString('latin1')}\r\n0\r\n\r\n`)
})

test('a long last chunk leaves whole', () => {
  const {response, text} = chunked()
  const long = Buffer.alloc(100_000, 'x')
  response.end(long, 'latin1')
  expect(text()).toBe(`${long.length.toString(16)}\r\n${long.toString('latin1')}\r\n0\r\n\r\n`)
})

test('a head that has not left goes before them', () => {
  const writes: string[] = []
  const socket = new Writable({
    write(bytes: Buffer, _encoding, done) {
      writes.push(bytes.toString('latin1'))
      done()
    },
  })
  const response = new FastResponse(socket as unknown as Socket, null, () => undefined)
  response.writeHead(200, [])
  response.end(Buffer.from('ok'), 'latin1')
  expect(writes).toHaveLength(1)
  expect(writes[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n$/)
})
