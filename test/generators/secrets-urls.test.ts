import {WebSocket} from 'undici'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {maskedUrl} from '../../src/base/masked-url.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {forRing, generated} from '../support/ring.ts'

/**
 * Every name under which a secret stands in a query × every spelling × every place where a URL rests: the secret is in
 * none of them.
 */
const NAMES = [
  'key',
  'api_key',
  'apikey',
  'subscription-key',
  'Ocp-Apim-Subscription-Key',
  'access_token',
  'id_token',
  'token',
  'sig',
  'signature',
  'X-Amz-Signature',
  'X-Amz-Credential',
  'X-Amz-Security-Token',
  'X-Goog-Signature',
  'X-Goog-Credential',
  'AWSAccessKeyId',
  'client_secret',
  'password',
  'code',
  'jwt',
  'auth',
  'Key-Pair-Id',
]
const each = (text: string, change: (letter: string, at: number) => string) => [...text].map(change).join('')
const coded = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`
const letters = (name: string, change: (letter: string) => string) =>
  each(name, letter => (/[a-z]/i.test(letter) ? change(letter) : letter))

/** The query of a secret called `name`, spelled otherwise. */
const SPELLINGS: readonly ((name: string, secret: string) => string)[] = [
  (name, secret) => `?${name}=${secret}`,
  (name, secret) => `?a=1&${name}=${secret}&b=2`,
  (name, secret) => `?${name.toUpperCase()}=${secret}`,
  (name, secret) => `?${name.toLowerCase()}=${secret}`,
  (name, secret) => `?${each(name, (letter, at) => (at % 2 ? letter.toUpperCase() : letter.toLowerCase()))}=${secret}`,
  (name, secret) => `?${coded(name[0]!)}${name.slice(1)}=${secret}`,
  (name, secret) => `?${letters(name, coded)}=${secret}`,
  (name, secret) => `?${letters(name, letter => coded(letter).toUpperCase())}=${secret}`,
  (name, secret) => `?${letters(name, letter => coded(letter).replace('%', '%25'))}=${secret}`,
  (name, secret) => `?${name.replaceAll('_', '-')}=${secret}`,
  (name, secret) => `?${name.replaceAll('-', '_')}=${secret}`,
  (name, secret) => `?${name.replaceAll('-', '%2D').replaceAll('_', '%5F')}=${secret}`,
  (name, secret) => `?${name}[]=${secret}`,
  (name, secret) => `?${name}%5B0%5D=${secret}`,
  (name, secret) => `?%20${name}+=${secret}`,
  (name, secret) => `?${name}%00=${secret}`,
  (name, secret) => `?a=1;${name}=${secret}`,
  (name, secret) => `?a=1%26${name}=${secret}`,
  (name, secret) => `?${name}%3D${secret}`,
  (name, secret) => `?url=${encodeURIComponent(`https://files.example/a?${name}=${secret}`)}`,
  (name, secret) => `?url=https://files.example/a?${name}=${secret}`,
  (name, secret) => `?${name}=a=${secret};${secret}`,
  (name, secret) => `??${name}=${secret}`,
  (name, secret) => `%3f${name}=${secret}`,
]

let gateway: TestGateway
let provider: FakeProvider
let cases = 0
beforeAll(async () => {
  provider = await fakeProvider((_, response) =>
    response.writeHead(200, {location: '/next?sig=CANARY-location'}).end('{}'),
  )
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', LOG_LEVEL: 'trace'})
  await gateway.provider('main', 'openai', provider.url)
})
afterAll(async () => {
  generated('secrets in URLs', cases)
  await gateway.close()
  await provider.close()
})

test('a URL keeps no secret, and keeps all else', () => {
  const wrong: string[] = []
  for (const name of NAMES)
    for (const spelled of SPELLINGS) {
      cases++
      const url = `/v1/proxy/things${spelled(name, 'CANARY')}`
      const masked = maskedUrl(url)
      if (masked.includes('CANARY') || !masked.startsWith('/v1/proxy/things')) wrong.push(`${url} → ${masked}`)
    }
  expect(wrong).toEqual([])
  for (const url of [
    '/v1/models',
    '/v1/batches?limit=20&after=batch_1&order=desc',
    '/v1/x?api-version=2024-10-21&max_tokens=5&page_token=abc&model=gpt-4o&author=a&monthly=1&keyword=b&q=what%3F',
    '/v1/x?alt=sse',
    '/v1/x?a=%zz&b',
    '',
  ])
    expect(maskedUrl(url)).toBe(url)
  expect(maskedUrl('/v1/x?a=1&key=s&b=2')).toBe('/v1/x?a=1&key=***&b=2')
  expect(maskedUrl('/v1/x?0123456789-0123456789-0123456789')).toBe('/v1/x?***')
})

