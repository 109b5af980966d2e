import {generateKeyPairSync} from 'node:crypto'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {Provider} from 'oidc-provider'

export interface RealProviderOptions {
  readonly redirect_uris: readonly string[]
  readonly post_logout_redirect_uris?: readonly string[]
  /** Metadata of the client beside its addresses; the usual one has the secret `real-secret`. */
  readonly client?: Readonly<Record<string, unknown>>
  /** Claims of a login beside `sub`, which is the login itself. */
  readonly claimsOf?: (login: string) => Readonly<Record<string, unknown>>
  /** @default true: profile claims come from UserInfo alone, as the standard has it. */
  readonly conform_id_token_claims?: boolean
  readonly configuration?: Readonly<Record<string, unknown>>
  /** Beside the logout that a client asks for. */
  readonly features?: Readonly<Record<string, unknown>>
}

export interface RealProvider {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
  /** Paths of requests, in their order. */
  readonly paths: readonly string[]
  /**
   * Has the person sign in and agree, in a browser of his own that stays signed in at the provider. Resolves to the
   * address at which it comes back.
   */
  signIn(url: string, login: string): Promise<URL>
  /** Signs the person out of the provider; resolves to the address at which the browser comes back. */
  signOut(url: string, login: string): Promise<URL>
  /** New keys under new ids; the old ones are gone, as are sign-ins in progress. */
  rotateKeys(): void
  close(): Promise<void>
}

const CLIENT_ID = 'gateway'
const CLIENT_SECRET = 'real-secret'

/** oidc-provider on loopback, with one client and people of any name. Its sign-in pages are its own for development. */
export async function startRealProvider(options: RealProviderOptions): Promise<RealProvider> {
  let handle: ReturnType<Provider['callback']> | undefined
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!.split('?', 1)[0]!)
    void handle!(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rotateKeys = () => {
    handle = quietly(() => providerOf(issuer, options)).callback()
  }
  rotateKeys()
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (login: string) => {
    const jar = jars.get(login) ?? new Map<string, string>()
    jars.set(login, jar)
    return jar
  }
  return {
    issuer,
    client_id: CLIENT_ID,
    client_secret: String(options.client?.client_secret ?? CLIENT_SECRET),
    paths,
    signIn: (url, login) => walked(url, issuer, jarOf(login), {login, password: 'any'}),
    signOut: (url, login) => walked(url, issuer, jarOf(login), {logout: 'yes'}),
    rotateKeys,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

let key_number = 0

function providerOf(issuer: string, options: RealProviderOptions): Provider {
  const {
    redirect_uris,
    post_logout_redirect_uris = [],
    claimsOf = usualClaims,
    client,
    configuration,
    features,
  } = options
  const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
  const jwk = {...privateKey.export({format: 'jwk'}), kid: `real-${++key_number}`, use: 'sig', alg: 'RS256'}
  return new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [...redirect_uris],
        post_logout_redirect_uris: [...post_logout_redirect_uris],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        ...client,
      },
    ],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'family_name', 'preferred_username', 'groups'],
    },
    conformIdTokenClaims: options.conform_id_token_claims ?? true,
    findAccount: (_: unknown, sub: string) => ({accountId: sub, claims: () => ({...claimsOf(sub), sub})}),
    cookies: {keys: ['only for tests']},
    jwks: {keys: [jwk]},
    pkce: {required: () => true},
    ttl: {AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 600, Session: 3600},
    features: {rpInitiatedLogout: {enabled: true, logoutSource: logoutPage}, ...features},
    ...configuration,
  })
}

function logoutPage(context: {body: string}, form: string) {
  context.body = `<html>${form}</html>`
}

function usualClaims(login: string) {
  return {
    email: `${login}@example.test`,
    email_verified: true,
    given_name: 'Mia',
    family_name: 'Moll',
    name: 'Mia Moll',
    groups: ['staff'],
  }
}

/** It warns of its development pages on the console. */
function quietly<Made>(make: () => Made): Made {
  const {info, warn} = console
  Object.assign(console, {info() {}, warn() {}})
  try {
    return make()
  } finally {
    Object.assign(console, {info, warn})
  }
}

const MOST_STEPS = 20

/** Follows redirects and posts the forms of the provider's pages, as a browser does, until it leads somewhere else. */
async function walked(
  url: string,
  issuer: string,
  jar: Map<string, string>,
  answers: Readonly<Record<string, string>>,
): Promise<URL> {
  let next: {url: URL; form?: URLSearchParams} = {url: new URL(url)}
  for (let step = 0; step < MOST_STEPS; step++) {
    const reply = await fetch(next.url, {
      redirect: 'manual',
      headers: {accept: 'text/html', cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ')},
      ...(next.form && {method: 'POST', body: next.form}),
    })
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (value === '' || /expires=thu, 01 jan 1970/i.test(cookie)) jar.delete(name!)
      else jar.set(name!, value!)
    }
    const location = reply.headers.get('location')
    if (location) {
      const to = new URL(location, next.url)
      if (to.origin !== issuer) return to
      next = {url: to}
    } else {
      const page = await reply.text()
      const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
      if (reply.status !== 200 || !action) throw new Error(`the provider answered ${reply.status}: ${textOf(page)}`)
      const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      const form = new URLSearchParams(hidden.map(([, name, value]): [string, string] => [name!, value!]))
      for (const [name, value] of Object.entries(answers)) form.set(name, value)
      next = {url: new URL(action.replaceAll('&amp;', '&'), next.url), form}
    }
  }
  throw new Error(`the provider leads nowhere: ${next.url.href}`)
}

function textOf(page: string): string {
  return page
    .replace(/<style>[\s\S]*?<\/style>|<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .slice(0, 600)
}
