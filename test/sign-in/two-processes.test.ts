import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {Browser} from '../support/sign-in.ts'
import {logoutToken} from './logout-tokens.ts'
import {openPeople, type PeopleHouse, patch, scimUser} from './people-house.ts'
import {addSaml} from './people-saml.ts'
import {OF_PROVIDER} from './saml-house.ts'

const database = process.env.TEST_DATABASE_URL
const redis = process.env.TEST_REDIS_URL
const JSON_WANTED = {accept: 'application/json'}

describe.skipIf(!database || !redis)('66: two processes on one PostgreSQL and one Redis', () => {
  let house: PeopleHouse
  let saml: Awaited<ReturnType<typeof addSaml>>
  let twin: TestGateway
  beforeAll(async () => {
    house = await openPeople('postgres', {REDIS_URL: redis!})
    saml = await addSaml(house)
    // a balancer is in front of both: they have one address for people
    twin = await startGateway({...house.gateway.shared, PORT: '0'})
  })
  afterAll(async () => {
    await twin?.close()
    await house?.close()
  })
  beforeEach(() => expect(twin.url).not.toBe(house.gateway.url))

  /** The same browser, whose next request the other process serves. */
  const turned = (browser: Browser, url: string): Browser => {
    const other = new Browser(url)
    for (const [name, value] of browser.cookies) other.cookies.set(name, value)
    return other
  }
  const there = (place: string) => {
    const {pathname, search} = new URL(place, twin.url)
    return pathname + search
  }
  const oidc = () => `?issuer=${encodeURIComponent(house.provider.issuer)}`
  const MIA = {sub: 'mia', email: 'mia@example.test', email_verified: true}
  const begun = async () => {
    house.provider.lie({claims: MIA, userinfo: good => ({...good, ...MIA})})
    const browser = house.gateway.browser()
    const {location} = await browser.go(`/v2/auth/login${oidc()}`)
    return {browser, back: await house.provider.answerTo(location!)}
  }
  const self = async (url: string, headers: Record<string, string>) => {
    const reply = await fetch(`${url}/v1/auth/self`, {headers: {...JSON_WANTED, ...headers}})
    await reply.arrayBuffer()
    return reply.status
  }

  test('the callback is answered by the other process, and a replay is refused at both', async () => {
    const {browser, back} = await begun()
    const other = turned(browser, twin.url)
    const reply = await other.go(there(back.href))
    expect([reply.status, reply.location]).toEqual([303, '/'])
    expect((await other.self()).user.email).toBe('mia@example.test')
    expect((await turned(other, house.gateway.url).self()).user.email).toBe('mia@example.test')
    expect((await browser.go(back.href)).status).toBe(400)
    expect((await turned(browser, twin.url).go(there(back.href))).status).toBe(400)
  })

  test('of two callbacks at once, one at each process, one opens a session', async () => {
    const {browser, back} = await begun()
    const both = await Promise.all([
      turned(browser, house.gateway.url).go(back.href),
      turned(browser, twin.url).go(there(back.href)),
    ])
    expect(both.map(({status}) => status).sort()).toEqual([303, 400])
  })

  test('ACS and second step are answered by the other process, and a replay is refused at both', async () => {
    const {SamlIdp} = await import('../identity/saml/idp.ts')
    const idp = new SamlIdp()
    const browser = house.gateway.browser()
    const {location} = await browser.go(`/v2/auth/login?connection=${saml.connection}`)
    const {SAMLResponse, RelayState, acs_url} = await idp.answer(location!, {email: 'sam@example.test'})
    const body = new URLSearchParams({SAMLResponse, RelayState})
    const post = (url: string) =>
      new Browser(url).go(new URL(acs_url).pathname, {method: 'POST', body, headers: OF_PROVIDER})
    const both = await Promise.all([post(twin.url), post(house.gateway.url)])
    expect(both.map(({status}) => status).sort()).toEqual([303, 400])
    const {location: handle} = both.find(({status}) => status === 303)!
    const other = turned(browser, twin.url)
    expect((await other.go(handle!)).status).toBe(303)
    expect((await turned(other, house.gateway.url).self()).user.email).toBe('sam@example.test')
    for (const url of [house.gateway.url, twin.url]) {
      expect((await post(url)).status).toBe(400)
      expect((await turned(browser, url).go(handle!)).status).toBe(400)
    }
  })

  test('the proof of a page is the same at both, and logging out at one ends the session at the other', async () => {
    const {browser, back} = await begun()
    await browser.go(back.href)
    const {csrf_token} = await browser.self()
    const other = turned(browser, twin.url)
    expect((await other.self()).csrf_token).toBe(csrf_token)
    const token = browser.session!
    const logout = (headers: Record<string, string>) =>
      other.go('/v1/auth/logout', {
        method: 'POST',
        headers: {...JSON_WANTED, 'sec-fetch-site': 'cross-site', ...headers},
      })
    expect((await logout({})).status).toBe(403)
    const {status, body} = await logout({'x-gateway-csrf': csrf_token})
    expect([status, new URL(body.logout_url).searchParams.has('id_token_hint')]).toEqual([200, true])
    expect(await browser.self()).toBe(401)
    expect(await self(house.gateway.url, {authorization: `Bearer ${token}`})).toBe(401)
  })

  test('a provider ends a sign-in at one, and it is over at the other; the same token is refused at both', async () => {
    const nia = {sub: 'nia', email: 'nia@example.test', email_verified: true, sid: 's-nia'}
    const {browser} = await house.comes(nia, undefined, oidc())
    const bearer = {authorization: `Bearer ${browser.session}`}
    const here = () => self(house.gateway.url, bearer)
    expect([await here(), await self(twin.url, bearer)]).toEqual([200, 200])
    const {issuer, client_id, key} = house.provider
    const of = {issuer, client_id, key, sid: 's-nia', sub: 'nia', now_s: Math.floor(Date.now() / 1000)}
    const body = new URLSearchParams({logout_token: logoutToken(of)})
    const sent = (url: string) => fetch(`${url}/v2/auth/backchannel`, {method: 'POST', body})
    const first = await Promise.all([sent(twin.url), sent(house.gateway.url)])
    expect(first.map(({status}) => status).sort()).toEqual([200, 400])
    expect([await here(), await self(twin.url, bearer)]).toEqual([401, 401])
    expect((await sent(house.gateway.url)).status).toBe(400)
  })

  test('who is switched off at one is refused at the other within a second, as a cookie and as a bearer', async () => {
    const scim = await house.directory()
    const {body: user} = await scim('POST', '/Users', scimUser('leo@example.test'))
    const leo = {sub: 'leo', email: 'leo@example.test', email_verified: true}
    const {browser} = await house.comes(leo, undefined, oidc())
    const token = browser.session!
    const credentials: Record<string, string>[] = [
      {cookie: `__Host-gateway_session=${token}`},
      {authorization: `Bearer ${token}`},
    ]
    const both = () => Promise.all(credentials.map(headers => self(twin.url, headers)))
    await expect.poll(both).toEqual([200, 200])
    const since = performance.now()
    expect(
      (await scim('PATCH', `/Users/${user.id}`, patch({op: 'Replace', path: 'active', value: false}))).status,
    ).toBe(200)
    await expect.poll(both, {timeout: 2_000, interval: 20}).toEqual([401, 401])
    expect(performance.now() - since).toBeLessThan(1_000)
  })

  test('a device code that is begun at one is confirmed and fetched at the other, once', async () => {
    const {browser, back} = await begun()
    await browser.go(back.href)
    const json = async (url: string, path: string, body: object) => {
      const headers = {'content-type': 'application/json'}
      const reply = await fetch(url + path, {method: 'POST', headers, body: JSON.stringify(body)})
      return {status: reply.status, body: (await reply.json()) as Record<string, string>}
    }
    const {device_code, user_code} = (await json(house.gateway.url, '/v1/auth/device', {host: 'laptop'})).body
    const poll = (url: string) => json(url, '/v1/auth/device/token', {device_code})
    expect((await poll(twin.url)).body).toEqual({error: 'authorization_pending'})
    const send = {method: 'POST', headers: JSON_WANTED, body: {user_code, decision: 'approve'}}
    expect((await turned(browser, twin.url).go('/v2/auth/device', send)).status).toBe(200)
    const both = await Promise.all([poll(house.gateway.url), poll(twin.url)])
    expect(both.map(({status}) => status).sort()).toEqual([200, 400])
    const {token} = both.find(({status}) => status === 200)!.body
    for (const url of [house.gateway.url, twin.url])
      expect(await self(url, {authorization: `Bearer ${token}`})).toBe(200)
    expect((await poll(house.gateway.url)).body).toEqual({error: 'invalid_grant'})
  })
})
