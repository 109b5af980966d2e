import {createHash, generateKeyPairSync} from 'node:crypto'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {OidcSettings} from '../../../src/schema/connections.ts'
import {REQUEST} from './judge.ts'
import {type Lies, type LyingProvider, RawReply, startLyingProvider} from './lying-provider.ts'
import {oidcSettings, outcomeOf, REDIRECT_URI, relyingParty} from './relying-party.ts'

let provider: LyingProvider
beforeAll(async () => {
  provider = await startLyingProvider()
})
afterAll(() => provider.close())

async function begun(
  settings: Partial<OidcSettings> = {},
  ask: object = {},
  discovery: Lies['discovery'] = good => good,
) {
  provider.lie({discovery})
  const rules = oidcSettings({issuer: provider.issuer, client_secret: 'secret', ...settings})
  return new URL(await relyingParty().providers.begin(rules, {...REQUEST, ...ask}))
}

test('25: the request has state, nonce, S256, the scopes and the exact redirect_uri', async () => {
  const url = await begun({}, {login_hint: 'mia+x@example.test', custom_scopes: ['groups', 'email']})
  expect(url.origin + url.pathname).toBe(`${provider.issuer}/authorize`)
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: 'code',
    response_mode: 'query',
    client_id: 'gateway',
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile email groups',
    state: REQUEST.state,
    nonce: REQUEST.nonce,
    code_challenge: createHash('sha256').update(REQUEST.code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: 'mia+x@example.test',
  })
})

test.each([
  ['openid, always', ['email'], undefined, 'openid email'],
  ['offline_access where it is listed', ['offline_access'], ['openid', 'offline_access'], 'openid offline_access'],
  ['no offline_access where it is not', ['offline_access', 'a'], ['openid'], 'openid a'],
  ['no offline_access where there is no list', ['offline_access'], null, 'openid'],
])('25: scopes: %s', async (_, scopes, scopes_supported, expected) => {
  const url = await begun({scopes}, {}, good => ({...good, ...(scopes_supported !== undefined && {scopes_supported})}))
  expect(url.searchParams.get('scope')).toBe(expected)
})

test('25: parameters of the connection and of the address stay, and override none of ours', async () => {
  const authorization_params = {
    ...{prompt: 'select_account', state: 'x', nonce: 'x', scope: 'x', request: 'x', request_uri: 'x', login_hint: 'x'},
    ...{max_age: '1', redirect_uri: 'https://evil.test/', code_challenge_method: 'plain'},
  }
  const url = await begun({authorization_params}, {max_age_s: 60}, good => ({
    ...good,
    authorization_endpoint: `${provider.issuer}/authorize?tenant=a&client_id=evil&request=x&login_hint=x`,
  }))
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    ...{tenant: 'a', prompt: 'select_account', state: REQUEST.state, nonce: REQUEST.nonce, max_age: '60'},
    ...{client_id: 'gateway', redirect_uri: REDIRECT_URI, code_challenge_method: 'S256'},
  })
  expect(['request', 'request_uri', 'login_hint'].filter(name => url.searchParams.has(name))).toEqual([])
  expect(url.searchParams.getAll('client_id')).toEqual(['gateway'])
})

test.each([
  ['no secret', {client_secret: null}],
  ['no secret to post', {client_secret: null, token_endpoint_auth_method: 'client_secret_post'}],
  ['no keys', {token_endpoint_auth_method: 'private_key_jwt'}],
  ['keys that are no JSON', {jwks: 'canary'}],
  ['a public key alone', {jwks: '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"canary"}]}'}],
  ['a broken private key', {jwks: '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"canary"}]}'}],
] as readonly (readonly [string, Partial<OidcSettings>])[])(
  '37: a connection with %s sends no code, and shows nothing of what it has',
  async (_, settings) => {
    const rules = oidcSettings({issuer: provider.issuer, client_secret: 'canary', ...settings})
    const {providers} = relyingParty()
    provider.lie({})
    const from = provider.requests.length
    const back = await provider.answerTo(await providers.begin(rules, REQUEST))
    const work = providers.finish(rules, {params: back.searchParams, ...REQUEST})
    expect(await outcomeOf(work)).toBe('not_configured')
    await expect(work).rejects.not.toThrow(/canary/)
    expect(provider.requests.slice(from).map(({line}) => line)).not.toContain('POST /token')
  },
)

