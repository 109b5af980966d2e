import {createHash} from 'node:crypto'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {Browser} from '../support/sign-in.ts'
import {CALLBACK, form, hiddenIn, JSON_TYPE, type OAuthHouse, type OAuthReply, openOAuthHouse} from './house.ts'

/** Of the attacker: registered by him, as anyone may. */
const EVIL = 'https://evil.example.test/cb'
const EVIL_VERIFIER = 'e'.repeat(43)
const EVIL_CHALLENGE = createHash('sha256').update(EVIL_VERIFIER).digest('base64url')

interface Scene {
  readonly house: OAuthHouse
  readonly victim: Browser
  readonly attacker: Browser
  /** A client that the victim uses. */
  readonly client: string
  readonly evil_client: string
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly location?: string | null
  readonly text?: string
}

/** The attack fails: by a page without a redirect, by an error at the client's own address, or in JSON. */
type Outcome = 'page' | `page ${number}` | `error ${string}` | `json ${number} ${string}` | 'inactive' | 'empty'
type Attack = readonly [name: string, act: (scene: Scene) => Promise<Answer | OAuthReply>, outcome: Outcome]

const asked =
  (more: Record<string, string | undefined>, alias = '') =>
  (scene: Scene) =>
    scene.house.asked(scene.victim, scene.client, more, alias)
const exchanged =
  (more: Record<string, string | undefined>) =>
  async ({house, victim, client}: Scene) =>
    house.exchange(client, await house.code(victim, client), more)
const redirected = (redirect_uri: string) => asked({redirect_uri})

const REDIRECTS: readonly Attack[] = [
  ['an address that is not registered', redirected(EVIL), 'page'],
  ['one that begins like the registered one', redirected(`${CALLBACK}.evil.test`), 'page'],
  ['one below the registered one', redirected(`${CALLBACK}/../../evil`), 'page'],
  ['one with a further parameter', redirected(`${CALLBACK}?next=${EVIL}`), 'page'],
  ['one with a fragment', redirected(`${CALLBACK}#`), 'page'],
  ['one with a user', redirected('https://app.example.test@evil.example.test/callback'), 'page'],
  ['one with a backslash', redirected('https://evil.example.test\\@app.example.test/callback'), 'page'],
  ['one in other letters', redirected(CALLBACK.replace('callback', 'Callback')), 'page'],
  ['one by http', redirected(CALLBACK.replace('https', 'http')), 'page'],
  ['one with a line end', redirected(`${CALLBACK}\r\nlocation: ${EVIL}`), 'page'],
  ['a script', redirected('javascript:alert(document.cookie)'), 'page'],
  ['none', redirected(''), 'page'],
  [
    'two, of which one is registered',
    ({house, victim, client}) =>
      victim.go(`/oauth/authorize?${house.authorizeQuery(client)}&redirect_uri=${encodeURIComponent(EVIL)}`),
    'page',
  ],
  [
    'a client of the attacker with the address of another',
    ({house, victim, evil_client}) => house.asked(victim, evil_client, {redirect_uri: CALLBACK}),
    'page',
  ],
  [
    'two clients at once',
    ({house, victim, client, evil_client}) =>
      victim.go(`/oauth/authorize?${house.authorizeQuery(client)}&client_id=${evil_client}`),
    'page',
  ],
  [
    'a client whose name is a document on a host that no one allowed',
    ({house, victim}) => house.asked(victim, 'https://evil.example.test/client.json', {redirect_uri: EVIL}),
    'page',
  ],
  [
    'a registration of a script alone',
    ({house}) => house.register({redirect_uris: ['javascript:alert(1)']}),
    'json 400 invalid_redirect_uri',
  ],
  ['a registration of none', ({house}) => house.register({redirect_uris: []}), 'json 400 invalid_redirect_uri'],
  [
    'a registration of eleven',
    ({house}) => house.register({redirect_uris: Array.from({length: 11}, (_, at) => `${EVIL}${at}`)}),
    'json 400 invalid_redirect_uri',
  ],
]

