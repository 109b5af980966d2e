import {afterAll, beforeAll, expect, test} from 'vitest'
import {upstreamAuth, upstreamCallbackReply} from '../../../src/mcp/credentials/upstream-pages.ts'
import {type RealProvider, startRealProvider} from '../../identity/oidc/real-provider.ts'
import {json, RESOURCE_PATH} from '../../support/mcp/auth-server.ts'
import {
  BASE_URL,
  type CredentialHouse,
  headersIn,
  linkIn,
  openCredentialHouse,
  queryOf,
  requestOf,
} from '../../support/mcp/credential-house.ts'
import {listen, type McpListener} from '../../support/mcp/listener.ts'

let house: CredentialHouse
let provider: RealProvider
let mcp: McpListener
beforeAll(async () => {
  house = await openCredentialHouse('sqlite')
  mcp = await listen((_, response, {path}) => {
    if (path === `${RESOURCE_PATH}/mcp`)
      return json(response, 200, {resource: `${mcp.origin}/mcp`, authorization_servers: [`${provider.issuer}/`]})
    response.setHeader('www-authenticate', `Bearer resource_metadata="${mcp.origin}${RESOURCE_PATH}/mcp"`)
    json(response, 401, {})
  })
  const resource = {scope: 'mcp', audience: 'mcp', accessTokenTTL: 600, accessTokenFormat: 'jwt'}
  provider = await startRealProvider({
    redirect_uris: ['https://other.example.com/'],
    features: {
      registration: {enabled: true},
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, indicator: string) => ({...resource, audience: indicator}),
        useGrantedResource: () => true,
      },
    },
    configuration: {
      rotateRefreshToken: true,
      issueRefreshToken: () => true,
      scopes: ['openid', 'offline_access', 'mcp'],
    },
  })
})
afterAll(async () => {
  await Promise.all([provider?.close(), mcp?.close()])
  await house?.close()
})

test('oidc-provider: registration, PKCE, resource indicators and rotation', async () => {
  const oauth_metadata = {scope: 'openid offline_access mcp', authorization_params: {prompt: 'consent'}}
  const target = await house.target(`${mcp.origin}/mcp`, {}, {oauth_metadata})
  const process = house.process()
  const request = requestOf(target)
  const link = linkIn(await process.credentials.headersFor(request))
  const sent = await upstreamAuth(process.services, queryOf(link), {user_id: 'mia'})
  const back = await provider.signIn(sent.headers.location!, 'mia')
  expect(back.origin).toBe(BASE_URL)
  const page = await upstreamCallbackReply(process.services, back.searchParams, {user_id: 'mia'})
  expect([page.status, page.html]).toEqual([200, expect.stringContaining('can be used now')])

  const first = headersIn(await process.credentials.headersFor(request))
  const claims = (authorization: string | undefined) =>
    JSON.parse(Buffer.from(authorization!.split('.')[1]!, 'base64url').toString())
  expect(claims(first.headers.authorization)).toMatchObject({aud: `${mcp.origin}/mcp`, sub: 'mia', scope: 'mcp'})

  for (let time = 0; time < 2; time++) {
    house.clock.wall_ms += 600_000
    const renewed = headersIn(await process.credentials.headersFor(request))
    expect(renewed.refreshed).toBe(true)
    expect(claims(renewed.headers.authorization)).toMatchObject({aud: `${mcp.origin}/mcp`, sub: 'mia'})
  }
  expect(provider.paths.filter(path => path === '/token')).toHaveLength(3)
  expect(provider.paths.filter(path => path === '/reg')).toHaveLength(1)
})
