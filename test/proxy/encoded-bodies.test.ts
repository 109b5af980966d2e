import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync} from 'node:zlib'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {json} from '../support/provider.ts'
import {CHAT, newTrace, type RoutingSetup, startRouting} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting({MAX_JSON_PAYLOAD_SIZE_IN_MB: '4'})
})
beforeEach(() => {
  routed.reset()
  routed.a.answer((_, response) => json(response, {object: 'whatever'}))
})
afterAll(() => routed.close())

const plain = Buffer.from(JSON.stringify({...CHAT, metadata: {numbers: 'as they came: 1.0'}, temperature: 1.0}))
const ENCODED: readonly (readonly [string, Buffer])[] = [
  ['gzip', gzipSync(plain)],
  ['X-GZIP', gzipSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['zstd', zstdCompressSync(plain)],
  ['gzip, br', brotliCompressSync(gzipSync(plain))],
  ['identity', plain],
]

async function ask(path: string, encoding: string, body: Buffer, headers: Record<string, string> = {}) {
  const trace_id = newTrace()
  const reply = await routed.gateway.call(path, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: {
      'content-type': 'application/json',
      'content-encoding': encoding,
      'x-gateway-provider': '@a',
      'x-gateway-trace-id': trace_id,
      ...headers,
    },
  })
  return {status: reply.status, headers: reply.headers, text: await reply.text(), ...(await routed.recorded(trace_id))}
}

describe('a request with a content encoding', () => {
  test.each(ENCODED)('%s is decoded, and leaves plain and otherwise as it came', async (encoding, body) => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/some/path']) {
      routed.a.received.length = 0
      // a retry makes the body be read on a path that passes by otherwise
      const {status, rows} = await ask(path, encoding, body, {
        'x-gateway-config': JSON.stringify({provider: '@a', retry: {attempts: 1, on_status_codes: [500]}}),
      })
      const [received] = routed.a.received
      expect([path, status, received!.body.equals(plain), received!.headers['content-encoding']]).toEqual([
        path,
        200,
        true,
        undefined,
      ])
      const named =
        encoding === 'identity' ? undefined : encoding.toLowerCase().replace('x-gzip', 'gzip').replaceAll(' ', '')
      expect((rows[0] as unknown as {request_encoding?: string}).request_encoding).toBe(named)
    }
  })

  test('that is not decoded here is 415, and the answer names those that are', async () => {
    for (const encoding of ['compress', 'gzip, gzip, gzip', 'aes128gcm, gzip']) {
      const {status, headers, text} = await ask('/v1/chat/completions', encoding, plain)
      expect([status, headers.get('accept-encoding')]).toEqual([415, 'gzip, br, deflate, zstd'])
      expect(text).toContain(`The content encoding ${encoding} is not accepted here`)
    }
    expect(routed.a.received).toEqual([])
  })

  test('that it does not have, or whose end is missing, is 400', async () => {
    for (const body of [
      plain,
      gzipSync(plain).subarray(0, 40),
      Buffer.concat([gzipSync(plain).subarray(0, 60), Buffer.alloc(30)]),
    ]) {
      const {status, text} = await ask('/v1/chat/completions', 'gzip', body)
      expect([status, text.includes('The request body cannot be decoded')]).toEqual([400, true])
    }
    expect(routed.a.received).toEqual([])
  })

  test('that comes to more than the gateway reads is 413, however small it is when it comes', async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20, 0x20))
    for (const [encoding, body] of [
      ['gzip', bomb],
      ['gzip, gzip', gzipSync(bomb)],
      ['zstd', zstdCompressSync(Buffer.alloc(64 << 20, 0x20))],
      ['br', brotliCompressSync(Buffer.alloc(16 << 20, 0x20))],
    ] as const) {
      const {status, text} = await ask('/v1/chat/completions', encoding, body)
      expect([encoding, status, text.includes('larger than the 4 MB')]).toEqual([encoding, 413, true])
    }
    expect(routed.a.received).toEqual([])
  })

  test('passes as it came, with its header, where nothing has to read it', async () => {
    const body = gzipSync(plain)
    const {status} = await ask('/v1/proxy/some/path', 'gzip', body)
    const [received] = routed.a.received
    expect([status, received!.body.equals(body), received!.headers['content-encoding']]).toEqual([200, true, 'gzip'])
  })

  test('passes as it came on a route of files as well', async () => {
    const body = gzipSync('--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--\r\n')
    const {status} = await ask('/v1/files', 'gzip', body, {'content-type': 'multipart/form-data; boundary=b'})
    const [received] = routed.a.received
    expect([status, received!.body.equals(body), received!.headers['content-encoding']]).toEqual([200, true, 'gzip'])
  })
})

describe('JSON that is no object', () => {
  test.each([
    ['a list', 'application/json', '[1,{"a":2}]'],
    ['lines', 'application/x-ndjson', '{"a":1}\n{"b":2}\n'],
  ])('%s passes on a path that the gateway does not know, also where it may be sent twice', async (_, type, body) => {
    const config = {strategy: {mode: 'fallback'}, targets: [{provider: '@a'}, {provider: '@b'}]}
    const result = await routed.ask(config, {path: '/v1/proxy/some/path', body, headers: {'content-type': type}})
    expect([result.status, routed.a.received[0]!.body.toString()]).toEqual([200, body])
  })
})

test('a form is refused on routes of JSON, whatever its boundary is called', async () => {
  for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/responses', '/v1/messages'])
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=json',
      'application/x-www-form-urlencoded',
    ]) {
      const result = await routed.ask({provider: '@a'}, {path, body: plain.toString(), headers: {'content-type': type}})
      expect([path, result.status]).toEqual([path, 400])
      expect(result.text).toContain(`The content type ${type} is not accepted here; send application/json.`)
    }
  expect(routed.a.received).toEqual([])
})
