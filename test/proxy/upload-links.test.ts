import {GoogleGenAI} from '@google/genai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway
let origin: string
let now_ms = Date.now()
const HOUR = 60 * 60 * 1000

beforeAll(async () => {
  provider = await fakeProvider()
  origin = provider.url.replace(/\/v1$/, '')
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', UNREADABLE_BODIES: 'deny'}, {now: () => now_ms})
  await gateway.provider('gem', 'google', origin)
  await gateway.provider('other', 'google', origin)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
  provider.answer(google())
})

const FILE = {
  name: 'files/f_1',
  uri: 'https://generativelanguage.googleapis.com/v1beta/files/f_1',
  mimeType: 'text/plain',
}

/** Google's files: the first call tells an address, which takes the bytes. */
function google(address = `${origin}/upload/v1beta/files?upload_id=id-of-the-upload`): Answer {
  return ({path, headers}, response) => {
    if (!path.startsWith('/upload/')) return json(response, FILE)
    if (headers['x-goog-upload-command'] === 'start') {
      response.writeHead(200, {
        'x-goog-upload-url': address,
        'x-goog-upload-control-url': address,
        'x-goog-upload-status': 'active',
      })
      return response.end()
    }
    const is_last = String(headers['x-goog-upload-command']).includes('finalize')
    response.writeHead(200, {'content-type': 'application/json', 'x-goog-upload-status': is_last ? 'final' : 'active'})
    return response.end(is_last ? JSON.stringify({file: FILE}) : '')
  }
}

const START = {
  'x-goog-upload-protocol': 'resumable',
  'x-goog-upload-command': 'start',
  'content-type': 'application/json',
}
const LAST = {'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0'}

async function begin(headers: Record<string, string> = {'x-gateway-provider': '@gem'}, at = gateway) {
  const response = await at.call('/upload/v1beta/files', {
    method: 'POST',
    headers: {...START, ...headers},
    body: '{"file":{}}',
  })
  return {status: response.status, address: response.headers.get('x-goog-upload-url'), headers: response.headers}
}

async function send(
  address: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array<ArrayBuffer> = 'the bytes',
) {
  const response = await fetch(address, {method: 'POST', headers: {...LAST, ...headers}, body})
  return {
    status: response.status,
    body: (await response.json()) as {file?: object; error?: {message: string; status: string}},
  }
}

async function keyWith(fields: object = {}): Promise<{id: string; key: string}> {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const body = {name: `key-${Math.random()}`, workspace_id: workspace!.id, scopes: ['completions.write'], ...fields}
  return gateway.admin('POST', '/api-keys/workspace/service', body)
}

const link_of = (address: string | null) => address?.replace(gateway.url, '')

describe('fact 5: the address of an upload leads to the gateway', () => {
  test.each(['', '/v1', '/v1/proxy'])('for Google’s own client, whose base is ours%s', async base => {
    const client = new GoogleGenAI({
      apiKey: WORKSPACE_KEY,
      httpOptions: {baseUrl: gateway.url + base, headers: {'x-gateway-provider': '@gem'}, retryOptions: {attempts: 1}},
    })
    const file = await client.files.upload({file: new Blob(['hello']), config: {mimeType: 'text/plain'}})
    expect(file).toMatchObject({name: 'files/f_1', uri: FILE.uri})
    const [first, second] = provider.received
    expect([first!.path.replace('/v1/', '/v1beta/'), second!.method, second!.path]).toEqual([
      '/upload/v1beta/files',
      'POST',
      '/upload/v1beta/files?upload_id=id-of-the-upload',
    ])
    expect(second!.body.toString()).toBe('hello')
    expect(second!.headers).toMatchObject({
      'x-goog-api-key': 'sk-upstream-secret-0123456789',
      'x-goog-upload-command': 'upload, finalize',
    })
    expect(JSON.stringify(provider.received)).not.toContain(WORKSPACE_KEY)
  })

  test('each call has a row, which says it and keeps no address', async () => {
    const {address, headers} = await begin()
    expect(link_of(address)).toMatch(/^\/upload\/v1beta\/sealed\/[\w-]{200,}$/)
    expect(link_of(headers.get('x-goog-upload-control-url'))).toMatch(/^\/upload\/v1beta\/sealed\/[\w-]{200,}$/)
    expect(await send(address!)).toEqual({status: 200, body: {file: FILE}})
    const [part, start] = await gateway.logs()
    expect(start).toMatchObject({usage_source: 'none', cost: 0})
    expect(JSON.stringify(start)).toContain('x-goog-upload-url leads to the gateway')
    expect(part).toMatchObject({usage_source: 'none', cost: 0, response_status_code: 200})
    const segment = address!.split('/').at(-1)!
    const detail = await Promise.all([start!, part!].map(({id}) => gateway.admin('GET', `/logs/${id}`)))
    const kept = JSON.stringify([part, start, detail, gateway.lines])
    for (const secret of [segment, segment.slice(0, 60), 'id-of-the-upload']) expect(kept).not.toContain(secret)
  })

  test('a caller needs no key to send the bytes, and is the one that began', async () => {
    const {key} = await keyWith({rate_limits: [{type: 'requests', unit: 'rpm', value: 2}]})
    const {address} = await begin({'x-gateway-provider': '@gem', 'x-gateway-api-key': key})
    expect((await send(address!)).status).toBe(200)
    const over = await send(address!)
    expect([over.status, over.body.error!.status]).toEqual([429, 'RESOURCE_EXHAUSTED'])
  })

  test('parts that are not the last come to the same place', async () => {
    const {address} = await begin()
    const first = await fetch(address!, {method: 'POST', headers: {'x-goog-upload-command': 'upload'}, body: 'a'})
    expect([first.status, await first.text()]).toEqual([200, ''])
    expect((await send(address!, {'x-goog-upload-offset': '1'}, 'b')).status).toBe(200)
    expect(provider.received.map(({body}) => body.toString())).toEqual(['{"file":{}}', 'a', 'b'])
  })

  test('headers that choose a provider change nothing of where it leads', async () => {
    const {address} = await begin()
    const elsewhere = {
      'x-gateway-provider': '@nobody',
      'x-gateway-custom-host': 'https://evil.example',
      'x-gateway-virtual-key': 'x',
    }
    expect((await send(address!, {...elsewhere, authorization: `Bearer ${WORKSPACE_KEY}`})).status).toBe(200)
    expect(provider.received.at(-1)!.path).toBe('/upload/v1beta/files?upload_id=id-of-the-upload')
  })
})

