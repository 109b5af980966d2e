import {createPublicKey, generateKeyPairSync, type JsonWebKey} from 'node:crypto'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {isSigned, readToken} from '../../../src/base/jwt/token.ts'
import {asciiJson, identityClaims} from '../../../src/mcp/credentials/identity.ts'
import type {CredentialCaller, CredentialServices} from '../../../src/mcp/credentials/services.ts'
import {
  BASE_URL,
  type CredentialHouse,
  headersIn,
  openCredentialHouse,
  PERSON,
  refusedIn,
  requestOf,
} from '../../support/mcp/credential-house.ts'
import {KINDS} from '../../support/stores.ts'

const SERVICE: CredentialCaller = {
  ...{principal_id: 'key-2', user_id: null, email: null, workspace_id: 'w', organisation_id: 'o'},
  ...{scopes: [], credential_kind: 'api_key'},
}
const OAUTH: CredentialCaller = {...PERSON, client_id: 'editor', credential_kind: 'oauth'}
const URL_OF = 'https://mcp.example.com/mcp?team=1'

describe('claims', () => {
  test.each<[string, CredentialCaller, readonly string[] | undefined, Record<string, string>, object]>([
    [
      'of a person',
      PERSON,
      undefined,
      {},
      {
        ...{sub: 'mia', email: 'mia@example.com', username: 'Mia Köln', user_id: 'mia'},
        ...{workspace_id: 'w', organisation_id: 'o', scope: 'mcp.invoke'},
      },
    ],
    ['of no person', SERVICE, undefined, {}, {sub: 'key-2', workspace_id: 'w', organisation_id: 'o'}],
    ['that are named', OAUTH, ['sub', 'client_id', 'other'], {}, {sub: 'mia', client_id: 'editor'}],
    ['of a second token, named', PERSON, ['sub', 'groups'], {groups: 'a', sub: 'eve'}, {sub: 'mia', groups: 'a'}],
    [
      'of a second token, that fill',
      SERVICE,
      ['email', 'sub'],
      {email: 'e@x', sub: 'eve'},
      {email: 'e@x', sub: 'key-2'},
    ],
    ['that are long are left out', PERSON, ['sub', 'groups'], {groups: 'a'.repeat(3000)}, {sub: 'mia'}],
    ['of a prototype are none', SERVICE, ['toString', '__proto__'], {}, {}],
  ])('%s', (_, caller, include, validated, expected) => {
    expect(identityClaims(caller, include, validated)).toEqual(expected)
  })

  test('are visible ASCII, and the same text', () => {
    const text = asciiJson({name: 'Köln 😀 \u007f\u0000', a: '"\\'})
    expect(text).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(text)).toEqual({name: 'Köln 😀 \u007f\u0000', a: '"\\'})
    expect(text).toContain('K\\u00f6ln \\ud83d\\ude00')
  })
})

