import {expect, test} from 'vitest'
import {readProxies} from '../../../src/base/egress/proxy.ts'
import {CALLER, egress, get, serve, serveProxy, serveSecure, serveSilence} from './harness.ts'

const NAME = 'models.example'
const place = (hostname: string, port = 443, secure = true) => ({
  hostname,
  port,
  secure,
  origin: '',
  basePath: '',
  trust: 'public' as const,
  key: '',
})
const via = (proxy: {port: number}, no_proxy: string[] = []) => {
  const url = `http://user:p%40ss@127.0.0.1:${proxy.port}`
  return readProxies({HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: no_proxy})
}

test('the judged address is what the proxy is asked for, and TLS is with the name', async () => {
  const upstream = await serveSecure()
  const proxy = await serveProxy(upstream.port)
  const way = egress([], {[NAME]: ['93.184.216.34']}, {proxies: via(proxy)})
  expect((await get(way, way.destination(`https://${NAME}/v1`, CALLER))).body).toBe('hello')
  const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
  expect(proxy.asked).toEqual([{target: '93.184.216.34:443', authorization}])
  expect(upstream.requests).toEqual([{method: 'GET', url: '/', host: NAME}])
  expect(way.asked).toEqual([NAME])
})

test('plain http goes through a tunnel as well', async () => {
  const upstream = await serve()
  const proxy = await serveProxy(upstream.port)
  const way = egress([], {[NAME]: ['2606:4700::1111']}, {proxies: via(proxy)})
  expect((await get(way, way.destination(`http://${NAME}:8080`, CALLER))).body).toBe('hello')
  expect(proxy.asked.map(({target}) => target)).toEqual(['[2606:4700::1111]:8080'])
})

test('a certificate for another name is refused through a proxy, too', async () => {
  const upstream = await serveSecure()
  const proxy = await serveProxy(upstream.port)
  const way = egress([], {'other.example': ['93.184.216.34']}, {proxies: via(proxy)})
  await expect(get(way, way.destination('https://other.example', CALLER))).rejects.toMatchObject({
    reason: /another host name/,
  })
  expect(upstream.requests).toEqual([])
})

test.each(['10.0.0.1', '169.254.169.254', '::ffff:10.0.0.1', '127.0.0.1'])(
  'a name that leads to %s never reaches the proxy',
  async address => {
    const upstream = await serve()
    const proxy = await serveProxy(upstream.port)
    const way = egress([], {[NAME]: [address]}, {proxies: via(proxy)})
    await expect(get(way, way.destination(`http://${NAME}`, CALLER))).rejects.toMatchObject({kind: 'blocked'})
    expect(proxy.sockets).toHaveLength(0)
  },
)

test('the next address is tried when the proxy cannot reach one', async () => {
  const upstream = await serve()
  const proxy = await serveProxy(upstream.port, target => (target.startsWith('[') ? 502 : 200))
  const way = egress([], {[NAME]: ['2606:4700::1111', '93.184.216.34']}, {proxies: via(proxy)})
  expect((await get(way, way.destination(`http://${NAME}`, CALLER))).status).toBe(200)
  expect(proxy.asked.map(({target}) => target)).toEqual(['[2606:4700::1111]:80', '93.184.216.34:80'])
})

test('a proxy that refuses, or is not there, is named without its address or password', async () => {
  const proxy = await serveProxy(1, () => 407)
  const refusing = egress([], {[NAME]: ['93.184.216.34']}, {proxies: via(proxy)})
  await expect(get(refusing, refusing.destination(`http://${NAME}`, CALLER))).rejects.toMatchObject({
    reason: 'the forward proxy answered 407',
  })
  const gone = egress(
    [],
    {[NAME]: ['93.184.216.34']},
    {proxies: readProxies({HTTP_PROXY: `http://user:secret@127.0.0.9:${proxy.port}`})},
  )
  await expect(get(gone, gone.destination(`http://${NAME}`, CALLER))).rejects.toMatchObject({
    reason: 'the forward proxy could not be reached',
  })
})

test('the time to connect holds for a proxy that says nothing', async () => {
  const way = egress([], {[NAME]: ['93.184.216.34']}, {proxies: via(await serveSilence()), connect_timeout_ms: 40})
  await expect(get(way, way.destination(`http://${NAME}`, CALLER))).rejects.toMatchObject({
    reason: 'no connection within 40 ms',
  })
})

