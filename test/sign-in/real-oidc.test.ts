import {generateKeyPairSync} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {afterAll, beforeAll, beforeEach, describe, expect, test, vi} from 'vitest'
import {type RealProvider, type RealProviderOptions, startRealProvider} from '../identity/oidc/real-provider.ts'
import {RING} from '../support/ring.ts'
import {freePort, openSignInGateway, type SignInGateway} from '../support/sign-in.ts'
import {NO_BROWSER} from './browser.ts'
import {mapGroup, openRealBrowser, type RealBrowser, type Steps, stepsAt, userOf} from './real-browser.ts'
import {makeCertificates} from './real-certificates.ts'

// a browser starts slowly beside other tests
vi.setConfig({hookTimeout: 120_000, testTimeout: 120_000})

const CONNECTION = 'Acme Entra'
const STAFF = ['staff']
const ADMINS = [{group: 'gw-admins', role: 'admin'}]
/** Groups of a login at the provider, as they are now. */
const groups = new Map<string, readonly string[]>()

interface House {
  readonly gateway: SignInGateway
  readonly provider: RealProvider
  readonly workspace_id: string
  readonly steps: Steps
  /** The whole way of a person: the sign-in page, the pages of the provider, and back. */
  signIn(login: string): Promise<void>
  close(): Promise<void>
}

/** A gateway at `base`, a real provider, and the steps in the browser. */
async function openHouse(
  browser: RealBrowser,
  {env = {}, options = {}, oidc = {}}: Partial<HouseOptions> = {},
): Promise<House> {
  const port = await freePort()
  const base = env.CONTROL_PLANE_URL?.replace('PORT', String(port)) ?? `http://127.0.0.1:${port}`
  const settings = {...env, PORT: String(port), CONTROL_PLANE_URL: base}
  const gateway = await openSignInGateway('sqlite', settings)
  const provider = await startRealProvider({
    redirect_uris: [`${base}/v2/auth/callback`],
    post_logout_redirect_uris: [`${base}/v2/auth/signed-out`],
    claimsOf: login => ({
      email: `${login}@example.test`,
      email_verified: true,
      given_name: 'Mia',
      family_name: `Moll-${login}`,
      groups: groups.get(login) ?? STAFF,
    }),
    ...options,
  })
  const {issuer, client_id, client_secret} = provider
  const connection = {issuer, client_id, client_secret, groups_claim: 'groups', ...oidc}
  await gateway.auth({
    sso: {connections: [{name: CONNECTION, type: 'oidc', oidc: connection}]},
    provisioning: {role_mapping: ADMINS, sync_groups: true},
  })
  const workspace_id = await mapGroup(gateway, 'Kitchen', 'staff')
  const steps = stepsAt(browser, gateway)
  return {
    ...{gateway, provider, workspace_id, steps},
    async signIn(login) {
      await steps.begin(CONNECTION)
      await atProvider(browser, provider, login)
    },
    async close() {
      await gateway.close()
      await provider.close()
    },
  }
}

interface HouseOptions {
  /** `PORT` in CONTROL_PLANE_URL is the port that the gateway gets. */
  readonly env: Record<string, string>
  readonly options: Partial<RealProviderOptions>
  readonly oidc: object
}

/** The development pages of the provider: who one is, with any password, and that one agrees. */
async function atProvider({page, until}: RealBrowser, {issuer}: RealProvider, login: string) {
  const is_there = `location.origin === '${issuer}' && document.readyState === 'complete'`
  await until(`${is_there} && document.querySelector('[name=login]')`)
  await page.type('[name=login]', login)
  await page.type('[name=password]', 'any')
  await page.read(`setTimeout(() => document.querySelector('button').click())`)
  await until(`${is_there} && !document.querySelector('[name=login]') && document.querySelector('button')`)
  await page.read(`setTimeout(() => document.querySelector('button').click())`)
}

const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
const SECRET_JWK = {...privateKey.export({format: 'jwk'}), kid: 'gateway-1', alg: 'RS256'}
const OPEN_JWK = {kty: 'RSA', n: SECRET_JWK.n, e: SECRET_JWK.e, kid: 'gateway-1', alg: 'RS256', use: 'sig'}

