import {createHash, createHmac, createPublicKey, generateKeyPairSync, verify} from 'node:crypto'
import {request} from 'node:http'
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {baseUrl, variantOf} from '../../src/providers/base-urls/base-url.ts'
import type {OptionName} from '../../src/providers/option-table.ts'
import {headerOf} from '../../src/providers/options.ts'
import {find, list} from '../../src/providers/registry.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import type {Asked} from '../providers/catalog/ask.ts'
import {bearerChat, ENGINES} from '../providers/catalog/chat-rows.ts'
import {bearer, chat, JSON_TYPE, ROWS, type Row} from '../providers/catalog/rows.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  provider = await fakeProvider((_heard, response) => json(response, {error: {message: 'heard'}}, 400))
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
})
beforeEach(() => {
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const OF_THE_CONNECTION = ['host', 'connection', 'content-length', 'accept-encoding', 'user-agent', 'transfer-encoding']
const origin = () => `http://127.0.0.1:${provider.port}`

/**
 * Calls a provider of the catalogue at the loopback host, with the path of its own base URL, and gives what the host
 * heard.
 */
async function received(slug: string, asked: Asked, url: string) {
  const {endpoint = 'chatComplete', options = {}, key = 'k', body = null, query = ''} = asked
  const route = ENDPOINTS.find(({name}) => name === endpoint)
  const path = endpoint === 'proxy' ? `/v1/proxy${asked.path}` : `/v1${asked.path ?? route!.path}`
  const host = origin() + basePath(slug, asked, url)
  const method = asked.method ?? route?.method ?? 'POST'
  const own = {'x-gateway-api-key': WORKSPACE_KEY}
  if (typeof body?.model === 'string' && body.model[0] === '@') {
    // A model that begins so is named behind the slug of a provider: elsewhere its beginning is taken for one.
    await gateway.provider(slug, slug, host, {key, configurations: {custom_host: host, ...options}})
    await call(method, path + query, {...body, model: `@${slug}/${body.model}`}, own)
  } else {
    const said = Object.entries(options).map(([name, value]) => [
      `x-gateway-${headerOf(name as OptionName)}`,
      value.replaceAll('\n', '\\n'),
    ])
    await call(method, path + query, body, {
      ...own,
      'x-gateway-provider': slug,
      'x-gateway-custom-host': host,
      ...(key === null ? {} : {authorization: `Bearer ${key}`}),
      ...Object.fromEntries(said),
    })
  }
  expect(provider.received).toHaveLength(1)
  return provider.received[0]!
}

/**
 * The path of the provider's base URL: with it the whole path on the wire must be that of the URL which its
 * documentation says.
 */
function basePath(
  slug: string,
  {custom_host, endpoint = 'chatComplete', body, options = {}, path = '', query = ''}: Asked,
  url: string,
): string {
  if (custom_host !== undefined) return new URL(custom_host).pathname.replace(/\/$/, '')
  const model = typeof body?.model === 'string' ? body.model : ''
  const reach = {endpoint, path, query, model, is_stream: false}
  const base = baseUrl(variantOf(find(slug)!, model, options), options, reach)!.url
  expect(new URL(base).host).toBe(new URL(url).host)
  return new URL(base).pathname.replace(/\/$/, '')
}

function call(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<void> {
  const bytes = body === null ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(gateway.url + path, {method, headers: {...headers, ...(bytes ? JSON_TYPE : {})}}, reply => {
      reply.resume().on('end', () => resolve())
    })
    sent.on('error', reject).end(bytes)
  })
}

async function checkRow({slug, expected, ...asked}: Row) {
  const {method, path, headers, body} = await received(slug, asked, expected.url)
  const {pathname, search} = new URL(expected.url)
  const own = Object.entries(headers).filter(
    ([name, value]) => !OF_THE_CONNECTION.includes(name) && !(name === 'accept' && value === '*/*'),
  )
  expect({method, path}).toEqual({method: expected.method, path: pathname + search})
  expect(Object.fromEntries(own)).toEqual(expected.headers)
  expect(body.length ? JSON.parse(body.toString()) : null).toEqual(expected.body)
}

const ROWS_OF_ALL: readonly Row[] = [
  ...bearerChat.map(([slug, url]) => ({
    slug,
    body: chat,
    expected: {method: 'POST', url, headers: bearer, body: chat},
  })),
  ...ENGINES.map(slug => {
    const custom_host = 'http://engine.test:8000/v1'
    const expected = {method: 'POST', url: `${custom_host}/chat/completions`, headers: JSON_TYPE, body: chat}
    return {slug, body: chat, key: null, custom_host, expected}
  }),
  ...ROWS.filter(({endpoint}) => endpoint !== 'realtime'),
]

test.each(ROWS_OF_ALL.map(row => [row.slug, row.expected.url, row] as const))(
  '%s hears what %s takes',
  async (_slug, _url, row) => {
    await checkRow(row)
  },
)

test('every provider that is reached over the network is among them, or signs', () => {
  const reached = new Set([...ROWS_OF_ALL.map(({slug}) => slug), 'oracle', 'sagemaker'])
  expect(list().flatMap(({slug}) => (reached.has(slug) || slug === 'demo' ? [] : slug))).toEqual([])
  expect(reached.size).toBeGreaterThanOrEqual(88)
})

const AWS = {
  aws_region: 'eu-west-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}

test.each([
  ['bedrock', 'bedrock', {body: {...chat, model: 'amazon.nova-lite-v1:0'}}, '/model/amazon.nova-lite-v1%3A0/converse'],
  [
    'sagemaker',
    'sagemaker',
    {endpoint: 'proxy', path: '/endpoints/e/invocations', body: {inputs: 'Hi'}},
    '/endpoints/e/invocations',
  ],
  ['bedrock-mantle', 'bedrock-mantle', {body: chat}, '/v1/chat/completions'],
] as const)('%s hears a Signature Version 4 over the bytes that come', async (slug, service, asked, path) => {
  const base = slug === 'bedrock-mantle' ? '/v1' : ''
  const got = await received(slug, {...asked, key: null, options: AWS, custom_host: origin() + base}, '')
  expect(got.path).toBe(path)
  const found =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/eu-west-1\/([\w-]+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=([\da-f]{64})$/.exec(
      String(got.headers.authorization),
    )
  const [, day, said_service, signed, signature] = found!
  expect(said_service).toBe(service)
  expect(signed!.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-date']))
  expect(String(got.headers['x-amz-date']).slice(0, 8)).toBe(day)
  const canonical = [
    got.method,
    got.path.split('/').map(encodeURIComponent).join('/'),
    '',
    ...signed!.split(';').map(name => `${name}:${String(got.headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signed,
    sha256(got.body),
  ].join('\n')
  const scope = `${day}/eu-west-1/${service}/aws4_request`
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const signing = [`eu-west-1`, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${AWS.aws_secret_access_key}`, day!))
  const text = ['AWS4-HMAC-SHA256', got.headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  expect(signature).toBe(hmac(signing, text).toString('hex'))
})

test('oracle hears a signature of Oracle Cloud over the bytes that come', async () => {
  const {privateKey, publicKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
  const options = {
    oracle_region: 'us-chicago-1',
    oracle_compartment_id: 'ocid1.compartment.oc1..c',
    oracle_tenancy: 'ocid1.tenancy.oc1..t',
    oracle_user: 'ocid1.user.oc1..u',
    oracle_fingerprint: '20:3b:97:13',
    oracle_private_key: String(privateKey.export({type: 'pkcs8', format: 'pem'})),
  }
  const got = await received(
    'oracle',
    {body: {...chat, model: 'meta.llama-3.3-70b-instruct'}, key: null, options, custom_host: origin()},
    '',
  )
  expect([got.method, got.path]).toEqual(['POST', '/20231130/actions/chat'])
  const parts = Object.fromEntries(
    [...String(got.headers.authorization).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  expect(parts).toMatchObject({
    version: '1',
    algorithm: 'rsa-sha256',
    keyId: 'ocid1.tenancy.oc1..t/ocid1.user.oc1..u/20:3b:97:13',
  })
  const names = String(parts.headers).split(' ')
  expect(names).toEqual(
    expect.arrayContaining(['date', '(request-target)', 'host', 'content-length', 'content-type', 'x-content-sha256']),
  )
  const lines = names.map(
    name => `${name}: ${name === '(request-target)' ? `post ${got.path}` : String(got.headers[name])}`,
  )
  expect(got.headers['x-content-sha256']).toBe(createHash('sha256').update(got.body).digest('base64'))
  const key = createPublicKey(publicKey.export({type: 'spki', format: 'pem'}))
  expect(verify('sha256', Buffer.from(lines.join('\n')), key, Buffer.from(String(parts.signature), 'base64'))).toBe(
    true,
  )
})

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
