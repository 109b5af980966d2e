import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {KINDS} from '../support/stores.ts'
import {CALLBACK, hiddenIn, JSON_TYPE, type OAuthHouse, openOAuthHouse} from './house.ts'

const CURSOR = 'cursor://anysphere.cursor-mcp/oauth/callback'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

describe.each(KINDS)('OAuth of MCP on %s', kind => {
  let house: OAuthHouse
  let mia: Awaited<ReturnType<OAuthHouse['person']>>
  let docs: Awaited<ReturnType<OAuthHouse['server']>>
  beforeAll(async () => {
    house = await openOAuthHouse(kind)
    docs = await house.server('docs')
    await house.server('other')
    mia = await house.person('mia', 'member', [house.workspace.id])
  })
  afterAll(() => house?.gateway.close())
  // an address has 60 requests a minute
  beforeEach(() => house.pass(2 * MINUTE_MS))

  /** What a person does at the page, to the parameters of the answer. */
  const allowed = async (client: string, more: Record<string, string | undefined> = {}, browser = mia.browser) => {
    const page = await house.asked(browser, client, more)
    const {location} = page.location ? page : await house.decide(browser, page)
    return new URL(location!).searchParams
  }
  const rows = () => house.gateway.rows('mcp-oauth-grant')

  test('a client is let in once by its person, and gets tokens of that server', async () => {
    const client = await house.client()
    const answer = await allowed(client)
    expect([answer.get('state'), answer.get('iss')]).toEqual(['st', house.base])
    const {status, body, headers} = await house.exchange(client, answer.get('code')!)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      access_token: expect.stringMatching(/^mcp_at_[\w-]{43}$/),
      refresh_token: expect.stringMatching(/^mcp_rt_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'mcp:tools:list mcp:tools:call',
    })
    const {organisation_id, workspace_id, server_id, ...state} = await house.state(body.access_token)
    expect([workspace_id, server_id]).toEqual([house.workspace.id, docs.id])
    expect(organisation_id).toEqual(expect.any(String))
    expect(state).toMatchObject({
      ...{active: true, client_id: client, email: mia.email, username: mia.email, sub: mia.id},
      ...{aud: house.resource('docs'), iss: house.base, token_type: 'Bearer', scope: body.scope},
      ...{workspace_slug: house.workspace.slug, exp: state.iat + 3600},
    })
  })

  test('a person who is not signed in signs in first, and comes back to the page', async () => {
    const browser = house.gateway.browser()
    const begun = await house.asked(browser, await house.client())
    const place = new URL(begun.location!)
    expect([begun.status, place.pathname]).toEqual([302, '/v2/auth/sign-in'])
    const back = place.searchParams.get('return_to')!
    expect(back).toMatch(/^\/oauth\/consent\?transaction=[\w-]{43}$/)
    const {status, text} = await mia.browser.go(back)
    expect([status, text.includes('Allow access?')]).toEqual([200, true])
  })

  test('the page names client, place of the answer, server, workspace and scopes; no script, no frame', async () => {
    const name = '<script>alert(1)</script> & "App"'
    const client = await house.client({client_name: name, redirect_uris: ['http://127.0.0.1/cb']})
    const page = await house.asked(mia.browser, client, {redirect_uri: 'http://127.0.0.1:4711/cb'})
    const facts = ['127.0.0.1:4711', 'Server docs', house.workspace.slug, 'mcp:tools:call', mia.email, client]
    for (const text of facts) expect(page.text).toContain(text)
    expect(page.text).toContain('program on this machine')
    expect(page.text).not.toMatch(/<script|\son\w+=|javascript:/i)
    expect(page.text).toContain('&#60;script&#62;alert(1)')
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self' http://127.0.0.1:4711;")
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    const remote = await house.asked(mia.browser, await house.client())
    expect(remote.text).not.toContain('program on this machine')
  })

  test('fact 6: a code that is used twice is refused, and what it gave is dead', async () => {
    const client = await house.client()
    const code = await house.code(mia.browser, client)
    const {body} = await house.exchange(client, code)
    expect(await house.isLive(body.access_token)).toBe(true)
    const again = await house.exchange(client, code)
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant'])
    expect(await house.isLive(body.access_token)).toBe(false)
    expect((await house.refresh(client, body.refresh_token)).body.error).toBe('invalid_grant')
    expect((await rows())[0]!.body).toMatchObject({event: 'grant_revoked', reason: 'code_reused'})
  })

  test('a code lives for a minute', async () => {
    const client = await house.client()
    const code = await house.code(mia.browser, client)
    house.pass(MINUTE_MS)
    expect((await house.exchange(client, code)).body.error).toBe('invalid_grant')
  })

  test('facts 7 and 73, MC17: two processes refresh with one token, and both go on; later use ends all', async () => {
    const client = await house.client()
    const first = await house.tokens(mia.browser, client)
    const both = await Promise.all([1, 2].map(() => house.refresh(client, first.refresh_token)))
    expect(both.map(({status}) => status)).toEqual([200, 200])
    const next = await Promise.all(both.map(({body}) => house.refresh(client, body.refresh_token)))
    expect(next.map(({status}) => status)).toEqual([200, 200])
    house.pass(MINUTE_MS)
    const late = await house.refresh(client, first.refresh_token)
    expect(late.status).toBe(200)
    expect((await rows())[0]!.body).toMatchObject({event: 'refresh_token_used_again', reuses: 2})
    const given = [...both, ...next, late].map(({body}) => body.access_token as string)
    expect(await Promise.all(given.map(house.isLive))).toEqual([true, true, true, true, true])
    house.pass(MINUTE_MS + 1)
    expect((await house.refresh(client, first.refresh_token)).body.error).toBe('invalid_grant')
    expect(await Promise.all(given.map(house.isLive))).toEqual([false, false, false, false, false])
    expect((await house.refresh(client, late.body.refresh_token)).body.error).toBe('invalid_grant')
    expect((await rows())[0]!.body).toMatchObject({event: 'grant_revoked', reason: 'refresh_token_reused'})
  })

  test('fact 73, MC17: another client, or another server, gets nothing for a refresh token', async () => {
    const [client, thief] = [await house.client(), await house.client()]
    const {refresh_token, access_token} = await house.tokens(mia.browser, client)
    const elsewhere = await house.refresh(client, refresh_token, {resource: house.resource('other')})
    expect([elsewhere.status, elsewhere.body.error]).toEqual([400, 'invalid_target'])
    expect((await house.refresh(client, refresh_token, {resource: house.resource('docs')})).status).toBe(200)
    expect((await house.refresh(client, refresh_token, {resource: house.resource('other')})).body.error).toBe(
      'invalid_target',
    )
    expect(await house.isLive(access_token)).toBe(true)
    expect((await house.refresh(thief, refresh_token)).body.error).toBe('invalid_grant')
    expect(await house.isLive(access_token)).toBe(false)
  })

  test('a refresh token lives for 30 days from its making, an access token for an hour', async () => {
    const client = await house.client()
    let {refresh_token, access_token} = await house.tokens(mia.browser, client)
    house.pass(3_600_000)
    expect(await house.isLive(access_token)).toBe(false)
    for (let round = 0; round < 3; round++) {
      house.pass(29 * DAY_MS)
      ;({refresh_token, access_token} = (await house.refresh(client, refresh_token)).body)
      expect(await house.isLive(access_token)).toBe(true)
    }
    house.pass(30 * DAY_MS)
    expect((await house.refresh(client, refresh_token)).body.error).toBe('invalid_grant')
    mia = {...mia, browser: await house.signedIn('mia')}
  })

  test('fact 8: a redirect URI that differs by one character gets a page; a local port may', async () => {
    const client = await house.client({redirect_uris: [CALLBACK, 'http://127.0.0.1:1000/cb']})
    const wrong = await house.asked(mia.browser, client, {redirect_uri: `${CALLBACK}/`})
    expect([wrong.status, wrong.location, wrong.headers.get('content-type')]).toEqual([
      400,
      null,
      'text/html; charset=utf-8',
    ])
    const code = await house.code(mia.browser, client, {redirect_uri: 'http://127.0.0.1:2000/cb'})
    const exchange = (redirect_uri: string) => house.exchange(client, code, {redirect_uri})
    expect((await exchange('http://127.0.0.1:2000/cb')).status).toBe(200)
    const other = await house.code(mia.browser, client, {redirect_uri: 'http://127.0.0.1:2000/cb'})
    const {body} = await house.exchange(client, other, {redirect_uri: 'http://127.0.0.1:1000/cb'})
    expect(body.error).toBe('invalid_grant')
  })

  test('fact 11: the answer names who gives it, also when it is an error', async () => {
    const client = await house.client()
    const wrong = await house.asked(mia.browser, client, {response_type: 'token'})
    const answer = new URL(wrong.location!)
    expect(`${answer.origin}${answer.pathname}`).toBe(CALLBACK)
    expect(Object.fromEntries(answer.searchParams)).toEqual({
      ...{error: 'unsupported_response_type', error_description: 'response_type: must be code.'},
      ...{state: 'st', iss: house.base},
    })
    const page = await house.asked(mia.browser, client)
    const {location} = await house.decide(mia.browser, page, {action: 'deny'})
    const refused = new URL(location!).searchParams
    expect([refused.get('error'), refused.get('iss'), refused.get('state')]).toEqual([
      'access_denied',
      house.base,
      'st',
    ])
    expect((await rows())[0]!.body).toMatchObject({event: 'consent_denied', client_id: client})
  })

  test('fact 12: a client that registered itself is shown to its person; a second one asks again', async () => {
    const [one, two] = [await house.client(), await house.client()]
    expect((await house.asked(mia.browser, one)).status).toBe(200)
    await house.code(mia.browser, one)
    expect((await house.asked(mia.browser, two)).status).toBe(200)
    // consent is remembered for this client, server, redirect URI and scopes
    expect((await house.asked(mia.browser, one)).location).toMatch(/code=/)
    for (const more of [{resource: house.resource('other')}, {scope: 'mcp:*'}, {prompt: 'consent'}] as Record<
      string,
      string
    >[])
      expect((await house.asked(mia.browser, one, more)).status, JSON.stringify(more)).toBe(200)
    expect((await house.asked(mia.browser, one, {scope: 'mcp:tools:list'})).location).toMatch(/code=/)
    const ann = await house.person('ann', 'member', [house.workspace.id])
    expect((await house.asked(ann.browser, one)).status).toBe(200)
    house.pass(91 * DAY_MS)
    mia = {...mia, browser: await house.signedIn('mia')}
    expect((await house.asked(mia.browser, one)).status).toBe(200)
  })

  test('fact 57: Cursor registers three addresses, and a request without a server ends at the one chosen', async () => {
    const redirect_uris = [CURSOR, 'https://www.cursor.com/cb', 'http://localhost:8787/cb', 'http://evil.test/cb']
    const {status, body} = await house.register({redirect_uris})
    expect([status, body.redirect_uris]).toEqual([201, redirect_uris.slice(0, 3)])
    const page = await house.asked(mia.browser, body.client_id, {redirect_uri: CURSOR, resource: undefined})
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' cursor:;")
    const options = [...page.text.matchAll(/<option value="([^"]+)">([^<]+)/g)].map(([, id, name]) => [name, id!])
    expect(options.map(([name]) => name)).toEqual(['Shared Workspace / Server docs', 'Shared Workspace / Server other'])
    const server = options[1]![1]!
    const {location} = await house.decide(mia.browser, page, {server})
    const code = new URL(location!).searchParams.get('code')!
    expect(location).toMatch(/^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?code=/)
    const tokens = (await house.exchange(body.client_id, code, {redirect_uri: CURSOR})).body
    expect(await house.state(tokens.access_token)).toMatchObject({server_id: server, aud: house.resource('other')})
  })

  test('an address with the name of the server says which one it is', async () => {
    const client = await house.client()
    for (const alias of ['docs/', `${house.workspace.slug}/docs/`]) {
      const page = await house.asked(mia.browser, client, {resource: undefined, prompt: 'consent'}, alias)
      expect(page.text).toContain('Server docs')
      const clash = await house.asked(mia.browser, client, {resource: house.resource('other')}, alias)
      expect(clash.location).toContain('error=invalid_target')
    }
  })

  test('fact 10: garbage is inactive, and revoking it is no fault', async () => {
    const client = await house.client()
    expect(await house.state('garbage')).toEqual({active: false})
    const revoked = await house.post('/oauth/revoke', {token: 'garbage', client_id: client})
    expect([revoked.status, revoked.body]).toEqual([200, ''])
  })

  test('a refresh token takes its grant along when it is revoked, an access token itself alone', async () => {
    const client = await house.client()
    const {refresh_token, access_token} = await house.tokens(mia.browser, client)
    const {body: second} = await house.refresh(client, refresh_token)
    const revoke = (token: string) => house.post('/oauth/revoke', {token, client_id: client})
    expect((await revoke(access_token)).status).toBe(200)
    expect([await house.isLive(access_token), await house.isLive(second.access_token)]).toEqual([false, true])
    expect((await revoke(second.refresh_token)).status).toBe(200)
    expect(await house.isLive(second.access_token)).toBe(false)
    expect((await house.refresh(client, second.refresh_token)).status).toBe(400)
    // JSON is taken as well
    const headers = JSON_TYPE
    expect((await house.post('/oauth/revoke', {token: refresh_token, client_id: client}, headers)).status).toBe(200)
    expect((await house.post('/oauth/revoke', {client_id: client})).status).toBe(400)
    expect((await house.post('/oauth/revoke', {token: refresh_token, client_id: 'x'})).status).toBe(401)
  })

  test('fact 75, MC19: scopes are those that are known, a refresh never widens them', async () => {
    const client = await house.client()
    const scope = 'openid profile email offline_access mcp:tools:list mcp:tools:call admin:all'
    const all = await house.tokens(mia.browser, client, {scope})
    expect(all.scope).toBe('mcp:tools:list mcp:tools:call')
    expect((await house.tokens(mia.browser, client, {scope: 'offline_access'})).scope).toBe(all.scope)
    expect((await house.tokens(mia.browser, client, {scope: undefined})).scope).toBe(all.scope)
    expect((await house.asked(mia.browser, client, {scope: 'openid'})).location).toContain('error=invalid_scope')
    const narrow = await house.tokens(mia.browser, client, {scope: 'mcp:tools:list', prompt: 'consent'})
    expect(narrow.scope).toBe('mcp:tools:list')
    const wider = await house.refresh(client, narrow.refresh_token, {scope: 'mcp:tools:list mcp:tools:call'})
    expect([wider.status, wider.body.error]).toEqual([400, 'invalid_scope'])
    const part = await house.refresh(client, all.refresh_token, {scope: 'mcp:tools:list'})
    expect(part.body.scope).toBe('mcp:tools:list')
    const whole = await house.refresh(client, part.body.refresh_token)
    expect(whole.body.scope).toBe('mcp:tools:list mcp:tools:call')
  })

  test('fact 74, MC18: a client of 40 days ago comes back; one that never was is told what to do', async () => {
    const client = await house.client()
    await house.tokens(mia.browser, client)
    house.pass(40 * DAY_MS)
    mia = {...mia, browser: await house.signedIn('mia')}
    expect((await house.asked(mia.browser, client)).status).toBeLessThan(400)
    const unknown = await house.asked(mia.browser, 'mcp_client_never')
    expect([unknown.status, unknown.location]).toEqual([400, null])
    expect(unknown.text).toContain('Remove this server in your client and add it again')
    const never = 'mcp_client_never'
    const basic = {authorization: `Basic ${Buffer.from(`${never}:x`).toString('base64')}`}
    const code = await house.code(mia.browser, client)
    for (const reply of [
      await house.refresh(never, 'mcp_rt_x'),
      await house.exchange(never, code),
      await house.post('/oauth/token', {grant_type: 'refresh_token', refresh_token: 'mcp_rt_x'}, basic),
      await house.post('/oauth/token', {grant_type: 'refresh_token', refresh_token: 'x', client_id: never}, JSON_TYPE),
    ])
      expect([reply.status, reply.body.error]).toEqual([401, 'invalid_client'])
    for (const alias of ['docs/', `${house.workspace.slug}/docs/`]) {
      const page = await house.asked(mia.browser, never, {}, alias)
      expect([page.status, page.location]).toEqual([400, null])
    }
  })

  test('fact 75, MC19: more scopes than before are asked for again', async () => {
    const client = await house.client()
    await house.tokens(mia.browser, client, {scope: 'mcp:tools:list'})
    const again = await house.asked(mia.browser, client, {scope: 'mcp:tools:list'})
    expect(again.location).toContain('code=')
    const more = {scope: 'mcp:tools:list mcp:tools:call'}
    const page = await house.asked(mia.browser, client, more)
    expect([page.status, page.text.includes('mcp:tools:call')]).toEqual([200, true])
    const {location} = await house.decide(mia.browser, page)
    const {body} = await house.exchange(client, new URL(location!).searchParams.get('code')!)
    expect(body.scope).toBe(more.scope)
    const documents = ['oauth-authorization-server', 'oauth-protected-resource/docs/mcp']
    const scopes = await Promise.all(
      documents.map(async name => (await house.get(`/.well-known/${name}`)).body.scopes_supported as string[]),
    )
    expect(scopes.map(each => each.includes('offline_access'))).toEqual([true, false])
  })

  test('fact 13: one who leaves workspace or organisation is out with the next call, and stays out', async () => {
    const {admin} = house.gateway
    const tom = await house.person('tom', 'member', [house.workspace.id])
    const client = await house.client()
    const first = await house.tokens(tom.browser, client)
    await admin('DELETE', `/admin/workspaces/${house.workspace.id}/users/${tom.id}`)
    expect(await house.isLive(first.access_token)).toBe(false)
    const again = {users: [{id: tom.id, role: 'member'}]}
    await admin('POST', `/admin/workspaces/${house.workspace.id}/users`, again)
    expect(await house.isLive(first.access_token)).toBe(false)
    const code = await house.code(tom.browser, client)
    const second = await house.tokens(tom.browser, client)
    expect(await house.isLive(second.access_token)).toBe(true)
    await admin('DELETE', `/admin/users/${tom.id}`)
    expect(await house.isLive(second.access_token)).toBe(false)
    expect((await house.refresh(client, second.refresh_token)).body.error).toBe('invalid_grant')
    expect((await house.exchange(client, code)).body.error).toBe('invalid_grant')
  })

  test('one who has to come in by the provider now and then is asked to, before tokens are given again', async () => {
    const client = await house.client()
    const {refresh_token} = await house.tokens(mia.browser, client)
    await house.gateway.auth({provisioning: {keys_need_sign_in_days: 7}})
    house.pass(6 * DAY_MS)
    const {status, body} = await house.refresh(client, refresh_token)
    expect(status).toBe(200)
    house.pass(DAY_MS)
    expect((await house.refresh(client, body.refresh_token)).body.error).toBe('invalid_grant')
    await house.gateway.auth({provisioning: {keys_need_sign_in_days: null}})
    expect((await house.refresh(client, body.refresh_token)).status).toBe(200)
  })

  test('a person who may not use a server can only refuse', async () => {
    const uma = await house.person('uma', 'member')
    const client = await house.client()
    const page = await house.asked(uma.browser, client)
    expect([page.status, page.text.includes('no such server that you may use')]).toEqual([200, true])
    expect(page.text).not.toContain('value="approve"')
    const forced = await house.decide(uma.browser, page, {server: docs.id})
    expect([forced.status, forced.location]).toEqual([403, null])
    // an unknown one looks the same
    const unknown = await house.asked(uma.browser, client, {resource: house.resource('invented')})
    const shape = (text: string) => text.replace(/value="[^"]*"/g, '')
    expect(shape(unknown.text)).toBe(shape(page.text))
    expect(hiddenIn(page.text).server).toBeUndefined()
  })

  test('nothing that opens something is kept as it is', async () => {
    const {everyRow} = await import('../sign-in/people-house.ts')
    const {body: client} = await house.register({token_endpoint_auth_method: 'client_secret_post'})
    const page = await house.asked(mia.browser, client.client_id, {state: 'a-state-of-the-client'})
    const kept = (await everyRow(house.gateway)).join('\n')
    const {location} = await house.decide(mia.browser, page)
    const code = new URL(location!).searchParams.get('code')!
    const {client_secret} = client
    const {body} = await house.exchange(client.client_id, code, {client_secret})
    expect(body.access_token).toMatch(/^mcp_at_/)
    const all = kept + (await everyRow(house.gateway)).join('\n') + house.gateway.lines.join('\n')
    const words = [code, client_secret, body.access_token, body.refresh_token, 'a-state-of-the-client']
    for (const word of [...words, hiddenIn(page.text).transaction!]) expect(all).not.toContain(word)
  })
})
