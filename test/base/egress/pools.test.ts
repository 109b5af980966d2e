import {once} from 'node:events'
import type {ServerResponse} from 'node:http'
import {setImmediate} from 'node:timers/promises'
import {expect, test} from 'vitest'
import {CALLER, dispatch, egress, get, serve, serveSilence} from './harness.ts'

/** A server that holds every reply until `release` is called. */
async function serveHeld() {
  const held: ServerResponse[] = []
  const upstream = await serve((_, reply) => void held.push(reply))
  const arrived = async (count: number) => {
    while (held.length < count) await setImmediate()
  }
  return {...upstream, arrived, release: () => held.splice(0).map(reply => reply.end('late'))}
}

const names = Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [`${name}.example`, ['127.0.0.1']]))

test('a pool is one object for one destination', async () => {
  const way = egress([], {})
  const one = way.destination('https://api.example.com/v1', CALLER)
  const two = way.destination('https://API.example.com:443/v2', CALLER)
  expect(way.pool(one)).toBe(way.pool(two))
  expect(way.pool(one)).not.toBe(way.pool(way.destination('http://api.example.com', CALLER)))
  expect(way.pool(one)).not.toBe(way.pool(way.destination('https://api.example.com', {kind: 'builtin'})))
})

test('workspaces share the pools of the catalogue and of integrations, and no others', () => {
  const way = egress(['models.lan'], {})
  const shared = (url: string, asker = CALLER as Parameters<typeof way.destination>[1]) => {
    const place = way.destination(url, asker)
    return way.pool(place, 'red') === way.pool(place, 'blue')
  }
  expect(shared('https://api.example.com')).toBe(false)
  expect(shared('http://models.lan')).toBe(false)
  expect(shared('https://api.example.com', {kind: 'builtin'})).toBe(true)
  expect(shared('http://models.lan', {kind: 'integration', id: 'i1', host: 'models.lan'})).toBe(true)
})

test('a call beyond the sockets and the places to wait is refused, and room comes back', async () => {
  const upstream = await serveHeld()
  const way = egress(['*.example'], names, {connections: 1, waiting_calls: 2})
  const pool = way.pool(way.destination(`http://a.example:${upstream.port}`, CALLER))
  const calls = [dispatch(pool), dispatch(pool), dispatch(pool)]
  const refused = dispatch(pool)
  expect(refused.accepted).toBe(false)
  await expect(refused.ended).rejects.toMatchObject({kind: 'queue_full'})
  for (const count of [1, 1, 1]) {
    await upstream.arrived(count)
    upstream.release()
  }
  expect(await Promise.all(calls.map(call => call.ended))).toEqual([200, 200, 200])
  expect(upstream.sockets).toHaveLength(1)
  const again = dispatch(pool)
  await upstream.arrived(1)
  upstream.release()
  expect(await again.ended).toBe(200)
})

test('calls that fail give their places back', async () => {
  const way = egress([], {}, {connections: 1, waiting_calls: 1})
  const pool = way.pool(way.destination('http://lost.example', CALLER))
  for (let round = 0; round < 5; round++) {
    const calls = [dispatch(pool), dispatch(pool)]
    for (const call of calls)
      await expect(call.ended).rejects.toMatchObject({kind: 'unreachable', reason: 'its host name does not resolve'})
  }
})

test('calls that the client aborts give their places back', async () => {
  const upstream = await serveHeld()
  const way = egress(['*.example'], names, {connections: 1, waiting_calls: 0})
  const place = way.destination(`http://a.example:${upstream.port}`, CALLER)
  for (let round = 0; round < 3; round++) {
    const abort = new AbortController()
    const reply = way.pool(place).request({origin: place.origin, path: '/', method: 'GET', signal: abort.signal})
    await upstream.arrived(round + 1)
    abort.abort(new Error('gone'))
    await expect(reply).rejects.toThrow('gone')
  }
  expect(upstream.requests).toHaveLength(3)
})

test('the idle pool used longest ago makes room within its workspace', async () => {
  const way = egress(['*.example'], names, {custom_pools_per_workspace: 2})
  const place = (name: string) => way.destination(`http://${name}.example`, CALLER)
  const [a, b, other] = [way.pool(place('a'), 'red'), way.pool(place('b'), 'red'), way.pool(place('a'), 'blue')]
  way.pool(place('a'), 'red')
  way.pool(place('c'), 'red')
  expect(way.pool(place('a'), 'red')).toBe(a)
  expect(way.pool(place('a'), 'blue')).toBe(other)
  expect(way.pool(place('b'), 'red')).not.toBe(b)
  expect(await dispatch(b).ended.catch(error => error.code)).toBe('UND_ERR_CLOSED')
})

