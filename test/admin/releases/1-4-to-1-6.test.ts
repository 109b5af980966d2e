import {expect, onTestFinished} from 'vitest'
import {createLog} from '../../../src/base/log.ts'
import {readLetters} from '../../../src/ports/mail/mail-templates.ts'
import {readSettings, SettingsFault} from '../../../src/settings/index.ts'
import {alertRecipients} from '../../../src/workers/alert-mail.ts'
import {keyExpiryJob} from '../../../src/workers/key-expiry.ts'
import {POSTGRES} from '../../settings/support.ts'
import {startAdmin} from '../../support/admin.ts'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {fact} from './facts.ts'
import {opened} from './support.ts'

const {ask, ok, gateway, home, key, workspace, person, chat} = opened()
const by = (team: string) => ({headers: {'x-gateway-metadata': JSON.stringify({team})}})

fact('1.4.0', 'email branding env', () => {
  const env = {
    SMTP_HOST: 'mail.example.com',
    SMTP_FROM: 'gateway@example.com',
    EMAIL_COMPANY_NAME: 'Example & Sons',
    EMAIL_LOGO_URL: 'https://example.com/logo.png',
    EMAIL_SUPPORT_EMAIL: 'help@example.com',
    EMAIL_DOCS_URL: 'https://example.com/docs',
  }
  const {email_company_name, email_logo_url, email_support_email, email_docs_url} = readSettings({env}).settings
  const shared = {
    company_name: email_company_name,
    logo_url: email_logo_url,
    support_email: email_support_email,
    docs_url: email_docs_url,
  }
  const {plain, html} = readLetters(undefined, shared)('apikey-usage-exhausted-alert', {
    kind: 'API key',
    name: 'blue',
    used: '1',
    limit: '1',
  })
  expect(plain).toContain('Example & Sons')
  for (const word of [env.EMAIL_LOGO_URL, env.EMAIL_SUPPORT_EMAIL, env.EMAIL_DOCS_URL]) expect(html).toContain(word)
})

fact('1.4.0', 'deployments create/list/get/update', async () => {
  const {id, slug} = await ok('POST', '/deployments', {name: 'Europe', type: 'production'})
  expect((await ok('GET', '/deployments')).data).toContainEqual(expect.objectContaining({id}))
  await ok('PUT', `/deployments/${id}`, {name: 'North'})
  expect(await ok('GET', `/deployments/${slug}`)).toMatchObject({id, name: 'North'})
})

const cover = (team: string) => ({
  workspace_id: home().id,
  conditions: [{key: 'metadata.team', value: team}],
  group_by: [{key: 'api_key'}],
})

fact('1.5.0', 'policy APIs', async () => {
  const kinds = {
    'usage-limits': [{type: 'cost', credit_limit: 5}, {credit_limit: 6}],
    'rate-limits': [{type: 'requests', unit: 'rpm', value: 5}, {value: 6}],
  } as const
  for (const [kind, [terms, change]] of Object.entries(kinds)) {
    const path = `/policies/${kind}`
    const {id} = await ok('POST', path, {...cover('policed'), ...terms})
    expect((await ok('GET', path)).data).toContainEqual(expect.objectContaining({id, ...terms}))
    await ok('PUT', `${path}/${id}`, change)
    expect(await ok('GET', `${path}/${id}`)).toMatchObject({id, ...terms, ...change})
    expect(await ok('DELETE', `${path}/${id}`)).toEqual({})
    expect((await ask('GET', `${path}/${id}`)).code).toBe('AB08')
  }
})

/** The id of the log's newest row after a call. */
async function logged(): Promise<{id: string; created_at: string}> {
  await chat()
  await gateway().app.flushed()
  return (await ok('GET', '/logs?page_size=1')).data[0]
}

fact('1.5.0', 'log-path-format column', async () => {
  expect(await logged()).toMatchObject({log_store_file_path_format: expect.stringMatching(/^v[12]$/)})
})

fact('1.5.1', 'logs readable by path format', async () => {
  const {id, created_at} = await logged()
  for (const query of ['', '?path_format=v1', `?path_format=v2&created_at=${created_at}`])
    expect(await ok('GET', `/logs/${id}${query}`)).toMatchObject({
      request: expect.anything(),
      response: expect.anything(),
    })
  expect((await ask('GET', `/logs/${id}?path_format=v3`)).code).toBe('AB01')
})

fact('1.5.1', 'workspace delete cleans its integrations', async () => {
  const {id} = await workspace({name: 'Going'})
  const integration = {
    name: 'Its own',
    slug: 'its-own',
    ai_provider_id: 'openai',
    key: 'sk-0123456789',
    workspace_id: id,
  }
  await ok('POST', '/integrations', integration)
  await ok('DELETE', `/admin/workspaces/${id}`, {name: 'Going', force_delete: true})
  expect((await ask('GET', '/integrations/its-own')).code).toBe('AB08')
  expect((await ask('POST', '/integrations', {...integration, workspace_id: home().id})).status).toBe(200)
})