const REQUESTS: readonly Attack[] = [
  ['a token in place of a code', asked({response_type: 'token'}), 'error unsupported_response_type'],
  ['a code and a token', asked({response_type: 'code token'}), 'error unsupported_response_type'],
  ['the code in the fragment', asked({response_mode: 'fragment'}), 'error invalid_request'],
  ['no challenge', asked({code_challenge: undefined}), 'error invalid_request'],
  ['a plain challenge', asked({code_challenge_method: 'plain'}), 'error invalid_request'],
  ['no method of the challenge', asked({code_challenge_method: undefined}), 'error invalid_request'],
  ['a challenge that is none', asked({code_challenge: 'short'}), 'error invalid_request'],
  ['a request object', asked({request: 'e30.e30.'}), 'error request_not_supported'],
  ['a request by address', asked({request_uri: EVIL}), 'error request_uri_not_supported'],
  ['a resource of another gateway', asked({resource: 'https://other.example.test/docs/mcp'}), 'error invalid_target'],
  [
    'a resource that begins like ours',
    ({house, ...scene}) => asked({resource: `${house.base}.evil.test/docs/mcp`})({house, ...scene}),
    'error invalid_target',
  ],
  [
    'a resource that is no address of MCP',
    ({house, ...scene}) => asked({resource: `${house.base}/v1/admin`})({house, ...scene}),
    'error invalid_target',
  ],
  [
    'a resource beside the address of another server',
    ({house, ...scene}) => asked({resource: house.resource('other')}, 'docs/')({house, ...scene}),
    'error invalid_target',
  ],
  [
    'two resources',
    ({house, victim, client}) =>
      victim.go(`/oauth/authorize?${house.authorizeQuery(client)}&resource=${house.resource('other')}`),
    'error invalid_request',
  ],
  [
    'two states',
    ({house, victim, client}) => victim.go(`/oauth/authorize?${house.authorizeQuery(client)}&state=x`),
    'error invalid_request',
  ],
  ['scopes of the administration', asked({scope: 'organisation_users.create'}), 'error invalid_scope'],
]

const posted =
  (
    change: (scene: Scene & {readonly page: {readonly text: string}}) => Promise<{
      readonly browser?: Browser
      readonly body?: Record<string, string | undefined>
      readonly headers?: Record<string, string>
    }>,
  ) =>
  async (scene: Scene) => {
    const page = await scene.house.asked(scene.victim, scene.client, {prompt: 'consent'})
    const {browser = scene.victim, body = {}, headers = {}} = await change({...scene, page})
    const fields = form({...hiddenIn(page.text), action: 'approve', ...body})
    return browser.go('/oauth/authorize', {method: 'POST', body: fields, headers})
  }

const CONSENT: readonly Attack[] = [
  ['a form of another site', posted(async () => ({headers: {'sec-fetch-site': 'cross-site'}})), 'page 403'],
  ['a form of a sister site', posted(async () => ({headers: {'sec-fetch-site': 'same-site'}})), 'page 403'],
  [
    'a form by another origin, of an old browser',
    posted(async () => ({headers: {'sec-fetch-site': '', origin: EVIL}})),
    'page 403',
  ],
  ['a form without the proof', posted(async () => ({body: {proof: undefined}})), 'page 403'],
  ['a form with a guessed proof', posted(async () => ({body: {proof: 'x'.repeat(43)}})), 'page 403'],
  [
    'the proof of another request of the person',
    posted(async ({house, victim, client}) => {
      const other = await house.asked(victim, client, {prompt: 'consent'})
      return {body: {proof: hiddenIn(other.text).proof}}
    }),
    'page 403',
  ],
  [
    'a form by a person who is not signed in',
    posted(async ({house}) => ({browser: house.gateway.browser()})),
    'page 403',
  ],
  ['the page of the victim, allowed by the attacker', posted(async ({attacker}) => ({browser: attacker})), 'page 403'],
  [
    'a request of the attacker, shown to the victim after him',
    async ({house, attacker, victim, evil_client}) => {
      const page = await house.asked(attacker, evil_client, {redirect_uri: EVIL})
      return victim.go(`/oauth/consent?transaction=${hiddenIn(page.text).transaction}`)
    },
    'page 403',
  ],
  [
    'a decision a second time',
    async ({house, victim, client}) => {
      const page = await house.asked(victim, client, {prompt: 'consent'})
      await house.decide(victim, page)
      return house.decide(victim, page)
    },
    'page',
  ],
  [
    'an approval after a refusal',
    async ({house, victim, client}) => {
      const page = await house.asked(victim, client, {prompt: 'consent'})
      await house.decide(victim, page, {action: 'deny'})
      return house.decide(victim, page)
    },
    'page',
  ],
  [
    'a decision after ten minutes',
    async ({house, victim, client}) => {
      const page = await house.asked(victim, client, {prompt: 'consent'})
      house.pass(600_000)
      return house.decide(victim, page)
    },
    'page',
  ],
  [
    'a decision by GET',
    async ({house, victim, client}) => {
      const page = await house.asked(victim, client, {prompt: 'consent'})
      return victim.go(`/oauth/authorize?${form({...hiddenIn(page.text), action: 'approve'})}`)
    },
    'page',
  ],
  [
    'a server that was not offered',
    posted(async ({house}) => ({body: {server: (await house.server('third')).id}})),
    'page 403',
  ],
  ['an action that is neither', posted(async () => ({body: {action: 'approve_all'}})), 'page'],
  ['an invented transaction', ({victim}) => victim.go(`/oauth/consent?transaction=${'x'.repeat(43)}`), 'page'],
  [
    'a prefetch of an answer that would be given at once',
    async ({house, victim, client}) => {
      await house.code(victim, client)
      const begun = await victim.go(`/oauth/authorize?${house.authorizeQuery(client)}`)
      return victim.go(begun.location!, {headers: {'sec-purpose': 'prefetch'}})
    },
    'empty',
  ],
  [
    'consent to one client, used by another of the same name',
    async ({house, victim, client}) => {
      await house.code(victim, client)
      const twin = await house.client()
      const page = await house.asked(victim, twin)
      return page.location === null ? house.decide(victim, page, {proof: 'x'}) : page
    },
    'page 403',
  ],
]

