import {execFile} from 'node:child_process'
import {writeFileSync} from 'node:fs'
import {request} from 'node:http'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from './support/gateway.ts'
import {forRing} from './support/ring.ts'

/** Refused before they are read: a client that hears of a broken connection instead does not know why. */

const LARGE_BYTES = 5 << 20
/** Clients of one kind at once. */
const AT_ONCE = forRing({own: 2, ci: 4, full: 10})
const MAX_BODY_MB = 2

interface Sent {
  readonly path: string
  readonly type: 'json' | 'form' | 'bytes'
  readonly key: 'none' | 'limited' | 'known'
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
}

const AT_DEMO = {'x-gateway-provider': '@demo'}
const SENT: Record<string, Sent> = {
  'a chat without a key': {path: '/v1/chat/completions', type: 'json', key: 'none', status: 401},
  'a chat that is too large': {path: '/v1/chat/completions', type: 'json', key: 'known', headers: AT_DEMO, status: 413},
  'a form without a key': {path: '/v1/audio/transcriptions', type: 'form', key: 'none', status: 401},
  'a form that is too large': {path: '/v1/audio/transcriptions', type: 'form', key: 'known', status: 413},
  'a form above a rate': {
    path: '/v1/audio/transcriptions',
    type: 'form',
    key: 'limited',
    headers: AT_DEMO,
    status: 429,
  },
  'an upload without a key': {path: '/v1/files', type: 'form', key: 'none', status: 401},
  'an upload above a rate': {path: '/v1/files', type: 'form', key: 'limited', headers: AT_DEMO, status: 429},
  'bytes without a provider': {path: '/v1/proxy/odd', type: 'bytes', key: 'known', status: 400},
  'bytes above a rate': {path: '/v1/proxy/odd', type: 'bytes', key: 'limited', headers: AT_DEMO, status: 429},
  'a change without a key': {path: '/v1/configs', type: 'json', key: 'none', status: 401},
  'a change that is too large': {path: '/v1/configs', type: 'json', key: 'known', status: 413},
  'a path that is not served': {path: '/nothing', type: 'json', key: 'known', status: 404},
  'a person of a directory without a token': {path: '/scim/v2/Users', type: 'json', key: 'none', status: 401},
}

let gateway: TestGateway
let limited = ''
let file = ''
beforeAll(async () => {
  gateway = await startGateway({MAX_JSON_PAYLOAD_SIZE_IN_MB: String(MAX_BODY_MB)})
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const none = {
    name: 'none',
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    rate_limits: [{type: 'requests', unit: 'rpm', value: 0}],
  }
  limited = (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', none)).key
  file = join(gateway.folder, 'large.bin')
  writeFileSync(file, 'x'.repeat(LARGE_BYTES))
})
afterAll(() => gateway.close())

const TYPES = {json: 'application/json', bytes: 'application/octet-stream'} as const

function headersOf({key, type, headers = {}}: Sent): Record<string, string> {
  const keys = {none: {}, limited: {'x-gateway-api-key': limited}, known: {'x-gateway-api-key': WORKSPACE_KEY}}
  return {...keys[key], ...headers, ...(type !== 'form' && {'content-type': TYPES[type]})}
}

const run = promisify(execFile)

async function byFetch(sent: Sent): Promise<number> {
  const large = 'x'.repeat(LARGE_BYTES)
  const form = new FormData()
  form.append('model', 'whisper')
  form.append('file', new Blob([large]), 'large.bin')
  const body = sent.type === 'form' ? form : large
  const reply = await fetch(gateway.url + sent.path, {method: 'POST', headers: headersOf(sent), body})
  await reply.arrayBuffer()
  return reply.status
}

/** Without keep-alive: each answer is the last on its connection. */
async function byNode(sent: Sent): Promise<number> {
  const form = new FormData()
  form.append('file', new Blob(['x'.repeat(LARGE_BYTES)]), 'large.bin')
  const body = new Response(sent.type === 'form' ? form : 'x'.repeat(LARGE_BYTES))
  const type = sent.type === 'form' ? {'content-type': body.headers.get('content-type')!} : {}
  const bytes = Buffer.from(await body.arrayBuffer())
  return new Promise((resolve, reject) => {
    const options = {method: 'POST', headers: {...headersOf(sent), ...type}, agent: false}
    const leaving = request(gateway.url + sent.path, options, reply => {
      reply.on('end', () => resolve(reply.statusCode!)).on('error', reject)
      reply.resume()
    })
    leaving.on('error', reject)
    leaving.end(bytes)
  })
}

async function byCurl(sent: Sent): Promise<number> {
  const headers = Object.entries(headersOf(sent)).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const body = sent.type === 'form' ? ['-F', 'model=whisper', '-F', `file=@${file}`] : ['--data-binary', `@${file}`]
  const {stdout} = await run('curl', [
    ...['-sS', '-o', '/dev/null', '-w', '%{http_code}', '-X', 'POST', ...headers, ...body],
    gateway.url + sent.path,
  ])
  return Number(stdout)
}

/**
 * What Python's clients do (requests by urllib3, httpx by httpcore): all of the body first, and the answer then, also
 * where the rest of the body finds no reader.
 */
const PYTHON = `
import http.client, json, sys
host, path, headers, file, form = sys.argv[1:]
body = open(file, 'rb').read()
headers = json.loads(headers)
if form == 'form':
    def part(name):
        return b'--b\\r\\nContent-Disposition: form-data; name="' + name + b'"\\r\\n\\r\\n'
    body = part(b'model') + b'whisper\\r\\n' + part(b'file"; filename="f') + body + b'\\r\\n--b--\\r\\n'
    headers['content-type'] = 'multipart/form-data; boundary=b'
connection = http.client.HTTPConnection(host, timeout=20)
try:
    connection.request('POST', path, body, headers)
except BrokenPipeError:
    pass
reply = connection.getresponse()
reply.read()
print(reply.status)
`

async function byPython(sent: Sent): Promise<number> {
  const words = [new URL(gateway.url).host, sent.path, JSON.stringify(headersOf(sent)), file, sent.type]
  const {stdout} = await run('python3', ['-c', PYTHON, ...words])
  return Number(stdout)
}

const CLIENTS = {'Node’s fetch': byFetch, 'node:http': byNode, curl: byCurl, Python: byPython}

describe.each(Object.entries(CLIENTS))('%s reads why', (_, send) => {
  test.each(Object.entries(SENT))('%s is refused', async (_, sent) => {
    const outcomes = await Promise.allSettled(Array.from({length: AT_ONCE}, () => send(sent)))
    expect(outcomes).toEqual(Array(AT_ONCE).fill({status: 'fulfilled', value: sent.status}))
  })
})