fact('1.6.0', 'SCIM group mapping', async () => {
  const mapping = {workspace_id: home().slug, role: 'manager', scim_group_name: 'Engineers'}
  const {id, scim_group_id} = await ok('POST', '/scim/workspaces', mapping)
  expect(await ok('POST', '/scim/workspaces', {...mapping, scim_group_name: undefined, scim_group_id})).toMatchObject({
    id,
  })
  expect((await ok('GET', '/scim/workspaces')).mappings).toMatchObject([
    {id, workspace_id: home().id, role: 'manager', scim_group: 'Engineers'},
  ])
  expect(await ok('DELETE', `/scim/workspaces/${id}`)).toEqual({success: true})
  expect(await ok('GET', '/scim/workspaces')).toEqual({mappings: [], total_count: 0})
})

fact('1.6.0', 'archived policies skipped', async () => {
  const {id} = await ok('POST', '/policies/rate-limits', {...cover('skipped'), type: 'requests', unit: 'rpd', value: 0})
  expect((await chat('Hello', by('skipped'))).status).toBe(429)
  await ok('DELETE', `/policies/rate-limits/${id}`)
  expect((await chat('Hello', by('skipped'))).status).toBe(200)
})

fact('1.6.1', 'request-params guardrail', async () => {
  const parameters = {params: {blockedKeys: ['temperature']}}
  const checks = [{id: 'default.requestParametersCheck', parameters}]
  const {slug} = await ok('POST', '/guardrails', {
    name: 'Parameters',
    workspace_id: home().id,
    checks,
    actions: {deny: true},
  })
  const headers = {'x-gateway-config': JSON.stringify({input_guardrails: [slug]})}
  expect((await chat('Hello', {headers})).status).toBe(200)
  expect((await chat('Hello', {headers, temperature: 1})).status).toBe(446)
})

fact('1.6.1', 'manager cannot add higher role', async () => {
  const manager = await person('manager@example.com', 'member', 'manager')
  const guest = await person('guest@example.com', 'member')
  const add = (role: string) =>
    ask('POST', `/admin/workspaces/${home().id}/users`, {users: [{id: guest.id, role}]}, manager.token)
  expect(await add('admin')).toMatchObject({
    status: 403,
    code: 'AB03',
    message: expect.stringContaining('the role admin is above your own'),
  })
  expect((await add('manager')).status).toBe(200)
})

fact('1.6.1', '/spans aggregates total tokens', async () => {
  const headers = {'x-gateway-trace-id': 'trace-of-spans'}
  await chat('One', {headers})
  await chat('One two', {headers})
  await gateway().app.flushed()
  const {total, summary, data} = await ok('GET', '/spans?trace_id=trace-of-spans', undefined, WORKSPACE_KEY)
  const tokens = data.map(
    ({total_tokens, total_units = total_tokens}: {total_tokens?: number; total_units?: number}) => total_units,
  )
  expect([total, summary.requests]).toEqual([2, 2])
  expect(summary.total_tokens).toBeGreaterThan(0)
  expect(summary.total_tokens).toBe(tokens.reduce((sum: number, each: number) => sum + each, 0))
})

fact('1.6.1', 'SCIM role case', async () => {
  const {id} = await ok('POST', '/scim/workspaces', {
    workspace_id: home().id,
    role: 'Member',
    scim_group_name: 'Guests',
  })
  expect((await ok('GET', '/scim/workspaces?role=MEMBER')).mappings).toMatchObject([{id, role: 'member'}])
  expect(
    (await ask('POST', '/scim/workspaces', {workspace_id: home().id, role: 'boss', scim_group_name: 'X'})).code,
  ).toBe('AB01')
})

fact('1.6.2', 'expired status worker', async () => {
  const admin = await startAdmin()
  onTestFinished(() => admin.close())
  const expires_at = '2026-03-04T06:00:00.000Z'
  const {id} = await admin.seedKey(admin, {expires_at})
  const status = async () =>
    (await admin.store.db.selectFrom('api_keys').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status
  const log = createLog('info', 'gateway', () => {})
  const job = keyExpiryJob({store: admin.store, log, recipientsOf: alertRecipients, write: undefined, audits: true})
  const at = (time: string) => job.run({now_ms: Date.parse(time), lost: new AbortController().signal})
  await at('2026-03-04T05:59:59.000Z')
  expect(await status()).toBe('active')
  await at(expires_at)
  expect(await status()).toBe('expired')
})

fact('1.6.2', 'DB_SSL modes', () => {
  const read = (DB_SSL: string) => readSettings({env: {...POSTGRES, DB_SSL}}).settings.db_ssl
  for (const mode of ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'])
    expect(read(mode)).toBe(mode)
  expect(() => read('SOMETIMES')).toThrow(SettingsFault)
})

fact('1.6.2', 'scope validation on keys', async () => {
  const make = (scopes: unknown, path = 'workspace/service') =>
    ask('POST', `/api-keys/${path}`, {name: 'K', workspace_id: home().id, scopes})
  expect(await make(['completions.wirte'])).toMatchObject({
    status: 400,
    code: 'AB01',
    message: 'scopes[0]: there is no scope completions.wirte, did you mean completions.write?',
  })
  expect(await make(['audit_logs.list'])).toMatchObject({
    status: 400,
    code: 'AB01',
    message: expect.stringContaining('cannot hold audit_logs.list'),
  })
  expect((await make(undefined)).message).toContain('scopes: is required')
  const {id} = await key()
  expect(await ask('PUT', `/api-keys/${id}`, {scopes: ['secret_references.list']})).toMatchObject({
    status: 400,
    code: 'AB01',
  })
})
