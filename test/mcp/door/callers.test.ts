import {generateKeyPairSync, type JsonWebKey, sign} from 'node:crypto'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type OAuthHouse, openOAuthHouse} from '../../oauth/house.ts'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, type RawFixture} from '../../support/mcp/raw-server.ts'

let house: OAuthHouse
let raw: RawFixture
let modern: Awaited<ReturnType<typeof openModern>>

beforeAll(async () => {
  raw = await openRaw({
    'tools/list': answer =>
      answer.result({tools: [{name: 'greet', description: greeting, inputSchema: {type: 'object'}}]}),
  })
  modern = await openModern()
  house = await openOAuthHouse('sqlite', {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await serve('docs', raw.url)
  await serve('other', raw.url)
})
afterAll(async () => {
  await house.gateway.close()
  await raw.close()
  await modern.close()
})
let greeting = 'Says hello'

/** An MCP server of the first workspace. */
async function serve(slug: string, url: string, more: object = {}, of_server: object = {}) {
  const {admin} = house.gateway
  await admin('POST', '/mcp-integrations', {
    ...{name: slug, slug: `${slug}-integration`, url, auth_type: 'none', transport: 'http'},
    ...{workspace_id: house.workspace.id, ...more},
  })
  return admin<{id: string}>('POST', '/mcp-servers', {
    ...{name: slug, slug, mcp_integration_id: `${slug}-integration`, workspace_id: house.workspace.id},
    ...of_server,
  })
}

interface Answer {
  readonly status: number
  readonly challenge: string | null
  readonly body: {result?: Record<string, unknown>; error?: {code: number; message: string; data?: object}}
}
async function ask(slug: string, method: string, params: object, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${house.base}/${slug}/mcp`, {
    method: 'POST',
    headers: {'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers},
    body: JSON.stringify({jsonrpc: '2.0', id: 1, method, params}),
  })
  const text = await response.text()
  const json = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .findLast(line => line.startsWith('data: '))!
        .slice(6)
  return {status: response.status, challenge: response.headers.get('www-authenticate'), body: JSON.parse(json)}
}
const list = (slug: string, headers: Record<string, string>) => ask(slug, 'tools/list', {}, headers)
const call = (slug: string, headers: Record<string, string>, name = 'greet') =>
  ask(slug, 'tools/call', {name, arguments: {}}, headers)
const KEY = {'x-gateway-api-key': WORKSPACE_KEY}
const lastUp = () => raw.requests.findLast(({message}) => message?.method === 'tools/call')!.headers

describe('tokens of our own authorization server', () => {
  test('facts 3, 9 and 13: a token is good for its server, its scopes and its person alone', async () => {
    const mia = await house.person('mia', 'member', [house.workspace.id])
    const client = await house.client()
    const bearer = ({access_token}: {access_token: string}) => ({authorization: `Bearer ${access_token}`})
    const tokens = bearer(await house.tokens(mia.browser, client))
    expect((await call('docs', tokens)).body.result).toMatchObject({content: [{text: 'usual'}]})
    expect(lastUp()).not.toHaveProperty('authorization')
    const elsewhere = await call('other', tokens)
    expect([elsewhere.status, elsewhere.challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')])

    house.pass(61_000)
    const narrow = bearer(await house.tokens(mia.browser, client, {scope: 'mcp:tools:list'}))
    expect((await list('docs', narrow)).status).toBe(200)
    const from = raw.of('tools/call').length
    const refused = await call('docs', narrow)
    expect(refused.status).toBe(403)
    expect(refused.challenge).toMatch(/error="insufficient_scope".*scope="mcp:tools:call mcp:tools:list"/)
    expect(raw.of('tools/call')).toHaveLength(from)

    const {admin} = house.gateway
    await admin('DELETE', `/admin/workspaces/${house.workspace.id}/users/${mia.id}`)
    expect((await call('docs', tokens)).status).toBe(401)
  })

  test('a person whom the server is closed to after the token gets 403 at the next call', async () => {
    const noa = await house.person('noa', 'member', [house.workspace.id])
    const client = await house.client()
    await serve('closing', raw.url)
    const of_server = {resource: house.resource('closing')}
    const {access_token} = await house.tokens(noa.browser, client, of_server)
    const headers = {authorization: `Bearer ${access_token}`}
    expect((await list('closing', headers)).status).toBe(200)
    await house.gateway.admin('PUT', '/mcp-servers/closing/user-access', {default_user_access: 'deny'})
    expect((await list('closing', headers)).status).toBe(403)
    const [row] = await house.gateway.logs()
    expect(row).toMatchObject({ai_org: 'mcp', response_status_code: 403, is_success: false})
  })

  test('a server that is closed to its workspace is neither called, nor offered on the page of consent', async () => {
    const ivo = await house.person('ivo', 'member', [house.workspace.id])
    await serve('shut', raw.url)
    expect((await list('shut', KEY)).status).toBe(200)
    const workspaces = [{id: house.workspace.id, enabled: false}]
    await house.gateway.admin('PUT', '/mcp-integrations/shut-integration/workspaces', {workspaces})
    expect((await list('shut', KEY)).status).toBe(404)
    const page = await house.asked(ivo.browser, await house.client(), {resource: house.resource('shut')})
    expect(page.text).toContain('There is no such server that you may use.')
    expect(page.text).not.toContain('value="approve"')
  })
})

describe('what the upstream learns of the caller', () => {
  test('fact 45: of all that a client sends, no credential of ours goes up', async () => {
    await serve('open', raw.url, {configurations: {forward_headers: {mode: 'all-except', headers: ['x-no']}}})
    await call('open', {
      ...KEY,
      cookie: 'a=b',
      'x-team': 'red',
      'x-no': '1',
      'x-api-key': 'k',
      'x-gateway-metadata': '{}',
    })
    const headers = lastUp()
    expect(headers).toMatchObject({'x-team': 'red'})
    for (const name of ['x-gateway-api-key', 'cookie', 'x-no', 'x-api-key', 'x-gateway-metadata'])
      expect(headers).not.toHaveProperty(name)
    expect(JSON.stringify(headers)).not.toContain(WORKSPACE_KEY)
  })

  test('fact 46: the identity is ours, whatever the client says, and its keys are published', async () => {
    await serve('named', raw.url, {configurations: {user_identity_forwarding: {method: 'jwt_header'}}})
    await call('named', {...KEY, 'x-user-jwt': 'forged', 'x-user-claims': '{}'})
    const token = lastUp()['x-user-jwt']!
    expect(token).not.toBe('forged')
    expect(lastUp()).not.toHaveProperty('x-user-claims')
    const [head, claims] = token
      .split('.')
      .slice(0, 2)
      .map(part => JSON.parse(Buffer.from(part!, 'base64url').toString()))
    expect(claims).toMatchObject({iss: house.base, aud: raw.url})
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(300)
    const {keys} = (await (await fetch(`${house.base}/.well-known/jwks.json`)).json()) as {keys: {kid: string}[]}
    expect(keys.map(({kid}) => kid)).toContain(head.kid)
  })

  test('fact 47: a second token is wanted beside the key, and no challenge begins a sign-in', async () => {
    const {publicKey, privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
    const jwk: JsonWebKey & {kid?: string} = {...publicKey.export({format: 'jwk'}), kid: 'k1'}
    const jwt_validation = {jwks: {keys: [jwk]}, headerKey: 'x-second', requiredClaims: ['groups']}
    await serve('guarded', raw.url, {configurations: {jwt_validation}})
    const now_s = Math.floor(house.clock.ms / 1000)
    const token = (claims: object, key = privateKey) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const text = `${part({alg: 'RS256', kid: 'k1'})}.${part({iat: now_s, exp: now_s + 60, ...claims})}`
      return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
    }
    const other = generateKeyPairSync('rsa', {modulusLength: 2048}).privateKey
    const outcomes = await Promise.all(
      [undefined, token({groups: ['a']}), token({}), token({groups: ['a']}, other)].map(async second => {
        const {status, challenge} = await call('guarded', {...KEY, ...(second && {'x-second': second})})
        return [status, challenge]
      }),
    )
    expect(outcomes).toEqual([
      [401, null],
      [200, null],
      [401, null],
      [401, null],
    ])
    expect(lastUp()).not.toHaveProperty('x-second')
  })

  test('an integration that wants each person to sign in takes no service key', async () => {
    await serve('personal', raw.url, {auth_type: 'oauth_auto'})
    const {status, body} = await call('personal', KEY)
    expect([status, body.error!.message]).toEqual([403, expect.stringContaining('sign-in of a person')])
  })
})

describe('pins', () => {
  test('fact 43: with enforce a tool that changes is hidden and refused, and back once it is approved', async () => {
    const {admin} = house.gateway
    greeting = 'Says hello'
    await serve('pinned', raw.url, {configurations: {tool_pinning: 'enforce'}})
    await admin('PUT', '/mcp-integrations/pinned-integration/capabilities', {capabilities: []}).catch(() => undefined)
    const names = async () => ((await list('pinned', KEY)).body.result!.tools as {name: string}[]).map(({name}) => name)
    // nothing was approved yet: no sync has read the server
    expect(await names()).toEqual([])
    const from = raw.of('tools/call').length
    expect((await call('pinned', KEY)).body.error).toMatchObject({code: -32602, message: 'Unknown tool: greet'})
    expect(raw.of('tools/call')).toHaveLength(from)
  })
})
