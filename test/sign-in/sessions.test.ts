import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway} from '../support/gateway.ts'
import {type Browser, type OidcHouse, openOidc, says} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {everyRow, patch, scimUser, writeInto} from './people-house.ts'

const JSON_WANTED = {accept: 'application/json'}
const MINUTE_MS = 60_000

describe.each(KINDS)('sessions, on %s', kind => {
  let house: OidcHouse
  let ahead_ms = 0
  const now = () => Date.now() + ahead_ms
  const skip = (ms: number) => {
    ahead_ms += ms
  }
  beforeAll(async () => {
    house = await openOidc(kind, {}, {now})
  })
  afterAll(() => house.close())
  // sign-ins that are open count for a minute
  beforeEach(() => skip(61_000))

  const enter = async (name = 'mia', browser = house.gateway.browser()) => {
    const now_s = Math.floor(now() / 1000)
    const times = {iat: now_s, exp: now_s + 300}
    says(house.provider, {sub: name, email: `${name}@example.test`, email_verified: true, ...times})
    const {reply} = await house.signIn(browser)
    expect(reply.status).toBe(303)
    return browser
  }
  /** By bearer: at our own routes, and at the administration. */
  const bearer = async (token: string, url = house.gateway.url) => {
    const paths = ['/v1/auth/self', '/v1/admin/workspaces']
    const headers = {authorization: `Bearer ${token}`}
    const replies = await Promise.all(paths.map(path => fetch(url + path, {headers})))
    return replies.map(({status}) => status)
  }
  const cookie = async (browser: Browser, token: string) => {
    const paths = ['/v1/auth/self', '/v1/admin/workspaces']
    const headers = {...JSON_WANTED, cookie: `__Host-gateway_session=${token}`}
    const replies = await Promise.all(paths.map(path => browser.go(path, {headers})))
    return replies.map(({status}) => status)
  }
  const expectEnded = async (browser: Browser, token: string) =>
    expect([await cookie(browser, token), await bearer(token)]).toEqual([
      [401, 401],
      [401, 401],
    ])
  const post = (browser: Browser, path: string, body: object = {}, method = 'POST') =>
    browser.go(path, {method, body, headers: JSON_WANTED})

  test('64: a session ends an hour after its last use, and is noted as used once a minute at most', async () => {
    const browser = await enter()
    const seen = async () => (await browser.go('/v1/auth/sessions', {headers: JSON_WANTED})).body.data
    const current = async () => (await seen()).find(({current}: {current: boolean}) => current)
    const first = (await current()).last_seen_at
    for (const [ms, is_noted] of [
      [30_000, false],
      [15_000, false],
      [30_000, true],
      [30_000, false],
      [59 * MINUTE_MS, true],
    ] as const) {
      const before = (await current()).last_seen_at
      skip(ms)
      await browser.self()
      const after = (await current()).last_seen_at
      expect([ms, after !== before]).toEqual([ms, is_noted])
    }
    expect((await current()).last_seen_at > first).toBe(true)
    for (const path of ['/v1/admin/workspaces', '/v1/auth/self']) {
      skip(59 * MINUTE_MS)
      // he is a member of no workspace: it is known who he is, and he may not
      expect([200, 403]).toContain((await browser.go(path, {headers: JSON_WANTED})).status)
    }
    skip(60 * MINUTE_MS + 1_000)
    await expectEnded(browser, browser.session!)
  })

  test('64: twelve hours after the sign-in it ends, however much it is used', async () => {
    const browser = await enter()
    const {session} = await browser.self()
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(12 * 60 * MINUTE_MS)
    for (let half_hours = 1; half_hours < 24; half_hours++) {
      skip(30 * MINUTE_MS - 2_000)
      expect((await browser.self()).session.id).toBe(session.id)
    }
    skip(31 * MINUTE_MS)
    await expectEnded(browser, browser.session!)
  })

  test('64: an organisation that lowers its times ends sessions that are open; it raises none', async () => {
    const [idle, old] = [await enter(), await enter('ned')]
    await house.gateway.auth({session_settings: {idle_timeout: 300}})
    const {session} = await idle.self()
    expect(Date.parse(session.idle_expires_at) - now()).toBeLessThanOrEqual(300_000)
    skip(301_000)
    await expectEnded(idle, idle.session!)
    await house.gateway.auth({session_settings: {idle_timeout: null, max_session_ttl: 900}})
    expect((await old.self()).session.idle_expires_at).toBe(
      new Date(Date.parse((await old.self()).session.created_at) + 900_000).toISOString(),
    )
    skip(600_000)
    await expectEnded(old, old.session!)
    await house.gateway.auth({session_settings: {idle_timeout: 86_400, max_session_ttl: 2_592_000}})
    const long = await enter()
    expect(Date.parse((await long.self()).session.expires_at) - now()).toBeLessThanOrEqual(12 * 60 * MINUTE_MS)
    await house.gateway.auth({session_settings: {idle_timeout: null, max_session_ttl: null}})
  })

  test.each<[string, (browser: Browser) => Promise<{status: number}>]>([
    ['logs out', browser => post(browser, '/v1/auth/logout')],
    ['logs out by a form', browser => browser.go('/v2/auth/logout', {method: 'POST', body: new URLSearchParams()})],
    [
      'ends his session by its id',
      async browser => post(browser, `/v1/auth/sessions/${(await browser.self()).session.id}`, {}, 'DELETE'),
    ],
    ['has it ended by an admin', async browser => ok('DELETE', `/admin/sessions/${(await browser.self()).session.id}`)],
    [
      'has all of his ended by an admin',
      async browser => ok('DELETE', `/admin/users/${(await browser.self()).user.id}/sessions`),
    ],
    ['is archived', async browser => ok('DELETE', `/admin/users/${(await browser.self()).user.id}`)],
    ['is switched off by a directory', async () => directory()],
  ])('65: who %s has a session no more, as a cookie and as a bearer', async (what, end) => {
    const browser = await enter(what === 'is switched off by a directory' ? 'scim-user' : `u${what.length}`)
    const token = browser.session!
    expect([await cookie(browser, token), await bearer(token)]).toEqual([
      [200, expect.any(Number)],
      [200, expect.any(Number)],
    ])
    expect((await end(browser)).status).toBeLessThan(400)
    await expectEnded(browser, token)
  })
  const ok = async (method: string, path: string) => {
    await house.gateway.admin(method, path)
    return {status: 200}
  }
  const directory = async () => {
    const {token} = await house.gateway.admin<{token: string}>('POST', '/admin/organisation/scim-tokens', {name: 'd'})
    const call = (method: string, path: string, body?: object) =>
      fetch(`${house.gateway.url}/v1/scim/v2${path}`, {
        ...{method, ...(body && {body: JSON.stringify(body)})},
        headers: {authorization: `Bearer ${token}`, 'content-type': 'application/scim+json'},
      })
    const {Resources} = (await (
      await call('GET', '/Users?filter=userName%20eq%20%22scim-user%40example.test%22')
    ).json()) as {
      Resources: {id: string}[]
    }
    const id =
      Resources[0]?.id ??
      ((await (await call('POST', '/Users', scimUser('scim-user@example.test'))).json()) as {id: string}).id
    return call('PATCH', `/Users/${id}`, patch({op: 'Replace', path: 'active', value: false}))
  }

  test(
    '65: a person sees and ends his own sessions alone; each is said with its browser, none ' + 'with its token',
    async () => {
      const [one, two, other] = [await enter(), await enter(), await enter('olaf')]
      const list = async (browser: Browser) => (await browser.go('/v1/auth/sessions', {headers: JSON_WANTED})).body
      const {object, total, data} = await list(one)
      expect([object, total]).toEqual(['list', data.length])
      const own = [(await one.self()).session.id, (await two.self()).session.id]
      expect(data.map(({id}: {id: string}) => id)).toEqual(expect.arrayContaining(own))
      expect(data.filter(({current}: {current: boolean}) => current)).toEqual([
        expect.objectContaining({id: own[0], method: 'oidc', kind: 'browser', client_ip: '127.0.0.1'}),
      ])
      expect(JSON.stringify(data)).not.toMatch(/gs-|hash|olaf/)
      const foreign = (await other.self()).session.id
      expect(data.some(({id}: {id: string}) => id === foreign)).toBe(false)
      for (const id of [foreign, 'none', '../self'])
        expect((await post(one, `/v1/auth/sessions/${encodeURIComponent(id)}`, {}, 'DELETE')).status).toBe(404)
      expect((await other.self()).session.id).toBe(foreign)
      expect((await post(one, `/v1/auth/sessions/${own[1]}`, {}, 'DELETE')).status).toBe(200)
      expect([await two.self(), (await one.self()).session.id]).toEqual([401, own[0]])
      expect((await post(one, `/v1/auth/sessions/${own[1]}`, {}, 'DELETE')).status).toBe(404)
      expect((await list(one)).data.some(({id}: {id: string}) => id === own[1])).toBe(false)
      const [row] = await house.gateway.rows('session')
      expect(row).toMatchObject({action: 'delete', actor_type: 'user'})
    },
  )

  test(
    '27: a sign-in in a browser that holds a session ends that one, also of another person; ' + 'no token is kept on',
    async () => {
      const browser = await enter()
      const before = browser.session!
      await enter('mia', browser)
      const between = browser.session!
      expect(between).not.toBe(before)
      await expectEnded(house.gateway.browser(), before)
      await enter('olaf', browser)
      await expectEnded(house.gateway.browser(), between)
      expect((await browser.self()).user.email).toBe('olaf@example.test')
      const fixed = house.gateway.browser()
      fixed.cookies.set('__Host-gateway_session', `gs-${'A'.repeat(43)}`)
      await enter('mia', fixed)
      expect(fixed.session).not.toBe(`gs-${'A'.repeat(43)}`)
      // a session of the command line in a cookie is no browser's, and stays
      const {token} = await house.gateway.admin<{token: string}>('POST', '/operator/sessions', {
        email: 'mia@example.test',
      })
      const odd = house.gateway.browser()
      odd.cookies.set('__Host-gateway_session', token)
      await enter('mia', odd)
      expect((await bearer(token))[0]).toBe(200)
    },
  )

  test('IC25: signing out tells the provider who, also after a restart, and keeps nothing', async () => {
    const id_token = async (browser: Browser) => {
      const rows = (await everyRow(house.gateway)).filter(row => row.startsWith('sessions '))
      const {session} = await browser.self()
      return rows.find(row => row.includes(session.id))
    }
    const browser = await enter()
    const sealed = await id_token(browser)
    expect(sealed).not.toMatch(/eyJ/)
    const {session} = await browser.self()
    const {body, headers} = await post(browser, '/v1/auth/logout')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.getSetCookie()).toEqual([
      '__Host-gateway_session=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
    ])
    const url = new URL(body.logout_url)
    expect(url.origin + url.pathname).toBe(`${house.provider.issuer}/logout`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      id_token_hint: expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/),
      client_id: 'gateway',
      post_logout_redirect_uri: `${house.gateway.shared.CONTROL_PLANE_URL}/v2/auth/signed-out`,
    })
    const hint = url.searchParams.get('id_token_hint')!
    expect(house.gateway.lines.join()).not.toContain(hint)
    const ended = (await everyRow(house.gateway)).find(row => row.includes(session.id) && row.startsWith('sessions '))!
    expect(ended.length).toBeLessThan(sealed!.length - 400)
    expect(await browser.self()).toBe(401)
    const form = await enter()
    const sent = await form.go('/v2/auth/logout', {method: 'POST', body: new URLSearchParams()})
    expect([sent.status, new URL(sent.location!).searchParams.has('id_token_hint')]).toEqual([303, true])
    const {token} = await house.gateway.admin<{token: string}>('POST', '/operator/sessions', {
      email: 'mia@example.test',
    })
    const operator = house.gateway.browser()
    operator.cookies.set('__Host-gateway_session', token)
    expect((await post(operator, '/v1/auth/logout')).body).toEqual({logout_url: null})
    const of_form = house.gateway.browser()
    of_form.cookies.set(
      '__Host-gateway_session',
      (await house.gateway.admin<{token: string}>('POST', '/operator/sessions', {email: 'mia@example.test'})).token,
    )
    const stays = await of_form.go('/v2/auth/logout', {method: 'POST', body: new URLSearchParams()})
    expect(stays.location).toBe(`${house.gateway.shared.CONTROL_PLANE_URL}/v2/auth/signed-out`)
  })

  test('a token of the provider that cannot be opened any more keeps no one signed in', async () => {
    const browser = await enter()
    const token = browser.session!
    const {session} = await browser.self()
    const other = (await (await enter('omar')).self()).session.id
    // sealed for another row, as one of another key would be
    const foreign = `select id_token from sessions where id = '${other}'`
    await writeInto(house.gateway, `update sessions set id_token = (${foreign}) where id = '${session.id}'`)
    const reply = await post(browser, '/v1/auth/logout')
    expect([reply.status, reply.body]).toEqual([200, {logout_url: null}])
    await expectEnded(house.gateway.browser(), token)
  })

  test('all sessions of a person are ended: a command line that one of them allowed is not let in', async () => {
    const browser = await enter('noor')
    const {user} = await browser.self()
    const allowed = async () => {
      const asked = await post(house.gateway.browser(), '/v1/auth/device', {client: 'gateway-cli', host: 'laptop'})
      const {device_code, user_code} = asked.body
      expect((await post(browser, '/v2/auth/device', {user_code, decision: 'approve'})).status).toBe(200)
      return () => post(house.gateway.browser(), '/v1/auth/device/token', {device_code})
    }
    expect((await (await allowed())()).status).toBe(200)
    const fetched = await allowed()
    await house.gateway.admin('DELETE', `/admin/users/${user.id}/sessions`)
    const late = await fetched()
    expect([late.status, late.body]).toEqual([400, {error: 'access_denied'}])
  })

  test('/v1/auth/keys: the keys of the person with what each spent, and of nobody else', async () => {
    const browser = await enter()
    const {user} = await browser.self()
    const [workspace] = (await house.gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces'))
      .data
    const users = [{id: user.id, role: 'member'}]
    await house.gateway.admin('POST', `/admin/workspaces/${workspace!.id}/users`, {users})
    const made = async (user_id: string, name: string) =>
      house.gateway.admin<{id: string; key: string}>('POST', '/api-keys/workspace/user', {
        ...{workspace_id: workspace!.id, user_id, name, scopes: ['completions.write']},
      })
    const [used, unused] = [await made(user.id, 'used'), await made(user.id, 'unused')]
    const stranger = await house.gateway.person('kay', 'member')
    await house.gateway.admin('POST', `/admin/workspaces/${workspace!.id}/users`, {
      users: [{id: stranger, role: 'member'}],
    })
    await made(stranger, 'foreign')
    const chat = {model: 'gpt-4o', messages: [{role: 'user', content: 'hi'}]}
    const headers = {'x-gateway-api-key': used.key, 'x-gateway-provider': '@demo', 'content-type': 'application/json'}
    for (let calls = 0; calls < 2; calls++) {
      const call = {method: 'POST', headers, body: JSON.stringify(chat)}
      const {status} = await fetch(`${house.gateway.url}/v1/chat/completions`, call)
      expect(status).toBe(200)
    }
    await house.gateway.app.flushed()
    const keys = async () => (await browser.go('/v1/auth/keys', {headers: JSON_WANTED})).body
    await expect.poll(async () => (await keys()).data.find(({id}: {id: string}) => id === used.id).calls).toBe(2)
    const {data, total} = await keys()
    expect(total).toBe(2)
    const [one, other] = [used.id, unused.id].map(id => data.find((each: {id: string}) => each.id === id))
    expect(one).toMatchObject({name: 'used', workspace: {slug: workspace!.slug}, masked: expect.stringMatching(/…/)})
    expect(one.spent_usd).toBeGreaterThanOrEqual(0)
    expect(other).toMatchObject({calls: 0, spent_usd: 0})
    expect(JSON.stringify(data)).not.toContain(used.key)
  })

  test('63, 74: a session opens no call, as a cookie or as a key, and reaches no provider', async () => {
    const browser = await enter()
    const chat = {model: 'm', messages: [{role: 'user', content: 'hi'}]}
    const {CONTROL_PLANE_URL} = house.gateway.shared
    const same = {'sec-fetch-site': 'same-origin', origin: CONTROL_PLANE_URL!, 'x-gateway-provider': '@demo'}
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions', '/v1/files', '/v1/messages']) {
      const by_cookie = await browser.go(path, {method: 'POST', body: chat, headers: {...JSON_WANTED, ...same}})
      expect([path, by_cookie.status]).toEqual([path, 401])
      for (const headers of [{authorization: `Bearer ${browser.session}`}, {'x-gateway-api-key': browser.session!}]) {
        const all = {...same, ...(headers as object), 'content-type': 'application/json'}
        const reply = await fetch(house.gateway.url + path, {method: 'POST', body: JSON.stringify(chat), headers: all})
        expect([path, reply.status]).toEqual([path, 401])
      }
    }
  })

  test('IC25: a restart ends no session, and its provider is still told', async () => {
    if (kind === 'postgres') return
    const browser = await enter()
    await house.gateway.app.drain()
    await house.gateway.app.close()
    const again = await startGateway(house.gateway.shared, {folder: house.gateway.folder, now})
    expect((await browser.self()).user.email).toBe('mia@example.test')
    const {body} = await post(browser, '/v1/auth/logout')
    expect(new URL(body.logout_url).searchParams.get('id_token_hint')).toMatch(/^eyJ/)
    expect(await browser.self()).toBe(401)
    await again.close()
  })
})
