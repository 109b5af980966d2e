import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json, openaiLike} from '../support/provider.ts'
import {forRing} from '../support/ring.ts'
import {type VaultDouble, vaultDouble} from '../support/secret-managers/vault.ts'

const HI = {messages: [{role: 'user', content: 'Hi'}]}
const FIRST = 'sk-planted-first-0123456789'
const SECOND = 'sk-planted-second-987654321'

let gateway: TestGateway
let provider: FakeProvider
let vault: VaultDouble
/** Keys that the provider takes. */
let taken: Set<string>
beforeAll(async () => {
  vault = await vaultDouble()
  provider = await fakeProvider()
  gateway = await startGateway({SECRET_MANAGER_HOSTS: '127.0.0.1', TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
}, 120_000)
afterAll(async () => {
  await gateway.close()
  await provider.close()
  await vault.close()
})
beforeEach(() => {
  vault.state.always = null
  vault.state.sealed = false
  taken = new Set([FIRST, SECOND])
  provider.received.length = 0
  provider.answer((request: Heard, response) => {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (taken.has(key)) return openaiLike(request, response)
    json(response, {error: {message: `Incorrect API key provided: ${key}`, code: 'invalid_api_key'}}, 401)
  })
})

let made = 0
/** A provider whose key is in the vault; gives its slug, and the path of the secret. */
async function mapped(
  data: Record<string, unknown>,
  {mapping = {}, body = {}}: {mapping?: object; body?: object} = {},
) {
  const slug = `mapped-${++made}`
  vault.state.secrets[`secret/${slug}`] = {data}
  await gateway.admin('POST', '/secret-references', {
    ...{name: slug, slug, manager_type: 'hashicorp_vault', secret_path: `secret/${slug}`},
    auth_config: {
      ...{vault_auth_type: 'approle', vault_addr: vault.url, vault_role_id: 'role', vault_secret_id: 'hush'},
    },
  })
  await gateway.provider(slug, 'openai', provider.url, {
    key: undefined,
    secret_mappings: [{target_field: 'key', secret_reference_id: slug, ...mapping}],
    ...body,
  })
  return slug
}
const chat = (slug: string, more: object = {}) => gateway.chat({model: `@${slug}/gpt-4o`, ...HI, ...more})
const rotate = (slug: string, key: string, version = 2) => {
  vault.state.secrets[`secret/${slug}`] = {data: {key}, version}
}

test('SM22: a mapped key makes a key unneeded, and is shown by no reply', async () => {
  const slug = await mapped({key: FIRST})
  expect((await chat(slug)).status).toBe(200)
  expect(provider.received.at(-1)!.headers.authorization).toBe(`Bearer ${FIRST}`)
  const shown = JSON.stringify(await gateway.admin('GET', `/integrations/${slug}`))
  expect(shown).toContain('secret_mappings')
  expect(shown).not.toContain('planted')
  const tested = await gateway.admin('POST', `/secret-references/${slug}/test`, {})
  expect(tested).toMatchObject({slug, reachable: true, allowed: true, key_present: null, error: null, version: '1'})
})

describe('SM6: after a rotation the call is repeated once with the new key', () => {
  test.each([
    ['a whole answer', {}],
    ['a stream', {stream: true}],
  ])('%s', async (_, more) => {
    const slug = await mapped({key: FIRST})
    expect((await chat(slug)).status).toBe(200)
    rotate(slug, SECOND)
    taken.delete(FIRST)
    const reply = await chat(slug, more)
    expect([reply.status, (await reply.text()).length > 0]).toEqual([200, true])
    const [last] = await gateway.logs()
    expect(last).toMatchObject({response_status_code: 200})
    const sent = provider.received.map(({headers}) => headers.authorization)
    expect(sent).toEqual([`Bearer ${FIRST}`, `Bearer ${FIRST}`, `Bearer ${SECOND}`])
  })
})

test('SM7: a provider that keeps refusing is passed on, its echo of the key masked', async () => {
  const slug = await mapped({key: FIRST})
  expect((await chat(slug)).status).toBe(200)
  taken.clear()
  const before = vault.count(`secret/data/${slug}`)
  for (let nth = 0; nth < 3; nth++) {
    const reply = await chat(slug)
    const text = await reply.text()
    expect(reply.status).toBe(401)
    expect(text).not.toContain(FIRST)
    expect(text).toContain('Incorrect API key provided: ***')
  }
  expect(vault.count(`secret/data/${slug}`) - before).toBe(1)
})

test('SM20: a key that is missing is 500 secret_unresolvable, with reference and key, and nothing leaves', async () => {
  const slug = await mapped({key: FIRST}, {mapping: {secret_key: 'api_key'}})
  const reply = await chat(slug)
  const {error} = (await reply.json()) as {error: {message: string; code: string}}
  expect([reply.status, error.code]).toEqual([500, 'secret_unresolvable'])
  expect(error.message).toContain(slug)
  expect(error.message).toContain('"api_key"')
  expect(provider.received).toEqual([])
})

test('a target that the kind does not have is refused when it is saved, one that it needs may be mapped', async () => {
  const reference = await mapped({key: FIRST})
  const post = (body: object) => gateway.app.inject({method: 'POST', url: '/v1/integrations', body})
  const aws = {aws_auth_type: 'accessKey', aws_region: 'eu-west-1', aws_access_key_id: 'AKID'}
  const secret = (name: string) => [{target_field: `configurations.${name}`, secret_reference_id: reference}]
  const body = {name: 'AWS', ai_provider_id: 'bedrock', configurations: aws}
  expect((await post({...body, secret_mappings: secret('aws_secret_access_key')})).status).toBe(200)
  expect((await post(body)).status).toBe(400)
  expect((await post({...body, secret_mappings: secret('aws_secret_word')})).status).toBe(400)
})

test('SM14: a path that no key vault has is refused when it is saved', async () => {
  const auth_config = {azure_auth_mode: 'managed', azure_vault_url: 'https://house.vault.azure.net'}
  const body = {name: 'Vault', manager_type: 'azure_kv', auth_config, secret_path: 'team/app'}
  const reply = await gateway.app.inject({method: 'POST', url: '/v1/secret-references', body})
  expect([reply.status, JSON.stringify(reply.body)]).toEqual([400, expect.stringContaining('secret_path')])
})

test('SM13: a metadata service stays closed as a custom host', async () => {
  const body = {name: 'M', ai_provider_id: 'openai', key: 'k', configurations: {custom_host: 'http://169.254.169.254'}}
  expect((await gateway.app.inject({method: 'POST', url: '/v1/integrations', body})).status).toBe(400)
})

test('a change of the reference is used by the next call', async () => {
  const slug = await mapped({key: FIRST})
  await chat(slug)
  vault.state.secrets['secret/other'] = {data: {key: SECOND}}
  await gateway.admin('PUT', `/secret-references/${slug}`, {secret_path: 'secret/other'})
  expect((await chat(slug)).status).toBe(200)
  expect(provider.received.at(-1)!.headers.authorization).toBe(`Bearer ${SECOND}`)
})

test('a target that cannot be opened is one that failed: the plan goes on with the next', async () => {
  const broken = await mapped({key: FIRST}, {mapping: {secret_key: 'none'}})
  const good = await mapped({key: SECOND})
  const targets = [{provider: `@${broken}`}, {provider: `@${good}`}]
  const config = JSON.stringify({strategy: {mode: 'fallback'}, targets})
  const reply = await gateway.chat({model: 'gpt-4o', ...HI}, {'x-gateway-config': config})
  expect(reply.status).toBe(200)
})

const CALLS = forRing({own: 200, ci: 1_000, full: 5_000})
test(`a rotation under load: of ${CALLS} calls none fails`, async () => {
  const slug = await mapped({key: FIRST})
  await chat(slug)
  const statuses: number[] = []
  for (let sent = 0; sent < CALLS; sent += 50) {
    if (sent === 100) {
      rotate(slug, SECOND)
      taken.delete(FIRST)
    }
    const all = Array.from({length: 50}, async () => {
      const reply = await chat(slug)
      await reply.text()
      statuses.push(reply.status)
    })
    await Promise.all(all)
  }
  expect(statuses.filter(status => status !== 200)).toEqual([])
  expect(vault.count(`secret/data/${slug}`)).toBeLessThanOrEqual(3)
}, 120_000)

test('SM25: a planted value, long or short, is nowhere: data directory, log, errors, explain, metrics', async () => {
  const short = 'pw42'
  const slug = await mapped({key: FIRST, short}, {mapping: {secret_key: 'key'}})
  const other = await mapped({short}, {mapping: {value_format: 'json'}})
  const texts = [
    await (await chat(slug)).text(),
    await (await chat(other)).text(),
    JSON.stringify(
      await gateway.app.inject({
        method: 'GET',
        url: '/v1/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2030-01-01T00:00:00Z',
      }),
    ),
    await (await fetch(`${gateway.url}/metrics`)).text(),
    ...gateway.lines,
  ]
  taken.clear()
  texts.push(await (await chat(slug)).text())
  const explained = await gateway.app.inject({
    method: 'POST',
    url: '/v1/admin/explain',
    body: {request: {path: '/v1/chat/completions', body: {model: `@${slug}/gpt-4o`, ...HI}}},
  })
  texts.push(JSON.stringify(explained))
  await gateway.app.flushed()
  const files = filesIn(gateway.folder).map(file => readFileSync(file, 'latin1'))
  for (const text of [...texts, ...files])
    for (const secret of [FIRST, SECOND, 'planted-first', `"${short}"`]) expect(text.includes(secret)).toBe(false)
})

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })
}
