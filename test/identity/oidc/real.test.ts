import {generateKeyPairSync} from 'node:crypto'
import {afterEach, expect, test} from 'vitest'
import type {OidcSettings} from '../../../src/schema/connections.ts'
import {type RealProvider, type RealProviderOptions, startRealProvider} from './real-provider.ts'
import {oidcSettings, outcomeOf, REDIRECT_URI, relyingParty} from './relying-party.ts'

const AFTER_LOGOUT = 'https://gateway.test/'
const REQUEST = {
  redirect_uri: REDIRECT_URI,
  state: 'state-of-32-bytes',
  nonce: 'nonce-of-32-bytes',
  code_verifier: 'verifier-that-is-at-least-43-characters-long',
  login_hint: null,
  custom_scopes: [],
}

const running: RealProvider[] = []
afterEach(async () => {
  for (const each of running.splice(0)) await each.close()
})

async function started(options: Partial<RealProviderOptions> = {}, settings: Partial<OidcSettings> = {}) {
  const provider = await startRealProvider({
    redirect_uris: [REDIRECT_URI],
    post_logout_redirect_uris: [AFTER_LOGOUT],
    ...options,
  })
  running.push(provider)
  const {issuer, client_id, client_secret} = provider
  const party = relyingParty()
  const rules = oidcSettings({issuer, client_id, client_secret, ...settings})
  const comeBack = async (login = 'mia', ask = {}) =>
    provider.signIn(await party.providers.begin(rules, {...REQUEST, ...ask}), login)
  const finish = (back: URL, values = {}) =>
    party.providers.finish(rules, {params: back.searchParams, ...REQUEST, ...values})
  const signIn = async (login?: string) => finish(await comeBack(login))
  return {...party, provider, rules, comeBack, finish, signIn}
}

test('25, 26: a sign-in by code and PKCE, with the profile from UserInfo', async () => {
  const {provider, rules, comeBack, finish} = await started({}, {groups_claim: 'groups'})
  const back = await comeBack()
  expect(Object.fromEntries(back.searchParams)).toEqual({
    code: expect.any(String),
    state: REQUEST.state,
    iss: provider.issuer,
  })
  const {statement, issuer} = await finish(back)
  expect(issuer).toBe(rules.issuer)
  expect(statement).toEqual({
    ...{subject: 'mia', email: 'mia@example.test', email_verified: true, first_name: 'Mia', last_name: 'Moll'},
    ...{groups: {kind: 'known', names: ['staff'], dropped: 0}, session_ends_at: null, id_token: expect.any(String)},
    provider_session: {issuer: provider.issuer, sid: null, sub: 'mia'},
  })
  expect(provider.paths).toContain('/me')
})

test('26: a provider that states the profile in the ID token is not bothered for UserInfo', async () => {
  const {provider, signIn} = await started({conform_id_token_claims: false}, {groups_claim: 'groups'})
  const {statement} = await signIn()
  expect([statement.email, statement.groups]).toEqual([
    'mia@example.test',
    {kind: 'known', names: ['staff'], dropped: 0},
  ])
  expect(provider.paths).not.toContain('/me')
})

test('28, 29: a code holds once, with its own verifier and nonce', async () => {
  const {comeBack, finish} = await started()
  const other_verifier = {code_verifier: 'another-verifier-of-more-than-43-characters-in-all'}
  expect(await outcomeOf(comeBack().then(back => finish(back, other_verifier)))).toBe('provider_error')
  expect(await outcomeOf(comeBack().then(back => finish(back, {nonce: 'another nonce'})))).toBe('token_nonce')
  const back = await comeBack()
  expect(await outcomeOf(finish(back))).toBe('accepted')
  expect(await outcomeOf(finish(back))).toBe('provider_error')
})

test('29: a sign-in of long ago is refused where a fresh one was requested', async () => {
  const {comeBack, finish, clock} = await started()
  const back = await comeBack('mia', {max_age_s: 300})
  expect(await outcomeOf(finish(back, {max_age_s: 300}))).toBe('accepted')
  const again = await comeBack('mia', {max_age_s: 300})
  clock.now_ms += 420_000
  expect(await outcomeOf(finish(again, {max_age_s: 300}))).toBe('token_time')
})

const RSA = jwkOf(generateKeyPairSync('rsa', {modulusLength: 2048}), 'rsa')
const EC = jwkOf(generateKeyPairSync('ec', {namedCurve: 'P-256'}), 'ec')
const ED = jwkOf(generateKeyPairSync('ed25519'), 'ed')

