import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {type AuthServer, answer, openAuthServer} from '../support/mcp/auth-server.ts'
import type {Browser, PageReply} from '../support/sign-in.ts'
import {type OAuthHouse, openOAuthHouse} from './house.ts'

/** Section 3.5: a client that comes by OAuth gets the sign-in at the server before its code. */
let house: OAuthHouse
let upstream: AuthServer
let server: {readonly id: string}
let made = 0
beforeAll(async () => {
  upstream = await openAuthServer()
  house = await openOAuthHouse('sqlite', {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  server = await house.server('docs', undefined, {}, {url: upstream.url, auth_type: 'oauth_auto'})
})
afterAll(async () => {
  await house?.gateway.close()
  await upstream?.close()
})
beforeEach(() => upstream.answers.clear())

const person = () => house.person(`mia${++made}`, 'member', [house.workspace.id])

/** As far as the page that offers the sign-in. */
async function offered(browser: Browser): Promise<PageReply> {
  const allowed = await house.decide(browser, await house.asked(browser, await house.client()))
  expect(new URL(allowed.location!).pathname).toBe('/oauth/connect')
  return browser.go(allowed.location!)
}

function linkIn({text}: PageReply, name: string): string {
  const link = [...text.matchAll(/<a class="button" href="([^"]+)">([^<]+)<\/a>/g)].find(each => each[2] === name)
  return link![1]!.replaceAll('&#38;', '&')
}

/** To the upstream and back with its answer, which `change` may alter. */
async function backFrom(browser: Browser, page: PageReply, change = (_: URL) => {}): Promise<PageReply> {
  const sent = await browser.go(linkIn(page, 'Sign in there'))
  const back = new URL((await fetch(sent.location!, {redirect: 'manual'})).headers.get('location')!)
  change(back)
  return browser.go(back.href)
}

async function codeAt(browser: Browser, {location}: PageReply): Promise<string | null> {
  const end = await browser.go(location!)
  return end.location === null ? null : new URL(end.location).searchParams.get('code')
}

async function connections(): Promise<readonly string[]> {
  const {data} = await house.gateway.admin<{data: {user_id: string}[]}>('GET', `/mcp-servers/${server.id}/connections`)
  return data.map(({user_id}) => user_id)
}

test('a person signs in at the server between consent and code, once', async () => {
  const {browser, id} = await person()
  const page = await offered(browser)
  expect([page.status, page.headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining("default-src 'none'"),
  ])
  const back = await backFrom(browser, page)
  expect(await codeAt(browser, back)).toBeTruthy()
  expect(await connections()).toContain(id)
  const again = await house.decide(browser, await house.asked(browser, await house.client()))
  expect(new URL((await browser.go(again.location!)).location!).searchParams.get('code')).toBeTruthy()
})

test('a sign-in that is left for later, declined, or fails, keeps no code from the client', async () => {
  const later = await person()
  const page = await offered(later.browser)
  expect(await codeAt(later.browser, {...page, location: linkIn(page, 'Later')})).toBeTruthy()

  const declined = await person()
  const back = await backFrom(declined.browser, await offered(declined.browser), url => {
    url.searchParams.delete('code')
    url.searchParams.set('error', 'access_denied')
  })
  expect(await codeAt(declined.browser, back)).toBeTruthy()

  upstream.answers.set('/token', answer(503))
  const failed = await person()
  expect(await codeAt(failed.browser, await backFrom(failed.browser, await offered(failed.browser)))).toBeTruthy()

  upstream.answers.set('/.well-known/oauth-authorization-server', answer(500))
  upstream.answers.set('/.well-known/openid-configuration', answer(500))
  const dead = await person()
  const sent = await dead.browser.go(linkIn(await offered(dead.browser), 'Sign in there'))
  expect(await codeAt(dead.browser, sent)).toBeTruthy()
  const ids = await connections()
  for (const {id} of [later, declined, failed, dead]) expect(ids).not.toContain(id)
})

test('an answer of another issuer connects no one, and leads on', async () => {
  const {browser, id} = await person()
  const back = await backFrom(browser, await offered(browser), url =>
    url.searchParams.set('iss', 'https://evil.example/"><b>'),
  )
  expect([back.status, back.text]).toEqual([400, expect.not.stringContaining('"><b>')])
  const onward = /href="([^"]+)">Continue without it/.exec(back.text)![1]!.replaceAll('&#38;', '&')
  expect(await codeAt(browser, {...back, location: onward})).toBeTruthy()
  expect(await connections()).not.toContain(id)
})

test('an approval is of its person, transaction and server, and for one code', async () => {
  const mia = await person()
  const eve = await person()
  const page = await offered(mia.browser)
  const onward = linkIn(page, 'Later')
  const foreign = await eve.browser.go(onward)
  expect([foreign.status, foreign.location]).toEqual([403, null])
  const eves = await offered(eve.browser)
  const swapped = new URL(linkIn(eves, 'Later'), house.base)
  swapped.searchParams.set('proof', new URL(onward, house.base).searchParams.get('proof')!)
  expect((await eve.browser.go(swapped.href)).status).toBe(403)
  const other = await house.server(`other${made}`)
  const moved = new URL(onward, house.base)
  moved.searchParams.set('server', other.id)
  expect((await mia.browser.go(moved.href)).status).toBe(403)
  const without = new URL(onward, house.base)
  without.searchParams.delete('proof')
  expect((await mia.browser.go(without.href)).status).toBe(403)
  expect(await codeAt(mia.browser, {...page, location: onward})).toBeTruthy()
  expect((await mia.browser.go(onward)).status).toBe(400)
})

test('a consent that is remembered leads there as well, a browser that fetches ahead does not', async () => {
  const {browser} = await person()
  const client = await house.client()
  const allowed = await house.decide(browser, await house.asked(browser, client))
  const ahead = await browser.go(allowed.location!, {headers: {'sec-purpose': 'prefetch'}})
  expect(ahead.status).toBe(204)
  const page = await browser.go(allowed.location!)
  expect(await codeAt(browser, {...page, location: linkIn(page, 'Later')})).toBeTruthy()
  const remembered = await house.asked(browser, client)
  expect(new URL(remembered.location!).searchParams.get('how')).toBe('remembered')
  const next = await browser.go(remembered.location!)
  expect(await codeAt(browser, await backFrom(browser, next))).toBeTruthy()
})
