import {readFileSync} from 'node:fs'
import {request} from 'node:https'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {startGateway, WORKSPACE_KEY} from './support/gateway.ts'

const pem = (name: string) => readFileSync(join(import.meta.dirname, 'base/egress/fixtures', name), 'utf8')
const ask = JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'hi'}]})
const headers = {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-provider': '@demo', 'content-type': 'application/json'}

test('with a key and a certificate it serves https', async () => {
  const gateway = await startGateway({TLS_KEY: pem('models.key.pem'), TLS_CERT: pem('models.pem')})
  expect(gateway.url).toMatch(/^https:/)
  const status = await new Promise((resolve, reject) => {
    const call = request(
      `${gateway.url}/v1/chat/completions`,
      {method: 'POST', headers, ca: pem('ca.pem'), checkServerIdentity: () => undefined},
      response => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    call.on('error', reject)
    call.end(ask)
  })
  expect(status).toBe(200)
  await gateway.close()
})

test('browsers of allowed origins may call, and others are told nothing', async () => {
  const origin = 'https://app.example.com'
  const gateway = await startGateway({ENABLE_CORS: 'true', CORS_ALLOWED_ORIGINS: origin})
  const preflight = (from: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-gateway-api-key',
      },
    })
  const allowed = await preflight(origin)
  expect([
    allowed.status,
    allowed.headers.get('access-control-allow-origin'),
    allowed.headers.get('access-control-allow-headers'),
  ]).toEqual([204, origin, 'x-gateway-api-key'])
  expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {...headers, origin},
    body: ask,
  })
  expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, origin])
  const admin = await fetch(`${gateway.url}/v1/api-keys`, {headers: {...headers, origin}})
  expect(admin.headers.get('access-control-allow-origin')).toBe(origin)
  await gateway.close()
})

test('flags switch whole parts off, and say which variable did', async () => {
  const gateway = await startGateway({API_ACCESS_ENABLED: 'OFF', USAGE_LIMITS_ENABLED: 'OFF'})
  const refused = await fetch(`${gateway.url}/v1/api-keys`, {headers})
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('API_ACCESS_ENABLED')])
  expect((await fetch(`${gateway.url}/v1/chat/completions`, {method: 'POST', headers, body: ask})).status).toBe(200)
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const none = {
    name: 'none',
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    rate_limits: [{type: 'requests', unit: 'rpm', value: 0}],
  }
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', none)
  expect((await gateway.chat(JSON.parse(ask), {...headers, 'x-gateway-api-key': key})).status).toBe(200)
  await gateway.close()
})

test('an id that is longer than any is refused as others are', async () => {
  const gateway = await startGateway()
  const reply = await gateway.call(`/v1/prompts/${'x'.repeat(5000)}`)
  expect([reply.status, await reply.json()]).toEqual([
    400,
    {success: false, data: {message: 'path parameter promptId: must have at most 255 characters.', errorCode: 'AB01'}},
  ])
  await gateway.close()
})
