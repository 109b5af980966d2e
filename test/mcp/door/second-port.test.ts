import {request as secureRequest} from 'node:https'
import {afterAll, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest'
import {faults} from '../../settings/support.ts'
import {ADMIN_KEY, startGateway, WORKSPACE_KEY} from '../../support/gateway.ts'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'
import {CERTIFICATE, PRIVATE_KEY} from '../../support/tls.ts'

let upstream: LegacyFixture
beforeAll(async () => {
  upstream = await openLegacy()
})
afterAll(() => upstream.close())

const statusAt = async (url: string, init?: RequestInit) => (await fetch(url, {redirect: 'manual', ...init})).status
const CALL = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'count', arguments: {}}})
const HEADERS = {
  ...{'content-type': 'application/json', accept: 'application/json, text/event-stream'},
  'x-gateway-api-key': WORKSPACE_KEY,
}
const callAt = (url: string) => fetch(`${url}/tools/mcp`, {method: 'POST', headers: HEADERS, body: CALL})

async function opened(env: Record<string, string>) {
  const mcp = await McpGateway.open(env)
  onTestFinished(() => mcp.close())
  await mcp.server('tools', upstream.url)
  const {url, mcp_url} = mcp.gateway
  return {mcp, url, second: mcp_url ?? ''}
}

describe('MCP_PORT', () => {
  test('serves servers, discovery, OAuth, the registry and /health, and nothing else', async () => {
    const {url, second} = await opened({MCP_PORT: '0'})
    expect(second).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(second).not.toBe(url)
    for (const at of [url, second]) expect((await callAt(at)).status, at).toBe(200)
    const served = {
      '/health': 200,
      '/.well-known/oauth-protected-resource/tools/mcp': 200,
      '/.well-known/oauth-authorization-server': 200,
      '/.well-known/jwks.json': 200,
      '/v0.1/servers': 401,
      '/oauth/authorize': 400,
    }
    for (const [path, status] of Object.entries(served)) expect(await statusAt(second + path), path).toBe(status)
    const key = {headers: {'x-gateway-api-key': ADMIN_KEY}}
    for (const path of ['/v1/models', '/v1/mcp-servers', '/v1/health', '/livez', '/metrics', '/scim/v2/Users', '/'])
      expect(await statusAt(second + path, key), path).toBe(404)
    expect(await statusAt(`${second}/v1/chat/completions`, {...key, method: 'POST', body: '{}'})).toBe(404)
    const registry = await fetch(`${second}/v0.1/servers`, key)
    expect(((await registry.json()) as {servers: unknown[]}).servers).toHaveLength(1)
  })

  test('is in use by the certificate of the first port', async () => {
    const gateway = await startGateway({MCP_PORT: '0', TLS_KEY: PRIVATE_KEY, TLS_CERT: CERTIFICATE})
    onTestFinished(() => gateway.close())
    expect(gateway.mcp_url).toMatch(/^https:/)
    const status = await new Promise((resolve, reject) =>
      secureRequest(`${gateway.mcp_url}/health`, {ca: CERTIFICATE, rejectUnauthorized: false}, reply => {
        reply.resume()
        resolve(reply.statusCode)
      })
        .on('error', reject)
        .end(),
    )
    expect(status).toBe(200)
  })

  test('drains with the first: a call that runs ends, and then nothing is taken', async () => {
    const mcp = await McpGateway.open({MCP_PORT: '0', DRAIN_TIMEOUT_MS: '20000'})
    await mcp.server('tools', upstream.url)
    const second = mcp.gateway.mcp_url!
    const hold = CALL.replace('"count"', '"hold"')
    const running = fetch(`${second}/tools/mcp`, {method: 'POST', headers: HEADERS, body: hold})
    await vi.waitFor(() => expect(upstream.state.runs('hold')).toBe(1), {timeout: 10_000})
    const drained = mcp.gateway.app.drain()
    upstream.state.release()
    expect(await (await running).text()).toContain('released')
    await drained
    await expect(fetch(`${second}/health`)).rejects.toThrow()
    await mcp.gateway.app.close()
  })

  test.each([
    [{MCP_PORT: '9000', PORT: '9000'}, 'MCP_PORT and PORT are both 9000'],
    [{MCP_PORT: '8787'}, 'MCP_PORT and PORT are both 8787'],
    [{MCP_PORT: '9000', MCP_ENABLED: 'OFF'}, 'MCP_PORT would have no effect with MCP_ENABLED=OFF'],
    [{SERVER_MODE: 'mcp', MCP_ENABLED: 'OFF'}, 'SERVER_MODE=mcp would serve nothing'],
    [{SERVER_MODE: 'mcp', MCP_PORT: '9000'}, 'MCP_PORT would have no effect with SERVER_MODE=mcp'],
  ])('%j is refused at the start', (env, sentence) =>
    expect(faults({env})).toEqual([expect.stringContaining(sentence)]),
  )

  test('a port that another listener has is named when the gateway starts', async () => {
    const port = new URL(upstream.url).port
    await expect(startGateway({MCP_PORT: port})).rejects.toMatchObject({code: 'EADDRINUSE', port: Number(port)})
  })
})

test('SERVER_MODE=mcp serves MCP, sign-in and the probes on PORT: no calls of models, no administration', async () => {
  const {url} = await opened({SERVER_MODE: 'mcp'})
  expect((await callAt(url)).status).toBe(200)
  const key = {headers: {'x-gateway-api-key': ADMIN_KEY}}
  for (const path of ['/livez', '/readyz', '/v1/health', '/v0.1/servers'])
    expect(await statusAt(url + path, key), path).toBe(200)
  expect(await statusAt(`${url}/v2/auth/sign-in`, {redirect: 'manual'})).not.toBe(404)
  for (const path of ['/v1/models', '/v1/mcp-servers', '/scim/v2/Users'])
    expect(await statusAt(url + path, key), path).toBe(404)
  expect(await statusAt(`${url}/v1/chat/completions`, {...key, method: 'POST', body: '{}'})).toBe(404)
})

test.each(['all', 'gateway'])('SERVER_MODE=%s serves everything', async SERVER_MODE => {
  const {url} = await opened({SERVER_MODE})
  expect((await callAt(url)).status).toBe(200)
  expect(await statusAt(`${url}/v1/mcp-servers`, {headers: {'x-gateway-api-key': ADMIN_KEY}})).toBe(200)
})

test('fact 55: MCP_ENABLED=OFF reads no server in the background either', async () => {
  const statusOf = async (MCP_ENABLED: string) => {
    const gateway = await startGateway({MCP_ENABLED, TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
    onTestFinished(() => gateway.close())
    const {data} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')
    await gateway.admin('POST', '/mcp-integrations', {
      ...{name: 'unread', slug: 'unread', url: upstream.url, auth_type: 'none', transport: 'http'},
      workspace_id: data[0]!.id,
    })
    await gateway.admin('POST', '/mcp-integrations/unread/sync', {})
    const path = '/mcp-integrations/unread/metadata'
    return async () => (await gateway.admin<{sync_status: string}>('GET', path)).sync_status
  }
  const off = await statusOf('OFF')
  const on = await statusOf('ON')
  await vi.waitFor(async () => expect(await on()).toBe('synced'), {timeout: 20_000})
  expect(await off()).toBe('pending')
})
