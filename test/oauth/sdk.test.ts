import {auth as modernAuth} from '@modelcontextprotocol/client'
import {auth as legacyAuth} from '@modelcontextprotocol/sdk/client/auth.js'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {type OAuthHouse, openOAuthHouse} from './house.ts'

const CALLBACK = 'http://127.0.0.1:33418/callback'

type Flow = (
  provider: never,
  options: {serverUrl: string; authorizationCode?: string; iss?: string; fetchFn?: never},
) => Promise<string>

const FLOWS: readonly (readonly [name: string, auth: Flow])[] = [
  ['SDK v1', legacyAuth as unknown as Flow],
  ['SDK v2', modernAuth as unknown as Flow],
]

/** What an app keeps of a server. */
class AppMemory {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata: object
  client: {client_id: string} | undefined
  held: {access_token: string; refresh_token: string} | undefined
  sent_to: URL | undefined
  registered = 0
  #verifier = ''
  #discovery: object | undefined

  constructor(metadata: object = {}) {
    this.clientMetadata = {redirect_uris: [CALLBACK], client_name: 'App of an SDK', ...metadata}
  }

  clientInformation() {
    return this.client
  }
  saveClientInformation(client: {client_id: string}) {
    this.registered++
    this.client = client
  }
  tokens() {
    return this.held
  }
  saveTokens(tokens: {access_token: string; refresh_token: string}) {
    this.held = tokens
  }
  redirectToAuthorization(url: URL) {
    this.sent_to = url
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }
  codeVerifier() {
    return this.#verifier
  }
  /** By it the answer of a person's browser is bound to the issuer that was asked (RFC 9207). */
  saveDiscoveryState(state: object) {
    this.#discovery = state
  }
  discoveryState() {
    return this.#discovery
  }
  invalidateCredentials(scope: string) {
    if (scope === 'all' || scope === 'discovery') this.#discovery = undefined
    if (scope === 'all' || scope === 'client') this.client = undefined
    if (scope === 'all' || scope === 'tokens') this.held = undefined
  }
}

describe.each(FLOWS)('fact 3: %s, unmodified', (_, auth) => {
  let house: OAuthHouse
  let mia: Awaited<ReturnType<OAuthHouse['person']>>
  beforeAll(async () => {
    house = await openOAuthHouse()
    await house.server('docs')
    mia = await house.person('mia', 'member', [house.workspace.id])
  })
  afterAll(() => house?.gateway.close())
  beforeEach(() => house.pass(61_000))

  /** The whole way: discovery, registration, the person in his browser, tokens. */
  const connect = async (app: AppMemory, serverUrl: string) => {
    expect(await auth(app as never, {serverUrl})).toBe('REDIRECT')
    const url = app.sent_to!
    const begun = await mia.browser.go(url.href)
    const page = await mia.browser.go(begun.location!)
    const {location} = page.location ? page : await house.decide(mia.browser, page)
    const {searchParams} = new URL(location!)
    const [authorizationCode, iss] = [searchParams.get('code')!, searchParams.get('iss')!]
    expect(await auth(app as never, {serverUrl, authorizationCode, iss})).toBe('AUTHORIZED')
    return app.held!
  }

  test.each([
    ['its short address', (house: OAuthHouse) => house.resource('docs')],
    ['the address with its workspace', (house: OAuthHouse) => house.resource(`${house.workspace.slug}/docs`)],
  ])('registers and gets tokens at %s, and refreshes them', async (_, at) => {
    const [app, serverUrl] = [new AppMemory(), at(house)]
    const first = await connect(app, serverUrl)
    expect(await house.state(first.access_token)).toMatchObject({active: true, aud: serverUrl, email: mia.email})
    expect(await auth(app as never, {serverUrl})).toBe('AUTHORIZED')
    expect(app.held!.refresh_token).not.toBe(first.refresh_token)
    expect(await house.isLive(app.held!.access_token)).toBe(true)
    expect(app.registered).toBe(1)
  })

  test.each(['client_secret_post', 'client_secret_basic'])('does so with a secret, by %s', async method => {
    const app = new AppMemory({token_endpoint_auth_method: method})
    const {access_token} = await connect(app, house.resource('docs'))
    expect(await house.isLive(access_token)).toBe(true)
    expect(await auth(app as never, {serverUrl: house.resource('docs')})).toBe('AUTHORIZED')
  })

  test('fact 74: registers again where the gateway no longer knows it', async () => {
    const app = new AppMemory()
    await connect(app, house.resource('docs'))
    app.client = {...app.client!, client_id: 'mcp_client_gone'}
    const {access_token} = await connect(app, house.resource('docs'))
    expect([app.registered, await house.isLive(access_token)]).toEqual([2, true])
  })

  test('begins again where its tokens were revoked', async () => {
    const app = new AppMemory()
    const {refresh_token} = await connect(app, house.resource('docs'))
    await house.post('/oauth/revoke', {token: refresh_token, client_id: app.client!.client_id})
    const {access_token} = await connect(app, house.resource('docs'))
    expect(await house.isLive(access_token)).toBe(true)
  })
})
