import {request} from 'node:http'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {fakeProvider} from '../support/provider.ts'
import {type Browser, type OidcHouse, openOidc, openSignInGateway, says} from '../support/sign-in.ts'
import {POLICY} from './fake-gateway.ts'

const JSON_WANTED = {accept: 'application/json'}
const ORIGIN = 'https://console.test'

let house: OidcHouse
let ahead_ms = 0
const now = () => Date.now() + ahead_ms
beforeAll(async () => {
  house = await openOidc('sqlite', {ENABLE_CORS: 'true', CORS_ALLOWED_ORIGINS: ORIGIN}, {now})
})
afterAll(() => house.close())
// sign-ins that are open count for a minute
beforeEach(() => {
  ahead_ms += 61_000
})

async function enter(name = 'mia'): Promise<Browser> {
  const now_s = Math.floor(now() / 1000)
  const times = {iat: now_s, exp: now_s + 300}
  says(house.provider, {sub: name, email: `${name}@example.test`, email_verified: true, ...times})
  const {browser, reply} = await house.signIn()
  expect(reply.status).toBe(303)
  return browser
}

/** A GET by another name of this machine, which fetch would not send. */
async function getAs(host: string, path: string) {
  const {port} = new URL(house.gateway.shared.CONTROL_PLANE_URL!)
  return new Promise<{status: number; location: string | undefined; cookies: string[]; text: string}>((done, fail) =>
    request({host: '127.0.0.1', port, path, headers: {host, accept: 'text/html'}}, reply => {
      const parts: Buffer[] = []
      reply.on('data', part => void parts.push(part))
      reply.on('end', () => {
        const {location, 'set-cookie': cookies = []} = reply.headers
        done({status: reply.statusCode!, location, cookies, text: Buffer.concat(parts).toString()})
      })
    })
      .on('error', fail)
      .end(),
  )
}

