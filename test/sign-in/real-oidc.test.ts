import {generateKeyPairSync} from 'node:crypto'
import {afterAll, beforeAll, beforeEach, describe, expect, test, vi} from 'vitest'
import {type RealProvider, type RealProviderOptions, startRealProvider} from '../identity/oidc/real-provider.ts'
import {RING} from '../support/ring.ts'
import {freePort, openSignInGateway, type SignInGateway} from '../support/sign-in.ts'
import {NO_BROWSER} from './browser.ts'
import {mapGroup, openRealBrowser, type RealBrowser, type Steps, stepsAt, userOf} from './real-browser.ts'
import {atProvider} from './real-ways.ts'

// a browser starts slowly beside other tests
vi.setConfig({hookTimeout: 120_000, testTimeout: 120_000})

const CONNECTION = 'Acme Entra'
const STAFF = ['staff']

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
  const base = `http://127.0.0.1:${port}`
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
      groups: STAFF,
    }),
    ...options,
  })
  const {issuer, client_id, client_secret} = provider
  const connection = {issuer, client_id, client_secret, groups_claim: 'groups', ...oidc}
  await gateway.auth({
    sso: {connections: [{name: CONNECTION, type: 'oidc', oidc: connection}]},
    provisioning: {sync_groups: true},
  })
  const workspace_id = await mapGroup(gateway, 'Kitchen', 'staff')
  const steps = stepsAt(browser, gateway)
  return {
    ...{gateway, provider, workspace_id, steps},
    async signIn(login) {
      await steps.begin(CONNECTION)
      await atProvider(browser, provider.issuer, login)
    },
    async close() {
      await gateway.close()
      await provider.close()
    },
  }
}

interface HouseOptions {
  readonly env: Record<string, string>
  readonly options: Partial<RealProviderOptions>
  readonly oidc: object
}

const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
const SECRET_JWK = {...privateKey.export({format: 'jwk'}), kid: 'gateway-1', alg: 'RS256'}
const OPEN_JWK = {kty: 'RSA', n: SECRET_JWK.n, e: SECRET_JWK.e, kid: 'gateway-1', alg: 'RS256', use: 'sig'}

describe.skipIf(NO_BROWSER || RING === 'own')('a real provider of OpenID Connect, in a real browser', () => {
  let browser: RealBrowser
  let home: House
  beforeAll(async () => {
    browser = await openRealBrowser()
    home = await openHouse(browser, {env: {JWKS_REFETCH_MIN_INTERVAL_MS: '100'}})
  })
  afterAll(async () => {
    await home?.close()
    await browser?.close()
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
  })

  describe.skipIf(RING === 'own')('in the rings of CI', () => {
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
      const link = `[...document.querySelectorAll('a')].find(each => each.innerText === 'Sign in')`
      await browser.page.read(`setTimeout(() => ${link}.click())`)
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
  })
})