const CODES: readonly Attack[] = [
  ['without the verifier', exchanged({code_verifier: undefined}), 'json 400 invalid_request'],
  ['with the challenge as the verifier', exchanged({code_verifier: EVIL_CHALLENGE}), 'json 400 invalid_grant'],
  [
    'a code of the victim, injected into the attacker’s own sign-in',
    exchanged({code_verifier: EVIL_VERIFIER}),
    'json 400 invalid_grant',
  ],
  [
    'by another client',
    async ({house, victim, client, evil_client}) => house.exchange(evil_client, await house.code(victim, client)),
    'json 400 invalid_grant',
  ],
  ['for another redirect URI', exchanged({redirect_uri: EVIL}), 'json 400 invalid_grant'],
  [
    'for another server',
    ({house, ...scene}) => exchanged({resource: house.resource('other')})({house, ...scene}),
    'json 400 invalid_target',
  ],
  [
    'after a wrong verifier: a code is good for one attempt',
    async ({house, victim, client}) => {
      const code = await house.code(victim, client)
      await house.exchange(client, code, {code_verifier: EVIL_VERIFIER})
      return house.exchange(client, code)
    },
    'json 400 invalid_grant',
  ],
  [
    'an invented one',
    ({house, client}) => house.exchange(client, `mcp_code_${'x'.repeat(43)}`),
    'json 400 invalid_grant',
  ],
  [
    'an access token in place of a code',
    async ({house, victim, client}) => house.exchange(client, (await house.tokens(victim, client)).access_token),
    'json 400 invalid_grant',
  ],
  [
    'in the query of the endpoint',
    async ({house, victim, client}) =>
      house.post(`/oauth/token?${form({grant_type: 'authorization_code', code: await house.code(victim, client)})}`, {
        client_id: client,
      }),
    'json 400 invalid_request',
  ],
  [
    'two codes in one form',
    async ({house, victim, client}) => {
      const code = await house.code(victim, client)
      return house.post('/oauth/token', `grant_type=authorization_code&code=${code}&code=${code}&client_id=${client}`)
    },
    'json 400 invalid_request',
  ],
  [
    'a form with a line end that PostgreSQL would not take',
    ({house, client}) => house.exchange(client, 'x\0'),
    'json 400 invalid_request',
  ],
]