describe('62: a write with the cookie needs a proof that a page of ours made it', () => {
  let admin: Browser
  let csrf: string
  let token: string
  let foreign: string
  beforeAll(async () => {
    ahead_ms += 61_000
    await house.gateway.person('ada', 'admin')
    admin = await enter('ada')
    csrf = (await admin.self()).csrf_token
    token = admin.session!
    foreign = (await (await enter('olga')).self()).csrf_token
  })
  const base = () => house.gateway.shared.CONTROL_PLANE_URL!
  const proofs: readonly [string, () => Record<string, string>, boolean][] = [
    ['none', () => ({}), false],
    ['cross-site', () => ({'sec-fetch-site': 'cross-site'}), false],
    ['same-site', () => ({'sec-fetch-site': 'same-site'}), false],
    ['a navigation by hand', () => ({'sec-fetch-site': 'none'}), false],
    ['same-site with our origin', () => ({'sec-fetch-site': 'same-site', origin: base()}), false],
    ['another origin', () => ({origin: 'http://127.0.0.1:1'}), false],
    ['an origin that begins like ours', () => ({origin: `${base()}.evil.test`}), false],
    ['an origin of null', () => ({origin: 'null'}), false],
    ['a wrong token', () => ({'x-gateway-csrf': 'A'.repeat(43)}), false],
    ['the token of another session', () => ({'x-gateway-csrf': foreign}), false],
    ['an empty token', () => ({'x-gateway-csrf': ''}), false],
    ['a part of the token', () => ({'x-gateway-csrf': csrf.slice(0, 42)}), false],
    ['same-origin', () => ({'sec-fetch-site': 'same-origin'}), true],
    ['our origin where nothing else is said', () => ({origin: base()}), true],
    ['the token of the session', () => ({'x-gateway-csrf': csrf}), true],
    ['the token, from anywhere', () => ({'x-gateway-csrf': csrf, 'sec-fetch-site': 'cross-site'}), true],
  ]
  /** Each answers 200 or 404 to whoever is let in, and changes nothing that the others need. */
  const writes: readonly [string, string, unknown?][] = [
    ['PUT', '/v1/admin/organisation/auth', {}],
    ['POST', '/v1/admin/organisation/auth/test', {part: 'jwt'}],
    ['DELETE', '/v1/admin/users/none'],
    ['POST', '/v1/auth/switch', {organisation_id: 'none'}],
    ['DELETE', '/v1/auth/sessions/none'],
    ['POST', '/v2/auth/device/lookup', {user_code: 'none'}],
    ['POST', '/v2/auth/cli', {request: 'none', decision: 'deny'}],
  ]
  const send = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const reply = await fetch(base() + path, {
      method,
      headers: {...JSON_WANTED, ...headers, ...(body !== undefined && {'content-type': 'application/json'})},
      ...(body !== undefined && {body: JSON.stringify(body)}),
    })
    return {status: reply.status, text: await reply.text()}
  }
  const cookie = () => ({cookie: `a=1; __Host-gateway_session=${token}; b=2`})

  const cases = writes.flatMap(([method, path, body]) =>
    proofs
      // typed codes have few tries
      .filter(([, , is_in]) => !(is_in && path.includes('lookup')))
      .map(([name, headers, is_in]) => ({method, path, body, name, headers, is_in})),
  )
  test.each(cases)('$method $path with $name: let in: $is_in', async ({method, path, body, headers, is_in}) => {
    const {status, text} = await send(method, path, {...cookie(), ...headers()}, body)
    // 400: it was read
    if (is_in) expect([200, 400, 404]).toContain(status)
    else expect([status, text.includes('own pages')]).toEqual([403, true])
  })

  test.each(writes.filter(([, path]) => !path.includes('lookup')))('%s %s needs none as a bearer', async (...of) => {
    const [method, path, body] = of
    const bearer = {authorization: `Bearer ${token}`, 'sec-fetch-site': 'cross-site'}
    expect([200, 400, 404]).toContain((await send(method, path, bearer, body)).status)
  })

  test('a write that is refused for want of it does not count as a use of the session', async () => {
    const seen = async () =>
      (await house.gateway.admin<{data: {last_seen_at: string}[]}>('GET', '/admin/sessions')).data.map(
        each => each.last_seen_at,
      )
    const before = await seen()
    ahead_ms += 61_000
    for (const [method, path, body] of writes)
      expect((await send(method, path, {...cookie(), 'sec-fetch-site': 'cross-site'}, body)).status).toBe(403)
    expect(await seen()).toEqual(before)
    for (const [method, path, body] of [writes[0]!, writes[3]!]) {
      ahead_ms += 61_000
      const was = await seen()
      await send(method, path, {...cookie(), 'sec-fetch-site': 'same-origin'}, body)
      expect(await seen()).not.toEqual(was)
    }
  })

  test('logging out needs it too', async () => {
    for (const path of ['/v1/auth/logout', '/v2/auth/logout'])
      for (const [, headers, is_in] of proofs)
        if (!is_in) expect((await send('POST', path, {...cookie(), ...headers()})).status).toBe(403)
    expect((await admin.self()).csrf_token).toBe(csrf)
  })

  test('reads need none, and change nothing', async () => {
    for (const path of ['/v1/auth/self', '/v1/auth/sessions', '/v1/auth/keys', '/v1/admin/workspaces'])
      expect((await send('GET', path, {...cookie(), 'sec-fetch-site': 'cross-site'})).status).toBe(200)
  })

  test('a key or a session in a header wins: the cookie is not looked at', async () => {
    const key = {'x-gateway-api-key': `gk-${'x'.repeat(43)}`}
    const bearer = {authorization: `Bearer gs-${'x'.repeat(43)}`}
    for (const path of ['/v1/auth/self', '/v1/admin/workspaces'])
      for (const headers of [key, bearer]) {
        expect((await send('GET', path, {...cookie(), ...headers})).status).toBe(401)
        const good = {cookie: `__Host-gateway_session=gs-${'x'.repeat(43)}`, authorization: `Bearer ${token}`}
        expect((await send('GET', path, good)).status).toBe(200)
      }
    const self = await send('GET', '/v1/auth/self', {authorization: `Bearer ${token}`})
    expect(JSON.parse(self.text).csrf_token).toBeNull()
  })

  test.each<[string, () => string]>([
    ['that come twice', () => `__Host-gateway_session=${token}; __Host-gateway_session=${token}`],
    ['with another of the name', () => `__Host-gateway_session=x; __Host-gateway_session=${token}`],
    ['without the prefix', () => `gateway_session=${token}`],
    ['of another case', () => `__host-gateway_session=${token}`],
    ['in quotes', () => `__Host-gateway_session="${token}"`],
    ['of a key', () => '__Host-gateway_session=gk-test-admin-key-of-at-least-32-characters'],
    ['that are too long', () => `a=${'a'.repeat(17_000)}; __Host-gateway_session=${token}`],
    ['that are too many', () => `${'a=1; '.repeat(100)}__Host-gateway_session=${token}`],
  ])('cookies %s are none', async (_, made) => {
    for (const path of ['/v1/auth/self', '/v1/admin/workspaces'])
      expect((await send('GET', path, {cookie: made()})).status).toBe(401)
  })

  test('74: our cookies reach no provider, and those of others do where they are named', async () => {
    const provider = await fakeProvider()
    await house.gateway.provider('loop', 'openai', provider.url)
    const ours = `__Host-gateway_session=${token}; __Host-gateway_login-12345678=${'y'.repeat(43)}`
    const chat = {model: 'm', messages: [{role: 'user', content: 'hi'}]}
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions', '/v1/some/other'])
      for (const more of [{}, {'x-gateway-forward-headers': 'cookie'}])
        await house.gateway.call(path, {
          ...{method: 'POST', body: JSON.stringify(chat)},
          headers: {
            ...{'content-type': 'application/json', 'x-gateway-provider': '@loop', cookie: `a=1; ${ours}`},
            ...(more as Record<string, string>),
          },
        })
    expect(provider.received).toHaveLength(6)
    const cookies = provider.received.map(({headers}) => headers.cookie)
    expect(new Set(cookies)).toEqual(new Set([undefined, 'a=1']))
    for (const {headers, body, path} of provider.received)
      expect(JSON.stringify(headers) + body.toString() + path).not.toContain(token)
    await provider.close()
  })
})

