import {createServer, type IncomingMessage, request as nodeRequest, type Server, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import fc from 'fast-check'
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest'
import {attachFastPath} from '../../../src/base/ingress/fast-path.ts'
import {govern} from '../../../src/base/ingress/govern.ts'
import {Governor} from '../../../src/base/ingress/governor.ts'
import type {FastRequest} from '../../../src/base/ingress/request.ts'
import type {ClientResponse} from '../../../src/base/ingress/response.ts'
import {dial as dialPort} from '../../support/raw.ts'

type Handle = (request: FastRequest, response: ClientResponse) => unknown

const KEEP_ALIVE_MS = 75_000
const LIMITS = {
  head_timeout_ms: 15_000,
  body_idle_timeout_ms: 30_000,
  keep_alive_ms: KEEP_ALIVE_MS,
  write_timeout_ms: 60_000,
  connections: 1000,
}
let server: Server
/** What the plain requests come to; a test puts its own there. */
let handle: Handle
let plain = 0
let by_node = 0

const told = (of: {method?: string; url?: string}, body: Buffer) =>
  `${of.method} ${of.url} ${body.length} ${body.toString('latin1')}`

function say(response: ClientResponse, text: string) {
  response.writeHead(200, ['content-length', String(Buffer.byteLength(text, 'latin1')), 'x-by', 'front'])
  response.end(text, 'latin1')
}

async function answerByNode(request: IncomingMessage, response: ServerResponse) {
  by_node++
  const parts: Buffer[] = []
  try {
    for await (const part of request) parts.push(part as Buffer)
  } catch {
    return
  }
  const text = told(request, Buffer.concat(parts))
  response.writeHead(200, ['content-length', String(Buffer.byteLength(text, 'latin1')), 'x-by', 'node'])
  response.end(text, 'latin1')
}

const echo: Handle = async (request, response) => say(response, told(request, await request.body()))

beforeEach(async () => {
  plain = by_node = 0
  handle = echo
  server = createServer({keepAliveTimeout: KEEP_ALIVE_MS}, (request, response) => void answerByNode(request, response))
  const governor = new Governor({...LIMITS, now: () => Date.now()})
  attachFastPath(server, {
    takes: path => path.startsWith('/plain'),
    handle: (request, response) => {
      plain++
      void handle(request, response)
    },
    governor,
  })
  govern(server, governor)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  vi.useRealTimers()
  server.closeAllConnections()
  if (server.listening) await new Promise(resolve => server.close(resolve))
})

const port = () => (server.address() as AddressInfo).port

/** A client that says what it is told to, and keeps what it hears. */
async function dial() {
  const client = await dialPort(port())
  return {...client, hears: (text: string) => expect.poll(client.received).toContain(text)}
}

const post = (path: string, body: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nHost: here\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`

describe('a plain request', () => {
  test('is answered without node:http, one after the other on a connection', async () => {
    const client = await dial()
    client.write(post('/plain/a', 'one', 'X-Odd:  a b\t \r\n'))
    await client.hears('POST /plain/a 3 one')
    client.write(post('/plain/b', 'four'))
    await client.hears('POST /plain/b 4 four')
    expect({plain, by_node}).toEqual({plain: 2, by_node: 0})
    expect(client.received()).toMatch(
      /^HTTP\/1\.1 200 OK\r\ncontent-length: 19\r\nx-by: front\r\nDate: [^\r]+ GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n\r\n/,
    )
  })

  test('has its fields in lower case, and their values without the blanks around them', async () => {
    let headers: unknown
    handle = (request, response) => {
      headers = request.headers
      say(response, 'ok')
    }
    const client = await dial()
    client.write(post('/plain', 'x', 'X-Odd:  a b\t \r\nEmpty:\r\nLatin: caf\xe9\r\n'))
    await client.hears('ok')
    expect(headers).toEqual({host: 'here', 'x-odd': 'a b', empty: '', latin: 'caf\xe9', 'content-length': '1'})
  })

  test('whose body comes in pieces is whole when it is read', async () => {
    const client = await dial()
    client.write(post('/plain', '').replace('Content-Length: 0', 'Content-Length: 9'))
    await expect.poll(() => plain).toBe(1)
    for (const piece of ['abc', 'def', 'ghi']) {
      client.write(piece)
      await new Promise(resolve => setImmediate(resolve))
    }
    await client.hears('POST /plain 9 abcdefghi')
    expect(by_node).toBe(0)
  })

  test('whose client leaves before its end has no body, and its answer is told', async () => {
    const seen: string[] = []
    handle = async (request, response) => {
      response.on('close', () => seen.push(`closed ${response.writableFinished}`))
      await (request.body() as Promise<Buffer>).catch(() => seen.push('no body'))
    }
    const client = await dial()
    client.write(post('/plain', 'xx').slice(0, -1))
    await expect.poll(() => plain).toBe(1)
    client.socket.destroy()
    await expect.poll(() => seen.sort()).toEqual(['closed false', 'no body'])
  })

  test.each(['destroy', 'end'] as const)(
    'whose client leaves before its answer: the answer is told (%s)',
    async how => {
      let closed: boolean | undefined
      handle = (_, response) => {
        response.on('close', () => {
          closed = response.writableFinished
        })
      }
      const client = await dial()
      client.write(post('/plain', 'x'))
      await expect.poll(() => plain).toBe(1)
      client.socket[how]()
      await expect.poll(() => closed).toBe(false)
    },
  )

  test('that is answered before its body has come leaves the connection usable, and nothing of the body is read as a request', async () => {
    handle = (_, response) => say(response, 'early')
    const client = await dial()
    const smuggled = post('/plain/smuggled', 'x')
    client.write(post('/plain', '').replace('Content-Length: 0', `Content-Length: ${smuggled.length}`))
    await client.hears('early')
    client.write(smuggled)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(plain).toBe(1)
    handle = echo
    client.write(post('/plain/next', 'y'))
    await client.hears('POST /plain/next 1 y')
  })
})

describe('what is not plain goes to node:http', () => {
  const heads: Record<string, readonly [request: string, answer: RegExp]> = {
    'another method': ['GET /plain HTTP/1.1\r\nHost: h\r\n\r\n', /GET \/plain 0/],
    'another path': [post('/other', 'x'), /POST \/other 1 x/],
    'no body': ['POST /plain HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n', /POST \/plain 0/],
    'a body in chunks': [
      'POST /plain HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      /POST \/plain 3 abc/,
    ],
    'a field that stands twice': [post('/plain', 'x', 'A: 1\r\nA: 2\r\n'), /POST \/plain 1 x/],
    'a wish to close': [post('/plain', 'x', 'Connection: close\r\n'), /POST \/plain 1 x/],
    'a wish to be told to go on': [post('/plain', 'x', 'Expect: 100-continue\r\n'), /^HTTP\/1\.1 100 Continue/],
    'HTTP/1.0': [post('/plain', 'x').replace('1.1', '1.0'), /POST \/plain 1 x/],
    'a head in two pieces': [post('/plain', 'x'), /POST \/plain 1 x/],
    'both lengths': [post('/plain', 'x', 'Transfer-Encoding: chunked\r\n'), /^HTTP\/1\.1 400 /],
    'two lengths': [post('/plain', 'x', 'Content-Length: 2\r\n'), /^HTTP\/1\.1 400 /],
    'a length that is none': [post('/plain', 'x').replace('Length: 1', 'Length: +1'), /^HTTP\/1\.1 400 /],
    'a length in hexadecimal': [post('/plain', 'x').replace('Length: 1', 'Length: 0x1'), /^HTTP\/1\.1 400 /],
    'a list of lengths': [post('/plain', 'x').replace('Length: 1', 'Length: 1, 1'), /^HTTP\/1\.1 400 /],
    'no host': [post('/plain', 'x').replace('Host: here\r\n', ''), /^HTTP\/1\.1 400 /],
    'a folded line': [post('/plain', 'x', 'A: 1\r\n 2\r\n'), /^HTTP\/1\.1 400 /],
    'a blank before the colon': [post('/plain', 'x', 'A : 1\r\n'), /^HTTP\/1\.1 400 /],
    'a name of no letters': [post('/plain', 'x', ': 1\r\n'), /^HTTP\/1\.1 400 /],
    'a line without a colon': [post('/plain', 'x', 'nothing\r\n'), /^HTTP\/1\.1 400 /],
    'a bare line feed': [post('/plain', 'x', 'A: 1\nB: 2\r\n'), /^HTTP\/1\.1 400 |POST \/plain 1 x/],
    'a bare carriage return': [post('/plain', 'x', 'A: 1\rB: 2\r\n'), /^HTTP\/1\.1 400 /],
    'a zero byte': [post('/plain', 'x', 'A: 1\0\r\n'), /^HTTP\/1\.1 400 /],
    'a version that is none': [post('/plain', 'x').replace('HTTP/1.1', 'HTTP/1.9'), /^HTTP\/1\.1 (400|505) /],
    'a body of more than a megabyte': [post('/plain', 'x'.repeat((1 << 20) + 1)), /POST \/plain 1048577 x/],
  }
  test.each(Object.entries(heads))('%s', async (name, [text, answer]) => {
    const client = await dial()
    if (name === 'a head in two pieces') {
      client.write(text.slice(0, 20))
      await new Promise(resolve => setTimeout(resolve, 20))
      client.write(text.slice(20))
    } else client.write(text)
    await expect.poll(client.received).toMatch(answer)
    expect(plain).toBe(0)
  })

  test('and stays there: what follows is answered in order', async () => {
    const client = await dial()
    client.write(post('/plain/1', 'a'))
    await client.hears('POST /plain/1 1 a')
    client.write('GET /x HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.hears('GET /x 0')
    client.write(post('/plain/2', 'b'))
    await client.hears('POST /plain/2 1 b')
    expect({plain, by_node}).toEqual({plain: 1, by_node: 2})
  })

  test('an upgrade, with what came behind it', async () => {
    server.on('upgrade', (_, socket, head) => socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\nheard ${head}`))
    const client = await dial()
    client.write('GET /plain HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\nfirst')
    await client.hears('heard first')
  })

  test('an upgrade whose socket is read later: nothing that comes until then is lost', async () => {
    server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      setTimeout(() => socket.on('data', (bytes: Buffer) => socket.end(`heard ${bytes}`)), 50)
    })
    const client = await dial()
    client.write('GET /plain HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n')
    await client.hears('101')
    client.write('second')
    await client.hears('heard second')
  })
})