const TOKENS: readonly Attack[] = [
  [
    'an access token as a refresh token',
    async ({house, victim, client}) => house.refresh(client, (await house.tokens(victim, client)).access_token),
    'json 400 invalid_grant',
  ],
  [
    'a refresh token as an access token',
    async ({house, victim, client}) => introspected(house, (await house.tokens(victim, client)).refresh_token),
    'inactive',
  ],
  [
    'a refresh token, replayed late',
    async ({house, victim, client}) => {
      const {refresh_token} = await house.tokens(victim, client)
      await house.refresh(client, refresh_token)
      house.pass(120_001)
      return house.refresh(client, refresh_token)
    },
    'json 400 invalid_grant',
  ],
  [
    'the newest one after an old one was replayed',
    async ({house, victim, client}) => {
      const {refresh_token} = await house.tokens(victim, client)
      const {body} = await house.refresh(client, refresh_token)
      house.pass(120_001)
      await house.refresh(client, refresh_token)
      return house.refresh(client, body.refresh_token)
    },
    'json 400 invalid_grant',
  ],
  [
    'a stolen one by the client of the attacker',
    async ({house, victim, client, evil_client}) =>
      house.refresh(evil_client, (await house.tokens(victim, client)).refresh_token),
    'json 400 invalid_grant',
  ],
  [
    'a refresh for another server',
    async ({house, victim, client}) =>
      house.refresh(client, (await house.tokens(victim, client)).refresh_token, {resource: house.resource('other')}),
    'json 400 invalid_target',
  ],
  [
    'a refresh for more scopes',
    async ({house, victim, client}) =>
      house.refresh(client, (await house.tokens(victim, client)).refresh_token, {scope: 'mcp:*'}),
    'json 400 invalid_scope',
  ],
  [
    'tokens for itself, by a client that anyone may register',
    async ({house}) => {
      const {body} = await house.register({
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'client_credentials'],
      })
      const {client_id, client_secret} = body
      const resource = house.resource('docs')
      return house.post('/oauth/token', {grant_type: 'client_credentials', client_id, client_secret, resource})
    },
    'json 400 unauthorized_client',
  ],
  [
    'the password of a person',
    ({house, client}) =>
      house.post('/oauth/token', {grant_type: 'password', username: 'mia', password: 'x', client_id: client}),
    'json 400 unsupported_grant_type',
  ],
  [
    'a grant that an object has by nature',
    ({house, client}) => house.post('/oauth/token', {grant_type: 'constructor', client_id: client}),
    'json 400 unsupported_grant_type',
  ],
  [
    'a client with a secret, without it',
    async ({house, victim}) => {
      const client = await house.client({token_endpoint_auth_method: 'client_secret_basic'})
      return house.exchange(client, await house.code(victim, client))
    },
    'json 401 invalid_client',
  ],
  [
    'the same with another secret',
    async ({house, victim}) => {
      const client = await house.client({token_endpoint_auth_method: 'client_secret_post'})
      return house.exchange(client, await house.code(victim, client), {client_secret: `mcp_secret_${'x'.repeat(43)}`})
    },
    'json 401 invalid_client',
  ],
  [
    'a client without a secret that shows one',
    async ({house, victim, client}) => house.exchange(client, await house.code(victim, client), {client_secret: 'x'}),
    'json 401 invalid_client',
  ],
  [
    'no client',
    ({house}) => house.post('/oauth/token', {grant_type: 'refresh_token', refresh_token: 'x'}),
    'json 401 invalid_client',
  ],
  [
    'introspection by a stranger',
    async ({house, victim, client}) =>
      house.post('/oauth/introspect', {token: (await house.tokens(victim, client)).access_token, client_id: client}),
    'json 401 invalid_client',
  ],
  [
    'introspection by a key of a workspace',
    async ({house, victim, client}) =>
      house.post(
        '/oauth/introspect',
        {token: (await house.tokens(victim, client)).access_token},
        {
          'x-gateway-api-key': 'gk-test-workspace-key-of-at-least-32-characters',
        },
      ),
    'json 401 invalid_client',
  ],
  [
    'introspection by another client with a secret',
    async ({house, victim, client}) => {
      const {body} = await house.register({token_endpoint_auth_method: 'client_secret_post'})
      const {client_id, client_secret} = body
      const {access_token} = await house.tokens(victim, client)
      return house.post('/oauth/introspect', {token: access_token, client_id, client_secret})
    },
    'inactive',
  ],
  [
    'revocation by another client',
    async ({house, victim, client, evil_client}) => {
      const {access_token, refresh_token} = await house.tokens(victim, client)
      await house.post('/oauth/revoke', {token: refresh_token, client_id: evil_client})
      const is_live = await house.isLive(access_token)
      return {status: 200, headers: new Headers(), body: {active: !is_live}}
    },
    'inactive',
  ],
  [
    'a session in place of a client',
    async ({house, victim}) => {
      const cookie = `__Host-gateway_session=${victim.session}`
      return house.post('/oauth/token', {grant_type: 'refresh_token', refresh_token: 'x'}, {cookie})
    },
    'json 401 invalid_client',
  ],
  ['a body of 70 KB', ({house}) => house.register({client_name: 'x'.repeat(70_000)}), 'json 400 invalid_request'],
  [
    'a name of 300 characters',
    ({house}) => house.register({client_name: 'x'.repeat(300)}),
    'json 400 invalid_client_metadata',
  ],
  [
    'metadata nested a thousand deep',
    ({house}) => house.post('/oauth/register', `{"redirect_uris":${'['.repeat(1000)}`, JSON_TYPE),
    'json 400 invalid_request',
  ],
]

const introspected = (house: OAuthHouse, token: string): Promise<OAuthReply> =>
  house.post('/oauth/introspect', {token}, {'x-gateway-api-key': 'gk-test-admin-key-of-at-least-32-characters'})

