import {Readable} from 'node:stream'
import fc from 'fast-check'
import {type Dispatcher, Pool} from 'undici'
import {expect, onTestFinished, test} from 'vitest'
import {type Asked, codeOf, poolTo, serveText, tell, wired} from './dispatched.ts'

const DONE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

test.each([
  ['CR in a value', {headers: {a: 'b\rc'}}],
  ['LF in a value', {headers: {a: 'b\nc'}}],
  ['CRLF in a value of several', {headers: {a: ['b', 'c\r\nd: e']}}],
  ['NUL in a value', {headers: {a: 'b\0'}}],
  ['a letter that is not latin1', {headers: {a: 'b\u{100}'}}],
  ['an object as value', {headers: {a: {} as string}}],
  ['a name that is no token', {headers: {'a b': 'c'}}],
  ['a name with a line in it', {headers: {'a\r\nb': 'c'}}],
  ['an empty name', {headers: {'': 'c'}}],
  ['CRLF in the host', {headers: {host: 'a\r\nb: c'}}],
  ['two hosts', {headers: ['host', 'a', 'Host', 'b']}],
  ['a transfer-encoding', {headers: {'Transfer-Encoding': 'chunked'}}],
  ['a keep-alive', {headers: {'keep-alive': 'timeout=5'}}],
  ['an upgrade among the headers', {headers: {upgrade: 'h2c'}}],
  ['a content-length that is no number', {headers: {'content-length': '1a'}}],
  ['a connection that is no list', {headers: {connection: 'a b'}}],
  ['an odd number of headers', {headers: ['a']}],
  ['a path with a space', {path: '/a b'}],
  ['a path with a line in it', {path: '/a\r\nb: c'}],
  ['a path that is not absolute', {path: 'a'}],
  ['a letter in a path that is not latin1', {path: '/\u{100}'}],
  ['a method with a line in it', {method: 'GET / HTTP/1.1\r\n\r\nGET' as 'GET'}],
  ['an empty method', {method: '' as 'GET'}],
  ['an upgrade with a line in it', {upgrade: 'a\r\nb: c'}],
  ['a body that is none', {body: 7 as unknown as string}],
])('%s never leaves', async (_, asked) => {
  const {pool, wires} = wired()
  expect(codeOf(await tell(pool, asked as Asked))).toBe('UND_ERR_INVALID_ARG')
  expect([wires.length, pool.live]).toEqual([0, 0])
})

test('an expectation is not supported, nor is a length other than the body has', async () => {
  const {pool} = wired()
  expect(codeOf(await tell(pool, {headers: {expect: '100-continue'}}))).toBe('UND_ERR_NOT_SUPPORTED')
  expect(codeOf(await tell(pool, {method: 'CONNECT'}))).toBe('UND_ERR_NOT_SUPPORTED')
  expect(codeOf(await tell(pool, {method: 'POST', body: 'hello', headers: {'content-length': '4'}}))).toBe(
    'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  )
})

/** What reaches a server through our pool, and through undici's. */
async function besideUndici() {
  const got: string[] = []
  const {port} = await serveText((socket, request) => {
    got.push(request)
    socket.end(DONE)
  })
  const theirs = new Pool(`http://127.0.0.1:${port}`)
  onTestFinished(() => theirs.destroy())
  const ours = poolTo(port)
  return async (ask: () => Asked) => {
    for (const pool of [ours, theirs] as Dispatcher[]) expect((await tell(pool, ask())).end).toBe('whole')
    return got.splice(0)
  }
}

const name = fc.oneof(
  fc.constantFrom('content-type', 'Authorization', 'x-api-key', 'accept', 'User-Agent'),
  fc.stringMatching(/^x-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,8}$/),
)
const value = fc.oneof(
  fc.stringMatching(/^[\t -~\u0080-\u00ff]{0,12}$/),
  fc.constantFrom(null, undefined, 7, ['a', 'b'], []),
)
const length = fc.constantFrom(0, 1, 10, 3000, 3073, 70_000)
const asked = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS') as fc.Arbitrary<'GET'>,
  path: fc.stringMatching(/^\/[!-~\u00a1-\u00ff]{0,12}$/),
  headers: fc.array(fc.tuple(name, value), {maxLength: 5}),
  host: fc.constantFrom({}, {host: 'other.example'}, {connection: 'close'}, {connection: 'Keep-Alive'}),
})
const pieces = fc.array(
  fc.tuple(length, fc.constantFrom('a', 'é')).map(([count, letter]) => letter.repeat(count)),
  {maxLength: 3},
)
const shape = fc.constantFrom('none', 'text', 'bytes', 'array', 'stream', 'generator', 'counted')

