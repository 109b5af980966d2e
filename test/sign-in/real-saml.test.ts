import {afterAll, beforeAll, beforeEach, describe, expect, test, vi} from 'vitest'
import {RING} from '../support/ring.ts'
import {openSignInGateway, type SignInGateway} from '../support/sign-in.ts'
import {NO_BROWSER} from './browser.ts'
import {openRealBrowser, type RealBrowser, stepsAt} from './real-browser.ts'
import {NO_PYSAML2, startPysaml2} from './real-pysaml2.ts'
import {startRelay} from './real-relay.ts'
import {type SamlProvider, startSamlify} from './real-samlify.ts'
import {atSamlProvider, SAML_KEYS} from './real-ways.ts'

// a browser starts slowly beside other tests
vi.setConfig({hookTimeout: 120_000, testTimeout: 120_000})

const CONNECTION = 'Acme ADFS'

const PROVIDERS = [
  ['samlify', NO_BROWSER || RING === 'own', (own: string) => startSamlify(() => own)],
  ['pysaml2 with xmlsec1', NO_BROWSER || NO_PYSAML2 || RING === 'own', startPysaml2],
] as const

/** A gateway behind a relay that sees the cookies of each request, with a provider that is another site. */
async function openHouse(browser: RealBrowser, start: (own_metadata: string) => Promise<SamlProvider>) {
  let port = 0
  const relay = await startRelay(() => port)
  const gateway: SignInGateway = await openSignInGateway('sqlite', {
    CONTROL_PLANE_URL: `http://127.0.0.1:${relay.port}`,
    ...SAML_KEYS,
  })
  port = Number(new URL(gateway.url).port)
  const {id: organisation_id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  const own = await fetch(`${gateway.url}/v2/auth/saml/metadata/${organisation_id}`)
  expect(own.status).toBe(200)
  const provider = await start(await own.text())
  const saml = {metadata_xml: provider.metadata, sign_requests: true}
  await gateway.auth({sso: {connections: [{name: CONNECTION, type: 'saml', saml}]}})
  const steps = stepsAt(browser, gateway)
  return {
    ...{gateway, provider, relay, steps},
    acs: `/v2/auth/saml/callback/${organisation_id}`,
    /** The whole way: the sign-in page, the form of the provider, the form that posts itself, and back. */
    async signIn(email: string) {
      relay.forget()
      await steps.begin(CONNECTION)
      await atSamlProvider(browser, email)
    },
    async close() {
      await gateway.close()
      await provider.close()
      await relay.close()
    },
  }
}

describe.each(PROVIDERS)('%s as identity provider of SAML, in a real browser', (name, is_left_out, start) => {
  describe.skipIf(is_left_out)('at another site', () => {
    let browser: RealBrowser
    let house: Awaited<ReturnType<typeof openHouse>>
    beforeAll(async () => {
      browser = await openRealBrowser()
      house = await openHouse(browser, start)
    }, 90_000)
    afterAll(async () => {
      await house?.close()
      await browser?.close()
    })
    beforeEach(() => browser.forget())

    test('39: the form that the provider posts has no cookie, and the person is signed in a step later', async () => {
      const {steps, relay} = house
      await house.signIn('mia@example.test')
      await steps.expectAccount('mia@example.test', 'member', 'saml')
      // Chromium holds the Lax cookie of the transaction back from the form of another site, and brings it a step later
      expect(relay.cookiesOf(`POST ${house.acs} `)).toEqual([[]])
      expect(relay.cookiesOf('GET /v2/auth/saml/finish')).toEqual([[expect.stringMatching(/^__Host-gateway_/)]])
    })

    test.skipIf(RING === 'own')('an answer that another browser is given by its form opens nothing there', async () => {
      await house.signIn('ada@example.test')
      await house.steps.expectAccount('ada@example.test')
      await browser.press('Sign out')
      await browser.until(`location.pathname === '/v2/auth/signed-out'`)
      // one that has lost its cookies is another browser
      await house.steps.begin(CONNECTION)
      await browser.until(`location.hostname === 'localhost' && document.querySelector('[name=email]')`)
      await browser.page.send('Network.clearBrowserCookies')
      await browser.page.type('[name=email]', 'ada@example.test')
      await browser.page.read(`setTimeout(() => document.querySelector('button').click())`)
      await browser.until(`location.hostname === '127.0.0.1' && document.readyState === 'complete'`)
      expect(await browser.text()).toContain('You are not signed in')
      expect((await browser.call('GET', '/v1/auth/self')).status).toBe(401)
    })

    test.runIf(name.startsWith('pysaml2'))('41: what it signs by its own choice, with SHA-1, is refused', async () => {
      await house.signIn('oldest@example.test')
      await browser.until(`location.hostname === '127.0.0.1' && document.readyState === 'complete'`)
      expect(await browser.text()).toContain('could not be verified')
      expect((await browser.call('GET', '/v1/auth/self')).status).toBe(401)
      const reasons = async () => (await house.gateway.rows('sign_in')).map(({body}) => body.reason)
      await expect.poll(reasons).toContain('document_algorithm')
    })
  })
})