test('pools of all workspaces together are bounded, too', () => {
  const way = egress([], {}, {custom_pools: 3})
  const place = way.destination('https://api.example.com', CALLER)
  const pools = ['1', '2', '3', '4'].map(workspace => way.pool(place, workspace))
  expect(way.pool(place, '4')).toBe(pools[3])
  expect(way.pool(place, '2')).toBe(pools[1])
  expect(way.pool(place, '1')).not.toBe(pools[0])
})

test('a pool with a live call is never closed for another; without an idle one the newcomer is refused', async () => {
  const upstream = await serveHeld()
  const way = egress(['*.example'], names, {custom_pools_per_workspace: 2})
  const place = (name: string) => way.destination(`http://${name}.example:${upstream.port}`, CALLER)
  const calls = ['a', 'b'].map(name => dispatch(way.pool(place(name), 'red')))
  await upstream.arrived(2)
  expect(() => way.pool(place('c'), 'red')).toThrow(expect.objectContaining({kind: 'queue_full'}))
  const elsewhere = dispatch(way.pool(place('c'), 'blue'))
  await upstream.arrived(3)
  upstream.release()
  expect(await Promise.all([...calls, elsewhere].map(call => call.ended))).toEqual([200, 200, 200])
  const late = dispatch(way.pool(place('c'), 'red'))
  await upstream.arrived(1)
  upstream.release()
  expect(await late.ended).toBe(200)
})

test('closing waits for live calls and takes no new ones', async () => {
  const upstream = await serveHeld()
  const way = egress(['*.example'], names)
  const place = way.destination(`http://a.example:${upstream.port}`, CALLER)
  const live = dispatch(way.pool(place))
  await upstream.arrived(1)
  const closed = way.close()
  await expect(dispatch(way.pool(place)).ended).rejects.toMatchObject({code: 'UND_ERR_CLOSED'})
  expect(() => way.pool(way.destination('http://b.example', CALLER))).toThrow(
    expect.objectContaining({code: 'draining'}),
  )
  upstream.release()
  expect(await live.ended).toBe(200)
  await closed
})

test('destroying ends live calls, waiting ones and sockets on their way', async () => {
  const [upstream, silent] = await Promise.all([serveHeld(), serveSilence()])
  const way = egress(['*.example'], names, {connections: 1, connect_timeout_ms: 600_000})
  const place = way.destination(`http://a.example:${upstream.port}`, CALLER)
  const unanswered = way.destination(`https://b.example:${silent.port}`, CALLER)
  const calls = [dispatch(way.pool(place)), dispatch(way.pool(place)), dispatch(way.pool(unanswered))]
  await upstream.arrived(1)
  while (silent.sockets.length === 0) await setImmediate()
  await way.destroy()
  for (const call of calls) await expect(call.ended).rejects.toMatchObject({code: 'UND_ERR_DESTROYED'})
  await expect(get(way, place)).rejects.toMatchObject({code: 'UND_ERR_DESTROYED'})
  const socket = silent.sockets[0]!.resume()
  if (!socket.closed) await once(socket, 'close')
})

test('a call is counted out once, even when its handler throws at the end', async () => {
  const upstream = await serveHeld()
  const way = egress(['*.example'], names, {connections: 1, waiting_calls: 0})
  const pool = way.pool(way.destination(`http://a.example:${upstream.port}`, CALLER))
  const failed = dispatch(pool, () => {
    throw new Error('handler')
  })
  await upstream.arrived(1)
  upstream.release()
  await expect(failed.ended).rejects.toThrow('handler')
  const next = dispatch(pool)
  await expect(dispatch(pool).ended).rejects.toMatchObject({kind: 'queue_full'})
  await upstream.arrived(1)
  upstream.release()
  expect(await next.ended).toBe(200)
})

test('an upgraded call no longer counts as live', async () => {
  const upstream = await serveSilence()
  const way = egress(['*.example'], names, {connections: 1, waiting_calls: 0})
  const place = way.destination(`http://a.example:${upstream.port}`, CALLER)
  for (let round = 0; round < 2; round++) {
    const upgraded = way.pool(place).upgrade({path: '/', protocol: 'websocket'})
    while (upstream.sockets.length <= round) await setImmediate()
    upstream.sockets[round]!.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    )
    const {socket} = await upgraded
    socket.on('error', () => {}).destroy()
  }
  expect(upstream.sockets).toHaveLength(2)
})