describe('fact 5: an address that is not to be used is refused, and nothing leaves', () => {
  const refused = async (address: string, headers: Record<string, string> = {}) => {
    provider.received.length = 0
    const {status, body} = await send(address, headers)
    expect(provider.received).toEqual([])
    return [status, body.error!.message] as const
  }

  test('of a key that was revoked', async () => {
    const {id, key} = await keyWith()
    const {address} = await begin({'x-gateway-provider': '@gem', 'x-gateway-api-key': key})
    await gateway.admin('DELETE', `/api-keys/${id}`)
    expect((await refused(address!))[0]).toBe(401)
  })

  test('of a key that ran out', async () => {
    const {key} = await keyWith({expires_at: new Date(now_ms + HOUR).toISOString()})
    const {address} = await begin({'x-gateway-provider': '@gem', 'x-gateway-api-key': key})
    now_ms += 2 * HOUR
    expect((await refused(address!))[0]).toBe(401)
  })

  test('with another key, or one that is none', async () => {
    const {address} = await begin()
    const {key} = await keyWith()
    const [status, message] = await refused(address!, {'x-goog-api-key': key})
    expect([status, message]).toEqual([
      404,
      'This address of an upload cannot be used: it was given to another key. Send the key that began the upload, or none.',
    ])
    expect((await refused(address!, {'x-goog-api-key': `${key}x`}))[0]).toBe(401)
  })

  test('after 48 hours', async () => {
    const {address} = await begin()
    now_ms += 48 * HOUR + 1
    expect((await refused(address!))[1]).toMatch(/^This address of an upload cannot be used: it held until 20/)
  })

  test('with any of its signs altered', async () => {
    const {address} = await begin()
    const segment = address!.split('/').at(-1)!
    for (const at of [0, 5, 20, 60, Math.floor(segment.length / 2), segment.length - 2]) {
      const other = segment[at] === 'A' ? 'B' : 'A'
      const [status, message] = await refused(
        address!.replace(segment, segment.slice(0, at) + other + segment.slice(at + 1)),
      )
      expect([status, message]).toEqual([
        404,
        'This address of an upload cannot be used: it is not one that this gateway gave out. Begin the upload again.',
      ])
    }
    expect((await refused(`${gateway.url}/upload/v1beta/sealed/AAAA`))[0]).toBe(404)
  })

  test('once its integration has another place', async () => {
    await gateway.provider('moves', 'google', origin)
    const {address} = await begin({'x-gateway-provider': '@moves'})
    const configurations = {custom_host: `http://127.0.0.1:${provider.port + 1}`}
    await gateway.admin('PUT', '/integrations/moves', {configurations, key: 'sk-upstream-secret-0123456789'})
    expect((await refused(address!))[1]).toContain('its provider has another place since')
  })
})

