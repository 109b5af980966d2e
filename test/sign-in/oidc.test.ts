import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type Browser, type OidcHouse, openOidc, says} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'

describe.each(KINDS)('OpenID Connect, from the first page to a session, on %s', kind => {
  let house: OidcHouse
  beforeAll(async () => {
    house = await openOidc(kind)
  })
  afterAll(() => house.close())

  /** No session, no user, no link, and a row that says why. */
  const expectShut = async (browser: Browser, email: string, reason: string) => {
    expect(browser.session).toBeUndefined()
    expect(await browser.self()).toBe(401)
    const {data} = await house.gateway.admin<{data: {email: string}[]}>('GET', '/admin/users')
    expect(data.filter(user => user.email === email)).toEqual([])
    const [row] = await house.gateway.rows('sign_in')
    expect(row).toMatchObject({actor_type: 'system', body: {reason, method: 'oidc'}})
  }

  test('25: the request has state, nonce, S256, scopes and the exact address to come back to', async () => {
    const {location, headers} = await house.gateway.browser().go('/v2/auth/login')
    const url = new URL(location!)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'gateway',
      redirect_uri: `${house.gateway.shared.CONTROL_PLANE_URL}/v2/auth/callback`,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'openid profile email',
    })
    const [cookie] = headers.getSetCookie()
    expect(cookie).toMatch(
      /^__Host-gateway_login-[\da-f]{8}=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
  })

  test('26: a new person is a member with a session in a cookie; 27: the second time he is the same', async () => {
    says(house.provider, {sub: 'mia', email: 'Mia@Example.test', given_name: 'Mia'})
    const first = await house.signIn()
    expect([first.reply.status, first.reply.location]).toEqual([303, '/'])
    const [session] = first.reply.headers.getSetCookie()
    expect(session).toMatch(/^__Host-gateway_session=gs-[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/)
    expect(first.reply.headers.get('cache-control')).toBe('no-store')
    const self = await first.browser.self()
    expect(self).toMatchObject({
      user: {email: 'mia@example.test', first_name: 'Mia'},
      organisation: {role: 'member'},
      session: {kind: 'browser', method: 'oidc'},
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
    })
    const second = await house.signIn()
    expect((await second.browser.self()).user.id).toBe(self.user.id)
    expect(second.browser.session).not.toBe(first.browser.session)
    const rows = await house.gateway.rows('user')
    expect(rows.find(row => row.action === 'create')).toMatchObject({actor_type: 'user', body: {by: 'oidc'}})
  })

  test.each([
    ['another browser', async () => ({browser: house.gateway.browser(), change: (url: URL) => url})],
    ['a changed state', async (own: Browser) => ({browser: own, change: (url: URL) => withState(url, 'A'.repeat(43))})],
    ['no state', async (own: Browser) => ({browser: own, change: (url: URL) => withState(url, '')})],
  ])('28: an answer with %s opens nothing', async (_, made) => {
    says(house.provider, {sub: 'ned', email: 'ned@example.test'})
    const begun = house.gateway.browser()
    const {location} = await begun.go('/v2/auth/login')
    const back = await house.provider.answerTo(location!)
    const {browser, change} = await made(begun)
    const reply = await browser.go(change(back).href)
    expect(reply.status).toBe(400)
    expect(reply.text).toContain('Begin again')
    expect(browser.session).toBeUndefined()
  })

  test('28: an answer that comes twice opens one session; IC24: at once, too', async () => {
    says(house.provider, {sub: 'mia', email: 'mia@example.test'})
    const {browser, back} = await house.signIn()
    const again = await browser.go(back!.href)
    expect([again.status, again.text.includes('already')]).toEqual([400, true])
    const other = house.gateway.browser()
    const {location} = await other.go('/v2/auth/login')
    const answer = await house.provider.answerTo(location!)
    const [cookie] = [...other.cookies].map(([name, value]) => `${name}=${value}`)
    const both = await Promise.all(
      [1, 2].map(() => house.gateway.browser().go(answer.href, {headers: {cookie: cookie!}})),
    )
    expect(both.map(({status}) => status).sort()).toEqual([303, 400])
  })

  test.each([
    ['sec-purpose', 'prefetch', 'GET'],
    ['sec-purpose', 'prefetch;prerender', 'GET'],
    ['purpose', 'prefetch', 'GET'],
    ['x-moz', 'prefetch', 'GET'],
    ['accept', 'text/html', 'HEAD'],
  ])('IC24: a browser that fetches ahead (%s: %s, %s) uses nothing up', async (name, value, method) => {
    says(house.provider, {sub: 'mia', email: 'mia@example.test'})
    const browser = house.gateway.browser()
    const ahead = await browser.go('/v2/auth/login', {method, headers: {[name]: value}})
    expect([ahead.status, ahead.headers.getSetCookie()]).toEqual([204, []])
    const {location} = await browser.go('/v2/auth/login')
    const back = await house.provider.answerTo(location!)
    const asked = house.provider.requests.length
    const early = await browser.go(back.href, {method, headers: {[name]: value}})
    expect([early.status, early.headers.getSetCookie()]).toEqual([204, []])
    expect(early.headers.get('cache-control')).toBe('no-store')
    expect(house.provider.requests.length).toBe(asked)
    expect((await browser.go(back.href)).status).toBe(303)
  })

  test.each([
    ['a nonce of another', {nonce: 'other'}, 401, 'token_nonce'],
    ['another audience', {aud: 'other'}, 401, 'token_audience'],
    ['another issuer', {iss: 'https://other.test'}, 401, 'token_issuer'],
    ['an end in the past', {exp: 1}, 401, 'token_time'],
    ['no subject', {sub: undefined}, 401, 'token_subject'],
    ['an address that is not verified', {email_verified: false}, 403, 'email_unverified'],
    ['an address of another domain', {email: 'eve@evil.test'}, 403, 'domain_foreign'],
    ['a domain that only begins like ours', {email: 'eve@example.test.evil.net'}, 403, 'domain_foreign'],
    ['a domain below ours', {email: 'eve@sub.example.test'}, 403, 'domain_foreign'],
    ['two addresses in one', {email: 'eve@evil.test@example.test'}, 403, 'email_missing'],
    ['a letter that folds into another', {email: '\u212Aim@example.test'}, 403, 'email_missing'],
    ['a domain of wide letters', {email: 'kim@\uFF45xample.test'}, 403, 'email_missing'],
    ['a list for an address', {email: ['eve@example.test']}, 403, 'email_missing'],
  ])('29, 32, IC6, IC7: %s lets nobody in', async (_, claims, status, reason) => {
    says(house.provider, {sub: 'eve', email: 'eve@example.test', ...claims})
    const {browser, reply} = await house.signIn()
    expect(reply.status).toBe(status)
    expect(reply.text).not.toContain(reason)
    await expect.poll(() => house.gateway.rows('sign_in').then(([row]) => row?.body.reason)).toBe(reason)
    await expectShut(browser, 'eve@example.test', reason)
  })

  test('33: another subject with the address of a linked person is refused', async () => {
    says(house.provider, {sub: 'mia-2', email: 'mia@example.test'})
    const {browser, reply} = await house.signIn()
    expect([reply.status, browser.session]).toEqual([409, undefined])
  })

  test('34: a pending invite is accepted, with its role and its workspaces; IC8: however it is spelled', async () => {
    const workspace = await house.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Kitchen'})
    const workspaces = [{id: workspace.id, role: 'manager'}]
    await house.gateway.admin('POST', '/admin/users/invites', {
      email: 'pat.lee@example.test',
      role: 'admin',
      workspaces,
    })
    says(house.provider, {sub: 'pat', email: 'Pat.LEE@Example.TEST', email_verified: true})
    const {browser} = await house.signIn()
    expect(await browser.self()).toMatchObject({user: {email: 'pat.lee@example.test'}, organisation: {role: 'admin'}})
    const [invite] = await house.gateway.rows('invite')
    expect(invite).toMatchObject({action: 'manage', actor_type: 'user', body: {by: 'oidc'}})
    const {data} = await house.gateway.admin<{data: {email: string; role: string}[]}>(
      'GET',
      `/admin/workspaces/${workspace.id}/users`,
    )
    expect(data.map(({role}) => role)).toEqual(['manager'])
  })

  test('34: where first sign-ins make nobody, an invite still does', async () => {
    await house.gateway.auth({provisioning: {disable_auto_provision_user: true}})
    says(house.provider, {sub: 'new', email: 'new@example.test'})
    const {browser, reply} = await house.signIn()
    expect(reply.status).toBe(403)
    await expect.poll(() => house.gateway.rows('sign_in').then(([row]) => row?.body.reason)).toBe('not_invited')
    await expectShut(browser, 'new@example.test', 'not_invited')
    await house.gateway.admin('POST', '/admin/users/invites', {
      email: 'new@example.test',
      role: 'member',
      workspaces: [],
    })
    expect((await house.signIn()).reply.status).toBe(303)
    await house.gateway.auth({provisioning: {disable_auto_provision_user: null}})
  })

  test.each([
    'https://evil.test/',
    '//evil.test/',
    '/\\evil.test/',
    '/%5cevil.test',
    '/%2f/evil.test',
    'javascript:alert(1)',
    '/\t/evil.test',
    `/${'a'.repeat(3000)}`,
  ])('35: a return to %s stays here', async return_to => {
    says(house.provider, {sub: 'mia', email: 'mia@example.test'})
    const {reply} = await house.signIn(undefined, `?${new URLSearchParams({return_to})}`)
    expect(reply.location).toBe('/')
  })

  test('35: a path of ours is kept', async () => {
    const {reply} = await house.signIn(undefined, `?return_to=${encodeURIComponent('/v2/auth/device?a=b%20c')}`)
    expect(reply.location).toBe('/v2/auth/device?a=b%20c')
  })

  test('64: session_settings of the organisation bound the session', async () => {
    await house.gateway.auth({session_settings: {max_session_ttl: 900, idle_timeout: 300}})
    const {browser} = await house.signIn()
    const {session} = await browser.self()
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(900_000)
    expect(Date.parse(session.idle_expires_at) - Date.parse(session.created_at)).toBeLessThanOrEqual(301_000)
    await house.gateway.auth({session_settings: {max_session_ttl: null, idle_timeout: null}})
  })

  test('a connection that is changed ends the sign-ins that were begun with it', async () => {
    says(house.provider, {sub: 'mia', email: 'mia@example.test'})
    const browser = house.gateway.browser()
    const {location} = await browser.go('/v2/auth/login')
    const back = await house.provider.answerTo(location!)
    await house.gateway.auth({sso: {oidc: {email_claim: 'mail'}}})
    expect((await browser.go(back.href)).status).toBe(400)
    await house.gateway.auth({sso: {oidc: {email_claim: null}}})
  })

  test('§4: an unknown organisation answers as one without a connection, byte for byte', async () => {
    const [unknown, empty] = await Promise.all(
      ['0e3f2f60-5f0a-4a2c-9a55-000000000000', 'none'].map(id =>
        house.gateway.browser().go(`/v2/auth/login?organisation_id=${id}`, {headers: {accept: 'application/json'}}),
      ),
    )
    expect(unknown!.status).toBe(404)
    expect(unknown!.body).toEqual(empty!.body)
  })

  test('a sign-in that the provider begins begins one of ours, and believes nothing', async () => {
    const {issuer} = house.provider
    for (const path of ['/v2/auth/initiate', '/v2/auth/callback']) {
      const reply = await house.gateway.browser().go(`${path}?iss=${encodeURIComponent(issuer)}&login_hint=mia`)
      expect(reply.status).toBe(302)
      const begun = await house.gateway.browser().go(reply.location!)
      expect(new URL(begun.location!).searchParams.get('login_hint')).toBe('mia')
    }
  })
})

function withState(url: URL, state: string): URL {
  const changed = new URL(url)
  if (state) changed.searchParams.set('state', state)
  else changed.searchParams.delete('state')
  return changed
}