describe('what every path of sign-in answers', () => {
  const REQUESTS: readonly [string, string, unknown?][] = [
    ...['sign-in', 'ldap', 'password', 'device', 'cli', 'account', 'invite'].map(
      page => ['GET', `/v2/auth/${page}`] as [string, string],
    ),
    ...['assets/sign-in.css', 'assets/common.js', 'assets/sign-in.js', 'ways', 'login', 'callback', 'initiate'].map(
      path => ['GET', `/v2/auth/${path}`] as [string, string],
    ),
    ...['/v1/auth/login', '/v1/auth/callback', '/albus/v2/auth/callback', '/', '/v1/invites/accept'].map(
      path => ['GET', path] as [string, string],
    ),
    ...['/v2/auth/saml/finish', '/v2/auth/saml/metadata/x', '/v2/auth/cli/request'].map(
      path => ['GET', path] as [string, string],
    ),
    ...['/v1/auth/self', '/v1/auth/sessions', '/v1/auth/keys'].map(path => ['GET', path] as [string, string]),
    ['DELETE', '/v1/auth/sessions/x'],
    ...[
      '/v2/auth/login',
      '/v2/auth/saml/callback/x',
      '/albus/v2/auth/saml/callback/x',
      '/v2/auth/saml/finish',
      '/v2/auth/ldap',
      '/v2/auth/password',
      '/v1/auth/logout',
      '/v2/auth/logout',
      '/v1/auth/switch',
      '/v1/auth/device',
      '/v1/auth/device/token',
      '/v2/auth/device/lookup',
      '/v2/auth/device',
      '/v2/auth/cli',
      '/v1/auth/cli/token',
    ].map(path => ['POST', path, {}] as [string, string, unknown]),
  ]

  const expectGuarded = (path: string, headers: Headers) => {
    const answer = Object.fromEntries(headers)
    expect([path, answer]).toEqual([
      path,
      expect.objectContaining({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cross-origin-opener-policy': 'same-origin',
        'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'/),
        'x-gateway-trace-id': expect.any(String),
      }),
    ])
    expect(Object.keys(answer).filter(name => name.startsWith('access-control'))).toEqual([])
  }

  test.each(REQUESTS)('%s %s: the headers that guard it, no other origin, no fault of ours', async (...of) => {
    const [method, path, body] = of
    for (const accept of ['text/html', 'application/json']) {
      const browser = house.gateway.browser()
      const {status, headers, text} = await browser.go(path, {method, body, headers: {accept, origin: ORIGIN}})
      expect([path, accept, status < 500]).toEqual([path, accept, true])
      expectGuarded(path, headers)
      expect(text).not.toMatch(/node_modules|\.ts:\d/)
    }
  })

  test.each(REQUESTS.filter(([method]) => method === 'GET'))('%s %s: HEAD reads nothing', async (_, path) => {
    const {status, headers, text} = await house.gateway.browser().go(path, {method: 'HEAD'})
    expect([status, text, headers.getSetCookie()]).toEqual([204, '', []])
    expectGuarded(path, headers)
  })

  const POSTS = REQUESTS.filter(([method]) => method === 'POST').map(([, path]) => path)
  test.each(POSTS)('POST %s: bodies that are none', async path => {
    const deep = '['.repeat(1000) + ']'.repeat(1000)
    const bodies: readonly [string, string, number][] = [
      ['text/plain', 'a=1', 400],
      ['multipart/form-data; boundary=x', '--x\r\n\r\n--x--', 400],
      ['application/xml', '<x/>', 400],
      ['application/json', '{', 400],
      ['application/json', '[]', 400],
      ['application/json', '7', 400],
      ['application/json', `{"a":${deep}}`, 400],
      ['application/x-www-form-urlencoded', 'a=1&a=2', 400],
      ['application/json', `{"a":"${'a'.repeat(4 << 20)}"}`, 413],
    ]
    for (const [type, body, status] of bodies) {
      const reply = await fetch(house.gateway.url + path, {
        ...{method: 'POST', body, redirect: 'manual'},
        headers: {...JSON_WANTED, 'content-type': type, 'sec-fetch-site': 'same-origin'},
      })
      const text = await reply.text()
      const is_refused = reply.status >= 400 && reply.status < 500
      expect([path, type, body.slice(0, 30), is_refused]).toEqual([path, type, body.slice(0, 30), true])
      if (status === 413 || type === 'text/plain' || type.includes('xml'))
        expect([path, type, reply.status, JSON.parse(text).success]).toEqual([path, type, expect.any(Number), false])
      if (status === 413) expect(reply.status).toBe(413)
      expectGuarded(path, reply.headers)
    }
  })

  test.each(POSTS)('POST %s: names that objects have of their own are no fields', async path => {
    for (const [type, body] of [
      ['application/json', '{"__proto__":{"email":"a"},"constructor":{"a":1},"toString":"x"}'],
      ['application/x-www-form-urlencoded', '__proto__=1&constructor=2&toString=3'],
    ] as const) {
      const headers = {...JSON_WANTED, 'content-type': type, 'sec-fetch-site': 'same-origin'}
      const reply = await fetch(house.gateway.url + path, {method: 'POST', body, redirect: 'manual', headers})
      expect([path, type, reply.status < 500]).toEqual([path, type, true])
    }
    expect(({} as {email?: string}).email).toBeUndefined()
  })

  test('fields of a wrong type or length are named', async () => {
    const fields = [{device_code: 7}, {device_code: ['a']}, {device_code: {}}, {device_code: 'a'.repeat(256)}, {}]
    for (const body of fields) {
      const reply = await house.gateway
        .browser()
        .go('/v1/auth/device/token', {method: 'POST', body, headers: JSON_WANTED})
      expect([reply.status, reply.text.includes('device_code')]).toEqual([400, true])
    }
  })

  test('the back button finds no page of a person', async () => {
    const browser = await enter()
    for (const path of ['/v2/auth/account', '/v1/auth/self', '/v1/auth/sessions', '/v1/auth/keys'])
      expect((await browser.go(path)).headers.get('cache-control')).toBe('no-store')
  })
})

