import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {ADMIN_KEY, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {gatewayOn} from '../support/gateway-on.ts'
import {chatReply, type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {KINDS} from '../support/stores.ts'
import {encoded, heldToken, hmacToken, signedToken, signer} from '../support/tokens.ts'

// The facts of a token as a key: each test names what an app, an administrator or an attacker would see.

const KEY = signer('RS256', 'first')
const OTHER = signer('RS256', 'second')
const SCOPES = 'completions.write logs.list configs.list configs.create'
const BODY = {model: 'gpt-4o', messages: [{role: 'user', content: 'hi'}]}

describe.each(KINDS)('on %s', kind => {
  let gateway: TestGateway
  let provider: FakeProvider
  let organisation_id: string
  let workspace: {id: string; slug: string}

  beforeAll(async () => {
    provider = await fakeProvider()
    gateway = await gatewayOn(kind, {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
    await gateway.provider('up', 'openai', provider.url)
    organisation_id = (await gateway.admin<{id: string}>('GET', '/admin/organisation')).id
    workspace = (await gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces')).data[0]!
  })
  afterAll(async () => {
    await gateway.close()
    await provider.close()
  })

  const NOTHING = {
    ...{enabled: null, jwks_url: null, jwks: null, algorithms: null, issuer: null, audiences: null, clock_skew_s: null},
    ...{max_lifetime_s: null, revoked_before: null, default_scopes: null, default_workspace: null},
    ...{allowed_workspaces: null, allowed_subjects: null},
  }
  const rules = (jwt: object) => gateway.admin('PUT', '/admin/organisation/auth', {jwt: {...NOTHING, ...jwt}})
  const inline = (more: object = {}) => rules({jwks: {keys: [KEY.jwk]}, ...more})
  const claims = (more: object = {}) => ({
    ...{organisation_id, workspace_slug: workspace.slug, scope: SCOPES, sub: 'app-1'},
    ...more,
  })
  const token = (more: object = {}, header: object = {}) => heldToken(KEY, claims(more), Date.now(), header)

  interface Reply {
    readonly status: number
    readonly message: string | undefined
    readonly code: string | undefined
  }
  async function chat(credential: string, headers: Record<string, string> = {}, body: object = BODY): Promise<Reply> {
    const sent = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        ...{'content-type': 'application/json', 'x-gateway-provider': '@up', 'x-gateway-api-key': credential},
        ...headers,
      },
    })
    const reply = (await sent.json()) as {error?: {message: string; type: string}}
    return {status: sent.status, message: reply.error?.message, code: reply.error?.type}
  }
  const ask = async (credential: string, method: string, path: string, body?: unknown) => {
    const sent = await fetch(`${gateway.url}/v1${path}`, {
      method,
      headers: {'x-gateway-api-key': credential, ...(body !== undefined && {'content-type': 'application/json'})},
      ...(body !== undefined && {body: JSON.stringify(body)}),
    })
    return {status: sent.status, body: (await sent.json()) as {data?: {message?: string; errorCode?: string}}}
  }
  /** Rows of the audit log about refused tokens. */
  const refusals = async () => {
    const {records} = await gateway.admin<{records: Record<string, unknown>[]}>(
      'GET',
      '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&resource_type=jwt',
    )
    return records
  }

  beforeEach(() => {
    provider.received.length = 0
    provider.answer(({body}, response) => json(response, chatReply(JSON.parse(String(body)).model)))
  })

  test('1: without a key set tokens are refused', async () => {
    await rules({})
    expect(await chat(token())).toMatchObject({
      status: 403,
      message: 'The organisation has no key set for tokens. Set jwt.jwks_url or jwt.jwks.',
    })
    expect(await ask(token(), 'GET', '/configs')).toMatchObject({status: 403, body: {data: {errorCode: 'AB03'}}})
  })

  test('2: a private, short, secret or unnamed key is refused, and nothing of it is kept', async () => {
    const secret = {...KEY.private_key.export({format: 'jwk'}), kid: 'p'} as {d?: string; kid: string}
    await inline()
    const before = await gateway.admin('GET', '/admin/organisation/auth')
    for (const [key, field] of [
      [secret, 'jwt.jwks.keys[0].d'],
      [signer('RS256', 'short', 1024).jwk, 'jwt.jwks.keys[0].n'],
      [{kty: 'oct', kid: 'o', k: 'c2VjcmV0'}, 'jwt.jwks.keys[0].k'],
      [{...KEY.jwk, kid: undefined}, 'jwt.jwks.keys[0].kid'],
    ] as const) {
      const {status, body} = await ask(ADMIN_KEY, 'PUT', '/admin/organisation/auth', {jwt: {jwks: {keys: [key]}}})
      expect([status, body.data?.errorCode]).toEqual([400, 'AB01'])
      expect(body.data?.message).toContain(field)
    }
    const twice = {jwt: {jwks: {keys: [KEY.jwk, KEY.jwk]}}}
    expect((await ask(ADMIN_KEY, 'PUT', '/admin/organisation/auth', twice)).status).toBe(400)
    expect(await gateway.admin('GET', '/admin/organisation/auth')).toEqual(before)
    expect(gateway.lines.join('\n')).not.toContain(secret.d!)
  })

  test('3: a good token works where a key does, and the provider never sees it', async () => {
    await inline()
    const good = token()
    expect((await chat(good)).status).toBe(200)
    expect((await chat('', {'x-gateway-api-key': '', authorization: `Bearer ${good}`})).status).toBe(200)
    expect(provider.received).toHaveLength(2)
    expect(JSON.stringify(provider.received.map(({headers}) => headers))).not.toContain(good)
  })

  describe('4: claims go by several names', () => {
    test.each([
      ['organisation', {organisation_id: undefined, portkey_oid: 'ID'}],
      ['organisation of this house', {organisation_id: undefined, gateway_oid: 'ID'}],
      ['workspace', {workspace_slug: undefined, portkey_workspace: 'WORKSPACE'}],
      ['workspace by its id', {workspace_slug: undefined, gateway_workspace: 'UUID'}],
      ['scopes as a list', {scope: undefined, scopes: ['portkey.completions.write']}],
      ['scopes with a colon', {scope: 'gateway.completions:write unknown'}],
    ])('%s', async (_, given) => {
      await inline()
      const names: Record<string, string> = {ID: organisation_id, WORKSPACE: workspace.slug, UUID: workspace.id}
      const filled = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name, names[String(value)] ?? value]),
      )
      expect(await chat(token(filled))).toMatchObject({status: 200})
    })

    test('one that is no text is refused', async () => {
      expect(await chat(token({organisation_id: 7}))).toMatchObject({status: 401, message: 'Organisation not found.'})
      expect(await chat(token({portkey_oid: null}))).toMatchObject({status: 401})
      expect(await chat(token({workspace_slug: ['a']}))).toMatchObject({status: 403})
    })
  })

  test('5: access tokens are taken, logout tokens are not', async () => {
    await inline()
    expect((await chat(token({}, {typ: 'at+jwt'}))).status).toBe(200)
    expect(await chat(token({}, {typ: 'logout+jwt'}))).toMatchObject({
      status: 401,
      message: 'The token is of the type logout+jwt; accepted here: JWT and at+jwt.',
    })
  })

  describe('6 to 8: what is signed otherwise is refused, and the provider is not asked', () => {
    const payload = () => ({...claims(), exp: Math.floor(Date.now() / 1000) + 3600})
    const pem = () => KEY.private_key.export({format: 'pem', type: 'pkcs8'})
    const ROWS: readonly (readonly [string, () => string])[] = [
      ['without a signature', () => `${encoded({alg: 'none', kid: KEY.kid})}.${encoded(payload())}.`],
      ['None', () => `${encoded({alg: 'None', kid: KEY.kid})}.${encoded(payload())}.${encoded('x')}`],
      ['HS256 by the public key', () => hmacToken({alg: 'HS256', kid: KEY.kid}, payload(), JSON.stringify(KEY.jwk))],
      ['HS256 by its PEM', () => hmacToken({alg: 'HS256', kid: KEY.kid}, payload(), pem())],
      [
        'an algorithm that is not accepted',
        () => signedToken({alg: 'RS512', kid: KEY.kid}, payload(), {...KEY, alg: 'RS512'}),
      ],
      ['an unknown key', () => signedToken({alg: 'RS256', kid: 'nobody'}, payload(), KEY)],
      ['no key id', () => signedToken({alg: 'RS256'}, payload(), KEY)],
      ['another key under its id', () => signedToken({alg: 'RS256', kid: KEY.kid}, payload(), OTHER)],
      ['a key that it brings', () => signedToken({alg: 'RS256', kid: 'mine', jwk: OTHER.jwk}, payload(), OTHER)],
      ['an altered payload', () => altered(token())],
      ['a cut signature', () => token().slice(0, -4)],
      ['a padded signature', () => `${token()}=`],
      ['another spelling of its last character', () => respelled(token())],
      ['an empty part', () => `${token().split('.')[0]}..${token().split('.')[2]}`],
    ]
    test.each(ROWS)('%s', async (_, made) => {
      await inline()
      expect((await chat(made())).status).toBe(401)
      expect((await ask(made(), 'GET', '/configs')).body.data?.errorCode).toBe('AB05')
      expect(provider.received).toEqual([])
    })

    test('an address in the header is not asked', async () => {
      const asked: string[] = []
      const keys = createServer((request, response) => {
        asked.push(String(request.url))
        response.end('{"keys":[]}')
      })
      await new Promise<void>(resolve => keys.listen(0, '127.0.0.1', resolve))
      const jku = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`
      await inline()
      const brought = signedToken({alg: 'RS256', kid: 'mine', jku, x5u: jku}, payload(), OTHER)
      expect((await chat(brought)).status).toBe(401)
      expect(asked).toEqual([])
      keys.close()
    })
  })

  /** The same bytes in another spelling: the last of 342 characters has four bits that mean nothing. */
  function respelled(text: string): string {
    const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = ALPHABET.indexOf(text.at(-1)!)
    return text.slice(0, -1) + ALPHABET[last % 16 === 15 ? last - 1 : last + 1]
  }

  function altered(text: string): string {
    const [header, payload, signature] = text.split('.') as [string, string, string]
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    return [header, encoded({...claims, scope: 'completions.write logs.view'}), signature].join('.')
  }

  describe('9: times', () => {
    const at = (seconds: number) => Math.floor(Date.now() / 1000) + seconds
    test.each([
      ['without exp', () => ({exp: undefined}), 401],
      ['exp as a text', () => ({exp: String(at(60))}), 401],
      ['expired', () => ({exp: at(-6)}), 401],
      ['expired within the skew', () => ({exp: at(-3)}), 200],
      ['not yet', () => ({nbf: at(60)}), 401],
      ['made in the future', () => ({iat: at(60)}), 401],
      ['the last time there is', () => ({exp: 8.64e12}), 200],
    ])('%s', async (_, made, status) => {
      await inline()
      expect((await chat(token(made()))).status).toBe(status)
    })
  })

  test('10: an unknown organisation and a foreign workspace are refused alike, whatever there is', async () => {
    await inline()
    const other = await gateway.admin<{workspace_slug: string; workspace_id: string}>(
      'POST',
      '/operator/organisations',
      {
        name: 'Foreign',
      },
    )
    const nobody = '00000000-0000-4000-8000-000000000000'
    expect(await chat(token({organisation_id: nobody}))).toMatchObject({
      status: 401,
      message: 'Organisation not found.',
    })
    const sentence = (name: string) => `The workspace ${name} is not open to this token.`
    for (const name of [other.workspace_id, nobody])
      expect(await chat(token({workspace_slug: name}))).toMatchObject({status: 403, message: sentence(name)})
    await inline({allowed_workspaces: [workspace.id]})
    expect((await chat(token())).status).toBe(200)
    expect((await chat(token({workspace_slug: undefined}))).status).toBe(200)
  })

  test('11: no scope, or none that is known, is refused', async () => {
    await inline()
    for (const scope of [undefined, '', 'unknown.thing', 42])
      expect(await chat(token({scope}))).toMatchObject({
        status: 403,
        message: 'The token has no scope that this gateway knows.',
      })
    expect(await chat(token({scope: 'logs.list'}))).toMatchObject({status: 403, message: /completions\.write/ as never})
    await inline({default_scopes: ['completions.write']})
    expect((await chat(token({scope: undefined}))).status).toBe(200)
  })

  test('12: a token reads the administration of its workspace, and makes no keys', async () => {
    await inline()
    const wide = token({scope: `${SCOPES} organisation_users.list workspace_service_api_keys.create`})
    expect((await ask(wide, 'GET', '/admin/users')).status).toBe(403)
    expect((await ask(wide, 'GET', '/configs')).status).toBe(200)
    const key = {name: 'longer', scopes: ['completions.write'], workspace_id: workspace.id}
    expect((await ask(wide, 'POST', '/api-keys/workspace/service', key)).status).toBe(403)
    const config = {name: 'by a token', config: {provider: '@up'}, workspace_id: workspace.id}
    expect((await ask(wide, 'POST', '/configs', config)).status).toBe(200)
    const {records} = await gateway.admin<{records: Record<string, unknown>[]}>(
      'GET',
      '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&user_type=token',
    )
    expect(records).toMatchObject([{action: 'create', user_id: expect.stringMatching(/^jwt:[\da-f]{32}$/)}])
  })

  test('13: the rate limit of a token is its own, in whatever spelling it comes', async () => {
    await inline()
    const limited = token({rate_limits: [{type: 'requests', unit: 'rpd', value: 2}], sub: 'app-13'})
    expect([(await chat(limited)).status, (await chat(limited)).status]).toEqual([200, 200])
    expect(await chat(limited)).toMatchObject({status: 429, message: /2 requests per day of this token/ as never})
    expect((await chat(respelled(limited))).status).toBe(401)
  })

  test('13: one payload that is signed anew has one budget', async () => {
    const signing = signer('ES256', 'curve')
    await rules({jwks: {keys: [signing.jwk]}, algorithms: ['ES256']})
    const now_ms = Date.now()
    const limits = {rate_limits: [{type: 'requests', unit: 'rpd', value: 2}], sub: 'app-13b'}
    const made = () => heldToken(signing, claims(limits), now_ms)
    expect(made()).not.toBe(made())
    const statuses = [(await chat(made())).status, (await chat(made())).status, (await chat(made())).status]
    expect(statuses).toEqual([200, 200, 429])
  })

  test('14, 81: the budget of a token is used up by what its calls used', async () => {
    await inline()
    provider.answer((_, response) =>
      json(response, {...chatReply('gpt-4o'), usage: {prompt_tokens: 600, completion_tokens: 500, total_tokens: 1100}}),
    )
    const limit = {id: 'l1', type: 'tokens', credit_limit: 1000, alert_threshold: 800, status: 'active'}
    for (const [sub, usage_limits] of [
      ['one', limit],
      ['list', [limit]],
    ] as const) {
      const limited = token({usage_limits, sub})
      expect((await chat(limited)).status).toBe(200)
      // counters in PostgreSQL have it a moment behind the answer: now and then another call is in time
      let refused = await chat(limited)
      for (let more = 0; kind === 'postgres' && refused.status === 200 && more < 3; more++)
        refused = await chat(limited)
      expect(refused).toMatchObject({
        status: 412,
        message: expect.stringMatching(
          /^The usage limit of this token is used up\. (?:11|22|33|44)00 of 1000 tokens in all are used; it does not reset by itself\.$/,
        ),
      })
    }
    expect(await chat(token({usage_limits: {...limit, period: 'x'}}))).toMatchObject({
      status: 401,
      message: /^The limits in the token are not valid: .*period/ as never,
    })
  })

  test('15: a config of the workspace is used, and one that it does not have is ignored', async () => {
    await inline()
    await ask(ADMIN_KEY, 'POST', '/configs', {
      ...{name: 'Cheap', slug: 'cheap', workspace_id: workspace.id},
      config: {provider: '@up', override_params: {model: 'cheap-model'}},
    })
    const {data} = (await gateway.admin('GET', `/configs?workspace_id=${workspace.id}`)) as {
      data: {name: string; slug: string}[]
    }
    const slug = data.find(({name}) => name === 'Cheap')!.slug
    const unnamed = {'x-gateway-provider': ''}
    expect((await chat(token({defaults: {config_id: slug}}), unnamed)).status).toBe(200)
    expect(JSON.parse(String(provider.received[0]!.body)).model).toBe('cheap-model')
    expect((await chat(token({defaults: {config_id: 'elsewhere'}}))).status).toBe(200)
    expect(JSON.parse(String(provider.received[1]!.body)).model).toBe('gpt-4o')
  })

  test('16: the log names the user of the token, whatever the request says', async () => {
    await inline()
    const named = token({email_id: 'Ada@Example.com', defaults: {metadata: {team: 'blue', plan: 'a'}}})
    const metadata = JSON.stringify({_user: 'someone else', team: 'red', ticket: '7'})
    expect((await chat(named, {'x-gateway-metadata': metadata})).status).toBe(200)
    const [row] = await gateway.logs()
    expect(row!.api_key_id).toMatch(/^jwt:[\da-f]{32}$/)
    const {key, value} = row!.metadata as {key: string[]; value: string[]}
    expect(Object.fromEntries(key.map((name, at) => [name, value[at]]))).toEqual({
      ...{_user: 'Ada@Example.com', team: 'blue', plan: 'a', ticket: '7'},
    })
  })

  test('19: a key that is taken out ends its tokens at once', async () => {
    await inline()
    const good = token()
    expect((await chat(good)).status).toBe(200)
    await rules({jwks: {keys: [OTHER.jwk]}})
    expect((await chat(good)).status).toBe(401)
  })

  describe('20: keys by URL', () => {
    let address: Server
    let url: string
    const served = {keys: [KEY.jwk] as object[], is_silent: false, asked: 0}
    beforeAll(async () => {
      address = createServer((_, response) => {
        served.asked++
        if (served.is_silent) return response.destroy()
        response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify({keys: served.keys}))
      })
      await new Promise<void>(resolve => address.listen(0, '127.0.0.1', resolve))
      url = `http://127.0.0.1:${(address.address() as AddressInfo).port}/keys`
    })
    afterAll(() => void address.close())

    test('an address that never answered is a refusal, and nothing is charged', async () => {
      served.is_silent = true
      await rules({jwks_url: url})
      expect(await chat(token())).toMatchObject({
        status: 503,
        message: 'The keys that sign tokens could not be read. Try again shortly.',
      })
      expect(provider.received).toEqual([])
    })

    test('18, 20: one read serves many calls, and known keys go on when it falls silent', async () => {
      Object.assign(served, {is_silent: false, asked: 0})
      await rules({jwks_url: `${url}?again`})
      const calls = Array.from({length: 20}, (_, at) => chat(token({sub: `app-${at}`})))
      expect((await Promise.all(calls)).map(({status}) => status)).toEqual(Array(20).fill(200))
      expect(served.asked).toBe(1)
      served.is_silent = true
      expect((await chat(token({sub: 'later'}))).status).toBe(200)
    })

    test('an administrator sees what a token would meet, and nothing is noted', async () => {
      Object.assign(served, {is_silent: false})
      await rules({jwks_url: `${url}?tried`})
      const before = (await refusals()).length
      const tried = (body: object) =>
        gateway.admin<{ok: boolean; steps: {name: string; ok: boolean; detail: string}[]}>(
          'POST',
          '/admin/organisation/auth/test',
          {part: 'jwt', ...body},
        )
      expect(await tried({})).toMatchObject({ok: true, steps: [{name: 'key set', detail: '1 key: first (RSA)'}]})
      const {keys} = served
      served.keys = [...keys, {kty: 'XX', kid: 'odd'}, ...Array(100).fill(KEY.jwk)]
      expect((await tried({})).steps[0]!.detail).toMatch(
        /^100 keys: first \(RSA\), odd \(XX\), .* 90 more; 1 cannot be used: odd; 2 beyond the first 100 are not used$/,
      )
      served.keys = keys
      const good = await tried({token: token()})
      expect(good.steps[1]).toMatchObject({name: 'token', ok: true})
      expect(good.steps[1]!.detail).toContain(`workspace ${workspace.id}; user app-1; scopes completions.write`)
      const bad = await tried({token: token({exp: 5})})
      expect(bad).toMatchObject({ok: false, steps: [{ok: true}, {ok: false, detail: /expired at 1970/ as never}]})
      served.is_silent = true
      expect(await tried({})).toMatchObject({ok: false, steps: [{name: 'key set', ok: false}]})
      expect((await refusals()).length).toBe(before)
    })
  })

  test('21: tokens can be revoked by time, and be those of some subjects alone', async () => {
    await inline({revoked_before: new Date(Date.now() + 60_000).toISOString()})
    expect(await chat(token())).toMatchObject({status: 401, message: /when tokens were revoked/ as never})
    await inline()
    const good = token()
    expect((await chat(good)).status).toBe(200)
    await inline({allowed_subjects: ['app-2']})
    expect(await chat(good)).toMatchObject({status: 403, message: 'The subject of the token is not allowed here.'})
    expect((await chat(token({sub: 'app-2'}))).status).toBe(200)
  })

  test('a user who was removed has no access by tokens either, at once', async () => {
    await inline()
    const {id} = await gateway.admin<{id: string}>('POST', '/operator/users', {
      email: 'gone@example.com',
      role: 'member',
    })
    const named = token({email_id: 'GONE@example.com'})
    expect((await chat(named)).status).toBe(200)
    await gateway.admin('DELETE', `/admin/users/${id}`)
    expect(await chat(named)).toMatchObject({status: 403, message: 'The person of this token no longer has access.'})
  })

  test('IC6: an address that only folds to another’s is not his', async () => {
    await inline()
    await gateway.admin('POST', '/operator/users', {email: 'kim@example.com', role: 'member'})
    const {id} = (await gateway.admin<{data: {id: string; email: string}[]}>('GET', '/admin/users')).data.find(
      ({email}) => email === 'kim@example.com',
    )!
    await gateway.admin('DELETE', `/admin/users/${id}`)
    expect((await chat(token({email_id: 'KIM@example.com'}))).status).toBe(403)
    expect((await chat(token({email_id: '\u212Aim@example.com'}))).status).toBe(200)
  })

  test('a workspace that is archived is closed to tokens at once', async () => {
    await inline()
    const made = await gateway.admin<{id: string; slug: string}>('POST', '/admin/workspaces', {name: 'Short lived'})
    const there = token({workspace_slug: made.slug, scope: 'logs.list'})
    expect((await ask(there, 'GET', '/logs')).status).toBe(200)
    await gateway.admin('DELETE', `/admin/workspaces/${made.id}`, {name: 'Short lived', force_delete: true})
    expect((await ask(there, 'GET', '/logs')).status).toBe(403)
  })

  test('keys go on, one with two dots too', async () => {
    expect((await chat(WORKSPACE_KEY)).status).toBe(200)
    expect(await chat('an.operators.choice')).toMatchObject({status: 401, message: /The API key is not known/ as never})
  })
})