describe('fact 5: a provider’s answer chooses no place', () => {
  test.each([
    ['another host', () => 'https://evil.example/upload/v1beta/files?upload_id=1'],
    ['another port', () => `http://127.0.0.1:${provider.port + 1}/upload/v1beta/files?upload_id=1`],
    ['another scheme', () => `https://127.0.0.1:${provider.port}/upload/v1beta/files`],
    ['a name before the host', () => `http://user:word@127.0.0.1:${provider.port}/upload`],
    ['no URL', () => 'files/1'],
    ['more than an address may hold', () => `${origin}/upload/v1beta/files?upload_id=${'x'.repeat(6000)}`],
  ])('an address with %s is left out, and the row says so', async (_, address) => {
    provider.answer(google(address()))
    const {status, address: result, headers} = await begin()
    expect([status, result, headers.get('x-goog-upload-control-url')]).toEqual([200, null, null])
    expect(JSON.stringify((await gateway.logs())[0])).toContain('x-goog-upload-url was left out of the reply')
  })

  test('of an integration below a path of its host, nothing beside that path', async () => {
    await gateway.provider('tenant', 'google', `${origin}/tenant-a/v1beta`)
    provider.answer((_, response) => response.writeHead(200, {'x-goog-upload-url': `${origin}/tenant-b/upload`}).end())
    expect((await begin({'x-gateway-provider': '@tenant'})).address).toBeNull()
    provider.answer((_, response) =>
      response.writeHead(200, {'x-goog-upload-url': `${origin}/tenant-a/upload?id=1`}).end(),
    )
    const {address} = await begin({'x-gateway-provider': '@tenant'})
    provider.answer((_, response) => json(response, {file: FILE}))
    expect((await send(address!)).status).toBe(200)
    expect(provider.received.at(-1)!.path).toBe('/tenant-a/upload?id=1')
  })

  test('the address of an older upload, told as a location, leads to the gateway too', async () => {
    provider.answer((_, response) =>
      response.writeHead(200, {location: `${origin}/upload/v1beta/files?upload_id=2`}).end(),
    )
    const {headers} = await begin()
    expect(link_of(headers.get('location'))).toMatch(/^\/upload\/v1beta\/sealed\//)
  })
})

describe('fact 5: what covers a call covers the bytes of its upload', () => {
  const config = (more: object) => ({'x-gateway-config': JSON.stringify({provider: '@gem', ...more})})
  const DENY = {input_guardrails: [{'default.contains': {words: ['forbidden'], operator: 'none'}, deny: true}]}

  test('bytes that guardrails cannot read are refused where such bodies are (19)', async () => {
    const {address} = await begin(config(DENY))
    provider.received.length = 0
    const {status} = await send(
      address!,
      {...config(DENY), 'content-type': 'image/png'},
      new Uint8Array([0x89, 0x50, 0, 1]),
    )
    expect([status, provider.received.length]).toEqual([446, 0])
  })

  test.each([
    ['the forbidden text', 446, 0],
    ['a text', 200, 1],
  ])('bytes that are a text are judged: %s', async (text, ...expected) => {
    const {address} = await begin(config(DENY))
    provider.received.length = 0
    const {status} = await send(address!, {...config(DENY), 'content-type': 'text/plain'}, text)
    expect([status, provider.received.length]).toEqual(expected)
  })

  test('a config of a header comes again with the bytes', async () => {
    const {address} = await begin(config(DENY))
    const {status, body} = await send(address!)
    expect([status, body.error!.message]).toEqual([
      404,
      'This address of an upload cannot be used: the call that began the upload had a config in a header. Send the same x-gateway-config with each part.',
    ])
    expect((await send(address!, config({}))).status).toBe(404)
  })

  test('a saved config is that of the target that answered', async () => {
    const targets = [{provider: '@gem'}, {provider: '@other'}]
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {data} = await gateway.admin<{data: {slug: string}}>('POST', '/configs', {
      name: 'two',
      workspace_id: workspace!.id,
      config: {strategy: {mode: 'loadbalance'}, targets: targets.map((target, at) => ({...target, weight: at}))},
    })
    const {address, status} = await begin({'x-gateway-config': data.slug})
    expect(status).toBe(200)
    expect((await send(address!)).status).toBe(200)
    expect((await gateway.logs())[0]).toMatchObject({ai_org: 'google'})
  })

  test('an upload is not refused where a limit of cost covers the call (EPHEMERAL_KEYS)', async () => {
    const {key} = await keyWith({
      usage_limits: {type: 'cost', credit_limit: 5, enforcement: 'strict'},
      models: {allow: ['gemini-*']},
    })
    const {address} = await begin({'x-gateway-provider': '@gem', 'x-gateway-api-key': key})
    const big = new Uint8Array(3 << 20).fill(7)
    expect((await send(address!, {}, big)).status).toBe(200)
    expect(provider.received.at(-1)!.body.equals(big)).toBe(true)
  })
})

test('fact 5: the address is https where a proxy before the gateway says so', async () => {
  const {address} = await begin({'x-gateway-provider': '@gem', 'x-forwarded-proto': 'https'})
  expect(address).toMatch(new RegExp(`^${gateway.url.replace('http:', 'https:')}/upload/v1beta/sealed/`))
})
