import {expect, test} from 'vitest'
import type {OidcHttp} from '../../../src/identity/oidc/provider.ts'
import {REQUEST} from './judge.ts'
import {oidcSettings, outcomeOf, relyingParty} from './relying-party.ts'

const HOUR_MS = 3_600_000
const ISSUER = 'https://idp.example.test'

/** A provider that only discovery reads; each test moves the clock. */
function opened() {
  const document = {
    issuer: undefined as string | undefined,
    status: 200,
    is_silent: false,
    host: 'one',
    /** Resolves each that waits; undefined: it answers at once. */
    held: undefined as (() => void)[] | undefined,
  }
  const http: OidcHttp = async url => {
    if (document.held) await new Promise<void>(resolve => document.held!.push(resolve))
    if (document.is_silent) throw new Error('no route to host')
    const issuer = document.issuer ?? new URL(url).origin
    const at = (path: string) => `https://${document.host}.example.test/${path}`
    const json = {
      ...{issuer, authorization_endpoint: at('a'), token_endpoint: at('t'), jwks_uri: at('k')},
      end_session_endpoint: at('out'),
    }
    return {status: document.status, headers: {}, text: JSON.stringify(json)}
  }
  const party = relyingParty({http})
  const hostOf = async (issuer = ISSUER) =>
    new URL(await party.providers.begin(oidcSettings({issuer}), REQUEST)).hostname.split('.', 1)[0]
  const pass = (ms: number) => {
    party.clock.steady_ms += ms
  }
  return {...party, document, hostOf, pass}
}

test('a document is kept for an hour', async () => {
  const {document, hostOf, pass, requests} = opened()
  expect(await hostOf()).toBe('one')
  document.host = 'two'
  pass(HOUR_MS - 1)
  expect([await hostOf(), requests.length]).toEqual(['one', 1])
  pass(1)
  expect([await hostOf(), requests.length]).toEqual(['two', 2])
})

test.each([
  ['is silent', {is_silent: true}, 'provider_unreachable'],
  ['fails', {status: 500}, 'provider_unreachable'],
  ['has none', {status: 404}, 'provider_invalid'],
  ['names another issuer', {issuer: 'https://evil.test'}, 'provider_invalid'],
])(
  'the document before serves for a day while the provider %s, and one request is made in 30 s',
  async (_, fault, reason) => {
    const {document, hostOf, pass, requests, warnings} = opened()
    await hostOf()
    Object.assign(document, fault, {host: 'two'})
    pass(HOUR_MS)
    expect([await hostOf(), await hostOf(), requests.length]).toEqual(['one', 'one', 2])
    expect(warnings).toHaveLength(1)
    pass(30_000)
    expect([await hostOf(), requests.length]).toEqual(['one', 3])
    pass(23 * HOUR_MS - 30_001)
    expect(await hostOf()).toBe('one')
    pass(1)
    expect(await outcomeOf(hostOf())).toBe(reason)
    Object.assign(document, {is_silent: false, status: 200, issuer: undefined})
    expect(await hostOf()).toBe('two')
  },
)

test('20 sign-ins at once make one request, and all of them learn of its failure', async () => {
  const {document, hostOf, requests} = opened()
  document.held = []
  const calls = Array.from({length: 20}, () => hostOf())
  await expect.poll(() => document.held!.length).toBe(1)
  document.held.forEach(resolve => void resolve())
  expect(await Promise.all(calls)).toEqual(Array(20).fill('one'))
  expect(requests).toHaveLength(1)
  Object.assign(document, {held: undefined, is_silent: true})
  const failing = Array.from({length: 3}, () => outcomeOf(hostOf('https://other.test')))
  expect(await Promise.all(failing)).toEqual(Array(3).fill('provider_unreachable'))
  expect(requests).toHaveLength(2)
})

test('each issuer has its own document, of a bounded number', async () => {
  const {hostOf, requests} = opened()
  for (let each = 0; each < 200; each++) await hostOf(`https://i${each}.test`)
  await hostOf('https://i0.test')
  expect(requests).toHaveLength(200)
  await hostOf('https://i200.test')
  await hostOf('https://i0.test')
  expect(requests).toHaveLength(201)
  await hostOf('https://i1.test')
  expect(requests).toHaveLength(202)
})

test.each([
  ['https://idp.example.test/', 'https://idp.example.test/.well-known/openid-configuration'],
  ['https://idp.example.test/a/v2.0', 'https://idp.example.test/a/v2.0/.well-known/openid-configuration'],
])('the document of %s is at %s', async (issuer, url) => {
  const {document, hostOf, requests} = opened()
  document.issuer = issuer
  await hostOf(issuer)
  expect(requests.map(each => each.url)).toEqual([url])
})

test('an administrator who tries has it read now, and learns both names of the issuer', async () => {
  const {document, providers, hostOf} = opened()
  await hostOf()
  document.issuer = `${ISSUER}/`
  const steps = await providers.tried(oidcSettings({issuer: ISSUER}))
  expect(steps).toEqual([
    {
      name: 'discovery',
      ok: false,
      detail: expect.stringContaining(`${ISSUER}; the discovery document names ${ISSUER}/`),
    },
  ])
})

test('an answer longer than its bound is none, also where the way out let it pass', async () => {
  const http: OidcHttp = async () => ({status: 200, headers: {}, text: ' '.repeat((1 << 20) + 1)})
  const begun = relyingParty({http}).providers.begin(oidcSettings({issuer: ISSUER}), REQUEST)
  expect(await outcomeOf(begun)).toBe('provider_unreachable')
})

test('logout never waits in vain: no address while the provider is silent, or for want of a token', async () => {
  const {document, providers} = opened()
  const rules = oidcSettings({issuer: ISSUER})
  const ask = {id_token: 'a.b.c', post_logout_redirect_uri: 'https://gateway.test/'}
  document.is_silent = true
  expect(await providers.logoutUrl(rules, ask)).toBeNull()
  document.is_silent = false
  expect(await providers.logoutUrl(rules, {...ask, id_token: null})).toBeNull()
  const back = 'post_logout_redirect_uri=https%3A%2F%2Fgateway.test%2F'
  const url = `https://one.example.test/out?id_token_hint=a.b.c&client_id=gateway&${back}`
  expect(await providers.logoutUrl(rules, ask)).toBe(url)
})