test('the code goes with its verifier and the same redirect_uri, and the secret in the header alone', async () => {
  const rules = oidcSettings({issuer: provider.issuer, client_secret: 'se:cr%t'})
  const {providers, requests} = relyingParty()
  provider.lie({})
  const back = await provider.answerTo(await providers.begin(rules, REQUEST))
  await providers.finish(rules, {params: back.searchParams, ...REQUEST})
  const {headers, body} = provider.requests.findLast(({line}) => line === 'POST /token')!
  expect(headers.authorization).toBe(`Basic ${Buffer.from('gateway:se%3Acr%25t').toString('base64')}`)
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
    grant_type: 'authorization_code',
    code: back.searchParams.get('code'),
    redirect_uri: REDIRECT_URI,
    code_verifier: REQUEST.code_verifier,
  })
  const bounds = requests.map(({url, timeout_ms, max_bytes}) => [new URL(url).pathname, timeout_ms, max_bytes])
  expect(bounds).toEqual([
    ['/.well-known/openid-configuration', 5_000, 1 << 20],
    ['/token', 10_000, 256 << 10],
    ['/keys', 5_000, 1 << 20],
  ])
})

const PAIR = generateKeyPairSync('rsa', {modulusLength: 2048}).privateKey.export({format: 'jwk'})
const SMALL = generateKeyPairSync('rsa', {modulusLength: 1024}).privateKey.export({format: 'jwk'})

test.each([
  ['RS256, as usual', PAIR, undefined, 'RS256'],
  ['PS256, where the provider takes nothing else', PAIR, ['PS256'], 'PS256'],
  ['the algorithm of the key', {...PAIR, alg: 'PS256'}, ['RS256'], 'PS256'],
])('37: the assertion is signed with %s, holds for a minute and is never sent twice', async (_, key, listed, alg) => {
  const unfit = [SMALL, {...PAIR, use: 'enc'}, {...PAIR, key_ops: ['verify']}, {...PAIR, alg: 'RS512'}, 'text']
  const jwks = JSON.stringify({keys: [...unfit, {...key, kid: 'fit'}]})
  const rules = oidcSettings({issuer: provider.issuer, client_secret: 'secret', jwks})
  const {providers, clock} = relyingParty()
  provider.lie({discovery: good => ({...good, token_endpoint_auth_signing_alg_values_supported: listed})})
  const sent = async () => {
    const back = await provider.answerTo(await providers.begin(rules, REQUEST))
    await providers.finish(rules, {params: back.searchParams, ...REQUEST})
    const {headers, body} = provider.requests.findLast(({line}) => line === 'POST /token')!
    expect([headers.authorization, body.includes('client_secret')]).toEqual([undefined, false])
    const form = new URLSearchParams(body)
    expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    const parts = form.get('client_assertion')!.split('.', 2)
    return parts.map(part => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>)
  }
  const [header, payload] = await sent()
  expect(header).toEqual({alg, typ: 'JWT', kid: 'fit'})
  const iat = Math.floor(clock.now_ms / 1000)
  const aud = `${provider.issuer}/token`
  expect(payload).toEqual({iss: 'gateway', sub: 'gateway', aud, jti: expect.any(String), iat, exp: iat + 60})
  expect((await sent())[1]!.jti).not.toBe(payload!.jti)
})

test('a trial names each step that will fail', async () => {
  const {providers} = relyingParty()
  provider.lie({
    discovery: good => ({
      ...good,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
      code_challenge_methods_supported: ['plain'],
    }),
    keys: () => new RawReply(200, '<p>', {'content-type': 'text/html'}),
  })
  const steps = await providers.tried(oidcSettings({issuer: provider.issuer, client_secret: 'secret'}))
  expect(steps.map(({name, ok}) => [name, ok])).toEqual([
    ['discovery', true],
    ['endpoints', true],
    ['keys', false],
    ['client', false],
    ['pkce', false],
  ])
  expect(steps.map(({detail}) => detail).join(' ')).toMatch(/client_secret_basic.*client_secret_post.*plain/)
})
