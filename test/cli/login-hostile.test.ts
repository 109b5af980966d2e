import {writeFileSync} from 'node:fs'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import {createServer as createSecureServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {describe, expect, onTestFinished, test} from 'vitest'
import {askGateway} from '../../cli/contexts/sign-in-gateway.ts'
import {CERTIFICATE, PRIVATE_KEY} from '../support/tls.ts'
import {home} from './terminal.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const TOKEN = `gs-${'t'.repeat(43)}`
const CODE = {
  device_code: 'd'.repeat(43),
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://gateway.example.com/v2/auth/device',
  expires_in: 600,
  interval: 5,
}
const OPENED = {token: TOKEN, expires_at: '2026-03-05T05:06:07.000Z', organisation_id: 'o'}
const SELF = {
  user: {email: 'mia@example.test'},
  organisation: {name: 'Blue', role: 'member'},
  session: {expires_at: OPENED.expires_at},
}
const says =
  (body: unknown, status = 200): Answer =>
  response =>
    void response
      .writeHead(status, {'content-type': 'application/json'})
      .end(typeof body === 'string' ? body : JSON.stringify(body))
const GOOD: Readonly<Record<string, Answer>> = {
  'POST /v1/auth/device': says(CODE),
  'POST /v1/auth/device/token': says(OPENED),
  'GET /v1/auth/self': says(SELF),
  'POST /v1/auth/logout': says({logout_url: null}),
}

/** A gateway with these answers in place of good ones; several are given in turn. */
async function lyingGateway(lies: Readonly<Record<string, Answer | readonly Answer[]>>, secure = false) {
  const lines: string[] = []
  const turns = new Map<string, number>()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const line = `${request.method} ${request.url?.split('?')[0]}`
    lines.push(line)
    const outcome = lies[line] ?? GOOD[line] ?? says({}, 404)
    const turn = turns.get(line) ?? 0
    turns.set(line, turn + 1)
    const one = typeof outcome === 'function' ? outcome : outcome[Math.min(turn, outcome.length - 1)]!
    one(response, request)
  }
  const server = secure ? createSecureServer({cert: CERTIFICATE, key: PRIVATE_KEY}, answer) : createServer(answer)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onTestFinished(
    () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  )
  const {port} = server.address() as AddressInfo
  return {url: `http${secure ? 's' : ''}://127.0.0.1:${port}`, lines}
}

const HTML = says('<!doctype html><title>Sign in to the hotel</title>')
const HUGE = says(`"${'x'.repeat(100_000)}"`)
const MOVED: Answer = response => void response.writeHead(302, {location: 'https://elsewhere.example/'}).end()
const CUT: Answer = response => void response.socket!.destroy()

test('the liar is good without a lie: what follows is refused for its lie', async () => {
  const at = home()
  const {url} = await lyingGateway({})
  expect(await at.run(['login', url, '--name', 'good'])).toMatchObject({
    code: 0,
    stdout: `Logged in to good (${url}) as mia@example.test, organisation Blue (member), until 2026-03-05 05:06 UTC.\n`,
  })
})

describe.each([
  ['POST /v1/auth/device', []],
  ['POST /v1/auth/device/token', []],
  ['GET /v1/auth/self', ['POST /v1/auth/logout']],
] as const)('%s', (line, after) => {
  test.each([
    ['HTML', HTML],
    ['too much', HUGE],
    ['a redirect', MOVED],
    ['no answer', CUT],
    ['a list', says([])],
    ['null', says(null)],
    ['nothing', says('')],
    ['404', says({}, 404)],
    ['500 in HTML', says('<h1>no</h1>', 500)],
  ])('that answers with %s keeps nothing, and its session is ended', async (_, lie) => {
    const at = home()
    const {url, lines} = await lyingGateway({[line]: lie})
    const outcome = await at.run(['login', url])
    expect({code: outcome.code, stdout: outcome.stdout}).toEqual({code: 1, stdout: ''})
    expect(outcome.stderr).not.toMatch(/hotel|Something went wrong|gs-t/)
    expect(at.files()).toEqual([])
    expect(lines.slice(lines.lastIndexOf(line) + 1)).toEqual(after)
  })
})

test.each([
  ['no code', {...CODE, device_code: undefined}],
  ['a code that moves the cursor', {...CODE, user_code: '\u001b[2JBCDF'}],
  ['an address that is a script', {...CODE, verification_uri: 'javascript:alert(1)'}],
  ['an address that is too long', {...CODE, verification_uri: `https://x.example/${'y'.repeat(5000)}`}],
])('a beginning with %s is none', async (_, begun) => {
  const {url} = await lyingGateway({'POST /v1/auth/device': says(begun)})
  expect(await home().run(['login', url])).toMatchObject({code: 1, stderr: expect.stringContaining('is no gateway')})
})

test.each([
  ['breaks a line', {...OPENED, token: 'gs-aaaaaaaaaaaaaaaaaaaa\nx: y'}],
  ['is a number', {...OPENED, token: 7}],
  ['never ends', {...OPENED, expires_at: 'soon'}],
])('a token that %s is none', async (_, opened) => {
  const at = home()
  const {url} = await lyingGateway({'POST /v1/auth/device/token': says(opened)})
  expect(await at.run(['login', url])).toMatchObject({code: 1, stderr: expect.stringContaining('is no gateway')})
  expect(at.files()).toEqual([])
})

