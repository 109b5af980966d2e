import {createSign, generateKeyPairSync, type KeyObject} from 'node:crypto'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {Egress} from '../../../src/base/egress/pools.ts'
import {walledFetch} from '../../../src/mcp/credentials/walled-fetch.ts'
import {json} from '../../support/mcp/auth-server.ts'
import {
  type CredentialHouse,
  type CredentialProcess,
  openCredentialHouse,
  requestOf,
} from '../../support/mcp/credential-house.ts'
import {listen, type McpListener} from '../../support/mcp/listener.ts'

const PAIR = generateKeyPairSync('rsa', {modulusLength: 2048})
const OTHER = generateKeyPairSync('rsa', {modulusLength: 2048})
const jwkOf = ({publicKey}: {publicKey: KeyObject}, kid: string) => ({
  ...publicKey.export({format: 'jwk'}),
  kid,
  use: 'sig',
})
const JWKS = {keys: [jwkOf(PAIR, 'k1')]}

let house: CredentialHouse
const servers: McpListener[] = []
beforeAll(async () => {
  house = await openCredentialHouse('sqlite')
})
afterEach(() => Promise.all(servers.splice(0).map(each => each.close())))
afterAll(() => house?.close())

interface Signing {
  readonly claims?: object
  readonly header?: object
  readonly key?: KeyObject
}

