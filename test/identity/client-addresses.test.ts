import {afterEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {heldToken, signer} from '../support/tokens.ts'

const KEY = signer('EdDSA', 'only')
const CLIENT = '203.0.113.7'
let gateway: TestGateway
afterEach(() => gateway.close())

/** A gateway that refuses tokens of another key, and the addresses in its audit log once `count` were refused. */
async function opened(TRUSTED_PROXIES: string) {
  gateway = await startGateway({TRUSTED_PROXIES})
  const {id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  await gateway.admin('PUT', '/admin/organisation/auth', {jwt: {jwks: {keys: [KEY.jwk]}, algorithms: ['EdDSA']}})
  const token = heldToken(KEY, {organisation_id: id}, Date.now(), {kid: 'unknown'})
  const refused = async (path: string, headers: Record<string, string>, body?: object) => {
    const reply = await fetch(gateway.url + path, {
      headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers},
      ...(body && {method: 'POST', body: JSON.stringify(body)}),
    })
    await reply.arrayBuffer()
    return reply.status
  }
  const addresses = async () => {
    const {records} = await gateway.admin<{records: {client_ip: string}[]}>(
      'GET',
      '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&resource_type=jwt',
    )
    return records.map(({client_ip}) => client_ip)
  }
  return {refused, addresses}
}

const PING = {jsonrpc: '2.0', id: 1, method: 'ping'}
const CHAT = {model: '@demo/gpt-4o', messages: [{role: 'user', content: 'hi'}]}

describe('the audit log has the address of a client whose credential was refused', () => {
  // a plain POST is read without node:http, a GET and a request in pieces with it, and MCP has callers of its own
  test.each<[string, string, Record<string, string>, object | undefined]>([
    ['a plain POST', '/v1/chat/completions', {}, CHAT],
    ['a list of models', '/v1/models', {}, undefined],
    ['a POST with a trailing query', '/v1/chat/completions?beta=true', {}, CHAT],
    ['a message of MCP', '/docs-server/mcp', {accept: 'application/json, text/event-stream'}, PING],
    ['the administration', '/v1/configs', {}, undefined],
  ])('behind a trusted proxy: %s', async (_, path, headers, body) => {
    const {refused, addresses} = await opened('127.0.0.0/8,::1')
    expect(await refused(path, {...headers, 'x-forwarded-for': `198.51.100.1, ${CLIENT}`}, body)).toBe(401)
    await expect.poll(addresses).toEqual([CLIENT])
  })

  test('and that of the socket where the proxy is not trusted', async () => {
    const {refused, addresses} = await opened('192.0.2.1')
    expect(await refused('/v1/chat/completions', {'x-forwarded-for': CLIENT}, CHAT)).toBe(401)
    await expect.poll(addresses).toEqual([expect.stringContaining('127.0.0.1')])
  })
})