test('the page after signing out says so without a script, and sends on who is signed in', async () => {
  const browser = await enter()
  const here = await browser.go('/v2/auth/signed-out')
  expect([here.status, here.location]).toEqual([302, '/v2/auth/account'])
  await browser.go('/v2/auth/logout', {method: 'POST', body: new URLSearchParams()})
  // as the provider sends the browser back, with what it was given and more
  const {status, text, headers} = await browser.go('/v2/auth/signed-out?state=x', {
    headers: {'sec-fetch-site': 'cross-site'},
  })
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-store',
  ])
  expect(headers.get('content-security-policy')).toBe(POLICY)
  expect(text).toContain('<p role="status"><bdi>You are signed out.</bdi></p>')
  expect(text).toContain('<a class="button" href="/v2/auth/sign-in">Sign in</a>')
  expect(text).not.toContain('<script')
})

describe('the place at which people reach the gateway', () => {
  test('79: a sign-in that is begun at localhost goes on at CONTROL_PLANE_URL, before any cookie', async () => {
    const {port} = new URL(house.gateway.shared.CONTROL_PLANE_URL!)
    const places = [
      '/v2/auth/login?return_to=%2Fa%3Fb%3D1&x=1',
      '/v2/auth/sign-in',
      '/v2/auth/signed-out',
      '/v1/auth/login',
      '/v2/auth/device',
    ]
    const local = `localhost:${port}`
    for (const place of places) {
      const moved = await getAs(local, place)
      expect([moved.status, moved.cookies]).toEqual([302, []])
      const url = new URL(moved.location!)
      expect(url.origin).toBe(house.gateway.shared.CONTROL_PLANE_URL)
      expect([...url.searchParams.getAll('moved'), url.pathname]).toEqual(['1', place.split('?')[0]])
    }
    const plain = await getAs(local, '/v2/auth/login?return_to=/a?b=1&email=mia@example.test')
    expect(Object.fromEntries(new URL(plain.location!).searchParams)).toEqual({
      ...{return_to: '/a?b=1', email: 'mia@example.test', moved: '1'},
    })
    expect((await getAs(local, '/v2/auth/login?moved=1')).status).toBe(303)
    const now_s = Math.floor(now() / 1000)
    says(house.provider, {sub: 'mia', email: 'mia@example.test', iat: now_s, exp: now_s + 300})
    const browser = house.gateway.browser()
    const begun = await browser.go((await getAs(local, '/v2/auth/login')).location!)
    const back = await house.provider.answerTo(begun.location!)
    expect((await browser.go(back.href)).status).toBe(303)
    expect((await browser.self()).user.email).toBe('mia@example.test')
  })

  test.each(['evil.test', 'evil.test:80', '127.0.0.1.evil.test', 'localhost.evil.test', 'gw.lan'])(
    'plain http by the name %s is refused, with the way out of it',
    async host => {
      for (const path of ['/v2/auth/login', '/v1/auth/login', '/v2/auth/sign-in', '/v2/auth/account']) {
        const {status, text, cookies} = await getAs(host, path)
        expect([path, status, cookies]).toEqual([path, 403, []])
        expect(text).toContain('gateway certs')
        expect(text).not.toContain(host)
      }
    },
  )

  test('CONTROL_PLANE_URL with plain http: AUTH_MODE=SSO does not start, other sign-ins are refused', async () => {
    const env = {CONTROL_PLANE_URL: 'http://gw.lan'}
    const sso = {
      ...env,
      AUTH_MODE: 'SSO',
      AUTH_SSO_TYPE: 'oidc',
      OIDC_ISSUER: house.provider.issuer,
      OIDC_CLIENTID: 'g',
    }
    await expect(openSignInGateway('sqlite', sso)).rejects.toThrow(/CONTROL_PLANE_URL=http:\/\/gw\.lan/)
    const gateway = await openSignInGateway('sqlite', env)
    const sso_of = {enabled: true, type: 'oidc', oidc: house.oidc}
    await gateway.auth({sso: sso_of})
    const reply = await fetch(`${gateway.url}/v2/auth/login`, {headers: {accept: 'text/html'}, redirect: 'manual'})
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([403, []])
    expect(await reply.text()).toContain('gateway certs')
    // a provider of SAML may begin by itself, so that no page of ours was seen before
    const {id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
    for (const [method, path] of [
      ['POST', `/v2/auth/saml/callback/${id}`],
      ['POST', `/albus/v2/auth/saml/callback/${id}`],
      ['GET', '/v2/auth/saml/finish?h=a'],
      ['GET', '/v2/auth/callback?state=a'],
    ] as const) {
      const at = await fetch(gateway.url + path, {method, headers: {accept: 'text/html'}, redirect: 'manual'})
      expect([path, at.status, (await at.text()).includes('gateway certs')]).toEqual([path, 403, true])
    }
    await gateway.close()
  })
})