test('names that move the cursor are shown as what they are', async () => {
  const self = {...SELF, user: {email: 'mia\u001b[2J@example.test'}}
  const {url} = await lyingGateway({'GET /v1/auth/self': says(self)})
  const {stdout} = await home().run(['login', url])
  expect(stdout).toContain('mia\ufffd[2J@example.test')
})

test.each([
  [{interval: 0, expires_in: 600}, 5000],
  [{interval: 1e9, expires_in: 600}, 60_000],
  [{interval: 'x', expires_in: 600}, 5000],
])('of %j it waits no other time than it should', async (wrong, waited) => {
  const seen: number[] = []
  const {url} = await lyingGateway({'POST /v1/auth/device': says({...CODE, ...wrong})})
  await home().run(['login', url], {onWait: ms => void seen.push(ms)})
  expect(seen).toEqual([waited])
})

test('a gateway that restarts meanwhile is waited for, more slowly', async () => {
  const seen: number[] = []
  const pending = says({error: 'authorization_pending'}, 400)
  const {url} = await lyingGateway({
    'POST /v1/auth/device/token': [pending, CUT, says({}, 503), says({}, 429), CUT, pending, says(OPENED)],
  })
  expect(await home().run(['login', url], {onWait: ms => void seen.push(ms)})).toMatchObject({code: 0})
  expect(seen).toEqual([5000, 5000, 10_000, 15_000, 20_000, 25_000, 25_000])
})

test('70: a code whose time is over is given up, whatever the gateway says', async () => {
  let now_ms = 0
  let waits = 0
  const {url} = await lyingGateway({'POST /v1/auth/device/token': says({error: 'authorization_pending'}, 400)})
  const outcome = await home().run(['login', url], {
    now_ms: () => now_ms,
    onWait(ms) {
      now_ms += ms
      waits += 1
      if (waits > 200) throw new Error('It waits for ever.')
    },
  })
  expect(outcome).toMatchObject({code: 1, stderr: expect.stringContaining('Nobody confirmed the sign-in in time')})
  expect(waits).toBe(120)
})

test('a gateway that hangs is given up', async () => {
  const {url, lines} = await lyingGateway({'POST /v1/auth/device': () => undefined})
  const place = {url, ca: undefined, signal: new AbortController().signal, most: {bytes: 1000, ms: 50}}
  const asked = askGateway(place, {method: 'POST', path: '/v1/auth/device', body: {}})
  await expect(asked).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('no answer in time'),
  })
  expect(lines).toEqual(['POST /v1/auth/device'])
})

test('Ctrl-C ends a request that hangs', async () => {
  let raise: (name: string) => void = () => undefined
  const {url} = await lyingGateway({'POST /v1/auth/device': () => raise('SIGINT')})
  const outcome = await home().run(['login', url], {
    onListening(given) {
      raise = given
    },
  })
  expect(outcome).toMatchObject({code: 1, stderr: expect.stringContaining('Signing in was stopped')})
})

test('a redirect gets no key', async () => {
  const at = home()
  const {url, lines} = await lyingGateway({'GET /v1/api-keys/self/details': MOVED})
  expect(await at.run(['login', url, '--key-stdin'], {stdin: 'gk-key'})).toMatchObject({code: 1})
  expect([lines, at.files()]).toEqual([['GET /v1/api-keys/self/details'], []])
})

test.each([
  'http://gateway.example.com',
  'http://10.0.0.1:8787',
  'http://127.0.0.1.example.com',
  'http://localhost.example',
])('plain %s is refused with the reason', async url => {
  const outcome = await home().run(['login', url])
  expect(outcome).toMatchObject({code: 2, stderr: expect.stringContaining('plain http: whoever is between could read')})
})

test.each([
  'https://mia:secret@x.example',
  'https://x.example?key=secret',
  'https://x.example#secret',
  'ftp://x.example',
  '',
])('%j is no address, and is not repeated', async url => {
  const outcome = await home().run(['login', url])
  expect(outcome.code).toBe(2)
  expect(outcome.stderr).not.toContain('secret')
})

test('an authority of the house is trusted where --ca-file names it, then and by commands after', async () => {
  const at = home()
  const {url} = await lyingGateway({'GET /v1/admin/workspaces': says({object: 'list', total: 0, data: []})}, true)
  const ca = join(at.folder, 'ca.pem')
  writeFileSync(ca, CERTIFICATE)
  expect(await at.run(['login', url])).toMatchObject({code: 1, stderr: expect.stringContaining('certificate')})
  expect(await at.run(['login', url, '--ca-file', ca, '--name', 'house'])).toMatchObject({code: 0})
  expect(at.text('contexts.yaml')).toContain(`ca_file: ${ca}\n`)
  expect(await at.run(['workspaces', 'list'])).toMatchObject({code: 0})
  writeFileSync(ca, 'no certificate')
  expect(await at.run(['workspaces', 'list'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no certificates'),
  })
  expect(await at.run(['logout'])).toMatchObject({code: 0, stderr: expect.stringContaining('could not be reached')})
})

test('logout at a gateway that is gone forgets the session, and says how long it lives', async () => {
  const at = home()
  const {url} = await lyingGateway({'POST /v1/auth/logout': CUT})
  await at.run(['login', url, '--name', 'prod'])
  const outcome = await at.run(['logout', 'prod'])
  expect(outcome).toEqual({
    code: 0,
    stdout: `Logged out of prod (${url}).\n`,
    stderr: 'The gateway could not be reached, or did not end the session: it ends at 2026-03-05 05:06 UTC.\n',
  })
  expect(at.modes()).toEqual(['contexts.yaml 600'])
})