function bodyOf(kind: string, parts: readonly string[]): Pick<Asked, 'body' | 'headers'> {
  const whole = Buffer.from(parts.join(''))
  if (kind === 'none') return {}
  if (kind === 'text') return {body: parts.join('')}
  if (kind === 'bytes') return {body: whole}
  if (kind === 'array') return {body: new Uint8Array(whole)}
  if (kind === 'stream') return {body: Readable.from(parts.map(part => Buffer.from(part)))}
  if (kind === 'counted')
    return {
      body: Readable.from(parts.map(part => Buffer.from(part))),
      headers: {'content-length': String(whole.length)},
    }
  async function* generate() {
    for (const part of parts) yield Buffer.from(part)
  }
  return {body: generate() as unknown as Readable}
}

test('the bytes that leave are those that undici sends', async () => {
  const ask = await besideUndici()
  await fc.assert(
    fc.asyncProperty(asked, shape, pieces, async ({method, path, headers, host}, kind, parts) => {
      const has_body = ['POST', 'PUT', 'PATCH'].includes(method)
      const [ours, theirs] = await ask(() => {
        const {body = null, headers: more} = has_body ? bodyOf(kind, parts) : {}
        const said = {...Object.fromEntries(headers), ...host, ...(more as Record<string, string>)} as Record<
          string,
          string
        >
        return {method, path, headers: said, body}
      })
      expect(ours).toBe(theirs)
    }),
    {numRuns: 300},
  )
}, 60_000)

test.each([
  ['longer', ['hello', '!'], 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'],
  ['shorter', ['hell'], 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'],
])('a body in pieces that is %s than it was to be ends the call', async (_, parts, code) => {
  const {pool} = wired()
  expect(
    codeOf(
      await tell(pool, {
        method: 'POST',
        headers: {'content-length': '5'},
        body: Readable.from(parts.map(part => Buffer.from(part))),
      }),
    ),
  ).toBe(code)
  expect(pool.live).toBe(0)
})

test('a body that fails is why its call does, whenever it fails', async () => {
  const failing = new Readable({read() {}})
  const {pool, wires} = wired()
  const call = tell(pool, {method: 'POST', body: failing})
  failing.push('hello')
  while (!wires[0]?.written.includes('hello')) await new Promise(resolve => setImmediate(resolve))
  failing.destroy(new Error('the disk is gone'))
  expect(codeOf(await call)).toBe('the disk is gone')
  expect(wires[0]!.destroyed).toBe(true)
  const failed = new Readable({read() {}})
  failed.destroy(new Error('it was never there'))
  expect(codeOf(await tell(pool, {method: 'POST', body: failed}))).toBe('it was never there')
})

test('an answer that does not wait for the body ends the line, and the body', async () => {
  const body = new Readable({read() {}})
  const {pool, wires} = wired()
  const call = tell(pool, {method: 'POST', body})
  body.push('hello')
  while (!wires[0]?.written.includes('hello')) await new Promise(resolve => setImmediate(resolve))
  wires[0]!.push('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n')
  expect(await call).toMatchObject({heads: [{status: 413}], end: 'whole'})
  expect([wires[0]!.destroyed, body.destroyed]).toEqual([true, true])
})
