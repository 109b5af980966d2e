import {afterAll, beforeAll, expect, test} from 'vitest'
import {Browser, freePort} from '../support/sign-in.ts'
import {form, hiddenIn, type OAuthHouse, openOAuthHouse} from './house.ts'

/** Clients reach MCP at one address, people sign in at another: their cookie belongs to the latter. */
let house: OAuthHouse
let mcp: string
beforeAll(async () => {
  const port = await freePort()
  mcp = `http://localhost:${port}`
  const env = {PORT: String(port), CONTROL_PLANE_URL: `http://127.0.0.1:${port}`, MCP_GATEWAY_BASE_URL: mcp}
  house = await openOAuthHouse('sqlite', env)
  await house.server('docs')
})
afterAll(() => house?.gateway.close())

test('facts 2, 3 and 11: every address of a document, a token and an answer is that of MCP', async () => {
  const mia = await house.person('mia', 'member', [house.workspace.id])
  const {body: server} = await house.get('/.well-known/oauth-authorization-server/docs/mcp')
  const {body: resource} = await house.get('/.well-known/oauth-protected-resource/docs/mcp')
  expect([server.issuer, resource.authorization_servers, resource.resource]).toEqual([mcp, [mcp], `${mcp}/docs/mcp`])
  const client = await house.client()
  const begun = await new Browser(mcp).go(
    `/oauth/authorize?${house.authorizeQuery(client, {resource: `${mcp}/docs/mcp`})}`,
  )
  const sign_in = new URL(begun.location!)
  expect(`${sign_in.origin}${sign_in.pathname}`).toBe(`${house.base}/v2/auth/sign-in`)
  const page = await mia.browser.go(sign_in.searchParams.get('return_to')!)
  const body = form({...hiddenIn(page.text), action: 'approve'})
  const answer = new URL((await mia.browser.go('/oauth/authorize', {method: 'POST', body})).location!).searchParams
  expect(answer.get('iss')).toBe(mcp)
  const {access_token} = (await house.exchange(client, answer.get('code')!)).body
  expect(await house.state(access_token)).toMatchObject({active: true, aud: `${mcp}/docs/mcp`, iss: mcp})
  const {data} = await house.gateway.admin<{data: {url: string}[]}>('GET', '/mcp-servers')
  expect(data[0]!.url).toBe(`${mcp}/docs/mcp`)
})

test('a resource at the address of people is not one of MCP', async () => {
  const client = await house.client()
  const {location} = await new Browser(mcp).go(
    `/oauth/authorize?${house.authorizeQuery(client, {resource: `${house.base}/docs/mcp`})}`,
  )
  expect(location).toContain('error=invalid_target')
})

test('documents say for how long they hold, and pages of any origin may read them', async () => {
  const reply = await house.get('/.well-known/oauth-authorization-server', {origin: 'https://app.example.test'})
  expect([reply.headers.get('cache-control'), reply.headers.get('access-control-allow-origin')]).toEqual([
    'public, max-age=300',
    '*',
  ])
  for (const path of ['oauth-protected-resource', 'openid-configuration', 'oauth-protected-resource/docs/sse'])
    expect((await house.get(`/.well-known/${path}`)).status, path).toBe(404)
  const ask = (path: string) =>
    fetch(house.base + path, {
      method: 'OPTIONS',
      headers: {origin: 'https://app.example.test', 'access-control-request-method': 'POST'},
    })
  for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke', '/.well-known/oauth-authorization-server']) {
    const {status, headers} = await ask(path)
    expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 204, '*'])
    expect(headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  }
  for (const path of ['/oauth/authorize', '/oauth/consent', '/oauth/introspect'])
    expect((await ask(path)).headers.get('access-control-allow-origin'), path).toBeNull()
})