function jwkOf({privateKey}: ReturnType<typeof generateKeyPairSync>, kid: string) {
  const secret = {...(privateKey as import('node:crypto').KeyObject).export({format: 'jwk'}), kid}
  const {d: _, p, q, dp, dq, qi, ...open} = secret as Record<string, unknown>
  return {secret, open}
}

const SECRET = 'a%20b+c:d &=~*"\\'
const byKey = (key: typeof RSA, alg: string, jwk: object = {}, settings: Partial<OidcSettings> = {}) =>
  [
    {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: alg,
      client_secret: undefined,
      jwks: {keys: [key.open]},
    },
    {client_secret: null, jwks: JSON.stringify({keys: [{...key.secret, ...jwk}]}), ...settings},
  ] as const

type Authentication = readonly [name: string, client: object, settings: Partial<OidcSettings>]
const AUTHENTICATIONS: readonly Authentication[] = [
  [
    'client_secret_basic, form-encoded first',
    {client_secret: SECRET, token_endpoint_auth_method: 'client_secret_basic'},
    {},
  ],
  [
    'client_secret_post',
    {client_secret: SECRET, token_endpoint_auth_method: 'client_secret_post'},
    {token_endpoint_auth_method: 'client_secret_post'},
  ],
  [
    'none',
    {client_secret: undefined, token_endpoint_auth_method: 'none'},
    {client_secret: null, token_endpoint_auth_method: 'none'},
  ],
  ['private_key_jwt with RS256', ...byKey(RSA, 'RS256')],
  ['private_key_jwt with PS256, by the key', ...byKey(RSA, 'PS256', {alg: 'PS256'})],
  ['private_key_jwt with ES256', ...byKey(EC, 'ES256')],
  ['private_key_jwt with EdDSA', ...byKey(ED, 'EdDSA')],
  ['private_key_jwt for the issuer', ...byKey(RSA, 'RS256', {}, {client_assertion_audience: 'issuer'})],
]

const SIGNING = {
  enabledJWA: {clientAuthSigningAlgValues: ['RS256', 'PS256', 'ES256', 'EdDSA']},
}

test.each(AUTHENTICATIONS)('37: the client proves itself by %s', async (_, client, settings) => {
  const {signIn} = await started({client: {...client}, configuration: SIGNING}, settings)
  expect((await signIn()).statement.subject).toBe('mia')
})

test('37: a client of another key or secret is refused, as the provider says', async () => {
  const [client, settings] = byKey(RSA, 'RS256')
  const foreign = jwkOf(generateKeyPairSync('rsa', {modulusLength: 2048}), 'rsa')
  const jwks = JSON.stringify({keys: [foreign.secret]})
  const by_key = await started({client: {...client}, configuration: SIGNING}, {...settings, jwks})
  expect(await outcomeOf(by_key.signIn())).toBe('provider_error')
  const by_secret = await started({}, {client_secret: 'another'})
  expect(await outcomeOf(by_secret.signIn())).toBe('provider_error')
})

test('38: keys that the provider changed between two sign-ins are read', async () => {
  const {provider, signIn, requests} = await started()
  await signIn()
  provider.rotateKeys()
  expect((await signIn('ada')).statement.subject).toBe('ada')
  expect(requests.filter(({url}) => url.endsWith('/jwks'))).toHaveLength(2)
})

test('the provider takes the address of a logout, and leads back', async () => {
  const {providers, provider, rules, signIn} = await started()
  const {id_token} = (await signIn()).statement
  const url = await providers.logoutUrl(rules, {id_token, post_logout_redirect_uri: AFTER_LOGOUT})
  expect(new URL(url!).searchParams.get('client_id')).toBe(rules.client_id)
  expect((await provider.signOut(url!, 'mia')).href).toBe(AFTER_LOGOUT)
  expect(await providers.logoutUrl(rules, {id_token: null, post_logout_redirect_uri: AFTER_LOGOUT})).toBeNull()
})

test('the steps of a trial hold at a provider that is set up well', async () => {
  const {providers, rules} = await started()
  expect((await providers.tried(rules)).map(({name, ok}) => [name, ok])).toEqual([
    ['discovery', true],
    ['endpoints', true],
    ['keys', true],
    ['client', true],
    ['pkce', true],
  ])
  const narrow = await providers.tried({...rules, id_token_algorithms: ['ES256'], client_secret: null})
  expect(narrow.filter(({ok}) => !ok).map(({name}) => name)).toEqual(['keys', 'client'])
})

test('a person who does not agree is a refusal, and not an error', async () => {
  const {finish, rules} = await started()
  const back = new URL(`${REDIRECT_URI}?error=access_denied&iss=${encodeURIComponent(rules.issuer)}`)
  expect(await outcomeOf(finish(back))).toBe('provider_denied')
})