async function told(path: string): Promise<string> {
  const reply = await gateway.call(path)
  const text = await reply.text()
  expect([path, reply.status]).toEqual([path, 200])
  return text
}

/** All rows, as an export has them. */
async function exported(workspace_id: string): Promise<string> {
  const filters = {time_of_generation_min: '2020-01-01T00:00:00Z', time_of_generation_max: '2099-01-01T00:00:00Z'}
  const {id} = await gateway.admin<{id: string}>('POST', '/logs/exports', {
    workspace_id,
    filters,
    requested_data: ['id', 'request_url', 'request', 'response', 'trace_id', 'metadata'],
  })
  await gateway.admin('POST', `/logs/exports/${id}/start`)
  await expect
    .poll(async () => (await gateway.admin<{status: string}>('GET', `/logs/exports/${id}`)).status)
    .toBe('success')
  const {signed_url} = await gateway.admin<{signed_url: string}>('GET', `/logs/exports/${id}/download`)
  const {pathname, search} = new URL(signed_url)
  const text = await (await fetch(gateway.url + pathname + search)).text()
  expect(text.length).toBeGreaterThan(100)
  return text
}

test('nothing that is kept of a call holds a secret of its query', async () => {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const json = {'content-type': 'application/json'}
  const spelled = NAMES.flatMap(name => SPELLINGS.map(spelling => spelling(name, `CANARY-${++cases}-0123456789`)))
  const tried = spelled.filter((_, at) => at % forRing({own: 53, ci: 16, full: 1}) === 0)
  for (const [at, query] of tried.entries()) {
    const headers = {
      'x-gateway-provider': '@main',
      referer: `https://app.example/chat${query}`,
      traceparent: `00-${String(at).padStart(32, '1')}-${'2'.repeat(16)}-01`,
    }
    await (await gateway.call(`/v1/proxy/things${query}`, {headers})).text()
    // refused before its body, by its provider's name, and as no route at all
    await (
      await gateway.call(`/v1/chat/completions${query}`, {method: 'POST', body: '{', headers: {...json, ...headers}})
    ).text()
    await (
      await gateway.call(`/v1/proxy/things${query}`, {headers: {...headers, 'x-gateway-provider': '@nobody'}})
    ).text()
    await (await gateway.call(`/nowhere${query}`, {headers})).text()
    await gateway.app.inject({method: 'GET', url: `/v1/logs${query}`})
    const inserted = {
      request: {url: `https://api.openai.com/v1/x${query}`, method: 'POST', headers: {}, body: {model: 'm'}},
      response: {status: 200, headers: {}, body: {}, response_time: 1},
      metadata: {},
    }
    const put = await gateway.call('/v1/logs', {method: 'POST', body: JSON.stringify(inserted), headers: json})
    expect([put.status, await put.text()]).toEqual([200, '"ok"'])
    await gateway.app.inject({
      method: 'POST',
      url: '/v1/mcp-integrations',
      body: {name: `m${at}`, url: `https://mcp.example/mcp${query}`, auth_type: 'none', transport: 'http'},
    })
  }
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime${spelled[0]!}&model=m`, {
    headers: {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-provider': '@main'},
  })
  await new Promise(resolve => socket.addEventListener('error', resolve))
  await gateway.app.flushed()

  const seen: Record<string, string> = {lines: gateway.lines.join('\n')}
  const rows: {id: string}[] = []
  for (let page = 0; ; page++) {
    const {data} = await gateway.admin<{data: {id: string}[]}>('GET', `/logs?page_size=100&current_page=${page}`)
    if (!data.length) break
    rows.push(...data)
  }
  seen.rows = JSON.stringify(rows)
  expect(rows.length).toBeGreaterThan(tried.length)
  for (const {id} of rows.slice(0, forRing({own: 20, ci: 150, full: 5000})))
    seen[`row ${id}`] = JSON.stringify(await gateway.admin('GET', `/logs/${id}`))
  seen.traces = await told('/v1/traces?page_size=100')
  for (const {trace_id} of (JSON.parse(seen.traces) as {data: {trace_id: string}[]}).data.slice(0, 50))
    seen[`trace ${trace_id}`] = await told(`/v1/traces/${trace_id}`)
  seen.audit = JSON.stringify(
    await gateway.admin('GET', '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z'),
  )
  seen.exported = await exported(workspace!.id)
  const explained = {
    workspace_id: workspace!.id,
    config: {provider: '@main'},
    request: {method: 'GET', path: `/v1/proxy/things${spelled[1]!}`, headers: {}},
  }
  seen.explanation = JSON.stringify(await gateway.admin('POST', '/configs/explain', explained))
  const held = Object.entries(seen).flatMap(([place, text]) => {
    const found = /.{0,80}CANARY-\w*.{0,20}/.exec(text)
    return found ? [`${place}: ${found[0]}`] : []
  })
  expect(held.slice(0, 10), `${held.length}`).toEqual([])
}, 120_000)