test('a proxy may itself speak TLS, and its certificate is checked', async () => {
  const upstream = await serveSecure()
  const proxy = await serveProxy(upstream.port, () => 200, true)
  const proxies = readProxies({HTTPS_PROXY: `https://127.0.0.1:${proxy.port}`})
  const names = {[NAME]: ['93.184.216.34']}
  const way = egress([], names, {proxies})
  const place = way.destination(`https://${NAME}`, CALLER)
  expect((await get(way, place)).body).toBe('hello')
  expect(proxy.asked).toEqual([{target: '93.184.216.34:443', authorization: undefined}])
  await expect(get(egress([], names, {proxies, tls: {}}), place)).rejects.toMatchObject({
    reason: 'the forward proxy could not be reached',
  })
})

test('a proxy that reaches none of the addresses makes the provider unreachable', async () => {
  const proxy = await serveProxy(1, () => 503)
  const way = egress(
    [],
    {[NAME]: ['93.184.216.34', '2606:4700::1', '2606:4700::2', '2606:4700::3']},
    {proxies: via(proxy)},
  )
  await expect(get(way, way.destination(`http://${NAME}`, CALLER))).rejects.toMatchObject({
    reason: 'the forward proxy could not reach it',
  })
  expect(proxy.asked).toHaveLength(3)
})

test('NO_PROXY and loopback are reached directly', async () => {
  const upstream = await serve()
  const proxy = await serveProxy(upstream.port)
  const way = egress([NAME, '127.0.0.1'], {[NAME]: ['127.0.0.1']}, {proxies: via(proxy)})
  expect((await get(way, way.destination(`http://${NAME}:${upstream.port}`, CALLER))).status).toBe(200)
  expect((await get(way, way.destination(`http://127.0.0.1:${upstream.port}`, CALLER))).status).toBe(200)
  expect(proxy.sockets).toHaveLength(0)
})

test('the entries of NO_PROXY', () => {
  const entries = [
    'a.example',
    '.b.example',
    '*.c.example',
    '10.0.0.0/8',
    '192.0.2.1',
    '[fd00::1]',
    'd.example:8443',
    '169.254.169.254',
    '',
  ]
  const choose = readProxies({HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: entries})
  const direct = (hostname: string, port?: number, addresses: string[] = []) =>
    choose(place(hostname, port), addresses) === null
  for (const host of [
    'a.example',
    'x.a.example',
    'b.example',
    'x.b.example',
    'x.c.example',
    '10.1.1.1',
    '192.0.2.1',
    'fd00::1',
    'localhost',
    'x.localhost',
    '127.0.0.5',
    '::1',
  ]) {
    expect([host, direct(host)]).toEqual([host, true])
  }
  for (const host of ['xa.example', 'example', 'd.example', '11.1.1.1', '192.0.2.2', 'fd00::2'])
    expect([host, direct(host)]).toEqual([host, false])
  expect(direct('d.example', 8443)).toBe(true)
  expect(direct('x.example', 443, ['10.2.3.4'])).toBe(true)
  expect(readProxies({HTTPS_PROXY: 'http://proxy.example', NO_PROXY: ['*']})(place('x.example'), [])).toBeNull()
})

test('each scheme has its own proxy', () => {
  const choose = readProxies({HTTP_PROXY: 'http://one.example:3128', HTTPS_PROXY: 'https://two.example'})
  expect(choose(place('x.example', 80, false), [])).toEqual({
    secure: false,
    hostname: 'one.example',
    port: 3128,
    authorization: null,
  })
  expect(choose(place('x.example'), [])).toEqual({
    secure: true,
    hostname: 'two.example',
    port: 443,
    authorization: null,
  })
  expect(readProxies({})(place('x.example'), [])).toBeNull()
})

test('settings that cannot be read are named, and the password is not shown', () => {
  for (const text of ['proxy.example:3128', 'socks5://user:secret@proxy.example', 'http://', '::']) {
    expect(() => readProxies({HTTPS_PROXY: text})).toThrow(
      /^HTTPS_PROXY is not a URL such as http:\/\/proxy.example.com:3128.$/,
    )
  }
  expect(() => readProxies({NO_PROXY: ['a b']})).toThrow(/^NO_PROXY: "a b" is not/)
})
