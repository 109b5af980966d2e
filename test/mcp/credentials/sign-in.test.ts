import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {upstreamAuth, upstreamCallbackReply} from '../../../src/mcp/credentials/upstream-pages.ts'
import {
  type AuthAnswer,
  type AuthServer,
  answer,
  html,
  METADATA_PATH,
  openAuthServer,
  RESOURCE_PATH,
} from '../../support/mcp/auth-server.ts'
import {
  answeredBy,
  BASE_URL,
  type CredentialHouse,
  headersIn,
  linkIn,
  openCredentialHouse,
  queryOf,
  refusedIn,
  requestOf,
  signedIn,
} from '../../support/mcp/credential-house.ts'
import {KINDS} from '../../support/stores.ts'

describe.each(KINDS)('sign-in at an upstream, on %s', kind => {
  let house: CredentialHouse
  const servers: AuthServer[] = []
  beforeAll(async () => {
    house = await openCredentialHouse(kind)
  })
  afterEach(() => Promise.all(servers.splice(0).map(each => each.close())))
  afterAll(() => house?.close())

  const opened = async () => {
    const server = await openAuthServer()
    servers.push(server)
    return server
  }
  /** A target, its link, and the process that gave it. */
  const begun = async (url: string, configurations: object = {}) => {
    const target = await house.target(url, {}, configurations)
    const process = house.process()
    const link = linkIn(await process.credentials.headersFor(requestOf(target)))
    return {target, process, link}
  }
  const sentTo = async (url: string, configurations: object = {}) => {
    const {process, link, target} = await begun(url, configurations)
    return {target, process, page: await upstreamAuth(process.services, queryOf(link), {user_id: 'mia'})}
  }

  test('a person without a connection gets a link, signs in, and calls with the token', async () => {
    const upstream = await opened()
    const {target, process, link} = await begun(upstream.url)
    expect(link).toMatch(/^https:\/\/gateway\.example\.com\/oauth\/upstream-auth\?state=[\w-]{43}$/)
    const page = await signedIn(process, link)
    expect([page.status, page.html]).toEqual([
      200,
      expect.stringContaining(`team/${target.server.slug} can be used now`),
    ])
    const credential = headersIn(await process.credentials.headersFor(requestOf(target)))
    expect(credential).toMatchObject({per_user: true, refreshed: false, credential: 'person'})
    expect(upstream.good).toContain(credential.headers.authorization!.replace('Bearer ', ''))
    const registered = JSON.parse(upstream.at('/register')[0]!.body)
    expect(registered).toMatchObject({
      ...{redirect_uris: [`${BASE_URL}/oauth/upstream-callback`], application_type: 'web', client_name: 'Gateway'},
      ...{grant_types: ['authorization_code', 'refresh_token'], response_types: ['code']},
      token_endpoint_auth_method: 'none',
    })
    expect(upstream.forms()).toEqual([
      expect.objectContaining({
        grant_type: 'authorization_code',
        resource: upstream.url,
        client_id: expect.any(String),
      }),
    ])
    expect((await house.connection(target))!.expires_at).toBe('2026-11-01T09:00:00.000Z')
  })

  test('fact 52: the link is for its user alone, once, for 10 minutes', async () => {
    const upstream = await opened()
    const {process, link, target} = await begun(upstream.url)
    const open = (user_id: string, query = queryOf(link)) => upstreamAuth(process.services, query, {user_id})
    const foreign = await open('eve')
    expect([foreign.status, foreign.html]).toEqual([403, expect.stringContaining('This link is for another user')])
    expect(upstream.requests).toEqual([])
    const sent = await open('mia')
    expect(sent.status).toBe(302)
    expect((await open('mia')).status).toBe(400)
    const back = await answeredBy(sent.headers.location!)
    const phished = await upstreamCallbackReply(process.services, back, {user_id: 'eve'})
    expect([phished.status, upstream.forms()]).toEqual([403, []])
    expect((await upstreamCallbackReply(process.services, back, {user_id: 'mia'})).status).toBe(200)
    expect((await upstreamCallbackReply(process.services, back, {user_id: 'mia'})).status).toBe(400)
    expect(upstream.forms()).toHaveLength(1)
    expect(await house.connection(target, 'eve')).toBeUndefined()

    const late = await begun(upstream.url)
    house.clock.wall_ms += 600_000
    const page = await upstreamAuth(process.services, queryOf(late.link), {user_id: 'mia'})
    expect([page.status, page.html]).toEqual([400, expect.stringContaining('expired')])
    house.clock.wall_ms -= 600_000
  })

  test('another process ends a sign-in', async () => {
    const upstream = await opened()
    const {link, target} = await begun(upstream.url)
    const other = house.processOn(await house.again())
    const sent = await upstreamAuth(other.services, queryOf(link), {user_id: 'mia'})
    const third = house.processOn(await house.again())
    const page = await upstreamCallbackReply(third.services, await answeredBy(sent.headers.location!), {user_id: 'mia'})
    expect(page.status).toBe(200)
    expect(headersIn(await other.credentials.headersFor(requestOf(target))).headers.authorization).toMatch(
      /^Bearer access-/,
    )
  })

  test.each(['', '?state=', '?state=a', `?state=${'a'.repeat(43)}`, `?state=${'a'.repeat(43)}&state=b`])(
    'no sign-in of the query %j',
    async query => {
      const {services} = house.process()
      for (const handle of [upstreamAuth, upstreamCallbackReply])
        expect((await handle(services, new URLSearchParams(query), {user_id: 'mia'})).status).toBe(400)
    },
  )

  test('a link that leads into the gateway again is followed, another is not', async () => {
    const upstream = await opened()
    for (const [return_to, location] of [
      ['/oauth/authorize?t=1', `${BASE_URL}/oauth/authorize?t=1`],
      ['//evil.example', undefined],
      ['/\\evil.example', undefined],
    ] as const) {
      const target = await house.target(upstream.url)
      const process = house.process()
      const link = linkIn(await process.credentials.headersFor(requestOf(target, {return_to})))
      expect((await signedIn(process, link)).headers.location).toBe(location)
    }
  })

  test('links of one person for one server are few', async () => {
    const upstream = await opened()
    const {process, target} = await begun(upstream.url)
    for (let at = 0; at < 8; at++) {
      house.clock.wall_ms += 1000
      await process.credentials.headersFor(requestOf(target))
    }
    const rows = await house.store.db
      .selectFrom('mcp_sign_ins')
      .select('id')
      .where('mcp_server_id', '=', target.server.id)
      .execute()
    expect(rows).toHaveLength(5)
  })

  test('the caller is no person', async () => {
    const target = await house.target('https://mcp.example.com/mcp')
    const caller = {...requestOf(target).caller, user_id: null}
    const outcome = await house.process().credentials.headersFor(requestOf(target, {caller}))
    expect(refusedIn(outcome)).toEqual({
      status: 403,
      code: 403,
      message: expect.stringContaining('needs the sign-in of a person'),
    })
  })

  describe('MC20, fact 76: discovery', () => {
    test.each<[string, (server: AuthServer) => void]>([
      [
        'issuer with a slash in the resource document',
        s => void Object.assign(s.resource, {authorization_servers: [`${s.origin}/`]}),
      ],
      ['issuer with a slash in the metadata', s => void Object.assign(s.metadata, {issuer: `${s.origin}/`})],
      [
        'metadata of OpenID alone',
        s =>
          void s.answers
            .set(METADATA_PATH, answer(404))
            .set('/.well-known/openid-configuration', (r, seen) => answer(200, metadataOf(s))(r, seen)),
      ],
      [
        'a page at the first metadata',
        s =>
          void s.answers
            .set(METADATA_PATH, html(200))
            .set('/.well-known/openid-configuration', (r, seen) => answer(200, metadataOf(s))(r, seen)),
      ],
      ['no challenge, and 404 at the first address', s => rootDocument(s, answer(404))],
      ['401 at the first address', s => rootDocument(s, answer(401))],
      ['403 at the first address', s => rootDocument(s, html(403))],
      ['a page at the first address', s => rootDocument(s, html(200))],
      [
        'no resource document at all',
        s => void s.answers.set('/mcp', answer(401)).set(`${RESOURCE_PATH}/mcp`, answer(404)),
      ],
      ['a resource above the address', s => void Object.assign(s.resource, {resource: s.origin})],
      [
        'a metadata without challenges',
        s => void Object.assign(s.metadata, {code_challenge_methods_supported: undefined}),
      ],
    ])('%s: connected', async (_, prepare) => {
      const upstream = await opened()
      prepare(upstream)
      const {process, link, target} = await begun(upstream.url)
      const page = await signedIn(process, link)
      expect([page.status, page.html]).toEqual([200, expect.any(String)])
      headersIn(await process.credentials.headersFor(requestOf(target)))
      const {resource = upstream.url} = upstream.resource
      expect(upstream.forms()[0]!.resource).toBe(resource)
    })

    test.each<[string, (server: AuthServer) => void, RegExp]>([
      [
        'an issuer with a path and a slash more',
        s => pathIssuer(s, '/t1', '/t1/'),
        /\/t1 is expected, its metadata names http:\/\/127\.0\.0\.1:\d+\/t1\//,
      ],
      [
        'an issuer with a path against none',
        s => pathIssuer(s, '/t1', ''),
        /\/t1 is expected, its metadata names http:\/\/127\.0\.0\.1:\d+\./,
      ],
      [
        'another issuer',
        s => void Object.assign(s.metadata, {issuer: 'https://evil.example'}),
        /names https:\/\/evil\.example/,
      ],
      [
        'a resource of another server',
        s => void Object.assign(s.resource, {resource: 'https://other.example/mcp'}),
        /is of https:\/\/other\.example\/mcp/,
      ],
      [
        '500 at the resource document',
        s => void s.answers.set(`${RESOURCE_PATH}/mcp`, answer(500)),
        /status 500; try again later/,
      ],
      ['500 at the metadata', s => void s.answers.set(METADATA_PATH, answer(503)), /status 503; try again later/],
      [
        'a challenge that leads nowhere',
        s => void s.answers.set(`${RESOURCE_PATH}/mcp`, answer(404)),
        /has no resource document/,
      ],
      ['a challenge of a cloud', s => challenge(s, 'http://169.254.169.254/x'), /no https URL/],
      ['a challenge of a private host', s => challenge(s, 'https://10.0.0.1/x'), /may not be called/],
      [
        'a redirect',
        s => void s.answers.set(METADATA_PATH, answer(302, {}, {location: '/elsewhere'})),
        /has no metadata/,
      ],
      [
        'no S256',
        s => void Object.assign(s.metadata, {code_challenge_methods_supported: ['plain']}),
        /no code challenge of S256/,
      ],
      [
        'no registration',
        s => void Object.assign(s.metadata, {registration_endpoint: undefined}),
        /registers no clients; oauth_metadata\.client_id/,
      ],
      [
        'a token endpoint in the clear',
        s => void Object.assign(s.metadata, {token_endpoint: 'http://tokens.example/'}),
        /token_endpoint is no https URL/,
      ],
      [
        'a refused registration',
        s =>
          void s.answers.set(
            '/register',
            answer(400, {error: 'invalid_client_metadata', error_description: '<b>no</b>'}),
          ),
        /invalid_client_metadata: &#60;b&#62;no/,
      ],
      ['a registration without an id', s => void s.answers.set('/register', answer(201, {})), /no client_id/],
      [
        'a member twice',
        s => void s.answers.set(METADATA_PATH, r => void r.end('{"issuer":"a","issuer":"b"}')),
        /has no metadata/,
      ],
      [
        'JSON nested too deep',
        s => void s.answers.set(METADATA_PATH, r => void r.end('['.repeat(5000))),
        /has no metadata/,
      ],
      [
        'more than 1 MiB',
        s => void s.answers.set(METADATA_PATH, r => void r.end(`"${'a'.repeat(1 << 21)}"`)),
        /more than 1048576 bytes/,
      ],
    ])('%s: a page that says so, and the link stays good', async (_, prepare, sentence) => {
      const upstream = await opened()
      prepare(upstream)
      const {process, link} = await begun(upstream.url)
      for (let time = 0; time < 2; time++) {
        const page = await upstreamAuth(process.services, queryOf(link), {user_id: 'mia'})
        expect([page.status, page.html]).toEqual([502, expect.stringMatching(sentence)])
        expect(page.html).not.toContain('<b>no')
      }
      expect(upstream.forms()).toEqual([])
    })

    test('fact 49: a host that is private is called for an integration alone that may', async () => {
      const upstream = await opened()
      const {process, link} = await begun(upstream.url)
      const walled = await import('../../../src/mcp/credentials/walled-fetch.ts')
      const {Egress} = await import('../../../src/base/egress/pools.ts')
      const egress = new Egress()
      const services = {...process.services, fetch: walled.walledFetch({egress, after: process.services.after})}
      const page = await upstreamAuth(services, queryOf(link), {user_id: 'mia'})
      expect([page.status, page.html]).toEqual([502, expect.stringContaining('may not be called')])
      expect(upstream.requests).toEqual([])
      const target = await house.target(upstream.url, {trusts_host: 1})
      const trusted = linkIn(await process.credentials.headersFor(requestOf(target)))
      expect((await upstreamAuth(services, queryOf(trusted), {user_id: 'mia'})).status).toBe(302)
      await egress.destroy()
    })
  })

  describe('the authorization request', () => {
    const location = async (configurations: object, prepare: (server: AuthServer) => void = () => undefined) => {
      const upstream = await opened()
      prepare(upstream)
      const {page} = await sentTo(upstream.url, configurations)
      return {url: new URL(page.headers.location!), upstream}
    }

    test('has S256, state, resource, and the parameters of the integration', async () => {
      const {url, upstream} = await location({
        oauth_metadata: {authorization_params: {prompt: 'consent'}, scope: 'a b'},
      })
      expect(Object.fromEntries(url.searchParams)).toEqual({
        ...{response_type: 'code', client_id: 'client-1', redirect_uri: `${BASE_URL}/oauth/upstream-callback`},
        ...{state: expect.stringMatching(/^[\w-]{43}$/), code_challenge: expect.stringMatching(/^[\w-]{43}$/)},
        ...{code_challenge_method: 'S256', scope: 'a b', resource: upstream.url, prompt: 'consent'},
      })
    })

    test.each<[string, object, (server: AuthServer) => void, string | null]>([
      [
        'of the integration first',
        {scope: 'own'},
        s => challenge(s, `${s.origin}${RESOURCE_PATH}/mcp`, 'asked'),
        'own',
      ],
      ['of the challenge', {}, s => challenge(s, `${s.origin}${RESOURCE_PATH}/mcp`, 'asked more'), 'asked more'],
      ['of the resource document', {}, s => void Object.assign(s.resource, {scopes_supported: ['a', 'b']}), 'a b'],
      ['none', {}, () => undefined, null],
    ])('scope %s', async (_, oauth_metadata, prepare, scope) => {
      const {url} = await location({oauth_metadata}, prepare)
      expect(url.searchParams.get('scope')).toBe(scope)
    })

    test('a configured client is not registered, and proves itself by its secret', async () => {
      const upstream = await opened()
      upstream.clients.add('own id')
      const oauth_metadata = {client_id: 'own id', client_secret: 'se:cret%'}
      const {process, link} = await begun(upstream.url, {oauth_metadata})
      expect((await signedIn(process, link)).status).toBe(200)
      expect(upstream.at('/register')).toEqual([])
      const basic = Buffer.from(upstream.at('/token')[0]!.headers.authorization!.slice(6), 'base64').toString()
      expect(basic).toBe('own+id:se%3Acret%25')
    })

    test('endpoints of the integration replace the metadata', async () => {
      const upstream = await opened()
      upstream.answers.set(METADATA_PATH, answer(404))
      const {origin} = upstream
      const endpoints = {authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`}
      const oauth_metadata = {...endpoints, registration_endpoint: `${origin}/register`}
      const {process, link} = await begun(upstream.url, {oauth_metadata})
      expect((await signedIn(process, link)).status).toBe(200)
      expect(upstream.at(METADATA_PATH)).toEqual([])
    })
  })

  describe('the answer of the authorization server', () => {
    test.each<[string, (query: URLSearchParams) => void, number, string]>([
      ['of another issuer', q => q.set('iss', 'https://evil.example'), 400, 'The answer is of https://evil.example'],
      ['without the issuer that it promised', q => q.delete('iss'), 400, 'names no issuer'],
      ['with two codes', q => q.append('code', 'x'), 400, 'code more than once'],
      ['without a code', q => q.delete('code'), 400, 'has no code'],
      ['declined', q => q.set('error', 'access_denied'), 400, 'access_denied'],
      [
        'with hostile texts',
        q => {
          q.set('error', '<script>')
          q.set('error_description', '"><img src=x>\u001b[2J')
        },
        400,
        '&#60;script&#62;: &#34;&#62;&#60;img',
      ],
      ['with a code that is none', q => q.set('code', 'other'), 400, 'invalid_grant'],
    ])('%s: nothing is kept', async (_, change, status, sentence) => {
      const upstream = await opened()
      const {target, process, page} = await sentTo(upstream.url)
      const query = await answeredBy(page.headers.location!)
      change(query)
      const reply = await upstreamCallbackReply(process.services, query, {user_id: 'mia'})
      expect([reply.status, reply.html]).toEqual([status, expect.stringContaining(sentence)])
      expect(reply.html).not.toMatch(/<script|<img|\u001b/)
      expect(reply.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      })
      expect(await house.connection(target)).toBeUndefined()
    })

    test('the slash of an issuer is no difference in it', async () => {
      const upstream = await opened()
      const {process, page} = await sentTo(upstream.url)
      const query = await answeredBy(page.headers.location!)
      query.set('iss', `${upstream.origin}/`)
      expect((await upstreamCallbackReply(process.services, query, {user_id: 'mia'})).status).toBe(200)
    })

    test('the page of a failed exchange leads to another link', async () => {
      const upstream = await opened()
      const {target, process, page} = await sentTo(upstream.url)
      upstream.answers.set('/token', answer(503))
      const query = await answeredBy(page.headers.location!)
      const reply = await upstreamCallbackReply(process.services, query, {user_id: 'mia'})
      expect(reply.html).toContain('did not answer: it answered with status 503')
      const again = /href="([^"]+)"/.exec(reply.html)![1]!
      upstream.answers.delete('/token')
      expect((await signedIn(process, again)).status).toBe(200)
      headersIn(await process.credentials.headersFor(requestOf(target)))
    })
  })
})

function metadataOf(server: AuthServer) {
  const {origin} = server
  return {
    ...{issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`},
    registration_endpoint: `${origin}/register`,
  }
}

/** No challenge names an address; the first of the two answers otherwise. */
function rootDocument(server: AuthServer, first: AuthAnswer) {
  const document = {resource: server.url, authorization_servers: [server.origin]}
  server.answers.set('/mcp', answer(401)).set(`${RESOURCE_PATH}/mcp`, first).set(RESOURCE_PATH, answer(200, document))
}

function pathIssuer(server: AuthServer, named: string, written: string) {
  server.resource.authorization_servers = [`${server.origin}${named}`]
  const metadata = {...metadataOf(server), issuer: `${server.origin}${written}`}
  server.answers.set(`${METADATA_PATH}${named}`, answer(200, metadata))
}

function challenge(server: AuthServer, address: string, scope?: string) {
  const more = scope === undefined ? '' : `, scope="${scope}"`
  server.answers.set('/mcp', answer(401, {}, {'www-authenticate': `Bearer resource_metadata="${address}"${more}`}))
}
