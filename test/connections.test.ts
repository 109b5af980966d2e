import {execFile, execFileSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {createServer} from 'node:http'
import {type AddressInfo, Socket} from 'node:net'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest'
import {openGovernor} from '../src/app/connections.ts'
import {readSettings} from '../src/settings/index.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from './support/gateway.ts'
import {dial} from './support/raw.ts'
import {RING} from './support/ring.ts'

const run = promisify(execFile)
const CHAT = JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'Hello'}]})
const KEYS = `x-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: @demo\r\n`
const portOf = (url: string) => Number(new URL(url).port)

describe('slow clients', () => {
  const LIMIT_MS = 400
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({
      CLIENT_HEAD_TIMEOUT_MS: String(LIMIT_MS),
      CLIENT_BODY_IDLE_TIMEOUT_MS: String(LIMIT_MS),
    })
  })
  afterAll(() => gateway.close())

  const form =
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper\r\n--b\r\nContent-Disposition: form-data; name="file"'
  const cases: Record<string, readonly [says: string, hears: RegExp]> = {
    'half a head': [
      'POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n',
      /408 [\s\S]*connection: close[\s\S]*CLIENT_HEAD_TIMEOUT_MS/i,
    ],
    'half a chat': [
      `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"mod`,
      /408 [\s\S]*connection: close[\s\S]*"type":"timeout_error"/i,
    ],
    'half a chat in chunks': [
      `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"mod\r\n`,
      /408 [\s\S]*connection: close[\s\S]*CLIENT_BODY_IDLE_TIMEOUT_MS/i,
    ],
    'half a form that is read': [
      `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 999\r\n\r\n${form}`,
      /408 [\s\S]*connection: close[\s\S]*CLIENT_BODY_IDLE_TIMEOUT_MS/i,
    ],
    'half of what the administration reads': [
      `POST /v1/configs HTTP/1.1\r\nHost: h\r\n${KEYS}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"name":`,
      /408 [\s\S]*connection: close[\s\S]*CLIENT_BODY_IDLE_TIMEOUT_MS/i,
    ],
    'half of what nothing is served for': [
      'POST /nothing HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
      /HTTP\/1\.1 404 /,
    ],
    'half a chat of nobody': [
      'POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
      /HTTP\/1\.1 401 /,
    ],
  }
  test('are told what did not come, and closed', async () => {
    const started = performance.now()
    const told = await Promise.all(
      Object.entries(cases).map(async ([name, [says, hears]]) => {
        const client = await dial(portOf(gateway.url))
        client.write(says)
        const has_time = /nobody|nothing/.test(name) // for the rest of a request that was answered
        const isDone = () => hears.test(client.received()) && (has_time || client.isOver())
        while (!isDone() && performance.now() - started < 15_000) await new Promise(resolve => setTimeout(resolve, 10))
        return {
          name,
          waited: has_time || performance.now() - started >= LIMIT_MS,
          is_done: isDone(),
          received: client.received(),
          hears,
        }
      }),
    )
    for (const {hears, ...client} of told)
      expect(client).toEqual({...client, waited: true, is_done: true, received: expect.stringMatching(hears)})
  })

  test('a body that passes to the provider as it comes: both are told, and the log says 408', async () => {
    let is_cut = false
    const provider = createServer(request => {
      request.resume()
      request.on('error', () => {
        is_cut = true
      })
    })
    await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void provider.close())
    await gateway.provider('waits', 'openai', `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`)
    const client = await dial(portOf(gateway.url))
    client.write(
      `POST /v1/proxy/odd HTTP/1.1\r\nHost: h\r\nx-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: @waits\r\n` +
        'Content-Type: application/octet-stream\r\nContent-Length: 999\r\n\r\nabc',
    )
    await expect
      .poll(client.received)
      .toMatch(/^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*CLIENT_BODY_IDLE_TIMEOUT_MS/i)
    await expect.poll(client.isOver).toBe(true)
    await expect.poll(() => is_cut).toBe(true)
    await expect.poll(async () => (await gateway.logs())[0]).toMatchObject({response_status_code: 408})
  })

  test('/metrics tells what connections are at', async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(text).toMatch(/^gateway_connections\{state="call"\} 1$/m)
    expect(text).toMatch(/^gateway_connections_ended_total\{why="head_timeout"\} [1-9]/m)
  })
})

describe('settings that contradict each other are refused, with both names', () => {
  test.each([
    [
      {MAX_CONNECTIONS: '10', MAX_CONNECTIONS_PER_ADDRESS: '11'},
      'MAX_CONNECTIONS_PER_ADDRESS=11 would have no effect with MAX_CONNECTIONS=10, which is less.',
    ],
    [
      {MAX_REQUESTS_PER_CONNECTION: '1', CLIENT_KEEP_ALIVE_TIMEOUT_MS: '5000'},
      'CLIENT_KEEP_ALIVE_TIMEOUT_MS would have no effect with MAX_REQUESTS_PER_CONNECTION=1: no connection waits for a second request.',
    ],
  ])('%o', (env, sentence) => {
    expect(() => readSettings({env})).toThrow(sentence)
  })

  test('and more connections than there are descriptors', () => {
    const {settings} = readSettings({env: {MAX_CONNECTIONS: '1000'}})
    const log = {warn: () => undefined} as never
    expect(() => openGovernor(settings, log, 1000)).toThrow(
      'MAX_CONNECTIONS=1000 is more than this process can have: it may open 1000',
    )
    expect(openGovernor(settings, log, 1064).options.connections).toBe(1000)
    expect(openGovernor(readSettings({env: {}}).settings, log, 400).options.connections).toBe(136)
  })
})

