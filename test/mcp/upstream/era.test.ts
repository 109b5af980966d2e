import {afterAll, afterEach, describe, expect, test} from 'vitest'
import {UnauthorisedFault} from '../../../src/mcp/upstream/faults.ts'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, type RawFixture, type Scripts} from '../../support/mcp/raw-server.ts'
import {openSse} from '../../support/mcp/sse-server.ts'
import {ask, callTool, faultIn, textIn, UpstreamTests} from '../../support/mcp/upstream.ts'

const tests = new UpstreamTests()
const servers: {close(): Promise<void>}[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(each => each.close()))
})
afterAll(() => tests.close())

async function raw(scripts: Scripts = {}): Promise<RawFixture> {
  const server = await openRaw(scripts)
  servers.push(server)
  return server
}

const DISCOVERED = {
  supportedVersions: ['2026-07-28'],
  capabilities: {tools: {}},
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'public',
  _meta: {'io.modelcontextprotocol/serverInfo': {name: 'raw', version: '9'}},
}
const PAGE = '<!doctype html><title>Welcome</title>'

test('18: the official servers of both eras are found by the probe', async () => {
  const [legacy, modern] = [await openLegacy(), await openModern()]
  servers.push(legacy, modern)
  expect((await tests.open(legacy.url)).finding).toEqual({era: 'legacy', transport: 'http', at_ms: 1_800_000_000_000})
  expect((await tests.open(modern.url)).finding).toMatchObject({era: 'modern', transport: 'http'})
  expect(legacy.requests.map(({message}) => message?.method).slice(0, 2)).toEqual(['server/discover', 'initialize'])
  expect(modern.requests).toHaveLength(1)
})

describe('the probe', () => {
  test.each<[string, Scripts, string]>([
    ['a result with a modern version', {'server/discover': answer => answer.result(DISCOVERED)}, 'modern'],
    [
      'the same on a stream',
      {'server/discover': answer => void answer.stream().write(': hi\r\n\r\n').done(DISCOVERED)},
      'modern',
    ],
    ['400 -32000', {}, 'legacy'],
    ['404', {'server/discover': answer => answer.status(404)}, 'legacy'],
    ['405', {'server/discover': answer => answer.status(405)}, 'legacy'],
    ['406', {'server/discover': answer => answer.status(406)}, 'legacy'],
    ['200 with an error', {'server/discover': answer => answer.refuse(200, -32601, 'Method not found')}, 'legacy'],
    ['a page', {'server/discover': answer => answer.status(200, PAGE, 'text/html')}, 'legacy'],
    [
      '-32022 with legacy versions alone',
      {'server/discover': answer => answer.refuse(400, -32022, 'no', {supported: ['2025-06-18']})},
      'legacy',
    ],
  ])('%s', async (_, scripts, era) => {
    const server = await raw(scripts)
    const {upstream, finding} = await tests.open(server.url)
    expect(finding).toMatchObject({era})
    expect(server.of('initialize')).toHaveLength(era === 'legacy' ? 1 : 0)
    expect(textIn(await callTool(upstream, 'x'))).toBe('usual')
  })

  test('-32022 that names a modern version that is spoken here is repeated once', async () => {
    const server = await raw({
      'server/discover': answer =>
        server.of('server/discover').length > 1
          ? answer.result(DISCOVERED)
          : answer.refuse(400, -32022, 'no', {supported: ['2030-01-01', '2026-07-28']}),
    })
    expect((await tests.open(server.url)).finding).toMatchObject({era: 'modern'})
    expect(server.of('server/discover')).toHaveLength(2)
  })

  test.each([
    [503, 'upstream_unreachable'],
    [500, 'upstream_unreachable'],
    [429, 'upstream_unreachable'],
  ])('33: %i is no verdict', async (status, reason) => {
    const server = await raw({'server/discover': answer => answer.status(status, 'later')})
    expect(await faultIn(tests.open(server.url))).toMatchObject({reason})
    expect(server.requests).toHaveLength(1)
  })

  test('a connection that is refused, and silence, are no verdict', async () => {
    const server = await raw({'server/discover': () => undefined})
    expect(await faultIn(tests.open(server.url, {timeout_ms: 60}))).toMatchObject({reason: 'upstream_timeout'})
    await server.close()
    expect(await faultIn(tests.open(server.url))).toMatchObject({reason: 'upstream_unreachable'})
    servers.length = 0
  })

  test('an open that is cancelled ends in an AbortError', async () => {
    const server = await raw({'server/discover': () => undefined})
    const gone = new AbortController()
    const open = tests.open(server.url, {signal: gone.signal})
    await expect.poll(() => server.requests).toHaveLength(1)
    gone.abort()
    expect((await faultIn(open)).name).toBe('AbortError')
  })
})

