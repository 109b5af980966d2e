import {createHash} from 'node:crypto'
import {Browser, openSignInGateway} from '../support/sign-in.ts'
import type {StoreKind} from '../support/stores.ts'

export const VERIFIER = 'v'.repeat(43)
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
export const CALLBACK = 'https://app.example.test/callback'
const START_MS = Date.parse('2026-11-02T08:00:00.000Z')

export interface OAuthReply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
}

/** A gateway with servers of MCP, and people who let clients use them. Its clock moves when a test says so. */
export async function openOAuthHouse(
  kind: StoreKind = 'sqlite',
  env: Record<string, string> = {},
  options: Parameters<typeof openSignInGateway>[2] = {},
) {
  const clock = {ms: START_MS}
  const gateway = await openSignInGateway(kind, env, {...options, now: () => clock.ms})
  const base = gateway.shared.CONTROL_PLANE_URL ?? env.CONTROL_PLANE_URL!
  const {data: workspaces} = await gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces')
  const house = {
    gateway,
    base,
    clock,
    workspace: workspaces[0]!,
    pass(ms: number) {
      clock.ms += ms
    },
    resource: (path: string) => `${base}/${path}/mcp`,
    async workspaceCalled(name: string) {
      return gateway.admin<{id: string; slug: string}>('POST', '/admin/workspaces', {name})
    },
    /** A server of an integration of its own, in a workspace; his id and slug. */
    async server(slug: string, workspace_id = workspaces[0]!.id, more: object = {}, of_integration: object = {}) {
      const integration = await gateway.admin<{id: string}>('POST', '/mcp-integrations', {
        ...{name: slug, url: 'https://mcp.example.com/mcp', auth_type: 'none', transport: 'http'},
        ...of_integration,
      })
      const body = {workspaces: [{id: workspace_id, enabled: true}]}
      await gateway.admin('PUT', `/mcp-integrations/${integration.id}/workspaces`, body)
      const made = {name: `Server ${slug}`, slug, mcp_integration_id: integration.id, workspace_id, ...more}
      return {...(await gateway.admin<{id: string; slug: string}>('POST', '/mcp-servers', made)), integration}
    },
    /** A person with a browser that is signed in; a member of the workspaces. */
    async person(name: string, role: 'owner' | 'admin' | 'member' = 'member', of: readonly string[] = []) {
      const id = await gateway.person(name, role)
      for (const workspace_id of of)
        await gateway.admin('POST', `/admin/workspaces/${workspace_id}/users`, {users: [{id, role: 'member'}]})
      return {id, email: `${name}@example.test`, browser: await house.signedIn(name)}
    },
    async signedIn(name: string) {
      const body = {email: `${name}@example.test`, ttl_s: 86_400 * 30}
      const {token} = await gateway.admin<{token: string}>('POST', '/operator/sessions', body)
      const browser = new Browser(base)
      browser.cookies.set('__Host-gateway_session', token)
      return browser
    },
    async post(path: string, body: object | string, headers: Record<string, string> = {}): Promise<OAuthReply> {
      const is_json = headers['content-type'] === 'application/json'
      const reply = await fetch(base + path, {
        method: 'POST',
        headers: {'content-type': 'application/x-www-form-urlencoded', ...headers},
        body: typeof body === 'string' ? body : is_json ? JSON.stringify(body) : form(body),
      })
      return replyOf(reply)
    },
    async get(path: string, headers: Record<string, string> = {}): Promise<OAuthReply> {
      return replyOf(await fetch(base + path, {headers, redirect: 'manual'}))
    },
    register: (metadata: object = {}) =>
      house.post('/oauth/register', {redirect_uris: [CALLBACK], client_name: 'App', ...metadata}, JSON_TYPE),
    async client(metadata: object = {}): Promise<string> {
      const {status, body} = await house.register(metadata)
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.client_id
    },
    authorizeQuery: (client_id: string, more: Record<string, string | undefined> = {}) =>
      form({
        ...{response_type: 'code', client_id, redirect_uri: CALLBACK, state: 'st', code_challenge: CHALLENGE},
        ...{code_challenge_method: 'S256', resource: house.resource('docs'), ...more},
      }),
    /** Goes as far as the page of consent, or the place that answers at once. */
    async asked(browser: Browser, client_id: string, more: Record<string, string | undefined> = {}, alias = '') {
      const begun = await browser.go(`/oauth/${alias}authorize?${house.authorizeQuery(client_id, more)}`)
      if (begun.status !== 302 || !begun.location!.startsWith(`${base}/oauth/consent`)) return begun
      return browser.go(begun.location!)
    },
    decide: (browser: Browser, page: {readonly text: string}, more: Record<string, string | undefined> = {}) =>
      browser.go('/oauth/authorize', {
        method: 'POST',
        body: form({...hiddenIn(page.text), action: 'approve', ...more}),
      }),
    /** A code for a server, with the consent of a person. */
    async code(browser: Browser, client_id: string, more: Record<string, string | undefined> = {}): Promise<string> {
      const page = await house.asked(browser, client_id, more)
      const {location} = page.location ? page : await house.decide(browser, page)
      return new URL(location!).searchParams.get('code')!
    },
    exchange: (client_id: string, code: string, more: Record<string, string | undefined> = {}) =>
      house.post('/oauth/token', {
        ...{grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER, client_id},
        ...more,
      }),
    refresh: (client_id: string, refresh_token: string, more: Record<string, string | undefined> = {}) =>
      house.post('/oauth/token', {grant_type: 'refresh_token', refresh_token, client_id, ...more}),
    async tokens(browser: Browser, client_id: string, more: Record<string, string | undefined> = {}) {
      const {status, body} = await house.exchange(client_id, await house.code(browser, client_id, more))
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body as {access_token: string; refresh_token: string; scope: string}
    },
    /** How a key of the organisation sees a token. */
    async state(token: string) {
      const headers = {'x-gateway-api-key': 'gk-test-admin-key-of-at-least-32-characters'}
      return (await house.post('/oauth/introspect', {token}, headers)).body
    },
    isLive: async (token: string) => (await house.state(token)).active as boolean,
  }
  return house
}

export type OAuthHouse = Awaited<ReturnType<typeof openOAuthHouse>>

export const JSON_TYPE = {'content-type': 'application/json'}

export function form(fields: object): URLSearchParams {
  return new URLSearchParams(Object.entries(fields).filter(each => each[1] !== undefined))
}

/** The hidden fields of a page. */
export function hiddenIn(html: string): Record<string, string> {
  const found = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  return Object.fromEntries([...found].map(([, name, value]) => [name!, value!]))
}

async function replyOf(reply: Response): Promise<OAuthReply> {
  const text = await reply.text()
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {}
  return {status: reply.status, headers: reply.headers, body}
}