describe.each(KINDS)('the identity of callers, on %s', kind => {
  let house: CredentialHouse
  beforeAll(async () => {
    house = await openCredentialHouse(kind)
  })
  afterAll(() => house?.close())

  const sent = async (
    user_identity_forwarding: object,
    caller: CredentialCaller = PERSON,
    client_headers: Record<string, string> = {},
    own: Partial<CredentialServices> = {},
  ) => {
    const configurations = {user_identity_forwarding, forward_headers: {mode: 'all-except', headers: []}}
    const target = await house.target(URL_OF, {auth_type: 'none'}, configurations)
    return house.process(own).credentials.headersFor(requestOf(target, {caller, client_headers}))
  }

  test('fact 46: X-User-Claims is ours, whatever a client sends', async () => {
    const client = {'x-user-claims': '{"sub":"eve"}', 'x-user-jwt': 'eve', 'x-a': '1'}
    const {headers, per_user} = headersIn(await sent({method: 'claims_header'}, PERSON, client))
    expect(Object.keys(headers).sort()).toEqual(['x-a', 'x-user-claims'])
    expect(JSON.parse(headers['x-user-claims']!)).toMatchObject({sub: 'mia', username: 'Mia Köln'})
    expect(per_user).toBe(true)
    const none = headersIn(await sent({method: 'bearer'}, PERSON, client, allowing()))
    expect(none).toMatchObject({headers: {'x-a': '1'}, per_user: false})
    const own = headersIn(await sent({method: 'claims_header', header_name: 'X-Who'}, PERSON, {'x-who': 'eve'}))
    expect(JSON.parse(own.headers['x-who']!)).toMatchObject({sub: 'mia'})
  })

  test('fact 46: X-User-JWT verifies by the key set, is for the upstream, and holds 300 s', async () => {
    const {headers} = headersIn(await sent({method: 'jwt_header'}))
    const token = readToken(headers['x-user-jwt']!)!
    const now_s = house.clock.wall_ms / 1000
    expect(token.payload).toMatchObject({iss: BASE_URL, aud: URL_OF, sub: 'mia', iat: now_s, exp: now_s + 300})
    const {keys} = await house.process().credentials.keySet()
    expect(keys).toEqual([
      {kty: 'RSA', e: 'AQAB', n: expect.any(String), alg: 'RS256', use: 'sig', kid: token.header.kid},
    ])
    const key = createPublicKey({key: keys[0] as unknown as JsonWebKey, format: 'jwk'})
    expect(isSigned(token, key, 'RS256')).toBe(true)
    expect(token.header).toEqual({alg: 'RS256', typ: 'JWT', kid: expect.stringMatching(/^[\w-]{43}$/)})
  })

  test('the kept key is one for all processes, made once, and sealed', async () => {
    const processes = [house.process(), house.processOn(await house.again())]
    const sets = await Promise.all(processes.map(({credentials}) => credentials.keySet()))
    expect(sets[0]).toEqual(sets[1])
    const kept = await house.store.db.selectFrom('meta').selectAll().where('key', '=', 'identity_key').execute()
    expect(kept).toHaveLength(1)
    expect(Buffer.from(kept[0]!.value, 'base64').toString('latin1')).not.toContain('PRIVATE KEY')
  })

  test.each(['pkcs1', 'pkcs8'] as const)('JWT_PRIVATE_KEY in %s', async type => {
    const {privateKey, publicKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
    const jwt_private_key = privateKey.export({type, format: 'pem'}) as string
    const own = {settings: {...allowing().settings, jwt_private_key}}
    const {headers} = headersIn(
      await sent({method: 'jwt_header', jwt_expiry_seconds: 60, issuer: 'house'}, PERSON, {}, own),
    )
    const token = readToken(headers['x-user-jwt']!)!
    expect(isSigned(token, publicKey, 'RS256')).toBe(true)
    expect(token.payload).toMatchObject({iss: 'house', exp: house.clock.wall_ms / 1000 + 60})
  })

  test('a JWT is signed once for half of its life, and never for another caller or upstream', async () => {
    const target = await house.target(URL_OF, {auth_type: 'none'}, {user_identity_forwarding: {method: 'jwt_header'}})
    const {credentials} = house.process()
    const token = async (more: object = {}, on = target) => headersIn(await credentials.headersFor(requestOf(on, more)))
    const first = await token()
    house.clock.wall_ms += 149_000
    expect((await token()).headers).toEqual(first.headers)
    house.clock.wall_ms += 1000
    const second = await token()
    expect(second.headers).not.toEqual(first.headers)
    expect(second.connection_hash).toBe(first.connection_hash)
    const other = await token({caller: {...PERSON, user_id: 'tom'}})
    expect(other.connection_hash).not.toBe(first.connection_hash)
    expect(readToken(other.headers['x-user-jwt']!)!.payload.sub).toBe('tom')
    const moved = {...target, integration: {...target.integration, url: 'https://other.example.com/mcp'}}
    expect(readToken((await token({}, moved)).headers['x-user-jwt']!)!.payload.aud).toBe(
      'https://other.example.com/mcp',
    )
  })

  describe('bearer', () => {
    const client = {authorization: 'Bearer incoming-token'}

    test('is refused unless the setting allows it', async () => {
      expect(refusedIn(await sent({method: 'bearer'}, OAUTH, client))).toEqual({
        ...{status: 502, code: 502},
        message: expect.stringContaining('MCP_ALLOW_TOKEN_PASSTHROUGH=ON'),
      })
    })

    test.each<[string, CredentialCaller, Record<string, string>, string | undefined]>([
      ['of OAuth', OAUTH, client, 'Bearer incoming-token'],
      ['of a JWT', {...PERSON, credential_kind: 'jwt'}, client, 'Bearer incoming-token'],
      [
        'of a JWT in the key header',
        {...PERSON, credential_kind: 'jwt'},
        {'x-gateway-api-key': 'a.b.c'},
        'Bearer a.b.c',
      ],
      ['never a key', PERSON, client, undefined],
      ['none came', OAUTH, {}, undefined],
    ])('%s', async (_, caller, client_headers, expected) => {
      const {headers, per_user} = headersIn(await sent({method: 'bearer'}, caller, client_headers, allowing()))
      expect([headers.authorization, per_user]).toEqual([expected, expected !== undefined])
    })
  })

  describe('connections', () => {
    const hashOf = async (auth_type: 'none' | 'headers', client_headers: Record<string, string>, caller = PERSON) => {
      const target = await house.target(URL_OF, {auth_type}, {forward_headers: ['x-a'], custom_headers: {'x-b': '1'}})
      const outcome = await house.process().credentials.headersFor(requestOf(target, {caller, client_headers}))
      return headersIn(outcome).connection_hash
    }

    test('are shared where upstreams cannot tell callers apart, else not', async () => {
      const usual = await hashOf('headers', {'x-a': '1'})
      expect(await hashOf('headers', {'x-a': '1', 'x-c': '2'}, SERVICE)).toBe(usual)
      expect(await hashOf('headers', {'x-a': '2'})).not.toBe(usual)
      expect(await hashOf('headers', {})).not.toBe(usual)
    })
  })

  describe('a row that cannot be used', () => {
    test.each<[string, object, object, RegExp]>([
      ['an unknown key', {}, {surplus: 1}, /cannot be called as it is configured: configurations.*surplus/],
      [
        'a field of another kind',
        {},
        {forward_headers: {mode: 'some', headers: []}},
        /configurations\.forward_headers/,
      ],
      ['no header', {}, {custom_headers: {'x y': 'a'}}, /custom_headers/],
    ])('%s: a clear error', async (_, own, configurations, message) => {
      const target = await house.target(URL_OF, {auth_type: 'headers', ...own}, configurations)
      const {credentials} = house.process()
      const expected = {status: 502, code: 502, message: expect.stringMatching(message)}
      expect(refusedIn(await credentials.headersFor(requestOf(target)))).toEqual(expected)
      expect(await credentials.secondToken(requestOf(target))).toMatchObject({refused: {status: 502}})
    })
  })
})

function allowing() {
  return {settings: {mcp_allow_token_passthrough: true, mcp_pool_token_expiry_buffer_ms: 300_000}}
}
