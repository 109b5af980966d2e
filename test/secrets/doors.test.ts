import {generateKeyPairSync} from 'node:crypto'
import {cpSync, mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {recorded} from '../providers/auth/fetches.ts'
import {sent} from '../providers/catalog/ask.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {openRaw, type RawFixture} from '../support/mcp/raw-server.ts'
import {McpGateway} from '../support/mcp/served.ts'
import {type FakeProvider, fakeProvider, type Heard, json, openaiLike} from '../support/provider.ts'
import {OWN_KEY} from '../support/realtime.ts'
import {type RealtimeProvider, rawClient, realtimeProvider} from '../support/realtime-provider.ts'
import {meantFetch, secretHouse} from '../support/secret-managers/house.ts'
import {type VaultDouble, vaultDouble} from '../support/secret-managers/vault.ts'

const HI = {messages: [{role: 'user', content: 'Hi'}]}
const FIRST = 'sk-planted-first-0123456789'
const SECOND = 'sk-planted-second-987654321'

let gateway: TestGateway
let mcp: McpGateway
let provider: FakeProvider
let voice: RealtimeProvider
let tools: RawFixture
let vault: VaultDouble
/** The key that the provider, the sessions and the tools take. */
let taken = FIRST
beforeAll(async () => {
  vault = await vaultDouble()
  provider = await fakeProvider()
  voice = await realtimeProvider()
  tools = await openRaw()
  gateway = await startGateway({SECRET_MANAGER_HOSTS: '127.0.0.1', TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  mcp = new McpGateway(gateway)
}, 120_000)
afterAll(async () => {
  await gateway.close()
  await tools.close()
  await voice.close()
  await provider.close()
  await vault.close()
})
beforeEach(() => {
  taken = FIRST
  provider.received.length = 0
  provider.answer((request: Heard, response) => {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (key === taken) return openaiLike(request, response)
    json(response, {error: {message: `Incorrect API key provided: ${key}`, code: 'invalid_api_key'}}, 401)
  })
})

let made = 0
/** A reference to a secret that the vault has; gives its slug. */
async function reference(key = FIRST, on = gateway, more: object = {}) {
  const slug = `door-${++made}`
  vault.state.secrets[`secret/${slug}`] = {data: {key}}
  await on.admin('POST', '/secret-references', {
    ...{name: slug, slug, manager_type: 'hashicorp_vault', secret_path: `secret/${slug}`},
    auth_config: {
      ...{vault_auth_type: 'approle', vault_addr: vault.url, vault_role_id: 'role', vault_secret_id: 'hush'},
    },
    ...more,
  })
  return slug
}
async function mapped(kind = 'openai', url = provider.url, on = gateway) {
  const slug = await reference(FIRST, on)
  const secret_mappings = [{target_field: 'key', secret_reference_id: slug}]
  await on.provider(slug, kind, url, {key: undefined, secret_mappings})
  return slug
}
const rotate = (slug: string) => {
  vault.state.secrets[`secret/${slug}`] = {data: {key: SECOND}, version: 2}
  taken = SECOND
}
const chat = (slug: string, on = gateway) => on.chat({model: `@${slug}/gpt-4o`, ...HI})
const refusalOf = async (reply: Response) => {
  const {error} = (await reply.json()) as {error: {code: string; message: string}}
  return {status: reply.status, code: error.code, message: error.message}
}
/** Attempts of the last call in the ledger, in their order. */
async function lastAttempts() {
  await gateway.app.flushed()
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
  try {
    const entries = await store.db
      .selectFrom('traffic.ledger_entries')
      .select(['call_id', 'attempt', 'status', 'cost_nanousd'])
      .orderBy('sequence')
      .execute()
    return entries.filter(({call_id}) => call_id === entries.at(-1)!.call_id)
  } finally {
    await store.close()
  }
}

test('SM6: the repetition after a rotation is an attempt of its own in the ledger', async () => {
  const slug = await mapped()
  expect((await chat(slug)).status).toBe(200)
  rotate(slug)
  expect((await chat(slug)).status).toBe(200)
  const attempts = await lastAttempts()
  expect(attempts.map(({attempt, status}) => [attempt, status])).toEqual([
    [1, 401],
    [2, 200],
  ])
  expect(attempts.map(({cost_nanousd}) => Number(cost_nanousd) > 0)).toEqual([false, true])
})

const sessions = (slug: string) =>
  rawClient(`${gateway.url}/v1/realtime?model=${encodeURIComponent(`@${slug}/gpt-4o-realtime`)}`, OWN_KEY)
/** Sessions that the provider opens for the key of now; what it refuses another with repeats the key. */
const judgeSessions = () =>
  voice.refuse(({headers}) => {
    const key = headers.authorization?.replace('Bearer ', '') ?? ''
    const body = JSON.stringify({error: {message: `Incorrect API key provided: ${key}`}})
    return key === taken ? null : {status: 401, headers: {'content-type': 'application/json', 'x-key': key}, body}
  })

test('SM6: a session is opened with the new key, at the second attempt', async () => {
  judgeSessions()
  const slug = await mapped('openai', voice.url)
  const first = await sessions(slug)
  expect(first.status).toBe(101)
  first.peer!.socket.destroy()
  rotate(slug)
  const second = await sessions(slug)
  expect(second.status).toBe(101)
  expect(voice.peers.at(-1)!.request.headers.authorization).toBe(`Bearer ${SECOND}`)
  second.peer!.socket.destroy()
  await expect
    .poll(async () => (await lastAttempts()).map(each => [each.attempt, each.status]))
    .toEqual([
      [1, 401],
      [2, 101],
    ])
})

test('SM7: a session that stays refused is passed on, its echo of the key masked, after one fetch', async () => {
  judgeSessions()
  const slug = await mapped('openai', voice.url)
  taken = 'none of ours'
  for (let nth = 0; nth < 2; nth++) {
    const {status, body, headers} = await sessions(slug)
    expect(status).toBe(401)
    expect(body).toContain('Incorrect API key provided: ***')
    expect(JSON.stringify([body, headers])).not.toContain('planted')
  }
  expect(vault.count(`secret/data/${slug}`)).toBe(2)
  const [row] = await gateway.logs()
  expect(row).toMatchObject({response_status_code: 401, cost: 0})
})

test('a virtual key of a workspace is filled from a reference', async () => {
  const slug = await reference()
  const workspace = await mcp.workspace()
  await gateway.admin('POST', '/virtual-keys', {
    ...{
      name: 'Mapped',
      slug: 'mapped-key',
      provider: 'openai',
      workspace_id: workspace.id,
      model_config: {custom_host: provider.url},
    },
    secret_mappings: [{target_field: 'key', secret_reference_id: slug}],
  })
  const reply = await gateway.chat({model: 'gpt-4o', ...HI}, {'x-gateway-virtual-key': 'mapped-key'})
  expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)])
  expect(provider.received.at(-1)!.headers.authorization).toBe(`Bearer ${FIRST}`)
})

