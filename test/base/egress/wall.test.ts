import {once} from 'node:events'
import {setImmediate} from 'node:timers/promises'
import {expect, test} from 'vitest'
import {EgressFault} from '../../../src/base/egress/faults.ts'
import type {Asker} from '../../../src/base/egress/target.ts'
import {CALLER, egress, get, serve, serveSecure, serveSilence} from './harness.ts'

const NAME = 'models.example'
const own = (host: string, id = 'i1'): Asker => ({kind: 'integration', id, host})
const blocked = (reason: RegExp) => expect.objectContaining({kind: 'blocked', reason: expect.stringMatching(reason)})
const unreachable = (reason: RegExp) =>
  expect.objectContaining({kind: 'unreachable', reason: expect.stringMatching(reason)})

test('a trusted name is looked up once and its address dialled, under its own name', async () => {
  const upstream = await serve()
  const way = egress([NAME], {[NAME]: ['127.0.0.1']})
  const place = way.destination(`http://${NAME}:${upstream.port}`, CALLER)
  expect(await get(way, place, {path: '/v1/models?a=%2F'})).toMatchObject({status: 200, body: 'hello'})
  await setImmediate() // undici frees a socket a moment after its reply has ended
  expect(await get(way, place)).toMatchObject({status: 200})
  expect(upstream.requests).toEqual([
    {method: 'GET', url: '/v1/models?a=%2F', host: `${NAME}:${upstream.port}`},
    {method: 'GET', url: '/', host: `${NAME}:${upstream.port}`},
  ])
  expect(way.asked).toEqual([NAME])
  expect(upstream.sockets).toHaveLength(1)
})

test.each(['127.0.0.1', '10.0.0.1', '::1', 'fd00::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '0.0.0.0', 'fe80::1'])(
  'a name of a stranger that leads to %s is blocked and nothing is dialled',
  async address => {
    const upstream = await serve()
    const way = egress([], {[NAME]: [address]})
    const place = way.destination(`http://${NAME}:${upstream.port}`, CALLER)
    await expect(get(way, place)).rejects.toEqual(blocked(/private or reserved/))
    expect(upstream.sockets).toHaveLength(0)
  },
)

test.each(['169.254.169.254', '::ffff:a9fe:a9fe', 'fd00:ec2::254', '100.100.100.200'])(
  'a name that leads to %s is blocked whoever trusts it',
  async address => {
    const way = egress([NAME, '0.0.0.0/0', '::/0'], {[NAME]: [address]})
    for (const asker of [CALLER, own(NAME), {kind: 'builtin'}] as const) {
      await expect(get(way, way.destination(`http://${NAME}:8080`, asker))).rejects.toEqual(blocked(/metadata/))
    }
  },
)

test('one refused address among several refuses them all', async () => {
  const upstream = await serve()
  const way = egress(['127.0.0.1'], {[NAME]: ['127.0.0.1', '10.0.0.1']})
  await expect(get(way, way.destination(`http://${NAME}:${upstream.port}`, CALLER))).rejects.toEqual(blocked(/private/))
  expect(upstream.sockets).toHaveLength(0)
})

test('an answer that changes is judged anew for every socket', async () => {
  const upstream = await serve((_, reply) => reply.writeHead(200, {connection: 'close'}).end('hello'))
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['169.254.169.254']]
  const way = egress(['127.0.0.1'], {[NAME]: () => answers.shift()!})
  const place = way.destination(`http://${NAME}:${upstream.port}`, CALLER)
  expect((await get(way, place)).status).toBe(200)
  await expect(get(way, place)).rejects.toEqual(blocked(/private/))
  await expect(get(way, place)).rejects.toEqual(blocked(/metadata/))
  expect(way.asked).toHaveLength(3)
  expect(upstream.sockets).toHaveLength(1)
})

test('an address as host is judged by the socket, too, and never looked up', async () => {
  const upstream = await serve()
  const way = egress([], {})
  const trusted = way.destination(`http://127.0.0.1:${upstream.port}`, own('127.0.0.1'))
  expect((await get(way, trusted)).body).toBe('hello')
  const forged = {...trusted, trust: 'public', key: 'forged'} as const
  await expect(get(way, forged)).rejects.toEqual(blocked(/private/))
  expect(way.asked).toEqual([])
  expect(upstream.sockets).toHaveLength(1)
})

test('an untrusted call never gets the open socket of a trusted one to the same origin', async () => {
  const upstream = await serve()
  const way = egress([], {[NAME]: ['127.0.0.1']})
  const url = `http://${NAME}:${upstream.port}`
  expect((await get(way, way.destination(url, own(NAME)))).status).toBe(200)
  await expect(get(way, way.destination(url, CALLER))).rejects.toEqual(blocked(/private/))
  expect((await get(way, way.destination(url, own(NAME, 'i2')))).status).toBe(200)
  expect((await get(way, way.destination(url, own(NAME)))).status).toBe(200)
  expect(upstream.sockets).toHaveLength(2)
})

test('the host of an integration opens no other name of the same address', async () => {
  const upstream = await serve()
  const way = egress([], {[NAME]: ['127.0.0.1'], 'other.example': ['127.0.0.1']})
  expect((await get(way, way.destination(`http://${NAME}:${upstream.port}`, own(NAME)))).status).toBe(200)
  await expect(get(way, way.destination(`http://other.example:${upstream.port}`, own(NAME)))).rejects.toEqual(
    blocked(/private/),
  )
})