describe.skipIf(NO_BROWSER || RING === 'own')('a real provider of OpenID Connect, in a real browser', () => {
  let browser: RealBrowser
  let home: House
  let certificates: ReturnType<typeof makeCertificates>
  beforeAll(async () => {
    certificates = makeCertificates('gw.test')
    const {ca_file, server_file} = await certificates.made
    browser = await openRealBrowser({names: ['gw.test', 'plain.test'], trusted: {ca_file, server_file}})
    home = await openHouse(browser, {env: {JWKS_REFETCH_MIN_INTERVAL_MS: '100'}})
  })
  afterAll(async () => {
    await home?.close()
    await browser?.close()
    certificates?.remove()
  })
  beforeEach(() => browser.forget())

  test('25, 26: from the button to the first call: the person is made, and calls with a key of his own', async () => {
    await home.signIn('mia')
    await home.steps.expectAccount('mia@example.test', 'Moll-mia', 'member', 'oidc', 'Kitchen', 'manager')
    expect(await userOf(home.gateway, 'mia@example.test')).toMatchObject({role: 'member'})
    // 63: the session administers, and calls no model
    const {status} = await browser.call('POST', '/v1/chat/completions', {body: {model: '@demo/echo', messages: []}})
    expect(status).toBe(401)
    const key = await home.steps.makeKey(home.workspace_id)
    expect(await home.steps.chat(key)).toBe(200)
    // the key is the person's, and so is its call
    const [row] = await home.gateway.logs()
    expect(JSON.stringify(row)).toContain((await userOf(home.gateway, 'mia@example.test'))!.id)
    await browser.open(home.steps.account)
    await home.steps.expectAccount('mia@example.test', 'my first', '$0.0000')
    await home.steps.expectRemoved('mia@example.test', key)
  })

  describe.skipIf(RING === 'own')('in the rings of CI', () => {
    test('IC1: the role goes with the groups, at each sign-in', async () => {
      groups.set('rita', ['gw-admins'])
      await home.signIn('rita')
      await home.steps.expectAccount('rita@example.test', 'admin')
      expect((await browser.call('GET', '/v1/admin/users')).status).toBe(200)
      const key = await home.steps.makeKey(home.workspace_id)
      expect(await home.steps.chat(key)).toBe(200)
      groups.set('rita', STAFF)
      await browser.forget()
      await home.signIn('rita')
      await home.steps.expectAccount('rita@example.test', 'member', 'Kitchen')
      expect((await browser.call('GET', '/v1/admin/users')).status).toBe(403)
    })

    test('38: keys that the provider changed between two sign-ins are read', async () => {
      await home.signIn('karl')
      await home.steps.expectAccount('karl@example.test')
      home.provider.rotateKeys()
      await browser.forget()
      await home.signIn('kora')
      await home.steps.expectAccount('kora@example.test')
      expect(home.provider.paths.filter(path => path === '/jwks').length).toBeGreaterThan(1)
    })

    test('the way out leads over the provider: both have forgotten the person', async () => {
      await home.signIn('otto')
      await home.steps.arriveHome()
      await browser.press('Sign out')
      // the provider asks whether to end its own session
      await browser.until(`location.origin === '${home.provider.issuer}' && document.querySelector('form')`)
      expect(new URL(await browser.page.read<string>('location.href')).searchParams.has('id_token_hint')).toBe(true)
      await browser.page.read(`setTimeout(() => {
        const form = document.querySelector('form')
        form.append(Object.assign(document.createElement('input'), {type: 'hidden', name: 'logout', value: 'yes'}))
        form.submit()
      })`)
      await browser.until(`location.href === '${home.steps.base}/v2/auth/signed-out'`)
      await browser.until(`document.querySelector('[role=status]')?.textContent === 'You are signed out.'`)
      await browser.press('Sign in')
      await browser.until(`location.pathname === '/v2/auth/sign-in'`)
      expect((await browser.call('GET', '/v1/auth/self')).status).toBe(401)
      await browser.open(home.steps.account)
      await browser.until(`location.pathname === '/v2/auth/sign-in'`)
      // the provider asks for a name again
      await home.signIn('otto')
      await home.steps.expectAccount('otto@example.test')
    })

    test('37: the client proves itself with a key', async () => {
      const house = await openHouse(browser, {
        options: {
          client: {
            token_endpoint_auth_method: 'private_key_jwt',
            token_endpoint_auth_signing_alg: 'RS256',
            client_secret: undefined,
            jwks: {keys: [OPEN_JWK]},
          },
        },
        oidc: {
          client_secret: null,
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: JSON.stringify({keys: [SECRET_JWK]}),
        },
      })
      try {
        await house.signIn('pia')
        await house.steps.expectAccount('pia@example.test', 'Kitchen')
      } finally {
        await house.close()
      }
    })

    test('over TLS under another name, with a certificate of `gateway certs`', async () => {
      const {server_file, key_file} = await certificates.made
      const env = {
        CONTROL_PLANE_URL: 'https://gw.test:PORT',
        TLS_CERT: readFileSync(server_file, 'utf8'),
        TLS_KEY: readFileSync(key_file, 'utf8'),
      }
      const house = await openHouse(browser, {env})
      try {
        await house.signIn('tess')
        await house.steps.expectAccount('tess@example.test', 'Kitchen')
        expect(await browser.page.read('location.protocol')).toBe('https:')
        const {cookies} = await browser.page.send<{cookies: {name: string; secure: boolean}[]}>('Network.getCookies')
        expect(cookies).toEqual([
          expect.objectContaining({name: '__Host-gateway_session', secure: true, httpOnly: true}),
        ])
        const key = await house.steps.makeKey(house.workspace_id)
        expect(await house.steps.chat(key)).toBe(200)
        await house.steps.expectRemoved('tess@example.test', key)
      } finally {
        await house.close()
      }
    })

    test('over plain http under another name nobody is sent away, and the page names the remedy', async () => {
      const house = await openHouse(browser, {env: {CONTROL_PLANE_URL: 'http://plain.test:PORT'}})
      try {
        for (const path of ['/v2/auth/sign-in', '/v2/auth/login', '/v2/auth/account']) {
          await browser.open(house.steps.base + path)
          expect(await browser.text()).toContain('`gateway certs` makes a certificate')
        }
        const begun = await browser.call('POST', '/v2/auth/login', {body: {}})
        expect(begun).toMatchObject({status: 403, body: {data: {message: expect.stringContaining('gateway certs')}}})
        expect(house.provider.paths).not.toContain('/auth')
        const {cookies} = await browser.page.send<{cookies: object[]}>('Network.getCookies')
        expect(cookies).toEqual([])
      } finally {
        await house.close()
      }
    })
  })
})
