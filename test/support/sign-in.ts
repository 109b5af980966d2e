import {createServer} from 'node:net'
import {type LyingProvider, startLyingProvider} from '../identity/oidc/lying-provider.ts'
import type {TestGateway} from './gateway.ts'
import {gatewayOn} from './gateway-on.ts'
import type {StoreKind} from './stores.ts'

/** An answer to a browser: redirects are not followed. */
export interface PageReply {
  readonly status: number
  readonly headers: Headers
  readonly location: string | null
  readonly text: string
  /** The reply as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
}

/** Keeps cookies as a browser does, of one gateway. */
export class Browser {
  readonly base: string
  readonly cookies = new Map<string, string>()

  constructor(base: string) {
    this.base = base
  }

  async go(
    place: string,
    init: {method?: string; body?: unknown; headers?: Record<string, string>} = {},
  ): Promise<PageReply> {
    const {method = 'GET', body, headers = {}} = init
    const is_form = body instanceof URLSearchParams
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await fetch(new URL(place, this.base), {
      method,
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        ...(method !== 'GET' && {'sec-fetch-site': 'same-origin'}),
        ...(cookie && {cookie}),
        ...(body !== undefined && !is_form && {'content-type': 'application/json'}),
        ...headers,
      },
      ...(body !== undefined && {body: is_form ? body : JSON.stringify(body)}),
    })
    for (const each of reply.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(each)!
      if (/Max-Age=0/i.test(each)) this.cookies.delete(name!)
      else this.cookies.set(name!, value!)
    }
    const text = await reply.text()
    return {
      status: reply.status,
      headers: reply.headers,
      location: reply.headers.get('location'),
      text,
      body: parsed(text),
    }
  }

  get session(): string | undefined {
    return this.cookies.get('__Host-gateway_session')
  }

  /** `self` of the session; the status where there is none. */
  async self() {
    const {status, body} = await this.go('/v1/auth/self', {headers: {accept: 'application/json'}})
    return status === 200 ? body : status
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as {port: number}
  await new Promise(resolve => server.close(resolve))
  return port
}

export interface SignInGateway extends TestGateway {
  readonly shared: Record<string, string>
  browser(): Browser
  /** A user of the organisation, made on the command line, and his id. */
  person(name: string, role: 'owner' | 'admin' | 'member'): Promise<string>
  auth(change: object): Promise<Record<string, never>>
  /** Rows of the audit log of a kind of resource, newest first, with their bodies read. */
  rows(resource_type: string): Promise<readonly AuditRow[]>
}

export interface AuditRow {
  readonly action: string
  readonly actor_type: string
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
}

/** A gateway that people sign in at: it knows its own address, and `example.test` is a verified domain. */
export async function openSignInGateway(
  kind: StoreKind = 'sqlite',
  env: Record<string, string> = {},
  options: Parameters<typeof gatewayOn>[2] = {},
): Promise<SignInGateway> {
  const port = await freePort()
  const settings = {PORT: String(port), CONTROL_PLANE_URL: `http://127.0.0.1:${port}`, ...env}
  const gateway = await gatewayOn(kind, settings, options)
  await gateway.admin('POST', '/operator/domains', {domain: 'example.test'})
  return {
    ...gateway,
    browser: () => new Browser(settings.CONTROL_PLANE_URL),
    async person(name, role) {
      return (await gateway.admin<{id: string}>('POST', '/operator/users', {email: `${name}@example.test`, role})).id
    },
    auth: change => gateway.admin('PUT', '/admin/organisation/auth', change),
    async rows(resource_type) {
      const query = `start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&resource_type=${resource_type}`
      const {records} = await gateway.admin<{records: Record<string, string | number>[]}>('GET', `/audit-logs?${query}`)
      return records.map(row => ({
        action: String(row.action),
        actor_type: String(row.user_type),
        status: Number(row.response_status_code),
        body: JSON.parse(String(row.request_body ?? 'null')),
      }))
    },
  }
}

/** The same with a connection to a provider of OpenID Connect that lies as it should. */
export async function openOidc(
  kind: StoreKind = 'sqlite',
  env: Record<string, string> = {},
  options: Parameters<typeof gatewayOn>[2] = {},
) {
  const provider = await startLyingProvider()
  const gateway = await openSignInGateway(kind, env, options)
  const oidc = {issuer: provider.issuer, client_id: provider.client_id, client_secret: 'lying-secret-of-the-client'}
  await gateway.auth({sso: {enabled: true, type: 'oidc', oidc}})
  return {
    gateway,
    provider,
    oidc,
    /** Goes the whole way in a browser; the last answer is the one of the callback. */
    async signIn(browser = gateway.browser(), query = '') {
      const begun = await browser.go(`/v2/auth/login${query}`)
      if (begun.status !== 303) return {browser, reply: begun}
      const back = await provider.answerTo(begun.location!)
      return {browser, back, reply: await browser.go(back.href)}
    },
    async close() {
      await gateway.close()
      await provider.close()
    },
  }
}

export type OidcHouse = Awaited<ReturnType<typeof openOidc>>

/** A provider's statement of another person. */
export function says(provider: LyingProvider, claims: Record<string, unknown>): void {
  const {sub, email} = claims
  provider.lie({claims, userinfo: good => ({...good, sub, email})})
}
