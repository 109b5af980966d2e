import {readFileSync} from 'node:fs'
import {afterAll, beforeAll, beforeEach, describe, expect, test, vi} from 'vitest'
import {RING} from '../support/ring.ts'
import {freePort, openSignInGateway} from '../support/sign-in.ts'
import {NO_BROWSER} from './browser.ts'
import {mapGroup, openRealBrowser, type RealBrowser, stepsAt, userOf} from './real-browser.ts'
import {type CertificateFiles, makeCertificates} from './real-certificates.ts'
import {type OpenWay, REAL_WAYS, type RealWay, SAML_KEYS} from './real-ways.ts'

// a browser starts slowly beside other tests
vi.setConfig({hookTimeout: 120_000, testTimeout: 120_000})

const REMEDY =
  'Browsers keep no session over plain http. Open this gateway by https: `gateway certs` makes a certificate, or a ' +
  'proxy in front ends TLS; CONTROL_PLANE_URL names that address.'
const SESSION = {name: '__Host-gateway_session', secure: true, httpOnly: true, sameSite: 'Lax', path: '/'}

/** The addresses at which people reach a gateway; `PORT` is its own. Each way is tried at each of them. */
const LOOPBACK = 'http://127.0.0.1:PORT'
const BY_TLS = 'https://gw.test:PORT'
const BY_PLAIN_HTTP = 'http://gw.test:PORT'

const ROWS = REAL_WAYS.filter(({is_left_out}) => !is_left_out).map(way => [way.name, way] as const)

describe.skipIf(NO_BROWSER || RING === 'own')('real providers at each address of a gateway, in a real browser', () => {
  let browser: RealBrowser
  let certificates: ReturnType<typeof makeCertificates>
  let files: CertificateFiles
  beforeAll(async () => {
    certificates = makeCertificates('gw.test', 'localhost')
    files = await certificates.made
    browser = await openRealBrowser({names: ['gw.test'], trusted: files})
  })
  afterAll(async () => {
    await browser?.close()
    certificates?.remove()
  })
  beforeEach(() => browser.forget())

  describe.each([LOOPBACK, BY_TLS])('at %s', address => {
    let house: House
    beforeAll(async () => {
      house = await openHouse(browser, files, address)
    })
    afterAll(() => house?.close())

    test.each(ROWS)('25, 39, 67, IC1, IC9: %s: from the button to the first call, and to the end', async (_, way) => {
      const {gateway, steps, kitchen} = house
      const login = way.login
      const email = `${login}@example.test`
      expect(await userOf(gateway, email)).toBeUndefined()
      await house.signIn(way, 'gw-admins')
      await steps.expectAccount(email, 'admin', way.type)
      expect(await userOf(gateway, email)).toMatchObject({role: 'admin'})
      expect((await browser.call('GET', '/v1/admin/users')).status).toBe(200)
      expect(await cookies(browser)).toContainEqual(expect.objectContaining(SESSION))
      const key = await steps.makeKey(kitchen)
      expect(await steps.chat(key)).toBe(200)
      if (address === LOOPBACK) {
        // the group of admins is taken away: with the next sign-in the role is the usual one, and keys stay
        await browser.forget()
        await house.signIn(way, 'staff')
        await steps.expectAccount(email, 'member', 'Kitchen', 'manager', 'my first')
        expect((await browser.call('GET', '/v1/admin/users')).status).toBe(403)
        expect(await steps.chat(key)).toBe(200)
      }
      await steps.expectRemoved(email, key)
    })
  })

  describe(`at ${BY_PLAIN_HTTP}`, () => {
    let house: House
    beforeAll(async () => {
      house = await openHouse(browser, files, BY_PLAIN_HTTP)
    })
    afterAll(() => house?.close())

    test.each(ROWS)('79: %s: no one is sent away, and the page names the remedy', async (_, way) => {
      const {gateway, steps} = house
      const connection = await house.connectionOf(way)
      browser.page.asked.length = 0
      for (const path of ['sign-in', 'account', `login?connection=${connection}`, `ldap?connection=${connection}`]) {
        await browser.open(`${steps.base}/v2/auth/${path}`)
        expect(await browser.text(), path).toContain(REMEDY)
      }
      const body = {connection, username: way.login, password: 'never-looked-at'}
      for (const path of ['/v2/auth/login', '/v2/auth/ldap']) {
        const refused = {status: 403, body: {data: {message: REMEDY, errorCode: 'AB03'}}}
        expect(await browser.call('POST', path, {body}), path).toMatchObject(refused)
      }
      const {host} = new URL(steps.base)
      const elsewhere = browser.page.asked.filter(url => !url.startsWith('data:') && new URL(url).host !== host)
      expect(elsewhere).toEqual([])
      expect(await cookies(browser)).toEqual([])
      expect(await userOf(gateway, `${way.login}@example.test`)).toBeUndefined()
    })
  })
})

type House = Awaited<ReturnType<typeof openHouse>>

/** A gateway at an address with all ways in, whose groups make admins, and members of a workspace. */
async function openHouse(browser: RealBrowser, certificate: CertificateFiles, address: string) {
  const PORT = String(await freePort())
  const base = address.replace('PORT', PORT)
  const [TLS_CERT, TLS_KEY] = [certificate.server_file, certificate.key_file].map(file => readFileSync(file, 'utf8'))
  const served: Record<string, string> = base.startsWith('https:') ? {TLS_CERT: TLS_CERT!, TLS_KEY: TLS_KEY!} : {}
  const gateway = await openSignInGateway('sqlite', {PORT, CONTROL_PLANE_URL: base, ...SAML_KEYS, ...served})
  const {id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  await browser.open(`${base}/v2/auth/sign-in`)
  const own = `fetch('/v2/auth/saml/metadata/${id}').then(reply => reply.text())`
  const place = {browser, base, certificate, own_metadata: await browser.page.read<string>(own)}
  const opened = new Map<RealWay, OpenWay>()
  for (const [, way] of ROWS) opened.set(way, await way.open(place))
  const connections = [...opened].map(([{name, type}, {settings}]) => ({name, type, [type]: settings}))
  await gateway.auth({
    sso: {connections},
    provisioning: {role_mapping: [{group: 'gw-admins', role: 'admin'}], sync_groups: true},
  })
  const kitchen = await mapGroup(gateway, 'Kitchen', 'staff')
  const steps = stepsAt(browser, gateway)
  return {
    ...{gateway, steps, kitchen},
    async connectionOf({name}: RealWay): Promise<string> {
      const {sso} = await gateway.admin<{sso: {connections: {id: string; name: string}[]}}>(
        'GET',
        '/admin/organisation/auth',
      )
      return sso.connections.find(each => each.name === name)!.id
    },
    async signIn(way: RealWay, ...groups: readonly string[]) {
      await steps.begin(way.name)
      await opened.get(way)!.enter(way.login, groups)
    },
    async close() {
      await gateway.close()
      for (const each of opened.values()) await each.close()
    },
  }
}

async function cookies({page}: RealBrowser) {
  const {cookies} = await page.send<{cookies: object[]}>('Network.getAllCookies')
  return cookies
}