test('however the bytes of requests are cut, in time or sent ahead, each has its answer, in order', async () => {
  const asked = fc.record({
    path: fc.constantFrom('/plain/a', '/plain/b', '/other'),
    body: fc.string({unit: fc.constantFrom('x', '\r\n', 'POST /plain HTTP/1.1\r\n', ':'), minLength: 0, maxLength: 12}),
    kind: fc.constantFrom('length', 'length', 'length', 'chunks', 'get'),
  })
  const written = ({path, body, kind}: {path: string; body: string; kind: string}) =>
    kind === 'get'
      ? {text: `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`, answer: `GET ${path} 0 `}
      : kind === 'chunks' || body === ''
        ? {
            text: `POST ${path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${body && `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`,
            answer: `POST ${path} ${body.length} ${body}`,
          }
        : {text: post(path, body), answer: `POST ${path} ${body.length} ${body}`}
  await fc.assert(
    fc.asyncProperty(
      fc.array(asked, {minLength: 1, maxLength: 5}),
      fc.array(fc.integer({min: 1, max: 80}), {maxLength: 12}),
      async (calls, cuts) => {
        const all = calls.map(written)
        const client = await dial()
        let text = all.map(each => each.text).join('')
        for (const cut of cuts) {
          client.write(text.slice(0, cut))
          text = text.slice(cut)
          await new Promise(resolve => setImmediate(resolve))
        }
        client.write(text)
        const answers = () =>
          client
            .received()
            .split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/)
            .slice(1)
        await expect.poll(() => answers().join('|')).toBe(all.map(each => each.answer).join('|'))
        client.socket.destroy()
      },
    ),
    {numRuns: 150, ...(process.env.TEST_SEED ? {seed: Number(process.env.TEST_SEED)} : {seed: 7})},
  )
})

describe('an answer', () => {
  /** What a client of node:http makes of an answer. */
  async function asked(path: string): Promise<{status: number; headers: Record<string, unknown>; body: string}> {
    return new Promise((resolve, reject) => {
      const request = nodeRequest(
        {port: port(), host: '127.0.0.1', path, method: 'POST', headers: {'content-length': 1}},
        reply => {
          let body = ''
          reply.setEncoding('latin1')
          reply.on('data', text => {
            body += text
          })
          reply.on('end', () => resolve({status: reply.statusCode!, headers: reply.headers, body}))
        },
      )
      request.on('error', reject)
      request.setHeader('connection', 'keep-alive')
      request.end('x')
    })
  }

  const large = 'é'.repeat(20_000)
  const answers: Record<string, (response: ClientResponse) => void> = {
    'whole, with its length': response => say(response, 'caf\xe9'),
    'whole, as bytes': response => {
      response.writeHead(200, ['content-length', String(Buffer.byteLength(large))])
      response.end(Buffer.from(large), 'latin1')
    },
    'text in UTF-8': response => {
      response.writeHead(400, ['content-length', '5'])
      response.end('café', 'utf8')
    },
    'in chunks': response => {
      response.writeHead(200, ['content-type', 'text/event-stream'])
      response.flushHeaders()
      response.write(Buffer.from('one'))
      response.write(Buffer.from(large))
      response.end(Buffer.from('last'), 'latin1')
    },
    'in chunks, with nothing at the end': response => {
      response.writeHead(200, ['x-a', '1', 'x-a', '2'])
      response.write(Buffer.from('one'))
      response.end(Buffer.alloc(0), 'latin1')
    },
    'of nothing': response => {
      response.writeHead(200, ['content-length', '0'])
      response.end(Buffer.alloc(0), 'latin1')
    },
    'without a body': response => {
      response.writeHead(204, [])
      response.write(Buffer.from('lost'))
      response.end(Buffer.from('lost'), 'latin1')
    },
    'in pieces of a length': response => {
      response.writeHead(200, ['content-length', '6', 'date', 'Mon, 01 Jan 2024 00:00:00 GMT'])
      response.write(Buffer.from('abc'))
      response.end(Buffer.from('def'), 'latin1')
    },
    'of an unusual status, and the connection closed': response => {
      response.writeHead(499, ['content-length', '1', 'connection', 'close'])
      response.end('x', 'utf8')
    },
  }
  test.each(Object.entries(answers))('%s: reads as that of node:http', async (_, answer) => {
    handle = (_request, response) => answer(response)
    const ours = await asked('/plain')
    expect(plain).toBe(1)
    server.removeAllListeners('request')
    server.on('request', (request, response: ServerResponse) => {
      request.resume()
      answer(response)
    })
    const theirs = await asked('/other')
    const {date: _ours, ...headers} = ours.headers
    const {date: _theirs, ...expected} = theirs.headers
    expect({...ours, headers}).toEqual({...theirs, headers: expected})
    if (theirs.headers.date?.toString().startsWith('Mon, 01 Jan')) expect(ours.headers.date).toBe(theirs.headers.date)
  })

  test('with a line break in a value is none', async () => {
    let fault: unknown
    handle = (_, response) => {
      try {
        response.writeHead(200, ['x-a', 'a\r\nx-b: b'])
      } catch (thrown) {
        fault = thrown
        response.destroy()
      }
    }
    const client = await dial()
    client.write(post('/plain', 'x'))
    await expect.poll(client.isOver).toBe(true)
    expect(fault).toBeInstanceOf(TypeError)
    expect(client.received()).toBe('')
  })

  test('to a client that reads nothing says that the socket is full, and then that it takes more', async () => {
    let drained = false
    let took_more = true
    handle = (_, response) => {
      response.on('drain', () => {
        drained = true
      })
      response.writeHead(200, [])
      took_more = response.write(Buffer.alloc(64 << 20))
    }
    const client = await dial()
    client.socket.pause()
    client.write(post('/plain', 'x'))
    await expect.poll(() => took_more).toBe(false)
    expect(drained).toBe(false)
    client.socket.resume()
    await expect.poll(() => drained).toBe(true)
  })
})

describe('connections', () => {
  test('that lie idle are closed after their time, and those with a call are not', async () => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'Date']})
    await new Promise(resolve => server.close(resolve))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const idle = await dial()
    const busy = await dial()
    let answer: (() => void) | undefined
    handle = (_, response) => {
      answer = () => say(response, 'late')
    }
    busy.write(post('/plain', 'x'))
    await expect.poll(() => plain).toBe(1)
    vi.advanceTimersByTime(KEEP_ALIVE_MS + 10_000)
    await expect.poll(idle.isOver).toBe(true)
    expect(busy.isOver()).toBe(false)
    answer!()
    await busy.hears('late')
  })

  test('end with the server: idle ones at once, the others after their answer', async () => {
    let answer: (() => void) | undefined
    handle = (_, response) => {
      answer = () => say(response, 'last')
    }
    const idle = await dial()
    const busy = await dial()
    busy.write(post('/plain', 'x'))
    await expect.poll(() => plain).toBe(1)
    const closed = new Promise(resolve => server.close(resolve))
    await expect.poll(idle.isOver).toBe(true)
    expect(busy.isOver()).toBe(false)
    answer!()
    await closed
    await busy.hears('last')
  })

  test('whose request was answered before all of it came have seconds for the rest', async () => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'Date']})
    await new Promise(resolve => server.close(resolve))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    handle = (_, response) => say(response, 'early')
    const client = await dial()
    client.write(post('/plain', 'xx').slice(0, -1))
    await client.hears('early')
    vi.advanceTimersByTime(4000)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(client.isOver()).toBe(false)
    vi.advanceTimersByTime(2000)
    await expect.poll(client.isOver).toBe(true)
  })

  test('whose client reads no answer are asked no more until it does', async () => {
    const large = Buffer.alloc(16 << 20)
    handle = (_, response) => {
      response.writeHead(200, ['content-length', String(large.length)])
      response.end(large, 'latin1')
    }
    const client = await dial()
    client.socket.pause()
    for (let sent = 0; sent < 10; sent++) {
      client.write(post('/plain', 'x'))
      await new Promise(resolve => setTimeout(resolve, 10))
    }
    expect(plain).toBe(1)
    handle = echo
    client.socket.resume()
    await expect.poll(() => plain + by_node).toBe(10)
  })

  test('whose client reads nothing hold up the end of the server for seconds at most', async () => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date']})
    handle = (_, response) => {
      response.writeHead(200, ['connection', 'close'])
      response.end(Buffer.alloc(32 << 20), 'latin1')
    }
    const client = await dial()
    client.socket.pause()
    client.write(post('/plain', 'x'))
    while (plain < 1) await new Promise(resolve => setImmediate(resolve))
    const closed = new Promise(resolve => server.close(resolve))
    vi.advanceTimersByTime(6000)
    await closed
    client.socket.destroy()
  })

  test.each(['their time is over', 'the server closes'])(
    'whose client reads slowly get the rest of their answer when %s',
    async when => {
      vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'Date']})
      await new Promise(resolve => server.close(resolve))
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      const large = Buffer.alloc(32 << 20, 'x')
      handle = (_, response) => {
        response.writeHead(200, ['content-length', String(large.length)])
        response.end(large, 'latin1')
      }
      const client = await dial()
      client.socket.pause()
      client.write(post('/plain', 'x'))
      await expect.poll(() => plain).toBe(1)
      if (when === 'the server closes') server.close()
      else vi.advanceTimersByTime(KEEP_ALIVE_MS + 10_000)
      client.socket.resume()
      await expect.poll(client.isOver, {timeout: 5000}).toBe(true)
      expect(client.received().length).toBeGreaterThan(large.length)
    },
  )
})