/** An MCP server of an integration of the organisation, whose headers are the secret. */
async function mappedTools(slug: string) {
  const workspace = await mcp.workspace()
  await gateway.admin('POST', '/mcp-integrations', {
    ...{name: slug, slug, url: tools.url, auth_type: 'headers', transport: 'http', configurations: {}},
    secret_mappings: [{target_field: 'configurations.custom_headers', secret_reference_id: slug, value_format: 'json'}],
  })
  await gateway.admin('PUT', `/mcp-integrations/${slug}/workspaces`, {workspaces: [{id: workspace.id, enabled: true}]})
  await gateway.admin('POST', '/mcp-servers', {
    ...{name: slug, slug, mcp_integration_id: slug, workspace_id: workspace.id},
  })
}
const judgeTools = () =>
  tools.play({
    other: (answer, {headers}) =>
      headers['x-tool-key'] === taken ? answer.result({content: [{type: 'text', text: 'usual'}]}) : answer.status(401),
  })
const used = (slug: string) => mcp.modernCall(slug, 'tools/call', {name: 'search', arguments: {}})

test('SM6: a tool is called with the new header after the server refused the one before', async () => {
  judgeTools()
  const slug = await reference()
  vault.state.secrets[`secret/${slug}`] = {data: {'x-tool-key': FIRST, 'x-team': 'a'}}
  await mappedTools(slug)
  const first = await used(slug)
  expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('usual')])
  vault.state.secrets[`secret/${slug}`] = {data: {'x-tool-key': SECOND, 'x-team': 'a'}, version: 2}
  taken = SECOND
  expect((await used(slug)).status).toBe(200)
})