test('a range in the trusted list counts for the names that lead into it', async () => {
  const upstream = await serve()
  const way = egress(['127.0.0.0/8'], {[NAME]: ['127.0.0.1']})
  const place = way.destination(`http://${NAME}:${upstream.port}`, CALLER)
  expect(place.trust).toBe('public')
  expect((await get(way, place)).status).toBe(200)
})

test('a host of the catalogue may have a private address, as private endpoints do', async () => {
  const upstream = await serve()
  const way = egress([], {[NAME]: ['127.0.0.1']})
  expect((await get(way, way.destination(`http://${NAME}:${upstream.port}`, {kind: 'builtin'}))).status).toBe(200)
})

test.each([301, 302, 303, 307, 308])('a redirect (%i) to a private host is a reply, not followed', async status => {
  const secret = await serve()
  const upstream = await serve((_, reply) =>
    reply.writeHead(status, {location: `http://127.0.0.1:${secret.port}/`}).end(),
  )
  const way = egress([NAME], {[NAME]: ['127.0.0.1']})
  const reply = await get(way, way.destination(`http://${NAME}:${upstream.port}`, CALLER))
  expect(reply).toMatchObject({status, headers: {location: `http://127.0.0.1:${secret.port}/`}})
  expect(secret.sockets).toHaveLength(0)
})

test('an address that refuses is passed over for the next', async () => {
  const upstream = await serve()
  const way = egress([NAME], {[NAME]: ['::1', '127.0.0.3', '127.0.0.1']})
  expect((await get(way, way.destination(`http://${NAME}:${upstream.port}`, CALLER))).body).toBe('hello')
})

test('the certificate must be for the name, whatever the address and the host header', async () => {
  const upstream = await serveSecure()
  const way = egress([NAME, 'other.example', '127.0.0.1'], {[NAME]: ['127.0.0.1'], 'other.example': ['127.0.0.1']})
  const url = (host: string) => `https://${host}:${upstream.port}`
  expect((await get(way, way.destination(url(NAME), CALLER))).body).toBe('hello')
  expect((await get(way, way.destination(url('127.0.0.1'), CALLER))).body).toBe('hello')
  const other = way.destination(url('other.example'), CALLER)
  await expect(get(way, other)).rejects.toEqual(unreachable(/another host name/))
  await expect(get(way, other, {headers: {host: NAME}})).rejects.toEqual(unreachable(/another host name/))
})

test('a certificate of an unknown authority is refused, unless checks are switched off', async () => {
  const upstream = await serveSecure()
  const names = {[NAME]: ['127.0.0.1']}
  const strict = egress([NAME], names, {tls: {}})
  const place = strict.destination(`https://${NAME}:${upstream.port}`, CALLER)
  await expect(get(strict, place)).rejects.toEqual(unreachable(/not signed by an authority/))
  expect(upstream.requests).toHaveLength(0)
  expect((await get(egress([NAME], names, {tls: {rejectUnauthorized: false}}), place)).status).toBe(200)
})

test('the time to connect holds for the lookup and for the TLS handshake, and the socket is closed', async () => {
  const silent = await serveSilence()
  const way = egress([NAME, 'lost.example'], {[NAME]: ['127.0.0.1']}, {connect_timeout_ms: 40})
  await expect(get(way, way.destination(`https://${NAME}:${silent.port}`, CALLER))).rejects.toEqual(
    unreachable(/^no connection within 40 ms$/),
  )
  const [socket] = silent.sockets
  if (!socket!.closed) await once(socket!.resume(), 'close')
  const stuck = egress([NAME], {}, {connect_timeout_ms: 40, lookup: () => new Promise(() => {})})
  await expect(get(stuck, stuck.destination(`http://${NAME}:8080`, CALLER))).rejects.toEqual(
    unreachable(/^no connection within 40 ms$/),
  )
})

test('what fails is said without an address', async () => {
  const gone = await serveSilence()
  const way = egress([NAME, 'plain.example', 'none.example'], {
    [NAME]: ['127.0.0.1'],
    'plain.example': ['127.0.0.9'],
    'none.example': [],
  })
  const plain = await serve()
  const faults: unknown[] = []
  for (const url of [
    `http://plain.example:${gone.port}`,
    'http://lost.example',
    'http://none.example',
    `https://${NAME}:${plain.port}`,
  ]) {
    faults.push(await get(way, way.destination(url, CALLER)).catch(error => error))
  }
  expect(faults.every(fault => fault instanceof EgressFault)).toBe(true)
  expect(faults.map(fault => (fault as EgressFault).reason)).toEqual([
    'the connection was refused',
    'its host name does not resolve',
    'its host name does not resolve',
    'the TLS handshake failed',
  ])
})

test('names wanted at the same time are looked up once', async () => {
  const upstream = await serve()
  const way = egress([NAME], {[NAME]: ['127.0.0.1']})
  const place = way.destination(`http://${NAME}:${upstream.port}`, CALLER)
  const replies = await Promise.all(Array.from({length: 20}, () => get(way, place)))
  expect(replies.map(({status}) => status)).toEqual(new Array(20).fill(200))
  expect(upstream.sockets.length).toBeGreaterThan(1)
  expect(way.asked).toEqual([NAME])
})
