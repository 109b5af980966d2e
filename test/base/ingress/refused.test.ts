import {execFile} from 'node:child_process'
import {request as ask} from 'node:http'
import {request as askOverTls} from 'node:https'
import {type AddressInfo, connect} from 'node:net'
import {promisify} from 'node:util'
import {describe, expect, test} from 'vitest'
import {forRing} from '../../support/ring.ts'
import {governed, settled} from './governed-server.ts'

/** A client that is refused at the limit of connections reads why; none hears of a broken connection instead. */

const BUSY = 'GET /unread HTTP/1.1\r\nHost: here\r\n\r\n'
const FULL = {status: 503, retry_after: '1', is_named: true}
/** More than are read on at once. */
const CROWD = 40

interface Heard {
  readonly status: number
  readonly retry_after: string | null
  readonly is_named: boolean
}

const run = promisify(execFile)

async function byFetch(url: string): Promise<Heard> {
  const reply = await fetch(url, {method: 'POST', headers: {'content-type': 'application/json'}, body: '{"a":1}'})
  const text = await reply.text()
  return {
    status: reply.status,
    retry_after: reply.headers.get('retry-after'),
    is_named: text.includes('MAX_CONNECTIONS'),
  }
}

/** With node:http or node:https, a body that is larger than what is read on. */
function byNode(url: string, bytes = 10): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const options = {method: 'POST', agent: false, rejectUnauthorized: false}
    const sent = (url.startsWith('https') ? askOverTls : ask)(url, options, reply => {
      let text = ''
      reply.setEncoding('utf8')
      reply.on('data', part => {
        text += part
      })
      reply.on('end', () =>
        resolve({
          status: reply.statusCode!,
          retry_after: reply.headers['retry-after'] ?? null,
          is_named: text.includes('MAX_CONNECTIONS'),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(Buffer.alloc(bytes))
  })
}

const heardOf = (text: string): Heard => ({
  status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]),
  retry_after: /^retry-after: (\S+)/im.exec(text)?.[1] ?? null,
  is_named: text.includes('MAX_CONNECTIONS'),
})

async function byCurl(url: string): Promise<Heard> {
  return heardOf((await run('curl', ['-sSik', '-d', '{"a":1}', url])).stdout)
}

const PYTHON = `
import http.client, ssl, sys, urllib.parse
url = urllib.parse.urlparse(sys.argv[1])
unverified = ssl._create_unverified_context()
if url.scheme == 'https':
    connection = http.client.HTTPSConnection(url.netloc, timeout=20, context=unverified)
else:
    connection = http.client.HTTPConnection(url.netloc, timeout=20)
connection.request('POST', url.path, b'{"a":1}', {'content-type': 'application/json'})
reply = connection.getresponse()
print('HTTP/1.1', reply.status)
print('retry-after:', reply.getheader('retry-after'))
print(reply.read().decode())
`

async function byPython(url: string): Promise<Heard> {
  return heardOf((await run('python3', ['-c', PYTHON, url])).stdout)
}

/** A server that is full: each connection that it may have has a call. */
async function full(is_tls: boolean) {
  const on = await governed({connections: 2}, {is_tls})
  for (let at = 0; at < 2; at++) (await on.dial()).write(BUSY)
  await expect.poll(() => on.governor.count('call')).toBe(2)
  const {port} = on.server.address() as AddressInfo
  // the clock of these governors stands still: it goes on with that of the machine here
  const timer = setInterval(() => void on.pass(250), 250)
  return {on, url: `${is_tls ? 'https' : 'http'}://127.0.0.1:${port}/plain`, stop: () => clearInterval(timer)}
}

describe.each([false, true])('over TLS: %s', is_tls => {
  const clients: Record<string, (url: string) => Promise<Heard>> = {
    ...(!is_tls && {'Node’s fetch': byFetch, 'node:http, with a body of 900 KB': url => byNode(url, 900 << 10)}),
    ...(is_tls && {'node:https': byNode}),
    curl: byCurl,
    Python: byPython,
  }
  test.each(Object.entries(clients))('%s', async (name, send) => {
    const {on, url, stop} = await full(is_tls)
    const processes = forRing({own: 3, ci: 8, full: 16})
    const at_once = name === 'Node’s fetch' ? CROWD : /^node/.test(name) ? CROWD / 2 : processes
    const outcomes = await Promise.allSettled(Array.from({length: at_once}, () => send(url)))
    stop()
    expect(outcomes).toEqual(Array(at_once).fill({status: 'fulfilled', value: FULL}))
    expect(on.governor.ended('full')).toBe(at_once)
    expect(on.governor.count('call')).toBe(2)
  })

  test('one that sends nothing, or no end of it, is cut after a second', async () => {
    const {on, url, stop} = await full(is_tls)
    stop()
    const silent = connect({port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true})
    let is_over = false
    silent.on('close', () => {
      is_over = true
    })
    silent.on('error', () => undefined)
    silent.resume()
    await expect.poll(() => on.governor.ended('full')).toBe(1)
    await on.pass(750)
    expect(is_over).toBe(false)
    silent.write('x')
    await on.pass(750)
    await settled()
    // the system notices at the second write that nothing reads any more
    const isCut = () => {
      if (!silent.destroyed) silent.write('x')
      return is_over
    }
    await expect.poll(isCut).toBe(true)
  })
})

test('a client that sends much is read on for that second', async () => {
  const {on, url, stop} = await full(false)
  stop()
  const client = connect({port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true})
  const faults: Error[] = []
  client.on('error', fault => faults.push(fault))
  client.resume()
  await expect.poll(() => on.governor.ended('full')).toBe(1)
  for (let part = 0; part < 3; part++) {
    client.write(Buffer.alloc(2 << 20))
    await expect.poll(() => client.writableLength, {interval: 1}).toBe(0)
    await on.pass(250)
  }
  expect([faults, client.closed]).toEqual([[], false])
})