describe('a refusal of the credential', () => {
  test.each([
    [401, 'none'],
    [403, 'none'],
    [401, 'person'],
    [403, 'person'],
  ] as const)('34: %i to a probe with the credential %s is no era, and wants a sign-in', async (status, credential) => {
    const server = await raw({
      'server/discover': answer => answer.headers({'www-authenticate': 'Bearer resource_metadata="x"'}).status(status),
    })
    const fault = await faultIn(tests.open(server.url, {credential}))
    expect(fault).toBeInstanceOf(UnauthorisedFault)
    expect(fault).toMatchObject({status, www_authenticate: 'Bearer resource_metadata="x"'})
    expect(server.of('initialize')).toEqual([])
  })

  test.each([401, 403])(
    '65: a probe refused with %i and a standing credential is followed by one initialize',
    async status => {
      const server = await raw({'server/discover': answer => answer.status(status, '{"error":"method not allowed"}')})
      const headers = () => ({Authorization: 'Bearer good'})
      const {finding} = await tests.open(server.url, {credential: 'standing', headers})
      expect(finding).toMatchObject({era: 'legacy'})
      expect(server.of('initialize')).toHaveLength(1)
      expect(server.of('initialize')[0]!.headers.authorization).toBe('Bearer good')
      server.play({initialize: answer => answer.status(status)})
      expect(await faultIn(tests.open(server.url, {credential: 'standing', headers}))).toMatchObject({status})
      expect(server.of('GET')).toEqual([])
    },
  )
})

test('an upstream that was legacy and is modern now is found at the next handshake', async () => {
  const modern = await openModern()
  servers.push(modern)
  const {finding} = await tests.open(modern.url, {era: 'legacy'})
  expect(finding).toMatchObject({era: 'modern'})
})

test('33: a known era is not dated again by a handshake, so that the next probe comes', async () => {
  const [server, old] = [await raw(), await openSse()]
  servers.push(old)
  expect((await tests.open(server.url, {era: 'legacy'})).finding).toBeNull()
  expect((await tests.open(old.url, {known: {era: 'legacy', transport: 'sse'}})).finding).toBeNull()
  expect(old.requests[0]!.method).toBe('GET')
  expect((await tests.open(old.url, {era: 'legacy'})).finding).toMatchObject({era: 'legacy', transport: 'sse'})
  expect([...server.of('server/discover'), ...old.of('server/discover')]).toEqual([])
})

test.each([
  [{protocolVersion: '2031-01-01', capabilities: {}, serverInfo: {name: 'x', version: '1'}}, /2031-01-01/],
  [{capabilities: {}}, /no name/],
])('a handshake that chooses %j is refused', async (result, words) => {
  const server = await raw({initialize: answer => answer.result(result)})
  const fault = await faultIn(tests.open(server.url, {era: 'legacy'}))
  expect(fault).toMatchObject({reason: 'upstream_nonsense', message: expect.stringMatching(words)})
})

describe('HTTP+SSE of 2024', () => {
  test('is found where initialize is refused and the transport is not configured', async () => {
    const server = await openSse()
    servers.push(server)
    const {upstream, finding} = await tests.open(server.url)
    expect(finding).toMatchObject({era: 'legacy', transport: 'sse'})
    expect(upstream.session).toBeNull()
    expect(upstream.hello.protocol_version).toBe('2024-11-05')
    expect(textIn(await callTool(upstream, 'echo', {text: 'x'}))).toBe('x')
    expect(await faultIn(tests.open(server.url, {transport: 'http'}))).toMatchObject({reason: 'upstream_nonsense'})
  })

  test('is not probed where it is configured', async () => {
    const server = await openSse()
    servers.push(server)
    const {finding} = await tests.open(server.url, {transport: 'sse'})
    expect(finding).toMatchObject({transport: 'sse'})
    expect(server.requests[0]!.method).toBe('GET')
    expect(server.of('server/discover')).toEqual([])
  })
})

