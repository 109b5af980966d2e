import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {tokenId} from '../../../src/mcp/credentials/kept-tokens.ts'
import {type AuthAnswer, type AuthServer, answer, html, json, openAuthServer} from '../../support/mcp/auth-server.ts'
import {
  type CredentialHouse,
  type CredentialProcess,
  headersIn,
  linkIn,
  openCredentialHouse,
  refusedIn,
  requestOf,
  signedIn,
} from '../../support/mcp/credential-house.ts'
import {KINDS} from '../../support/stores.ts'

const HOUR_MS = 3_600_000
const cut: AuthAnswer = response => void response.destroy()

describe.each(KINDS)('tokens of people, on %s', kind => {
  let house: CredentialHouse
  const servers: AuthServer[] = []
  beforeAll(async () => {
    house = await openCredentialHouse(kind)
  })
  afterEach(() => Promise.all(servers.splice(0).map(each => each.close())))
  afterAll(() => house?.close())

  const connected = async (tokens: Record<string, unknown> = {}, configurations: object = {}) => {
    const upstream = await openAuthServer()
    servers.push(upstream)
    Object.assign(upstream.tokens, tokens)
    const target = await house.target(upstream.url, {}, configurations)
    const process = house.process()
    if (configurations && 'oauth_metadata' in configurations) upstream.clients.add('own')
    const page = await signedIn(process, linkIn(await process.credentials.headersFor(requestOf(target))))
    expect(page.status).toBe(200)
    const call = (by: CredentialProcess = process) => by.credentials.headersFor(requestOf(target))
    const token = async (by?: CredentialProcess) => headersIn(await call(by)).headers.authorization
    return {upstream, target, process, call, token}
  }
  const refreshes = (upstream: AuthServer) => upstream.forms().filter(form => form.grant_type === 'refresh_token')

  test('a token is renewed 5 minutes before its end, once, with the same resource', async () => {
    const {upstream, call, token, target} = await connected()
    const first = await token()
    house.clock.wall_ms += HOUR_MS - 300_001
    expect([await token(), refreshes(upstream)]).toEqual([first, []])
    house.clock.wall_ms += 1
    const renewed = headersIn(await call())
    expect(renewed).toMatchObject({refreshed: true, credential: 'standing'})
    expect(renewed.headers.authorization).not.toBe(first)
    expect(headersIn(await call())).toMatchObject({refreshed: false, headers: renewed.headers})
    expect(refreshes(upstream)).toEqual([expect.objectContaining({resource: upstream.url})])
    expect((await house.connection(target))!.expires_at).toBe(new Date(house.clock.wall_ms + HOUR_MS).toISOString())
  })

  test('MC22: 20 calls in two processes send one refresh', async () => {
    const {upstream, process, call} = await connected()
    upstream.answers.set('/token', (response, seen) => {
      upstream.answers.delete('/token')
      setTimeout(() => json(response, 200, {access_token: 'slow', refresh_token: 'r', expires_in: 3600}), 150)
      expect(seen.body).toContain('refresh_token')
    })
    const other = house.processOn(await house.again())
    house.clock.wall_ms += HOUR_MS
    const calls = Array.from({length: 20}, (_, at) => call(at % 2 ? other : process))
    const outcomes = (await Promise.all(calls)).map(headersIn)
    expect(new Set(outcomes.map(({headers}) => headers.authorization))).toEqual(new Set(['Bearer slow']))
    expect(outcomes.filter(({refreshed}) => refreshed)).toHaveLength(1)
    expect(refreshes(upstream)).toHaveLength(1)
  })

  test('fact 78, MC22: only invalid_grant drops a connection', async () => {
    const {upstream, target, call, token} = await connected()
    const before = (await house.connection(target))!.tokens
    house.clock.wall_ms += HOUR_MS
    const steps: [AuthAnswer, number, RegExp][] = [
      [answer(503), 502, /status 503/],
      [cut, 502, /connection ended/],
      [answer(429, {}, {'retry-after': '5'}), 502, /status 429/],
      [html(403), 502, /status 403 and no JSON/],
      [html(200), 502, /no JSON/],
      [answer(302, {}, {location: '/x'}), 502, /redirects are not followed/],
      [answer(400, {}), 502, /status 400/],
      [answer(200, {ok: false, error: 'ratelimited'}), 502, /ratelimited/],
      [answer(200, {ok: true}), 502, /without an access token/],
      [answer(400, {error: 'invalid_request'}), 502, /invalid_request/],
      [answer(200, {access_token: 'a\nb'}), 502, /none that can be sent/],
      [answer(200, {access_token: 'a', token_type: 'mac'}), 502, /type mac/],
    ]
    for (const [at, [step, status, message]] of steps.entries()) {
      upstream.answers.set('/token', step)
      const outcome = refusedIn(await call())
      expect([at, outcome]).toEqual([at, {status, code: status, message: expect.stringMatching(message)}])
      expect(outcome.message).toMatch(/sign-in server of docs-|as it is configured/)
      expect(refreshes(upstream)).toHaveLength(at + 1)
      if (at === 2) {
        expect(refusedIn(await call()).message).toMatch(/no request for another 5 s/)
        expect(refreshes(upstream)).toHaveLength(at + 1)
        house.clock.wall_ms += 5000
      }
    }
    expect((await house.connection(target))!.tokens).toEqual(before)
    upstream.answers.delete('/token')
    expect(await token()).toMatch(/^Bearer access-/)

    house.clock.wall_ms += HOUR_MS
    upstream.answers.set('/token', answer(400, {error: 'invalid_grant'}))
    linkIn(await call())
    expect(await house.connection(target)).toBeUndefined()
    linkIn(await call())
    expect(refreshes(upstream).slice(-1)).toHaveLength(1)
  })

  test('fact 78: an answer that does not come is late, and the connection stays', async () => {
    const {target, call, process} = await connected()
    house.clock.wall_ms += HOUR_MS
    const {AuthServerFault} = await import('../../../src/mcp/credentials/auth-server-fault.ts')
    const fetch = async () => {
      throw new AuthServerFault('late', 'it took too long')
    }
    const late = house.process({...process.services, fetch})
    expect(refusedIn(await call(late))).toMatchObject({
      status: 504,
      message: expect.stringContaining('within 10000 ms'),
    })
    expect(await house.connection(target)).toBeDefined()
  })

  test('MC22: a newer token that another process has is used, not dropped', async () => {
    const {upstream, call, target, process} = await connected()
    const other = house.processOn(await house.again())
    house.clock.wall_ms += HOUR_MS
    upstream.answers.set('/token', async response => {
      // meanwhile the person signs in again, by another process
      upstream.answers.delete('/token')
      const {signInLink} = await import('../../../src/mcp/credentials/oauth-upstream/sign-in.ts')
      const link = await signInLink(other.services, target, {user_id: 'mia', challenge: null})
      expect((await signedIn(other, link)).status).toBe(200)
      json(response, 400, {error: 'invalid_grant'})
    })
    const {headers} = headersIn(await call(process))
    expect(upstream.good).toContain(headers.authorization!.slice(7))
    expect(await house.connection(target)).toBeDefined()
  })

  test('a token that still holds is used while its authorization server is ill', async () => {
    const {upstream, token} = await connected()
    const first = await token()
    house.clock.wall_ms += HOUR_MS - 200_000
    upstream.answers.set('/token', answer(503))
    expect(await token()).toBe(first)
    upstream.answers.set('/token', answer(400, {error: 'temporarily_unavailable'}))
    expect(await token()).toBe(first)
  })

  describe('MC23: answers with little in them', () => {
    test('fact 79: no expires_in, no refresh token: used until the upstream refuses it', async () => {
      const {token, call, target, process} = await connected({expires_in: undefined, refresh_token: undefined})
      const first = await token()
      house.clock.wall_ms += 1000 * HOUR_MS
      expect(await token()).toBe(first)
      expect((await house.connection(target))!.expires_at).toBeNull()
      const credential = headersIn(await call())
      linkIn(await process.credentials.after401(requestOf(target), credential, {www_authenticate: null}))
      expect(await house.connection(target)).toBeDefined()
    })

    test('a refresh without a refresh token keeps the old one', async () => {
      const {upstream, call} = await connected()
      house.clock.wall_ms += HOUR_MS
      upstream.answers.set('/token', answer(200, {access_token: 'b', expires_in: 1000}))
      await call()
      house.clock.wall_ms += HOUR_MS
      await call()
      const [one, two] = refreshes(upstream)
      expect(two!.refresh_token).toBe(one!.refresh_token)
    })

    test.each<[string, Record<string, unknown>, number | null]>([
      ['expires_in as text', {expires_in: '3600'}, 3600],
      ['expires_in as nonsense', {expires_in: 'soon'}, null],
      ['a negative one', {expires_in: -5}, null],
      ['one far away', {expires_in: 1e300}, 315_360_000],
      ['token_type in small letters', {token_type: 'bearer'}, 3600],
      ['no token_type', {token_type: undefined}, 3600],
    ])('%s', async (_, tokens, life_s) => {
      const {token, target} = await connected(tokens)
      expect(await token()).toMatch(/^Bearer access-/)
      const {expires_at} = (await house.connection(target))!
      const expected = life_s === null ? null : new Date(house.clock.wall_ms + life_s * 1000).toISOString()
      expect(expires_at).toBe(expected)
    })

    test('a life shorter than the margin: renewed at its half, not at each call', async () => {
      const {token, upstream} = await connected({expires_in: 60})
      const first = await token()
      house.clock.wall_ms += 29_999
      expect([await token(), refreshes(upstream)]).toEqual([first, []])
      house.clock.wall_ms += 1
      expect(await token()).not.toBe(first)
      await token()
      expect(refreshes(upstream)).toHaveLength(1)
    })

    test('an end without a refresh token: the person signs in', async () => {
      const {call, token} = await connected({refresh_token: undefined})
      house.clock.wall_ms += HOUR_MS - 1
      await token()
      house.clock.wall_ms += 1
      linkIn(await call())
    })
  })

  describe('a 401 of the upstream', () => {
    const www_authenticate = null

    test('one refresh, then a sign-in', async () => {
      const {upstream, call, process, target} = await connected()
      const request = requestOf(target)
      const first = headersIn(await call())
      const second = headersIn(await process.credentials.after401(request, first, {www_authenticate}))
      expect(second).toMatchObject({refreshed: true, credential: 'standing'})
      expect(second.token_id).not.toBe(first.token_id)
      linkIn(await process.credentials.after401(request, second, {www_authenticate}))
      expect(refreshes(upstream)).toHaveLength(1)
    })

    test('a token that another call renewed meanwhile is used; its own refusal is final', async () => {
      const {upstream, call, process, target} = await connected()
      const request = requestOf(target)
      const old = headersIn(await call())
      await process.credentials.after401(request, old, {www_authenticate})
      const again = headersIn(await process.credentials.after401(request, old, {www_authenticate}))
      expect(again).toMatchObject({refreshed: false})
      expect(refreshes(upstream)).toHaveLength(1)
      linkIn(await process.credentials.after401(request, again, {www_authenticate, is_last: true}))
      expect(refreshes(upstream)).toHaveLength(1)
    })

    test('its challenge goes with the sign-in', async () => {
      const {call, process, target} = await connected({refresh_token: undefined})
      const first = headersIn(await call())
      const outcome = await process.credentials.after401(requestOf(target), first, {
        www_authenticate: 'Bearer scope="more"',
      })
      const page = await import('../../../src/mcp/credentials/upstream-pages.ts').then(({upstreamAuth}) =>
        upstreamAuth(process.services, new URL(linkIn(outcome)).searchParams, {user_id: 'mia'}),
      )
      expect(new URL(page.headers.location!).searchParams.get('scope')).toBe('more')
    })

    test('of a fixed credential is final', async () => {
      const target = await house.target(
        'https://mcp.example.com/mcp',
        {auth_type: 'headers'},
        {custom_headers: {authorization: 'a'}},
      )
      const {credentials} = house.process()
      const first = headersIn(await credentials.headersFor(requestOf(target)))
      expect(first).toMatchObject({
        headers: {authorization: 'a'},
        per_user: false,
        credential: 'standing',
        token_id: null,
      })
      const outcome = await credentials.after401(requestOf(target), first, {www_authenticate})
      expect(refusedIn(outcome)).toEqual({
        status: 502,
        code: 502,
        message: expect.stringContaining('refused the credential'),
      })
    })
  })

  test('fact 52: connections of others stay', async () => {
    const {target, process, upstream} = await connected()
    const request = requestOf(target, {caller: {...requestOf(target).caller, user_id: 'tom'}})
    const link = linkIn(await process.credentials.headersFor(request))
    const {upstreamAuth} = await import('../../../src/mcp/credentials/upstream-pages.ts')
    expect((await upstreamAuth(process.services, new URL(link).searchParams, {user_id: 'mia'})).status).toBe(403)
    expect((await signedIn(process, link, 'tom')).status).toBe(200)
    const [mia, tom] = [await house.connection(target), await house.connection(target, 'tom')]
    const {deleteMcpConnection} = await import('../../../src/store/mcp-connections.ts')
    expect(await house.store.write(db => deleteMcpConnection(db, mia!))).toBe(true)
    linkIn(await process.credentials.headersFor(requestOf(target)))
    headersIn(await process.credentials.headersFor(request))
    expect(tom).toEqual(await house.connection(target, 'tom'))
    expect(upstream.at('/register')).toHaveLength(1)
  })

  test('tokens are for the origin that they were made for', async () => {
    const {target, call, process} = await connected()
    headersIn(await call())
    const moved = {...target, integration: {...target.integration, url: 'https://elsewhere.example.com/mcp'}}
    linkIn(await process.credentials.headersFor(requestOf(moved)))
    expect(await house.connection(target)).toBeDefined()
  })

  describe('MC24: the registration', () => {
    test.each<[string, AuthAnswer]>([
      ['401 invalid_client', answer(401, {error: 'invalid_client'})],
      ['400 invalid_client', answer(400, {error: 'invalid_client'})],
      ['400 unauthorized_client', answer(400, {error: 'unauthorized_client'})],
    ])('fact 80: %s at a refresh: a usual sign-in with a client that is new', async (_, step) => {
      const {upstream, call, process, token} = await connected()
      house.clock.wall_ms += HOUR_MS
      upstream.answers.set('/token', [step, step])
      const link = linkIn(await call())
      upstream.answers.delete('/token')
      upstream.clients.clear()
      expect((await signedIn(process, link)).status).toBe(200)
      expect(upstream.at('/register')).toHaveLength(2)
      expect(await token()).toMatch(/^Bearer access-/)
    })

    test('invalid_client at the exchange: the person is sent on with another client, once', async () => {
      const {upstream, process, target} = await connected()
      const {upstreamAuth, upstreamCallbackReply} = await import('../../../src/mcp/credentials/upstream-pages.ts')
      const {signInLink} = await import('../../../src/mcp/credentials/oauth-upstream/sign-in.ts')
      const {answeredBy, queryOf} = await import('../../support/mcp/credential-house.ts')
      const link = await signInLink(process.services, target, {user_id: 'tom', challenge: null})
      const sent = await upstreamAuth(process.services, queryOf(link), {user_id: 'tom'})
      const query = await answeredBy(sent.headers.location!)
      upstream.clients.clear()
      const again = await upstreamCallbackReply(process.services, query, {user_id: 'tom'})
      expect([again.status, upstream.at('/register')]).toEqual([302, expect.objectContaining({length: 2})])
      const back = await answeredBy(again.headers.location!)
      upstream.clients.clear()
      const over = await upstreamCallbackReply(process.services, back, {user_id: 'tom'})
      expect([over.status, over.html]).toEqual([400, expect.stringContaining('invalid_client')])
      expect(upstream.at('/register')).toHaveLength(2)
    })

    test('another callback, or an end of its secret: registered again', async () => {
      const {upstream, target, process} = await connected()
      const moved = house.process({...process.services, base_url: 'https://new.example.com'})
      const {signInLink} = await import('../../../src/mcp/credentials/oauth-upstream/sign-in.ts')
      const link = await signInLink(moved.services, target, {user_id: 'tom', challenge: null})
      expect((await signedIn(moved, link, 'tom')).status).toBe(200)
      expect(upstream.at('/register')).toHaveLength(2)
      // tokens of the client before are used until they fail
      headersIn(await process.credentials.headersFor(requestOf(target)))
    })

    test('two people at once, in two processes: one registration', async () => {
      const upstream = await openAuthServer()
      servers.push(upstream)
      const target = await house.target(upstream.url)
      const processes = [house.process(), house.processOn(await house.again())]
      const pages = await Promise.all(
        ['mia', 'tom'].map(async (user_id, at) => {
          const request = requestOf(target, {caller: {...requestOf(target).caller, user_id}})
          const by = processes[at]!
          return signedIn(by, linkIn(await by.credentials.headersFor(request)), user_id)
        }),
      )
      expect(pages.map(({status}) => status)).toEqual([200, 200])
      expect(upstream.at('/register')).toHaveLength(1)
    })

    test('a client that an administrator configured is never replaced', async () => {
      const oauth_metadata = {client_id: 'own', client_secret: 'secret'}
      const {upstream, call, process, target} = await connected({}, {oauth_metadata})
      house.clock.wall_ms += HOUR_MS
      upstream.clients.clear()
      expect(refusedIn(await call()).message).toMatch(/does not take the configured client_id/)
      const {signInLink} = await import('../../../src/mcp/credentials/oauth-upstream/sign-in.ts')
      const page = await signedIn(
        process,
        await signInLink(process.services, target, {user_id: 'mia', challenge: null}),
      )
      expect([page.status, page.html]).toEqual([
        400,
        expect.stringContaining('An administrator configured the client_id'),
      ])
      expect(upstream.at('/register')).toEqual([])
    })
  })

  describe('MC21, fact 77: an authorization server that refuses the resource', () => {
    const refuses = (upstream: AuthServer) =>
      upstream.answers.set('/token', (response, {body}) =>
        body.includes('resource=')
          ? json(response, 400, {error: 'invalid_target', error_description: 'AADSTS9010010 <no>'})
          : json(response, 200, {access_token: 'a', refresh_token: 'r', expires_in: 600}),
      )

    test('the page names the switch', async () => {
      const upstream = await openAuthServer()
      servers.push(upstream)
      refuses(upstream)
      const process = house.process()
      const target = await house.target(upstream.url)
      const page = await signedIn(process, linkIn(await process.credentials.headersFor(requestOf(target))))
      expect(page.html).toContain('AADSTS9010010 &#60;no&#62; (oauth_metadata.resource: &#34;omit&#34; leaves it out)')
    })

    test('omit: in none of the three', async () => {
      const upstream = await openAuthServer()
      servers.push(upstream)
      refuses(upstream)
      const process = house.process()
      const target = await house.target(upstream.url, {}, {oauth_metadata: {resource: 'omit'}})
      const request = requestOf(target)
      expect((await signedIn(process, linkIn(await process.credentials.headersFor(request)))).status).toBe(200)
      house.clock.wall_ms += HOUR_MS
      expect(headersIn(await process.credentials.headersFor(request))).toMatchObject({refreshed: true})
      expect(upstream.at('/authorize').map(({path}) => path.includes('resource='))).toEqual([false])
      expect(upstream.forms().map(form => form.resource)).toEqual([undefined, undefined])
    })
  })

  describe('client credentials', () => {
    const own = {client_id: 'own', client_secret: 'secret', scope: 'a'}
    const opened = async (oauth_metadata: object = own) => {
      const upstream = await openAuthServer()
      servers.push(upstream)
      upstream.clients.add('own')
      const auth_type = 'oauth_client_credentials' as const
      return {upstream, target: await house.target(upstream.url, {auth_type}, {oauth_metadata})}
    }

    test('one token for all callers of all processes, without a person', async () => {
      const {upstream, target} = await opened()
      const processes = [house.process(), house.processOn(await house.again())]
      const caller = {...requestOf(target).caller, user_id: null}
      const calls = Array.from({length: 20}, (_, at) =>
        processes[at % 2]!.credentials.headersFor(requestOf(target, {caller})),
      )
      const outcomes = (await Promise.all(calls)).map(headersIn)
      expect(new Set(outcomes.map(({headers}) => headers.authorization)).size).toBe(1)
      expect(outcomes[0]).toMatchObject({per_user: false, credential: 'standing'})
      expect(new Set(outcomes.map(each => each.connection_hash)).size).toBe(1)
      expect(upstream.forms()).toEqual([{grant_type: 'client_credentials', scope: 'a', resource: upstream.url}])
    })

    test('a 401 fetches another, once', async () => {
      const {upstream, target} = await opened()
      const {credentials} = house.process()
      await credentials.headersFor(requestOf(target))
      const first = headersIn(await credentials.headersFor(requestOf(target)))
      const second = headersIn(await credentials.after401(requestOf(target), first, {www_authenticate: null}))
      expect(second.token_id).not.toBe(first.token_id)
      const last = await credentials.after401(requestOf(target), second, {www_authenticate: null})
      expect(refusedIn(last)).toMatchObject({status: 502})
      expect(upstream.forms()).toHaveLength(2)
    })

    test('other settings fetch another', async () => {
      const {upstream, target} = await opened()
      const {credentials} = house.process()
      await credentials.headersFor(requestOf(target))
      const {sealConfigurations} = await import('../../../src/store/mcp-integrations.ts')
      const changed = {oauth_metadata: {...own, scope: 'b'}}
      const integration = {...target.integration, ...sealConfigurations(house.seal, target.integration, changed, {})}
      await credentials.headersFor(requestOf({...target, integration}))
      expect(upstream.forms().map(({scope}) => scope)).toEqual(['a', 'b'])
    })

    test.each<[string, object, RegExp]>([
      ['no client', {}, /needs a client_id and a client_secret/],
      ['no secret', {client_id: 'own'}, /needs a client_id and a client_secret/],
      ['a client that is not known', {client_id: 'other', client_secret: 's'}, /refused the gateway: invalid_client/],
    ])('%s', async (_, oauth_metadata, message) => {
      const {target} = await opened(oauth_metadata)
      const outcome = refusedIn(await house.process().credentials.headersFor(requestOf(target)))
      expect(outcome).toMatchObject({status: 502, message: expect.stringMatching(message)})
    })
  })

  test('tokens of an ended connection are revoked where they came from; failures are logged', async () => {
    const {upstream, target, process} = await connected()
    const {revokeTokens} = await import('../../../src/mcp/credentials/revocation.ts')
    const lines: unknown[] = []
    const services = {...process.services, log: {warn: (facts: unknown) => void lines.push(facts)}}
    const connection = (await house.connection(target))!
    await revokeTokens(services, target.integration, connection)
    const form = Object.fromEntries(new URLSearchParams(upstream.at('/revoke')[0]!.body))
    expect(form).toEqual({
      token: expect.stringMatching(/^refresh-/),
      token_type_hint: 'refresh_token',
      client_id: 'client-1',
    })
    upstream.answers.set('/revoke', answer(503))
    await revokeTokens(services, target.integration, connection)
    expect(lines).toEqual([expect.objectContaining({mcp_integration_id: target.integration.id})])
    expect(JSON.stringify(lines)).not.toContain('refresh-')
  })

  test('no token, code or verifier is in the database in plain', async () => {
    const {upstream, target} = await connected({access_token: 'canary-access', refresh_token: 'canary-refresh'})
    const row = (await house.connection(target))!
    expect(Buffer.from(row.tokens).toString('latin1')).not.toContain('canary')
    const {contentsOf} = await import('../../support/database-contents.ts')
    expect(await contentsOf(house.store)).not.toContain('canary')
    expect(upstream.forms()).toHaveLength(1)
    expect(tokenId({access_token: 'canary-access'})).not.toContain('canary')
  })
})