function signed({claims = {}, header = {}, key = PAIR.privateKey}: Signing = {}): string {
  const now_s = house.clock.wall_ms / 1000
  const parts = [
    {alg: 'RS256', kid: 'k1', ...header},
    {iss: 'https://idp', sub: 'mia', iat: now_s, exp: now_s + 600, ...claims},
  ]
  const text = parts.map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createSign('sha256').update(text).sign(key).toString('base64url')}`
}

async function checked(
  jwt_validation: object,
  client_headers: Record<string, string>,
  {process = house.process(), more = {}}: {process?: CredentialProcess; more?: object} = {},
) {
  const target = await house.target('https://mcp.example.com/mcp', {auth_type: 'none'}, {jwt_validation, ...more})
  return process.credentials.secondToken(requestOf(target, {client_headers}))
}

const bearer = (token: string) => ({'x-gateway-api-key': 'the key', authorization: `Bearer ${token}`})

describe('fact 47: the second token', () => {
  test.each<[string, object, () => Record<string, string>, object]>([
    [
      'none',
      {},
      () => ({'x-gateway-api-key': 'k'}),
      {ok: false, status: 401, message: 'The header Authorization carries no token.'},
    ],
    ['good', {}, () => bearer(signed()), {ok: true, claims: expect.objectContaining({sub: 'mia'})}],
    ['without the word Bearer', {}, () => ({authorization: signed()}), {ok: true}],
    ['in a header of its own', {headerKey: 'X-Second'}, () => ({'x-second': signed()}), {ok: true}],
    ['that is no JWT', {}, () => bearer('abc'), {status: 401, message: 'The second token is no JWT.'}],
    [
      'of another key',
      {},
      () => bearer(signed({key: OTHER.privateKey})),
      {status: 401, message: expect.stringContaining('signature')},
    ],
    [
      'of an unknown key',
      {},
      () => bearer(signed({header: {kid: 'k2'}})),
      {status: 401, message: expect.stringContaining('not known')},
    ],
    [
      'without algorithm',
      {},
      () => bearer(signed({header: {alg: 'none'}})),
      {status: 401, message: expect.stringContaining('RS256')},
    ],
    ['of HS256', {}, () => bearer(signed({header: {alg: 'HS256'}})), {status: 401}],
    [
      'with an extension',
      {},
      () => bearer(signed({header: {crit: ['x']}})),
      {status: 401, message: expect.stringContaining('crit')},
    ],
    [
      'that expired',
      {},
      () => bearer(signed({claims: {exp: house.clock.wall_ms / 1000 - 5}})),
      {status: 401, message: expect.stringContaining('expired')},
    ],
    [
      'that expired within the tolerance',
      {},
      () => bearer(signed({claims: {exp: house.clock.wall_ms / 1000 - 4}})),
      {ok: true},
    ],
    [
      'that is too old',
      {maxTokenAge: '30m'},
      () => bearer(signed({claims: {iat: house.clock.wall_ms / 1000 - 1806}})),
      {status: 401, message: expect.stringContaining('too old')},
    ],
    [
      'old enough',
      {maxTokenAge: '30m'},
      () => bearer(signed({claims: {iat: house.clock.wall_ms / 1000 - 1800}})),
      {ok: true},
    ],
    [
      'without a claim',
      {requiredClaims: ['sub', 'groups']},
      () => bearer(signed()),
      {status: 401, message: 'Missing required claims: groups'},
    ],
    [
      'of another issuer',
      {claimValues: {iss: {values: 'https://ours'}}},
      () => bearer(signed()),
      {status: 403, message: expect.stringContaining('iss')},
    ],
    ['of the issuer', {claimValues: {iss: {values: ['https://idp']}}}, () => bearer(signed()), {ok: true}],
    [
      'with one of a list',
      {claimValues: {groups: {values: ['b'], matchType: 'contains'}}},
      () => bearer(signed({claims: {groups: ['a', 'b']}})),
      {ok: true},
    ],
    [
      'with all of a list',
      {claimValues: {groups: {values: ['a', 'c'], matchType: 'containsAll'}}},
      () => bearer(signed({claims: {groups: ['a', 'b']}})),
      {status: 403},
    ],
    [
      'by a pattern',
      {claimValues: {sub: {values: ['^m(i|o)a$'], matchType: 'regex'}}},
      () => bearer(signed()),
      {ok: true},
    ],
    [
      'by no pattern',
      {claimValues: {sub: {values: ['^x'], matchType: 'regex'}}},
      () => bearer(signed()),
      {status: 403},
    ],
    [
      'that is not the header',
      {headerPayloadMatch: ['tenant']},
      () => ({...bearer(signed({claims: {tenant: 't1'}})), tenant: 't2'}),
      {status: 403},
    ],
    [
      'that is the header',
      {headerPayloadMatch: ['tenant']},
      () => ({...bearer(signed({claims: {tenant: 't1'}})), tenant: 't1'}),
      {ok: true},
    ],
  ])('%s', async (_, options, client, expected) => {
    expect(await checked({jwks: JWKS, ...options}, client())).toMatchObject(expected)
  })

  test('an integration without it has no second token', async () => {
    const target = await house.target('https://mcp.example.com/mcp', {auth_type: 'none'})
    expect(await house.process().credentials.secondToken(requestOf(target))).toBeNull()
  })

  test('a pattern that would take long takes none', async () => {
    const claims = {sub: 'a'.repeat(8000)}
    const began = performance.now()
    const outcome = await checked(
      {jwks: JWKS, claimValues: {sub: {values: ['(a+)+$b'], matchType: 'regex'}}},
      bearer(signed({claims})),
    )
    expect(outcome).toMatchObject({ok: false, status: 403})
    expect(performance.now() - began).toBeLessThan(1000)
  })

  test('the second token never goes upstream', async () => {
    const configurations = {
      jwt_validation: {jwks: JWKS, headerKey: 'x-second'},
      forward_headers: {mode: 'all-except', headers: []},
    }
    const target = await house.target('https://mcp.example.com/mcp', {auth_type: 'none'}, configurations)
    const client_headers = {'x-second': signed(), 'x-a': '1'}
    const outcome = await house.process().credentials.headersFor(requestOf(target, {client_headers}))
    expect(outcome).toMatchObject({headers: {'x-a': '1'}})
    expect(Object.keys((outcome as {headers: object}).headers)).toEqual(['x-a'])
  })
})

describe('keys by address', () => {
  const keys = async (status = 200, set: () => unknown = () => JWKS) => {
    const server = await listen((_, response) => json(response, status, set()))
    servers.push(server)
    return server
  }

  test('are read once, and again for an unknown key after 60 s', async () => {
    let set: unknown = JWKS
    const server = await keys(200, () => set)
    let steady_ms = 0
    const process = house.process({steady: () => steady_ms})
    const target = await house.target(
      'https://mcp.example.com/mcp',
      {auth_type: 'none'},
      {jwt_validation: {jwksUri: `${server.origin}/keys`}},
    )
    const check = (token: string) => process.credentials.secondToken(requestOf(target, {client_headers: bearer(token)}))
    for (let time = 0; time < 3; time++) expect(await check(signed())).toMatchObject({ok: true})
    expect(server.requests).toHaveLength(1)
    set = {keys: [jwkOf(PAIR, 'k2')]}
    const rolled = signed({header: {kid: 'k2'}})
    for (let time = 0; time < 3; time++) expect(await check(rolled)).toMatchObject({ok: false, status: 401})
    expect(server.requests).toHaveLength(1)
    steady_ms += 60_000
    expect(await check(rolled)).toMatchObject({ok: true})
    expect(server.requests).toHaveLength(2)
  })

  test('that cannot be read let no one in', async () => {
    const server = await keys(500)
    const outcome = await checked({jwksUri: `${server.origin}/keys`}, bearer(signed()))
    expect(outcome).toMatchObject({ok: false, status: 503})
  })

  test('fact 49: pass the wall', async () => {
    const server = await keys()
    const egress = new Egress()
    const {services} = house.process()
    const process = house.process({fetch: walledFetch({egress, after: services.after})})
    for (const endpoint of [{jwksUri: `${server.origin}/keys`}, {introspectEndpoint: `${server.origin}/i`}])
      expect(await checked(endpoint, bearer(signed()), {process})).toMatchObject({ok: false, status: 503})
    expect(server.requests).toEqual([])
    await egress.destroy()
  })
})

describe('introspection', () => {
  const opened = async (claims: () => unknown = () => ({active: true, sub: 'mia'}), status = 200) => {
    const server = await listen((_, response) => json(response, status, claims()))
    servers.push(server)
    return server
  }

  test('fact 47: is called once a request', async () => {
    const server = await opened()
    const validation = {
      introspectEndpoint: `${server.origin}/i`,
      introspectClientId: 'a:b',
      introspectClientSecret: 'c',
    }
    for (let time = 1; time < 4; time++) {
      expect(await checked(validation, bearer('opaque'))).toMatchObject({ok: true, claims: {sub: 'mia'}})
      expect(server.requests).toHaveLength(time)
    }
    const [{headers, body}] = server.requests as [(typeof server.requests)[0]]
    expect([headers['content-type'], JSON.parse(body)]).toEqual(['application/json', {token: 'opaque'}])
    expect(headers.authorization).toBe(`Basic ${Buffer.from('a%3Ab:c').toString('base64')}`)
  })

  test.each<[string, Record<string, string>]>([
    ['a key', {authorization: `Bearer gk-${'k'.repeat(43)}`}],
    ['a JWT that let the caller in', {authorization: `Bearer ${'a'.repeat(40)}.b.c`}],
    ['a key beside the credential', {'x-gateway-api-key': 'the key', authorization: `Bearer gk-${'k'.repeat(43)}`}],
  ])('fact 45: %s is never sent there', async (_, client) => {
    const server = await opened()
    const outcome = await checked({introspectEndpoint: `${server.origin}/i`}, client)
    expect(outcome).toMatchObject({ok: false, status: 401, message: expect.stringContaining('not a second token')})
    expect(server.requests).toEqual([])
  })

  test('its client may be that of the provider, its body a form', async () => {
    const server = await opened()
    const place = {authorization_endpoint: 'https://idp.example/a', token_endpoint: 'https://idp.example/t'}
    const more = {external_auth_config: {...place, client_id: 'x', client_secret: 'y'}}
    const validation = {
      introspectEndpoint: `${server.origin}/i`,
      introspectContentType: 'application/x-www-form-urlencoded',
    }
    await checked(validation, bearer('a b'), {more})
    expect(server.requests[0]).toMatchObject({
      body: 'token=a+b',
      headers: {authorization: `Basic ${Buffer.from('x:y').toString('base64')}`},
    })
  })

  test('an answer is kept as long as the integration says, by token and integration', async () => {
    const server = await opened()
    let steady_ms = 0
    const process = house.process({steady: () => steady_ms})
    const jwt_validation = {introspectEndpoint: `${server.origin}/i`, introspectCacheMaxAge: 10}
    const targets = [1, 2].map(() => house.target('https://mcp.example.com/mcp', {auth_type: 'none'}, {jwt_validation}))
    const [one, two] = (await Promise.all(targets)) as [Awaited<(typeof targets)[0]>, Awaited<(typeof targets)[0]>]
    const check = async (target: typeof one, token: string) => {
      await process.credentials.secondToken(requestOf(target, {client_headers: bearer(token)}))
      return server.requests.length
    }
    expect([await check(one, 'a'), await check(one, 'a'), await check(one, 'b'), await check(two, 'a')]).toEqual([
      1, 1, 2, 3,
    ])
    steady_ms += 10_000
    expect(await check(one, 'a')).toBe(4)
  })

  test.each<[string, () => unknown, number, object]>([
    ['not active', () => ({active: false}), 200, {ok: false, status: 401, message: 'The second token is not active.'}],
    ['active as text', () => ({active: 'true'}), 200, {ok: false, status: 401}],
    ['expired', () => ({active: true, exp: 1}), 200, {ok: false, status: 401}],
    ['ill', () => ({active: true}), 500, {ok: false, status: 503}],
    ['no object', () => [1], 200, {ok: false, status: 503}],
  ])('%s', async (_, claims, status, expected) => {
    const server = await opened(claims, status)
    expect(await checked({introspectEndpoint: `${server.origin}/i`}, bearer('t'))).toMatchObject(expected)
  })
})
