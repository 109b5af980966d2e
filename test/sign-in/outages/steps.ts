import {createHash} from 'node:crypto'
import {passwordHash} from '../../../src/identity/password.ts'
import {type Browser, type PageReply, says} from '../../support/sign-in.ts'
import type {StoreKind} from '../../support/stores.ts'
import {openPeople} from '../people-house.ts'
import {addSaml} from '../people-saml.ts'

const VERIFIER = 'v'.repeat(43)
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
const CLAIMS = {sub: 'mia', email: 'mia@example.test', email_verified: true}
const PASSWORD = 'correct horse of the owner'
const OF_PROVIDER = {'sec-fetch-site': 'cross-site', cookie: ''}

/** A request that a step sends, and the browser that sends it. */
export interface ReadyStep {
  readonly browser: Browser
  send(accept: string): Promise<PageReply>
}

/** One step of one way of signing in, or of a session. */
export interface SignInStep {
  readonly name: string
  readonly status: number
  readonly ready: () => Promise<ReadyStep>
}

/** A house in which every step can be made ready as often as a test wants. */
export async function openSteps(kind: StoreKind) {
  const house = await openPeople(kind)
  const saml = await addSaml(house)
  const {gateway, provider} = house
  await gateway.person('olga', 'owner')
  const phc = await passwordHash(PASSWORD)
  const {data} = await gateway.admin<{data: {id: string; email: string}[]}>('GET', '/admin/users')
  const olga = data.find(({email}) => email.startsWith('olga'))!.id
  await house.write(`insert into user_passwords values ('${olga}', '${phc}', '2026-01-01T00:00:00.000Z')`)
  const oidc = `?issuer=${encodeURIComponent(provider.issuer)}`

  const go = (browser: Browser, place: string) => ({
    browser,
    send: (accept: string) => browser.go(place, {headers: {accept}}),
  })
  /** A page sends a form, and a script JSON. */
  const post = (browser: Browser, place: string, fields: Record<string, string>) => ({
    browser,
    send(accept: string) {
      const body = accept === 'text/html' ? new URLSearchParams(fields) : fields
      return browser.go(place, {method: 'POST', body, headers: {accept}})
    },
  })
  const begun = async () => {
    says(provider, CLAIMS)
    const browser = gateway.browser()
    const {location} = await browser.go(`/v2/auth/login${oidc}`)
    return {browser, back: (await provider.answerTo(location!)).href}
  }
  const signedIn = async () => {
    const {browser, back} = await begun()
    await browser.go(back)
    if (!browser.session) throw new Error('nobody is signed in')
    return browser
  }
  const answered = async () => {
    const browser = gateway.browser()
    const {location} = await browser.go(`/v2/auth/login?connection=${saml.connection}`)
    const form = await saml.idp.answer(location!, {email: 'sam@example.test'})
    return {browser, form}
  }
  const device = async () =>
    (await gateway.browser().go('/v1/auth/device', {method: 'POST', body: {host: 'laptop'}})).body as {
      device_code: string
      user_code: string
    }
  const commandPage = async (browser: Browser) => {
    const command = `&cli_port=4567&cli_state=${'s'.repeat(20)}&cli_challenge=${CHALLENGE}`
    const {location} = await browser.go(`/v2/auth/login${oidc}${command}`)
    return new URL(location!, browser.base).searchParams.get('request')!
  }
  const JSON_WANTED = {headers: {accept: 'application/json'}, method: 'POST'}

  const steps: readonly SignInStep[] = [
    {name: 'OIDC, login', status: 303, ready: async () => go(gateway.browser(), `/v2/auth/login${oidc}`)},
    {
      name: 'OIDC, callback',
      status: 303,
      async ready() {
        const {browser, back} = await begun()
        return go(browser, back)
      },
    },
    {
      name: 'SAML, login',
      status: 303,
      ready: async () => go(gateway.browser(), `/v2/auth/login?connection=${saml.connection}`),
    },
    {
      name: 'SAML, consumer',
      status: 303,
      async ready() {
        const {browser, form} = await answered()
        const {acs_url, SAMLResponse, RelayState} = form
        return {
          browser,
          send: accept => {
            const body = new URLSearchParams({SAMLResponse, RelayState})
            return browser.go(acs_url, {method: 'POST', body, headers: {...OF_PROVIDER, accept}})
          },
        }
      },
    },
    {
      name: 'SAML, finish',
      status: 303,
      async ready() {
        const browser = gateway.browser()
        return go(browser, await saml.answered(browser, {email: 'sam@example.test'}))
      },
    },
    {
      name: 'password',
      status: 200,
      ready: async () => post(gateway.browser(), '/v2/auth/password', {email: 'olga@example.test', password: PASSWORD}),
    },
    {
      name: 'device, begin',
      status: 200,
      ready: async () => post(gateway.browser(), '/v1/auth/device', {host: 'laptop'}),
    },
    {
      name: 'device, decision',
      status: 200,
      async ready() {
        const [browser, {user_code}] = [await signedIn(), await device()]
        return post(browser, '/v2/auth/device', {user_code, decision: 'approve'})
      },
    },
    {
      name: 'device, token',
      status: 200,
      async ready() {
        const [browser, {user_code, device_code}] = [await signedIn(), await device()]
        await browser.go('/v2/auth/device', {...JSON_WANTED, body: {user_code, decision: 'approve'}})
        return post(gateway.browser(), '/v1/auth/device/token', {device_code})
      },
    },
    {
      name: 'command line, decision',
      status: 200,
      async ready() {
        const browser = await signedIn()
        return post(browser, '/v2/auth/cli', {request: await commandPage(browser), decision: 'approve'})
      },
    },
    {
      name: 'command line, token',
      status: 200,
      async ready() {
        const browser = await signedIn()
        const body = {request: await commandPage(browser), decision: 'approve'}
        const decided = await browser.go('/v2/auth/cli', {...JSON_WANTED, body})
        const code = new URL(decided.body.location).searchParams.get('code')!
        return post(gateway.browser(), '/v1/auth/cli/token', {code, code_verifier: VERIFIER})
      },
    },
    {name: 'self', status: 200, ready: async () => go(await signedIn(), '/v1/auth/self')},
    {name: 'sessions', status: 200, ready: async () => go(await signedIn(), '/v1/auth/sessions')},
    {
      name: 'sessions, end of one',
      status: 200,
      async ready() {
        const [browser, other] = [await signedIn(), await signedIn()]
        const {id} = (await other.self()).session
        return {
          browser,
          send: accept => browser.go(`/v1/auth/sessions/${id}`, {method: 'DELETE', headers: {accept}}),
        }
      },
    },
    {
      name: 'switch',
      status: 200,
      async ready() {
        const browser = await signedIn()
        const {id} = (await browser.self()).organisation
        return post(browser, '/v1/auth/switch', {organisation_id: id})
      },
    },
    {name: 'logout', status: 200, ready: async () => post(await signedIn(), '/v1/auth/logout', {})},
  ]
  return {
    steps,
    house,
    /** Forgets what few may be open of: of one address, or of a name. */
    clear: async () => {
      for (const table of ['sign_ins', 'login_codes', 'sign_in_failures']) await house.write(`delete from ${table}`)
    },
    close: () => house.close(),
  }
}
