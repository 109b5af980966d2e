import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {run} from './support.ts'

const KEY = 'gk-canary-0123456789'
const EMPTY = {object: 'list', total: 0, data: []}

let url: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let close: () => void
let received: {method: string | undefined; url: string | undefined; key: unknown; body: string}[]

beforeEach(async () => {
  received = []
  answer = (_, response) => json(response, 200, EMPTY)
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', text => {
      body += text
    })
    request.on('end', () => {
      received.push({method: request.method, url: request.url, key: request.headers['x-gateway-api-key'], body})
      answer(request, response)
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(() => close())

function json(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(body))
}

describe('a gateway at a URL', () => {
  test.each(['', '/', '/v1', '/v1/'])(
    'is reached with %j behind its address, with the key of the environment',
    async end => {
      const said = await run(['integrations', 'list', '--url', url + end, '--json'], {env: {GATEWAY_API_KEY: KEY}})
      expect(said).toEqual({code: 0, stdout: `${JSON.stringify(EMPTY, null, 2)}\n`, stderr: ''})
      expect(received).toEqual([
        {method: 'GET', url: '/v1/integrations?page_size=100&current_page=0', key: KEY, body: ''},
      ])
    },
  )

  test('a key on the command line is taken before the environment, warned of, and not echoed', async () => {
    const {code, stdout, stderr} = await run(['integrations', 'list', '--url', url, '--api-key', KEY], {
      env: {GATEWAY_API_KEY: 'gk-other-0123456789'},
    })
    expect({code, keys: received.map(({key}) => key)}).toEqual({code: 0, keys: [KEY]})
    expect(stderr).toContain('--api-key is seen by everybody on this machine (ps)')
    expect(stdout + stderr).not.toContain(KEY)
  })

  test('a 401 says where keys are read from', async () => {
    answer = (_, response) =>
      json(response, 401, {success: false, data: {message: 'No API key was sent.', errorCode: 'AB05'}})
    expect(await run(['integrations', 'list'], {env: {GATEWAY_URL: url}})).toEqual({
      code: 4,
      stdout: '',
      stderr: 'gateway: No API key was sent. The key is read from GATEWAY_API_KEY or --api-key-file.\n',
    })
  })

  test('a body goes as JSON', async () => {
    answer = (_, response) => json(response, 200, {slug: 'ws-1'})
    await run(['api', 'POST', '/admin/workspaces', '--body', '-', '--url', url], {stdin: '{"name": "research"}'})
    expect(received[0]).toMatchObject({method: 'POST', body: '{"name":"research"}'})
  })

  test('a redirect is not followed: the key stays here', async () => {
    answer = (_, response) => void response.writeHead(302, {location: 'http://127.0.0.1:1/elsewhere?token=1'}).end()
    expect(await run(['integrations', 'list'], {env: {GATEWAY_URL: url, GATEWAY_API_KEY: KEY}})).toEqual({
      code: 1,
      stdout: '',
      stderr: `gateway: ${url} redirects to http://127.0.0.1:1/elsewhere. Give the address of the gateway itself with --url.\n`,
    })
    expect(received).toHaveLength(1)
  })

  test('nobody there is told with the next step', async () => {
    close()
    expect(await run(['integrations', 'list', '--url', url, '--json'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${JSON.stringify({error: {message: `The gateway at ${url} could not be reached: nothing listens there. Check that it runs there, or name another with --url.`, code: 'unreachable', status: null}}, null, 2)}\n`,
    })
  })

  test('--data-dir is taken before GATEWAY_URL, and never together with --url', async () => {
    const missing = '/nonexistent/gateway'
    expect(await run(['integrations', 'list', '--data-dir', missing], {env: {GATEWAY_URL: url}})).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`There is no data directory at ${missing}.`),
    })
    expect(await run(['integrations', 'list', '--data-dir', missing, '--url', url])).toMatchObject({
      code: 2,
      stderr: 'gateway: --url and --data-dir are both given; keep one.\n',
    })
    expect(await run(['integrations', 'list', '--api-key', KEY])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--api-key is for a gateway at a URL'),
    })
    expect(received).toEqual([])
  })
})

test('settings that cannot be used end with 2 and name every problem', async () => {
  const {code, stderr} = await run(['integrations', 'list'], {
    env: {GATEWAY_URL: 'gateway.example.com', GATEWAY_DATADIR: '/srv', PORT: 'many'},
  })
  expect(code).toBe(2)
  for (const name of ['GATEWAY_URL', 'GATEWAY_DATADIR', 'PORT']) expect(stderr).toContain(name)
})