const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  'redirects and mix-up': REDIRECTS,
  requests: REQUESTS,
  consent: CONSENT,
  codes: CODES,
  'tokens and clients': TOKENS,
}

describe('attacks on OAuth of MCP: none passes', () => {
  let scene: Scene
  beforeAll(async () => {
    const house = await openOAuthHouse()
    await house.server('docs')
    await house.server('other')
    const of = [house.workspace.id]
    const [victim, attacker] = [await house.person('mia', 'member', of), await house.person('eve', 'member', of)]
    const [client, evil_client] = [await house.client(), await house.client({redirect_uris: [EVIL]})]
    scene = {house, victim: victim.browser, attacker: attacker.browser, client, evil_client}
  })
  afterAll(() => scene?.house.gateway.close())
  beforeEach(() => scene.house.pass(61_000))

  test('there are at least 40 of them', () => {
    expect(Object.values(ATTACKS).flat().length).toBeGreaterThanOrEqual(40)
  })

  for (const [kind, attacks] of Object.entries(ATTACKS))
    describe(kind, () => {
      test.each(attacks)('%s', async (_, act, outcome) => {
        const reply = await act(scene)
        expect(outcomeOf(reply, outcome)).toBe(outcome)
        // whatever the answer, it gives nothing away
        const answer = `${reply.headers.get('location')} ${'text' in reply ? reply.text : JSON.stringify(reply)}`
        expect(answer).not.toMatch(/mcp_(?:at|rt|code)_[\w-]{43}/)
      })
    })

  test('fact 9: a token of one server opens no other, at any spelling of its address', async () => {
    const {findOAuthCaller} = await import('../../src/identity/mcp-oauth/caller.ts')
    const {openStore} = await import('../../src/store/dialect/index.ts')
    const {house, victim, client} = scene
    const {access_token} = await house.tokens(victim, client)
    const store = await openStore({kind: 'sqlite', folder: house.gateway.folder, role: 'operator'})
    try {
      const at = (workspace: string | null, server: string, token = access_token) =>
        findOAuthCaller(store, token, {resource: {workspace, server}, now_ms: house.clock.ms})
      expect(await at(null, 'docs')).toMatchObject({client_id: client, email: 'mia@example.test'})
      expect(await at(house.workspace.slug, 'docs')).toMatchObject({client_id: client})
      for (const [workspace, server] of [
        [null, 'other'],
        ['elsewhere', 'docs'],
        [null, 'DOCS'],
        [null, ''],
      ] as const)
        expect(await at(workspace, server)).toMatchObject({error: 'invalid_token', detail: 'it is for another server'})
      expect(await at(null, 'docs', `${access_token}x`)).toMatchObject({detail: 'the token is unknown'})
    } finally {
      await store.close()
    }
  })

  test('one address has 60 requests a minute at each endpoint', async () => {
    const {house} = scene
    const send = () => house.post('/oauth/token', {grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x'})
    const statuses = await Promise.all(Array.from({length: 61}, send))
    expect(statuses.filter(({status}) => status === 401).length).toBe(60)
    const over = statuses.find(({status}) => status === 429)!
    expect([over.body.error, over.headers.get('retry-after')]).toEqual(['too_many_requests', '60'])
    expect((await house.register()).status).toBe(201)
    house.pass(60_000)
    expect((await send()).status).toBe(401)
  })

  test('discovery says nothing of which servers there are', async () => {
    const {house} = scene
    const at = async (path: string) => house.get(`/.well-known/oauth-protected-resource${path}`)
    const [real, invented] = [await at('/docs/mcp'), await at('/invented/mcp')]
    expect([real.status, invented.status]).toEqual([200, 200])
    const plain = (body: object) => JSON.stringify(body).replaceAll('invented', 'docs')
    expect(plain(invented.body)).toBe(plain(real.body))
  })
})

function outcomeOf(reply: Answer | OAuthReply, wanted: Outcome): string {
  const body = 'body' in reply ? (reply.body as {error?: string; active?: boolean} | undefined) : undefined
  const location = reply.headers.get('location')
  if (reply.status === 204) return 'empty'
  if (location !== null) return `error ${new URL(location).searchParams.get('error')}`
  if (body?.active === false) return 'inactive'
  if (reply.headers.get('content-type')?.startsWith('text/html'))
    return reply.status === 400 ? 'page' : wanted === 'page' ? `page with ${reply.status}` : `page ${reply.status}`
  return `json ${reply.status} ${body?.error}`
}
