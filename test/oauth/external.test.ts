import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {type AuthServer, answer, openAuthServer} from '../support/mcp/auth-server.ts'
import {Browser, type PageReply} from '../support/sign-in.ts'
import {type OAuthHouse, openOAuthHouse} from './house.ts'

/** Section 10, `external_auth_config`: people sign in at a provider of the integration's own. */
let house: OAuthHouse
let provider: AuthServer
let other: AuthServer
let server: {readonly id: string; readonly integration: {readonly id: string}}
let claims: Record<string, unknown>
let made = 0
beforeAll(async () => {
  provider = await openAuthServer()
  other = await openAuthServer()
  house = await openOAuthHouse('sqlite', {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  server = await house.server(
    'docs',
    undefined,
    {},
    {
      ...{url: provider.url, auth_type: 'oauth_auto'},
      configurations: {external_auth_config: configOf(provider)},
    },
  )
  await house.server('plain')
})
afterAll(async () => {
  await house?.gateway.close()
  await provider?.close()
  await other?.close()
})
beforeEach(() => {
  provider.answers.clear()
  provider.answers.set('/userinfo', (response, seen) => answer(200, claims)(response, seen))
})

function configOf({origin}: AuthServer) {
  return {
    ...{issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`},
    ...{registration_endpoint: `${origin}/register`, userinfo_endpoint: `${origin}/userinfo`},
  }
}

async function member(name = `mia${++made}`, role: 'owner' | 'admin' | 'member' = 'member') {
  const {id, email} = await house.person(name, role, [house.workspace.id])
  claims = {sub: `subject-${name}`, email, email_verified: true}
  return {id, email}
}

/** A browser that begins, up to the address of the provider. */
async function begun(browser = new Browser(house.base), client?: string) {
  const client_id = client ?? (await house.client())
  const sent = await browser.go(`/oauth/authorize?${house.authorizeQuery(client_id)}`)
  return {browser, client_id, location: new URL(sent.location!)}
}

/** The address at which the provider sends the person back. */
async function answered(location: URL): Promise<URL> {
  return new URL((await fetch(location, {redirect: 'manual'})).headers.get('location')!)
}

async function signedIn(change = (_: URL) => {}) {
  const {browser, client_id, location} = await begun()
  const back = await answered(location)
  change(back)
  return {browser, client_id, back, page: await browser.go(back.href)}
}

const connections = async () =>
  (await house.gateway.admin<{data: {user_id: string}[]}>('GET', `/mcp-servers/${server.id}/connections`)).data.map(
    ({user_id}) => user_id,
  )

test('a person signs in there, allows it here, and the client has tokens of ours', async () => {
  const mia = await member()
  const {browser, client_id, location} = await begun()
  expect(location.origin).toBe(provider.origin)
  expect(Object.fromEntries(location.searchParams)).toMatchObject({
    ...{response_type: 'code', code_challenge_method: 'S256', redirect_uri: `${house.base}/oauth/external-callback`},
    ...{code_challenge: expect.stringMatching(/^[\w-]{43}$/), scope: 'openid email profile'},
  })
  const back = await browser.go((await answered(location)).href)
  const page = await browser.go(back.location!)
  expect([page.status, page.text]).toEqual([200, expect.stringContaining(mia.email)])
  const {location: end} = await codeAfter(browser, await house.decide(browser, page))
  const {body} = await house.exchange(client_id, new URL(end!).searchParams.get('code')!)
  expect(body.access_token).toMatch(/^mcp_at_/)
  expect(await house.state(body.access_token)).toMatchObject({active: true, email: mia.email})
  expect(await connections()).toContain(mia.id)
  expect(JSON.stringify(body)).not.toContain('access-')
  expect(browser.session).toBeUndefined()
})

/** Past the step at the server, which has nothing to do for one whose tokens are kept. */
async function codeAfter(browser: Browser, decided: PageReply): Promise<PageReply> {
  return decided.location?.includes('/oauth/connect') ? browser.go(decided.location) : decided
}

test('the subject is remembered: another address of the same person is no matter, another person is', async () => {
  const mia = await member()
  expect((await signedIn()).page.status).toBe(302)
  claims = {sub: claims.sub}
  const again = await signedIn()
  const page = await again.browser.go(again.page.location!)
  expect(page.text).toContain(mia.email)
  claims = {sub: 'another', email: mia.email, email_verified: true}
  expect((await signedIn()).page.status).toBe(403)
})

test('subjects of one provider are no people of the next, and the choice of a provider is for admins', async () => {
  await member()
  expect((await signedIn()).page.status).toBe(302)
  const path = `/mcp-integrations/${server.integration.id}`
  const put = (of: AuthServer) =>
    house.gateway.admin('PUT', path, {configurations: {external_auth_config: configOf(of)}})
  await put(other)
  await put(provider)
  claims = {sub: claims.sub}
  expect((await signedIn()).page.status).toBe(403)

  const {id: workspace_id} = house.workspace
  const scopes = ['create', 'update', 'read'].map(deed => `workspace_mcp_integrations.${deed}`)
  const {key} = await house.gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    ...{name: 'integrator', workspace_id, scopes},
  })
  const asKey = async (method: string, to: string, body: object) => {
    const headers = {'x-gateway-api-key': key, 'content-type': 'application/json'}
    const reply = await fetch(`${house.gateway.url}/v1${to}`, {method, headers, body: JSON.stringify(body)})
    return {status: reply.status, text: await reply.text()}
  }
  const plain = {name: 'own', slug: 'own-provider', url: provider.url, auth_type: 'none', transport: 'http'}
  const chosen = {configurations: {external_auth_config: configOf(other)}}
  expect(await asKey('POST', '/mcp-integrations', {...plain, ...chosen})).toMatchObject({
    ...{status: 403, text: expect.stringContaining('owners and admins')},
  })
  expect((await asKey('POST', '/mcp-integrations', plain)).status).toBe(200)
  expect((await asKey('PUT', '/mcp-integrations/own-provider', chosen)).status).toBe(403)
  expect((await asKey('PUT', '/mcp-integrations/own-provider', {description: 'x'})).status).toBe(200)
})

test('it opens no session, and no other server', async () => {
  await member()
  const {browser, page} = await signedIn()
  const consent = await browser.go(page.location!)
  expect(consent.text).not.toContain('Server plain')
  const client = await house.client()
  const plain = await browser.go(
    `/oauth/authorize?${house.authorizeQuery(client, {resource: house.resource('plain')})}`,
  )
  expect(plain.location).toContain('/v2/auth/sign-in')
  expect((await browser.go('/oauth/upstream-auth?state=x')).location).toContain('/v2/auth/sign-in')
})

test.each([
  ['is unknown', () => ({sub: 's1', email: 'nobody@example.test', email_verified: true}), 403],
  ['is of another domain', () => ({sub: 's2', email: 'mia@evil.example', email_verified: true}), 403],
  ['has an address that is not verified', () => ({...claims, sub: 's3', email_verified: false}), 403],
  ['has an address of which nothing is said', () => ({...claims, sub: 's4', email_verified: undefined}), 403],
  ['has no address', () => ({sub: 's5'}), 403],
  ['has no subject', () => ({...claims, sub: ''}), 502],
] as const)('a person who %s is not let in, by a page', async (_, stated, status) => {
  await member()
  claims = stated()
  const {page, browser} = await signedIn()
  expect([page.status, page.location, page.headers.get('content-type')]).toEqual([
    status,
    null,
    'text/html; charset=utf-8',
  ])
  expect(browser.session).toBeUndefined()
})

test('owners and admins are not let in by a provider of an integration', async () => {
  for (const role of ['owner', 'admin'] as const) {
    await member(`${role}${++made}`, role)
    const {page} = await signedIn()
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('Owners and admins')])
  }
})

test('a person with a session here is not sent there', async () => {
  const mia = await house.person(`mia${++made}`, 'member', [house.workspace.id])
  const {location} = await begun(mia.browser)
  expect(location.pathname).toBe('/oauth/consent')
})

test('a provider that is down is a page, and names no address', async () => {
  await member()
  provider.answers.set('/token', answer(503, {}))
  const {page} = await signedIn()
  expect([page.status, page.text]).toEqual([502, expect.stringContaining('did not answer')])
})

type Attack = () => Promise<PageReply>
const attacks: readonly (readonly [name: string, status: number, attack: Attack])[] = [
  [
    'a state that was swapped for that of another browser',
    403,
    async () => {
      const [mine, victim] = [await begun(), await begun()]
      const back = await answered(mine.location)
      back.searchParams.set('state', victim.location.searchParams.get('state')!)
      return mine.browser.go(back.href)
    },
  ],
  [
    'a code of another sign-in under the own state',
    400,
    async () => {
      const [mine, victim] = [await begun(), await begun()]
      const back = await answered(mine.location)
      back.searchParams.set('code', (await answered(victim.location)).searchParams.get('code')!)
      return mine.browser.go(back.href)
    },
  ],
  [
    'a state that was altered',
    400,
    async () => (await signedIn(url => url.searchParams.set('state', 'a'.repeat(43)))).page,
  ],
  ['a state that comes twice', 400, async () => (await signedIn(url => url.searchParams.append('state', 'x'))).page],
  ['no state', 400, async () => (await signedIn(url => url.searchParams.delete('state'))).page],
  [
    'an answer that comes twice',
    400,
    async () => {
      const {browser, back, page} = await signedIn()
      expect(page.status).toBe(302)
      return browser.go(back.href)
    },
  ],
  [
    'an answer in a foreign browser',
    403,
    async () => new Browser(house.base).go((await answered((await begun()).location)).href),
  ],
  [
    'an answer of another issuer (mix-up)',
    400,
    async () => (await signedIn(url => url.searchParams.set('iss', other.origin))).page,
  ],
  ['an answer with two issuers', 400, async () => (await signedIn(url => url.searchParams.append('iss', 'x'))).page],
  ['an answer with two codes', 400, async () => (await signedIn(url => url.searchParams.append('code', 'x'))).page],
  [
    'an answer after 10 minutes',
    400,
    async () => {
      const {browser, location} = await begun()
      const back = await answered(location)
      house.pass(600_001)
      return browser.go(back.href)
    },
  ],
  [
    'an error with markup in it',
    400,
    async () =>
      (
        await signedIn(url => {
          url.searchParams.delete('code')
          url.searchParams.set('error', '<script>x</script>')
          url.searchParams.set('error_description', '"><img src=x onerror=y>')
        })
      ).page,
  ],
  [
    'a place to continue that the query names',
    400,
    async () =>
      (
        await signedIn(url => {
          url.searchParams.set('return_to', 'https://evil.example')
          url.searchParams.set('redirect_uri', 'https://evil.example')
          url.searchParams.delete('code')
        })
      ).page,
  ],
  [
    'a token endpoint that redirects',
    502,
    async () => {
      provider.answers.set('/token', answer(307, {}, {location: `${other.origin}/token`}))
      return (await signedIn()).page
    },
  ],
  [
    'UserInfo that redirects',
    502,
    async () => {
      provider.answers.set('/userinfo', answer(302, {}, {location: `${other.origin}/userinfo`}))
      return (await signedIn()).page
    },
  ],
]

test.each(attacks)('attack: %s', async (_, status, attack) => {
  await member()
  const before = await connections()
  const page = await attack()
  expect([page.status, page.location]).toEqual([status, null])
  expect(page.text).not.toMatch(/<script|<img|"><|evil\.example/)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(other.requests).toEqual([])
  expect((await connections()).length - before.length).toBeLessThanOrEqual(1)
})

test('attack: the consent of a person in another browser, and of another authorization', async () => {
  await member()
  const {browser, page} = await signedIn()
  const stolen = await new Browser(house.base).go(page.location!)
  expect(stolen.location).toContain('/v2/auth/sign-in')
  const mine = await begun(new Browser(house.base))
  for (const [name, value] of browser.cookies) mine.browser.cookies.set(name, value)
  const id = new URL(page.location!).searchParams.get('transaction')!
  const others = await mine.browser.go(`/oauth/consent?transaction=${id.slice(0, -1)}x`)
  expect(others.status).toBe(400)
})

test('an address that the wall refuses is no way out', async () => {
  const config = {...configOf(provider), issuer: undefined, token_endpoint: 'https://169.254.169.254/token'}
  await house.server(
    'walled',
    undefined,
    {},
    {
      ...{url: provider.url, auth_type: 'none'},
      configurations: {external_auth_config: {...config, issuer: 'https://169.254.169.254'}},
    },
  )
  const client = await house.client()
  const reply = await new Browser(house.base).go(
    `/oauth/authorize?${house.authorizeQuery(client, {resource: house.resource('walled')})}`,
  )
  expect([reply.status, reply.text]).toEqual([502, expect.stringContaining('cannot be reached')])
})
