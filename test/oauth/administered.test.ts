import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {KINDS} from '../support/stores.ts'
import {CALLBACK, type OAuthHouse, openOAuthHouse} from './house.ts'

type Made = {id: string; client_secret: string | null}

describe.each(KINDS)('OAuth clients of MCP that an administrator makes, on %s', kind => {
  let house: OAuthHouse
  let mia: Awaited<ReturnType<OAuthHouse['person']>>
  let team: {id: string; slug: string}
  beforeAll(async () => {
    house = await openOAuthHouse(kind)
    await house.server('docs')
    team = await house.workspaceCalled('Team')
    await house.server('team-docs', team.id)
    mia = await house.person('mia', 'member', [house.workspace.id, team.id])
  })
  afterAll(() => house?.gateway.close())
  beforeEach(() => house.pass(61_000))

  const make = (body: object) => house.gateway.admin<Made>('POST', '/mcp-oauth-clients', {name: 'Assistant', ...body})
  const refused = async (method: string, path: string, body: object) =>
    (await house.gateway.app.inject({method, url: `/v1${path}`, body})).status
  const ofItself = {token_endpoint_auth_method: 'client_secret_post', acts_for_itself: true}
  const forItself = ({id, client_secret}: Made, server: string, more: object = {}) =>
    house.post('/oauth/token', {
      ...{grant_type: 'client_credentials', client_id: id, client_secret, resource: house.resource(server), ...more},
    })

  test('one asks people as any other does; where it skips the page it gets its code at once', async () => {
    const asking = await make({redirect_uris: [CALLBACK]})
    const page = await house.asked(mia.browser, asking.id)
    expect([page.status, page.text.includes('set up by an administrator')]).toEqual([200, true])
    const skipping = await make({redirect_uris: [CALLBACK], skips_consent: true})
    const {access_token} = await house.tokens(mia.browser, skipping.id)
    expect(await house.state(access_token)).toMatchObject({active: true, email: mia.email})
    // not where the person has to choose the server
    const choice = await house.asked(mia.browser, skipping.id, {resource: undefined})
    expect([choice.status, choice.location]).toEqual([200, null])
    expect((await house.gateway.rows('mcp-oauth-grant'))[0]!.body.event).toBe('consent_remembered')
  })

  test('one with a secret gets tokens for itself, without a refresh token', async () => {
    const client = await make(ofItself)
    const {status, body} = await forItself(client, 'docs')
    expect([status, Object.keys(body).sort()]).toEqual([200, ['access_token', 'expires_in', 'scope', 'token_type']])
    const state = await house.state(body.access_token)
    expect(state).toMatchObject({active: true, client_id: client.id, sub: client.id, username: client.id})
    expect(state.email).toBeUndefined()
    const basic = Buffer.from(`${client.id}:${client.client_secret}`).toString('base64')
    const resource = house.resource('docs')
    const fields = {grant_type: 'client_credentials', resource}
    expect((await house.post('/oauth/token', fields, {authorization: `Basic ${basic}`})).status).toBe(200)
    const wrong = await house.post('/oauth/token', fields, {authorization: `Basic ${basic.slice(4)}`})
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="gateway", charset="UTF-8"',
    ])
    const both = await house.post(
      '/oauth/token',
      {...fields, client_secret: client.client_secret},
      {authorization: `Basic ${basic}`},
    )
    expect([both.status, both.body.error]).toEqual([400, 'invalid_request'])
  })

  test('it names its server, and reaches no further than its workspace', async () => {
    const client = await make({...ofItself, workspace_id: team.slug})
    expect((await forItself(client, 'team-docs')).status).toBe(200)
    for (const resource of [undefined, house.resource('docs'), house.resource('invented')]) {
      const {status, body} = await forItself(client, '', {resource})
      expect([status, body.error]).toEqual([400, 'invalid_target'])
    }
    const ofPeople = await make({redirect_uris: [CALLBACK], workspace_id: team.id})
    const page = await house.asked(mia.browser, ofPeople.id)
    expect(page.text).toContain('no such server that you may use')
  })

  test('it gets the scopes that it may have, of those that it names', async () => {
    const client = await make({...ofItself, redirect_uris: [CALLBACK], scopes: ['mcp:tools:list']})
    expect((await forItself(client, 'docs')).body.scope).toBe('mcp:tools:list')
    expect((await forItself(client, 'docs', {scope: 'mcp'})).body.scope).toBe('mcp:tools:list')
    expect((await forItself(client, 'docs', {scope: 'mcp:tools:call'})).body.error).toBe('invalid_scope')
    const {refresh_token, scope} = await house.tokens(mia.browser, (await make({redirect_uris: [CALLBACK]})).id)
    expect([scope, refresh_token]).toEqual(['mcp:tools:list mcp:tools:call', expect.any(String)])
  })

  test('fewer scopes hold with the next refresh', async () => {
    const client = await make({redirect_uris: [CALLBACK]})
    const {refresh_token} = await house.tokens(mia.browser, client.id)
    await house.gateway.admin('PUT', `/mcp-oauth-clients/${client.id}`, {scopes: ['mcp:tools:list']})
    expect((await house.refresh(client.id, refresh_token)).body.scope).toBe('mcp:tools:list')
  })

  test('it hears of the tokens of its organisation, within its workspace', async () => {
    const [all, of_team] = [await make(ofItself), await make({...ofItself, workspace_id: team.id})]
    const {access_token} = await house.tokens(mia.browser, await house.client())
    const heardBy = async ({id, client_secret}: Made) =>
      (await house.post('/oauth/introspect', {token: access_token, client_id: id, client_secret})).body.active
    expect([await heardBy(all), await heardBy(of_team)]).toEqual([true, false])
  })

  test('what it was given ends when it is deleted', async () => {
    const client = await make({...ofItself, redirect_uris: [CALLBACK]})
    const {body} = await forItself(client, 'docs')
    await house.gateway.admin('DELETE', `/mcp-oauth-clients/${client.id}`)
    expect(await house.isLive(body.access_token)).toBe(false)
    expect((await forItself(client, 'docs')).status).toBe(401)
    expect((await house.asked(mia.browser, client.id)).status).toBe(400)
    expect(await refused('GET', `/mcp-oauth-clients/${client.id}`, {})).toBe(404)
  })

  test.each([
    ['a script', {redirect_uris: ['javascript:alert(1)']}],
    ['nothing that it may do', {redirect_uris: []}],
    ['itself, without a secret', {acts_for_itself: true}],
    ['a scope of the administration', {redirect_uris: [CALLBACK], scopes: ['logs.list']}],
    ['two scopes in one', {redirect_uris: [CALLBACK], scopes: ['mcp:tools:list mcp:tools:call']}],
  ])('none is made for %s', async (_, body) => {
    expect(await refused('POST', '/mcp-oauth-clients', {name: 'x', ...body})).toBe(400)
    const {id} = await make({redirect_uris: [CALLBACK]})
    const change = {redirect_uris: [CALLBACK], acts_for_itself: false, ...body}
    if (!('scopes' in body)) expect(await refused('PUT', `/mcp-oauth-clients/${id}`, change)).toBe(400)
  })

  test('one that registered itself is not the organisation’s: it is neither listed, shown nor changed', async () => {
    const id = await house.client()
    const {data} = await house.gateway.admin<{data: {id: string}[]}>('GET', '/mcp-oauth-clients')
    expect(data.map(row => row.id)).not.toContain(id)
    expect(await refused('PUT', `/mcp-oauth-clients/${id}`, {skips_consent: true})).toBe(404)
  })

  test('its secret is in no reply but the first, and in no row', async () => {
    const client = await make(ofItself)
    const replies = JSON.stringify([
      await house.gateway.admin('GET', '/mcp-oauth-clients'),
      await house.gateway.admin('GET', `/mcp-oauth-clients/${client.id}`),
      await house.gateway.rows('mcp-oauth-client'),
    ])
    expect(replies).not.toContain(client.client_secret)
    expect(replies).not.toContain('secret_hash')
  })
})
