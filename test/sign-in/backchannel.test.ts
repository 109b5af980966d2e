import {setTimeout} from 'node:timers/promises'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startRealProvider} from '../identity/oidc/real-provider.ts'
import {type Browser, type OidcHouse, openOidc, says} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {HOSTILE_TOKENS, type LogoutCase, logoutToken} from './logout-tokens.ts'
import {everyRow} from './people-house.ts'

const JSON_WANTED = {accept: 'application/json'}
const REFUSED = {error: 'invalid_request', error_description: 'The logout token was refused, and no session was ended.'}
const MINUTE_MS = 60_000

describe.each(KINDS)('back-channel logout of OpenID Connect, on %s', kind => {
  let house: OidcHouse
  let ahead_ms = 0
  const now = () => Date.now() + ahead_ms
  const now_s = () => Math.floor(now() / 1000)
  beforeAll(async () => {
    house = await openOidc(kind, {JWKS_REFETCH_MIN_INTERVAL_MS: '100'}, {now})
  })
  afterAll(() => house.close())
  // the failures of a test count for a quarter of an hour
  beforeEach(() => {
    ahead_ms += 16 * MINUTE_MS
  })

  const enter = async (sub: string, sid?: string, query?: string) => {
    const times = {iat: now_s(), exp: now_s() + 300}
    says(house.provider, {sub, sid, email: `${sub}@example.test`, email_verified: true, ...times})
    const {browser, reply} = await house.signIn(house.gateway.browser(), query)
    expect(reply.status).toBe(303)
    return browser
  }
  const caseOf = (sid: string, sub: string): LogoutCase => {
    const {issuer, client_id, key} = house.provider
    return {issuer, client_id, key, sid, sub, now_s: now_s()}
  }
  const sent = async (body: URLSearchParams | string, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${house.gateway.url}/v2/auth/backchannel`, {method: 'POST', body, headers})
    const text = await reply.text()
    return {status: reply.status, headers: reply.headers, text, body: text === '' ? null : JSON.parse(text)}
  }
  const says_over = (logout_token: string) => sent(new URLSearchParams({logout_token}))
  const isLive = async (...browsers: readonly Browser[]) =>
    Promise.all(browsers.map(async browser => (await browser.self()) !== 401))
  const ended = async () =>
    (await house.gateway.rows('session')).filter(({body}) => body?.by === 'back-channel logout').map(({body}) => body)

  test('a real provider: signing out there ends every session of that sign-in, and leads back', async () => {
    // its clock is the machine's
    ahead_ms = 0
    const base = house.gateway.shared.CONTROL_PLANE_URL!
    const {endpoints} = (await house.gateway.admin('GET', '/admin/organisation/auth')) as {
      endpoints: Record<string, string>
    }
    const provider = await startRealProvider({
      redirect_uris: [endpoints.oidc_redirect_uri!],
      post_logout_redirect_uris: [endpoints.oidc_post_logout_redirect_uri!],
      client: {
        backchannel_logout_uri: endpoints.oidc_backchannel_logout_uri!,
        backchannel_logout_session_required: true,
      },
      features: {backchannelLogout: {enabled: true}},
      // it sends nothing to this machine by itself
      configuration: {fetch: (url: string, {dispatcher: _, ...init}: {dispatcher?: unknown}) => fetch(url, init)},
    })
    try {
      const {issuer, client_id, client_secret} = provider
      await house.gateway.auth({sso: {enabled: true, type: 'oidc', oidc: {issuer, client_id, client_secret}}})
      const comes = async (login: string) => {
        const browser = house.gateway.browser()
        const {location} = await browser.go('/v2/auth/login')
        expect((await browser.go((await provider.signIn(location!, login)).href)).status).toBe(303)
        return browser
      }
      const [first, again, other] = [await comes('ola'), await comes('ola'), await comes('pam')]
      const {body} = await first.go('/v1/auth/logout', {method: 'POST', headers: JSON_WANTED, body: {}})
      expect(await isLive(first, again, other)).toEqual([false, true, true])
      expect((await provider.signOut(body.logout_url, 'ola')).href).toBe(`${base}/v2/auth/signed-out`)
      expect(await isLive(again, other)).toEqual([false, true])
    } finally {
      await provider.close()
      await house.gateway.auth({sso: {enabled: true, type: 'oidc', oidc: house.oidc}})
    }
  })

  test('ends the session that it names, and no other of the person', async () => {
    const [first, second, other] = [await enter('ann', 's-1'), await enter('ann', 's-2'), await enter('bob', 's-3')]
    const {status, text, headers} = await says_over(logoutToken(caseOf('s-1', 'ann')))
    expect([status, text, headers.get('cache-control')]).toEqual([200, '', 'no-store'])
    expect(await isLive(first, second, other)).toEqual([false, true, true])
    const {body} = await second.go('/v1/auth/self', {headers: JSON_WANTED})
    expect((await ended()).slice(0, 1)).toEqual([
      {by: 'back-channel logout', connection: expect.any(String), of: body.user.id, kind: 'browser'},
    ])
    // by the session alone, and by one of which the person has another name
    expect((await says_over(logoutToken(caseOf('s-2', 'bob')))).status).toBe(200)
    expect(await isLive(second, other)).toEqual([true, true])
    // some providers name no end of the token
    const alone = logoutToken(caseOf('s-2', 'ann'), {sub: undefined, exp: undefined}, {typ: undefined})
    expect((await says_over(alone)).status).toBe(200)
    expect(await isLive(second, other)).toEqual([false, true])
  })

  test('ends every session of the person whom it names, and of no other', async () => {
    const browsers = [await enter('cid', 's-11'), await enter('cid', 's-12'), await enter('cid'), await enter('dan')]
    const {token} = await house.gateway.admin<{token: string}>('POST', '/operator/sessions', {
      email: 'cid@example.test',
    })
    expect((await says_over(logoutToken(caseOf('', 'cid'), {sid: undefined}, {typ: 'JWT'}))).status).toBe(200)
    expect(await isLive(...browsers)).toEqual([false, false, false, true])
    // a session of the operator's is of no provider
    const reply = await fetch(`${house.gateway.url}/v1/auth/self`, {headers: {authorization: `Bearer ${token}`}})
    expect(reply.status).toBe(200)
  })

  test('a session and a person that are not known are answered alike', async () => {
    const replies = [
      await says_over(logoutToken(caseOf('unknown', 'ann'))),
      await says_over(logoutToken(caseOf('', 'nobody'), {sid: undefined})),
      await says_over(logoutToken(caseOf('unknown', ''), {sub: undefined, aud: ['gateway']})),
    ]
    expect(replies.map(({status, text}) => [status, text])).toEqual([
      [200, ''],
      [200, ''],
      [200, ''],
    ])
  })

  test('ends the command line that the session let in, and the codes that wait for one', async () => {
    const browser = await enter('eve', 's-21')
    const post = async (path: string, body: object) => {
      const headers = {'content-type': 'application/json'}
      const reply = await fetch(house.gateway.url + path, {method: 'POST', headers, body: JSON.stringify(body)})
      return (await reply.json()) as Record<string, string>
    }
    const confirmed = async () => {
      const {device_code, user_code} = await post('/v1/auth/device', {host: 'laptop'})
      const body = {user_code, decision: 'approve'}
      expect((await browser.go('/v2/auth/device', {method: 'POST', headers: JSON_WANTED, body})).status).toBe(200)
      return device_code
    }
    const {token} = await post('/v1/auth/device/token', {device_code: await confirmed()})
    const waits = await confirmed()
    const self = () => fetch(`${house.gateway.url}/v1/auth/self`, {headers: {authorization: `Bearer ${token}`}})
    expect((await self()).status).toBe(200)
    expect((await says_over(logoutToken(caseOf('s-21', 'eve')))).status).toBe(200)
    expect([(await self()).status, await post('/v1/auth/device/token', {device_code: waits})]).toEqual([
      401,
      {error: 'access_denied'},
    ])
    expect((await ended()).slice(0, 2).map(({kind}) => kind)).toEqual(expect.arrayContaining(['browser', 'cli']))
  })

  test('a browser that comes back after the end opens no session of it', async () => {
    expect((await says_over(logoutToken(caseOf('s-31', 'fay')))).status).toBe(200)
    const times = {iat: now_s(), exp: now_s() + 300}
    says(house.provider, {sub: 'fay', sid: 's-31', email: 'fay@example.test', email_verified: true, ...times})
    expect((await house.signIn()).reply.status).toBe(400)
    expect(await isLive(await enter('fay', 's-32'))).toEqual([true])
  })

  test('holds once, also when it comes several times at once, and not again as long as it is young', async () => {
    const token = logoutToken(caseOf('s-41', 'gil'), {exp: now_s() + 86_400})
    const replies = await Promise.all([1, 2, 3].map(() => says_over(token)))
    expect(replies.map(({status}) => status).sort()).toEqual([200, 400, 400])
    for (const minutes of [5, 4.9, 1.2]) {
      ahead_ms += minutes * MINUTE_MS
      expect((await says_over(token)).body).toEqual(REFUSED)
    }
  })

  test('two organisations with one client of a provider: the sessions of both end', async () => {
    const {gateway, oidc} = house
    const there = await gateway.admin<{id: string}>('POST', '/operator/organisations', {name: `There ${kind}`})
    const inject = (method: 'POST' | 'PUT', url: string, body: object) =>
      gateway.app.inject({method, url: `/v1${url}`, body, organisation: there.id}) as Promise<{status: number}>
    expect((await inject('POST', '/operator/domains', {domain: 'there.test'})).status).toBe(200)
    const sso = {enabled: true, type: 'oidc', oidc}
    expect((await inject('PUT', '/admin/organisation/auth', {sso})).status).toBe(200)
    const comes = async (email: string, organisation: string) => {
      const times = {iat: now_s(), exp: now_s() + 300}
      says(house.provider, {sub: 'hal', sid: 's-51', email, email_verified: true, ...times})
      return (await house.signIn(gateway.browser(), `?organisation_id=${organisation}`)).browser
    }
    const [own] = (await gateway.admin<{data: {id: string}[]}>('GET', '/operator/organisations')).data.filter(
      ({id}) => id !== there.id,
    )
    const browsers = [await comes('hal@example.test', own!.id), await comes('hal@there.test', there.id)]
    expect(await isLive(...browsers)).toEqual([true, true])
    expect((await says_over(logoutToken(caseOf('s-51', 'hal')))).status).toBe(200)
    expect(await isLive(...browsers)).toEqual([false, false])
    expect((await inject('PUT', '/admin/organisation/auth', {sso: {enabled: false}})).status).toBe(200)
  })

  test(`${HOSTILE_TOKENS.length} hostile tokens end no session, and learn nothing`, async () => {
    const browser = await enter('ivy', 's-61')
    const seen = async () => (await everyRow(house.gateway)).filter(row => row.startsWith('seen_assertions '))
    const before = await seen()
    const wrong: string[] = []
    for (const [at, [name, make]] of HOSTILE_TOKENS.entries()) {
      if (at % 19 === 18) ahead_ms += 16 * MINUTE_MS
      const {status, body} = await says_over(make(caseOf('s-61', 'ivy')))
      if (status !== 400 || JSON.stringify(body) !== JSON.stringify(REFUSED)) wrong.push(`${name}: ${status}`)
    }
    expect(wrong).toEqual([])
    expect([await seen(), await isLive(browser)]).toEqual([before, [true]])
    ahead_ms += 16 * MINUTE_MS
    // the one of which all of them are copies
    expect((await says_over(logoutToken(caseOf('s-61', 'ivy')))).status).toBe(200)
    expect(await isLive(browser)).toEqual([false])
  })

  test('what is no form with one token is refused in the same way', async () => {
    const browser = await enter('kim', 's-81')
    const token = logoutToken(caseOf('s-81', 'kim'))
    const form = {'content-type': 'application/x-www-form-urlencoded'}
    const replies = [
      await sent(JSON.stringify({logout_token: token}), {'content-type': 'application/json'}),
      await sent(`logout_token=${token}&logout_token=${token}`, form),
      await sent(`LOGOUT_TOKEN=${token}`, form),
      await sent('', form),
      await sent(`logout_token=${token}`, {'content-type': 'text/plain'}),
      await sent(`logout_token=${token}&x=${'y'.repeat(70_000)}`, form),
    ]
    expect(replies.map(({status, body}) => [status, body.error])).toEqual([
      ...Array.from({length: 5}, () => [400, 'invalid_request']),
      [413, 'invalid_request'],
    ])
    for (const {headers} of replies) expect(headers.get('cache-control')).toBe('no-store')
    const get = await fetch(`${house.gateway.url}/v2/auth/backchannel?logout_token=${token}`)
    expect([get.status, await isLive(browser)]).toEqual([404, [true]])
    // more fields than the standard's may come along
    expect((await sent(new URLSearchParams({logout_token: token, more: 'field'}))).status).toBe(200)
  })

  test('an address whose tokens are refused has to wait, and the audit log says why they were', async () => {
    const browser = await enter('lea', 's-91')
    for (let n = 0; n < 20; n++) await says_over(logoutToken(caseOf('s-91', 'lea'), {nonce: 'n'}))
    const {status, headers, body} = await says_over(logoutToken(caseOf('s-91', 'lea')))
    expect([status, headers.get('retry-after'), body.error]).toEqual([429, '900', 'invalid_request'])
    expect(await isLive(browser)).toEqual([true])
    let row: {body: {reason?: string; method?: string; connection?: string | null}} | undefined
    for (let n = 0; n < 100 && !row; n++) {
      row = (await house.gateway.rows('sign_in')).find(({body}) => body?.reason === 'token_nonce')
      await setTimeout(10)
    }
    expect(row?.body).toMatchObject({method: 'oidc', connection: expect.any(String)})
    ahead_ms += 16 * MINUTE_MS
    expect((await says_over(logoutToken(caseOf('s-91', 'lea')))).status).toBe(200)
  })

  test('a provider that has been switched off ends nothing', async () => {
    await enter('max', 's-95')
    await house.gateway.auth({sso: {enabled: false}})
    const reply = await says_over(logoutToken(caseOf('s-95', 'max')))
    expect([reply.status, reply.body]).toEqual([400, REFUSED])
    await house.gateway.auth({sso: {enabled: true, type: 'oidc', oidc: house.oidc}})
  })

  test('no row holds what the provider calls the session, and no reply of sessions shows it', async () => {
    const browser = await enter('ned', 'sid-in-clear-7')
    expect((await everyRow(house.gateway)).filter(row => row.includes('sid-in-clear-7'))).toEqual([])
    const {text} = await browser.go('/v1/auth/sessions', {headers: JSON_WANTED})
    expect(text).not.toMatch(/idp_|sid-in/)
    expect(JSON.stringify(await house.gateway.admin('GET', '/admin/sessions'))).not.toMatch(/idp_|sid-in/)
  })
})
