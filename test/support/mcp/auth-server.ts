import {createHash} from 'node:crypto'
import type {ServerResponse} from 'node:http'
import {listen, type McpListener, type SeenRequest} from './listener.ts'

/** Gives an answer of its own in place of the usual one. */
export type AuthAnswer = (response: ServerResponse, seen: SeenRequest) => void

export interface AuthServer extends Pick<McpListener, 'origin' | 'requests' | 'close'> {
  /** The address of its MCP server. */
  readonly url: string
  /** By path, in place of the usual answers. One of a list each time, the last of them stays. */
  readonly answers: Map<string, AuthAnswer | AuthAnswer[]>
  /** Members that replace those of its documents; undefined leaves one out. */
  readonly resource: Record<string, unknown>
  readonly metadata: Record<string, unknown>
  /** Members of token answers, likewise. */
  readonly tokens: Record<string, unknown>
  /** Access tokens that its MCP server lets in. */
  readonly good: Set<string>
  /** Ids of clients that it knows. */
  readonly clients: Set<string>
  /** Requests of a path. */
  at(path: string): readonly SeenRequest[]
  /** Forms that its token endpoint received. */
  forms(): readonly Readonly<Record<string, string>>[]
}

export const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
export const METADATA_PATH = '/.well-known/oauth-authorization-server'

/** An MCP server that wants OAuth, with its authorization server, on loopback: strict where the protocols are. */
export async function openAuthServer(): Promise<AuthServer> {
  const answers: AuthServer['answers'] = new Map()
  const parts = {resource: {}, metadata: {}, tokens: {}} as Pick<AuthServer, 'resource' | 'metadata' | 'tokens'>
  const good = new Set<string>()
  const clients = new Set<string>()
  const codes = new Map<string, URLSearchParams>()
  const refresh_tokens = new Set<string>()
  let made = 0
  const listener = await listen((_, response, seen) => {
    const path = pathOf(seen)
    const own = answers.get(path)
    const answer = Array.isArray(own) ? (own.length > 1 ? own.shift() : own[0]) : own
    if (answer) return answer(response, seen)
    usual(path, response, seen)
  })
  const {origin} = listener
  const url = `${origin}/mcp`
  const server: AuthServer = {
    ...{origin, url, answers, ...parts, good, clients, requests: listener.requests, close: () => listener.close()},
    at: path => listener.requests.filter(each => pathOf(each) === path),
    forms: () => server.at('/token').map(({body}) => Object.fromEntries(new URLSearchParams(body))),
  }
  return server

  function usual(path: string, response: ServerResponse, seen: SeenRequest) {
    const {method} = seen
    if (path === '/mcp') return mcp(response, seen)
    if (path === `${RESOURCE_PATH}/mcp`)
      return json(response, 200, {resource: url, authorization_servers: [origin], ...parts.resource})
    if (path === METADATA_PATH) return json(response, 200, {...metadata(), ...parts.metadata})
    if (path === '/register' && method === 'POST') return register(response, seen)
    if (path === '/authorize') return authorize(response, new URL(seen.path, origin).searchParams)
    if (path === '/token' && method === 'POST') return token(response, seen)
    if (path === '/revoke') return json(response, 200, {})
    json(response, 404, {})
  }

  function metadata() {
    return {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      revocation_endpoint: `${origin}/revoke`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    }
  }

  function mcp(response: ServerResponse, {headers}: SeenRequest) {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
    if (token !== undefined && good.has(token)) return json(response, 200, {jsonrpc: '2.0', id: 0, result: {}})
    response.setHeader('www-authenticate', `Bearer realm="x", resource_metadata="${origin}${RESOURCE_PATH}/mcp"`)
    json(response, 401, {error: 'invalid_token'})
  }

  function register(response: ServerResponse, {body}: SeenRequest) {
    const client_id = `client-${++made}`
    clients.add(client_id)
    json(response, 201, {...JSON.parse(body), client_id, client_id_issued_at: 1})
  }

  function authorize(response: ServerResponse, query: URLSearchParams) {
    const back = new URL(query.get('redirect_uri')!)
    back.searchParams.set('state', query.get('state')!)
    back.searchParams.set('iss', String({...metadata(), ...parts.metadata}.issuer))
    const code = `code-${++made}`
    codes.set(code, query)
    back.searchParams.set('code', code)
    response.writeHead(302, {location: back.href}).end()
  }

  function token(response: ServerResponse, {body, headers}: SeenRequest) {
    const form = new URLSearchParams(body)
    const basic = Buffer.from(/^Basic (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '', 'base64').toString()
    const client_id = form.get('client_id') ?? new URLSearchParams(`=${basic.split(':')[0]}`).get('')!
    if (!clients.has(client_id)) return json(response, 401, {error: 'invalid_client'})
    const grant = form.get('grant_type')
    if (grant === 'authorization_code' && !isGoodCode(form, client_id))
      return json(response, 400, {error: 'invalid_grant'})
    if (grant === 'refresh_token' && !refresh_tokens.delete(form.get('refresh_token')!))
      return json(response, 400, {error: 'invalid_grant'})
    const number = ++made
    const [access_token, refresh_token] = [`access-${number}`, `refresh-${number}`]
    good.clear()
    good.add(access_token)
    if (grant !== 'client_credentials') refresh_tokens.add(refresh_token)
    const given = grant === 'client_credentials' ? {access_token} : {access_token, refresh_token}
    json(response, 200, {...given, token_type: 'Bearer', expires_in: 3600, ...parts.tokens})
  }

  function isGoodCode(form: URLSearchParams, client_id: string): boolean {
    const begun = codes.get(form.get('code')!)
    codes.delete(form.get('code')!)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    return (
      begun?.get('code_challenge') === challenge &&
      begun.get('client_id') === client_id &&
      ['redirect_uri', 'resource'].every(name => begun.get(name) === form.get(name))
    )
  }
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value))
}

/** An answer of JSON. */
export function answer(status: number, value: unknown = {}, headers: Record<string, string> = {}): AuthAnswer {
  return response =>
    void response.writeHead(status, {'content-type': 'application/json', ...headers}).end(JSON.stringify(value))
}

export function html(status: number): AuthAnswer {
  return response => void response.writeHead(status, {'content-type': 'text/html'}).end('<h1>Hello</h1>')
}

/** Takes the request, and says nothing. */
export const silence: AuthAnswer = () => undefined

function pathOf({path}: SeenRequest): string {
  return path.split('?', 1)[0]!
}