test('a crowd is told of with the limit that holds by then', () => {
  const warn = vi.fn()
  const governor = openGovernor(readSettings({env: {MAX_CONNECTIONS: '7'}}).settings, {warn} as never, 1000)
  governor.adjust({connections: 0})
  governor.admit(new Socket(), true)
  expect(warn.mock.calls).toEqual([[{why: 'full', connections: 0}, expect.any(String)]])
})

describe('an offer to speak HTTP/2', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const OFFER =
    'Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\nUpgrade: h2c\r\n'

  test('as Java’s HttpClient makes it, head and body apart, is passed over, and the connection goes on', async () => {
    const client = await dial(portOf(gateway.url))
    const head = `POST /v1/chat/completions HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: ${CHAT.length}\r\nHost: 127.0.0.1\r\n${OFFER.slice(OFFER.indexOf('HTTP2-Settings:'))}User-Agent: Java-http-client/17.0.15\r\ncontent-type: application/json\r\n${KEYS}\r\n`
    client.write(head)
    await new Promise(resolve => setTimeout(resolve, 20))
    client.write(CHAT)
    await expect.poll(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*You said: Hello/)
    client.write(`GET /v1/health HTTP/1.1\r\nContent-Length: 0\r\nHost: h\r\n${OFFER}\r\n`)
    await expect.poll(client.received).toMatch(/HTTP\/1\.1 200 OK\r\n[\s\S]*HTTP\/1\.1 200 OK\r\n[\s\S]*is up/)
    expect(client.received()).not.toContain(' 101 ')
  })

  test.each([
    ['a stream', '/v1/chat/completions', CHAT.replace('{', '{"stream":true,'), /data: \[DONE\]/],
    ['the administration', '/v1/configs', '{"name":"of an offer","config":{"retry":{"attempts":1}}}', /"success":true/],
    ['nothing', '/nothing', '{}', /404/],
  ])('to %s, too', async (_, path, body, hears) => {
    const client = await dial(portOf(gateway.url))
    client.write(
      `POST ${path} HTTP/1.1\r\nHost: h\r\n${OFFER}${KEYS}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await expect.poll(client.received).toMatch(hears)
  })

  test('does not travel on to a provider', async () => {
    let received: NodeJS.Dict<string | string[]> = {}
    const provider = createServer((request, response) => {
      received = request.headers
      response.end('{}')
    })
    await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void provider.close())
    await gateway.provider('hears', 'openai', `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`)
    const client = await dial(portOf(gateway.url))
    client.write(
      `POST /v1/proxy/odd HTTP/1.1\r\nHost: h\r\n${OFFER.replace('Settings\r\n', 'Settings, X-Hop\r\nX-Hop: 1\r\nX-Stays: 1\r\n')}x-gateway-api-key: ${WORKSPACE_KEY}\r\n` +
        'x-gateway-provider: @hears\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi',
    )
    await expect.poll(client.received).toContain('HTTP/1.1 200')
    expect(received).toMatchObject({'x-stays': '1'})
    expect(Object.keys(received).filter(name => /upgrade|http2-settings|x-hop/.test(name))).toEqual([])
  })

  test.skipIf(!speaksHttp2())('of curl --http2 is served', async () => {
    const headers = [
      'content-type: application/json',
      `x-gateway-api-key: ${WORKSPACE_KEY}`,
      'x-gateway-provider: @demo',
    ]
    const argv = ['-sS', '--http2', '-w', ' %{http_version} %{http_code}', ...headers.flatMap(header => ['-H', header])]
    const {stdout} = await run('curl', [...argv, '-d', CHAT, `${gateway.url}/v1/chat/completions`])
    expect(stdout).toMatch(/You said: Hello[\s\S]* 1\.1 200$/)
  })

  test.skipIf(RING === 'own' || !finds('java'))('of Java’s HttpClient is served', {timeout: 60_000}, async () => {
    const {stdout} = await run('java', [
      join(import.meta.dirname, 'fixtures/clients/Chat.java'),
      gateway.url,
      WORKSPACE_KEY,
    ])
    expect(stdout.split('\n')[0]).toMatch(/^HTTP_1_1 200 .*You said: Hello/)
    expect(stdout.split('\n')[1]).toMatch(/^HTTP_1_1 200 /)
  })
})

function speaksHttp2(): boolean {
  return finds('curl') && execFileSync('curl', ['--version'], {encoding: 'utf8'}).includes('HTTP2')
}

function finds(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some(folder => folder && existsSync(join(folder, program)))
}