test('SM26: a process that was killed left no value: the next one fetches it anew', async () => {
  const slug = await mapped()
  const first = await chat(slug)
  expect([first.status, await first.text()]).toEqual([200, expect.any(String)])
  await gateway.app.flushed()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-killed-'))
  // the files as they are at this moment are what a kill leaves
  cpSync(gateway.folder, folder, {recursive: true})
  rmSync(join(folder, 'server.lock'), {force: true})
  const before = vault.count(`secret/data/${slug}`)
  const next = await startGateway({SECRET_MANAGER_HOSTS: '127.0.0.1', TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}, {folder})
  try {
    expect((await chat(slug, next)).status).toBe(200)
    expect(vault.count(`secret/data/${slug}`) - before).toBe(1)
  } finally {
    await next.close()
    rmSync(folder, {recursive: true, force: true})
  }
})

test('SM8: after the rotation of a service account’s key file the next call mints a token with the new one', async () => {
  const house = await secretHouse(meantFetch({'vault.test': vault}))
  const keyFile = () => ({
    ...{type: 'service_account', client_email: 'robot@project.test', project_id: 'p'},
    private_key: generateKeyPairSync('rsa', {modulusLength: 2048}).privateKey.export({type: 'pkcs8', format: 'pem'}),
  })
  try {
    vault.state.secrets['secret/account'] = {data: keyFile()}
    const login = {vault_auth_type: 'approle', vault_addr: 'https://vault.test', vault_role_id: 'role'}
    await house.reference('account', 'hashicorp_vault', {...login, vault_secret_id: 'hush'}, 'secret/account')
    const target_field = 'configurations.vertex_service_account_json'
    const {calls, logins} = recorded(() => ({body: {access_token: `t-${calls.length}`, expires_in: 3600}}))
    const token = async () => {
      const json = await house.key('account', {target_field, value_format: 'json'})
      const {headers} = await sent('vertex-ai', {
        options: {vertex_service_account_json: JSON.stringify(json)},
        body: {model: 'gemini-2.5-flash', ...HI},
        ...{key: null, logins},
      })
      return headers.authorization
    }
    const first = await token()
    expect(await token()).toBe(first)
    vault.state.secrets['secret/account'] = {data: keyFile(), version: 2}
    house.clock.now_ms += 21 * 60_000
    expect(await token()).not.toBe(first)
    expect(calls.length).toBe(2)
  } finally {
    await house.close()
  }
})

test('SM24: a reference that a workspace may not use is refused at save, and at a call once its right was taken', async () => {
  const slug = await reference()
  const workspace = await mcp.workspace()
  const url = `/secret-references/${slug}`
  await gateway.provider(slug, 'openai', provider.url, {
    ...{key: undefined, secret_mappings: [{target_field: 'key', secret_reference_id: slug}]},
  })
  judgeTools()
  const header = await reference()
  vault.state.secrets[`secret/${header}`] = {data: {'x-tool-key': FIRST, 'x-team': 'a'}}
  await mappedTools(header)
  expect([(await chat(slug)).status, (await used(header)).status]).toEqual([200, 200])
  const other = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Other'})
  const only = {allow_all_workspaces: false, allowed_workspaces: [other.id]}
  await gateway.admin('PUT', url, only)
  await gateway.admin('PUT', `/secret-references/${header}`, only)
  provider.received.length = 0
  expect(await refusalOf(await chat(slug))).toMatchObject({
    ...{status: 500, code: 'secret_unresolvable'},
    message: expect.stringContaining('not open to this workspace'),
  })
  expect(provider.received).toEqual([])
  const tool = await (await used(header)).text()
  expect(tool).toContain('not open to this workspace')
  const post = await gateway.app.inject({
    ...{method: 'POST', url: '/v1/virtual-keys'},
    body: {
      ...{name: 'late', provider: 'openai', workspace_id: workspace.id},
      secret_mappings: [{target_field: 'key', secret_reference_id: slug}],
    },
  })
  expect([post.status, JSON.stringify(post.body)]).toEqual([404, expect.stringContaining('secret_reference_id')])
})