describe('81: a redirect', () => {
  test('of 307 within the origin is followed with body and credential, and remembered', async () => {
    const server = await raw()
    const odd = await openRaw({}, {path: '/mcp'})
    servers.push(odd)
    let redirects = 0
    const moved: Scripts = Object.fromEntries(
      ['server/discover', 'initialize', 'notifications/initialized', 'tools/call'].map(method => [
        method,
        (answer, seen) => {
          if (seen.path === '/mcp/') return method === 'server/discover' ? answer.result(DISCOVERED) : answer.result({})
          redirects++
          return answer.headers({location: '/mcp/'}).status(307)
        },
      ]),
    )
    odd.play(moved)
    const {upstream} = await tests.open(odd.url, {headers: () => ({authorization: 'Bearer mine'})})
    await callTool(upstream, 'x')
    await callTool(upstream, 'x')
    expect(redirects).toBe(1)
    expect(upstream.url).toBe(`${odd.origin}/mcp/`)
    expect(odd.requests.every(({headers}) => headers.authorization === 'Bearer mine')).toBe(true)
    expect(server.requests).toEqual([])
  })

  test.each([
    [301, (origin: string) => `${origin}/mcp/`],
    [302, (origin: string) => `${origin}/mcp/`],
    [307, (_: string, other: string) => `${other}/mcp`],
    [308, (_: string, other: string) => `${other}/mcp`],
    [307, (origin: string) => origin.replace('http:', 'https:')],
    [307, (origin: string) => origin.replace('//', '//user:pass@')],
    [307, () => 'http://169.254.169.254/latest'],
    [307, () => 'file:///etc/passwd'],
    [307, () => '/mcp'],
  ])('49: of %i to another place, or to itself, is not followed (%#)', async (status, to) => {
    const [server, other] = [await raw(), await raw()]
    server.play({
      'server/discover': answer => answer.headers({location: to(server.origin, other.origin)}).status(status),
    })
    expect(await faultIn(tests.open(server.url))).toMatchObject({reason: 'upstream_nonsense'})
    expect(server.requests).toHaveLength(1)
    expect(other.requests).toEqual([])
  })

  test('that leads to another is followed no further', async () => {
    const server = await raw({
      'server/discover': answer => answer.headers({location: `/x${server.requests.length}`}).status(307),
    })
    expect(await faultIn(tests.open(server.url))).toMatchObject({reason: 'upstream_nonsense'})
    expect(server.requests).toHaveLength(2)
  })
})

test('49: an address that the wall forbids is not called', async () => {
  for (const url of ['http://169.254.169.254/mcp', 'http://10.0.0.1/mcp', 'http://metadata.google.internal/mcp']) {
    const fault = await faultIn(tests.open(url))
    expect(fault).toMatchObject({reason: 'upstream_unreachable'})
  }
})

test('45: headers of the caller go with each request, and none of them replaces one of the protocol', async () => {
  let made = 0
  const headers = async () => ({
    'X-Team': `t${++made}`,
    'MCP-Session-Id': 'stolen',
    'Mcp-Protocol-Version': '1999-01-01',
    'Accept-Encoding': 'gzip',
    Accept: 'x/y',
    'Last-Event-ID': 'e1',
    'Content-Length': '1',
    Host: 'elsewhere',
  })
  const server = await raw()
  const {upstream} = await tests.open(server.url, {era: 'legacy', headers})
  await ask(upstream, 'tools/list')
  const [first, , last] = server.requests
  expect(first!.headers).not.toHaveProperty('mcp-session-id')
  expect(first!.headers).not.toHaveProperty('mcp-protocol-version')
  expect(last!.headers).toMatchObject({
    'x-team': 't3',
    'mcp-session-id': 'raw-1',
    'mcp-protocol-version': '2025-11-25',
    'accept-encoding': 'identity',
    accept: 'application/json, text/event-stream',
    host: server.origin.slice(7),
  })
})
