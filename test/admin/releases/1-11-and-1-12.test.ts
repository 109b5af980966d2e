import {expect} from 'vitest'
import {type AlertMark, type BudgetStanding, crossedThresholds} from '../../../src/limits/thresholds.ts'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {fact} from './facts.ts'
import {opened} from './support.ts'

const {ask, ok, gateway, home, key, workspace, person, chat} = opened()
const set = (security: object) => ok('PUT', '/admin/organisation', {settings: {security}})
const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const time = `time_of_generation_min=${at(-1)}&time_of_generation_max=${at(1)}`

fact('1.11.0', 'data visibility', async () => {
  const member = await person('sees@example.com', 'member', 'member')
  const body = {name: 'Mine', workspace_id: home().id, user_id: member.id, scopes: ['completions.write', 'logs.list']}
  const {key: own} = await ok('POST', '/api-keys/workspace/user', body)
  await chat('Mine', {key: own})
  await chat('Of a service')
  await gateway().app.flushed()
  const totals = () =>
    Promise.all(
      [member.token, own, WORKSPACE_KEY].map(
        async token => (await ok('GET', '/logs', undefined, token)).total as number,
      ),
    )
  const [all, also_all, services] = await totals()
  expect([all, also_all]).toEqual([services, services])
  await set({data_visibility: {membersViewAllData: false}})
  expect(await totals()).toEqual([1, 1, services])
  await set({data_visibility: null})
})

fact('1.11.0', 'alert reset rules', () => {
  const used: BudgetStanding = {scope: 'key/k/cost', used: 9n, credit_limit: 9n, alert_threshold: 5n, since_ms: 0}
  const response = (standing: BudgetStanding, before: AlertMark | null) =>
    crossedThresholds(standing, before).crossings.map(({kind}) => kind)
  const {mark} = crossedThresholds(used, null)
  expect(response(used, null)).toEqual(['threshold', 'exhausted'])
  expect(response(used, mark)).toEqual([])
  // the limit raised: both alerts are armed again
  expect(response({...used, credit_limit: 10n}, mark)).toEqual(['threshold'])
  // the threshold raised, or taken away and set again: its own alone
  expect(response({...used, alert_threshold: 6n}, mark)).toEqual(['threshold'])
  const without = crossedThresholds({...used, alert_threshold: null}, mark)
  expect([without.crossings, response(used, without.mark)]).toEqual([[], ['threshold']])
  // begun anew: both
  expect(response({...used, since_ms: 1}, mark)).toEqual(['threshold', 'exhausted'])
})

fact('1.11.1', 'empty workspaces array with override', async () => {
  const {slug} = await ok('POST', '/integrations', {
    name: 'Emptied',
    slug: 'emptied',
    ai_provider_id: 'openai',
    key: 'sk-0123456789',
  })
  await ok('PUT', `/integrations/${slug}/workspaces`, {workspaces: [{id: home().id, enabled: true}]})
  expect((await ask('PUT', `/integrations/${slug}/workspaces`, {workspaces: []})).code).toBe('AB01')
  await ok('PUT', `/integrations/${slug}/workspaces`, {workspaces: [], override_existing_workspace_access: true})
  const {workspaces} = await ok('GET', `/integrations/${slug}/workspaces`)
  expect(workspaces.filter(({enabled}: {enabled: boolean}) => enabled)).toEqual([])
})

fact('1.11.1', 'workspace limit check uses current usage', async () => {
  const {id} = await workspace({usage_limits: [{type: 'tokens', credit_limit: 1_000_000}]})
  const {key: there} = await key({}, id)
  const status = async () => (await chat('Hello', {key: there})).status
  expect(await status()).toBe(200)
  await ok('PUT', `/admin/workspaces/${id}`, {usage_limits: [{type: 'tokens', credit_limit: 1}]})
  expect(await status()).toBe(412)
})

fact('1.11.2', 'groups/{groupBy}+columns', async () => {
  await chat()
  await gateway().app.flushed()
  const groups = ['ai_service', 'model', 'status_code', 'api_key', 'config', 'workspace', 'provider', 'prompt']
  for (const path of ['/analytics/groups', '/logs/groups'])
    for (const group of groups) {
      const {data} = await ok('GET', `${path}/${group}?${time}`)
      // the name beside an id is ours
      const keys = Object.keys(data[0]).filter(key => key !== 'name')
      expect(keys.toSorted()).toEqual([group, 'object', 'requests'].toSorted())
    }
  const {data} = await ok('GET', `/analytics/groups/model?${time}&columns=cost,p95_latency,last_seen`)
  expect(Object.keys(data[0]).toSorted()).toEqual(['cost', 'last_seen', 'model', 'object', 'p95_latency', 'requests'])
  expect((await ask('GET', `/analytics/groups/colour?${time}`)).code).toBe('AB01')
  expect((await ask('GET', `/analytics/groups/model?${time}&columns=colour`)).code).toBe('AB01')
})

fact('1.11.2', 'workspace status filter', async () => {
  const old = await workspace({name: 'Old'})
  await ok('DELETE', `/admin/workspaces/${old.id}`, {name: 'Old', force_delete: true})
  const ids = async (status: string) =>
    (await ok('GET', `/workspaces?status=${status}&page_size=100`)).data.map(({id}: {id: string}) => id)
  expect(await ids('archived')).toEqual([old.id])
  expect(await ids('active')).not.toContain(old.id)
  expect(await ids('active,archived')).toEqual(expect.arrayContaining([old.id, home().id]))
})

fact('1.11.2', 'default provider fields on integration create', async () => {
  const make = (slug: string, more: object) =>
    ok('POST', '/integrations', {
      name: slug,
      slug,
      ai_provider_id: 'openai',
      key: 'sk-0123456789',
      workspace_id: home().id,
      ...more,
    })
  await make('with-default', {create_default_provider: true, default_provider_slug: 'made-with-it'})
  await make('without-default', {create_default_provider: false})
  const {data} = await ok('GET', `/providers?workspace_id=${home().id}`)
  const slugs = data.map(({slug}: {slug: string}) => slug)
  expect(slugs).toContain('made-with-it')
  expect(slugs.filter((slug: string) => slug.includes('-default'))).toEqual([])
})

fact('1.11.2', 'prompt patch', async () => {
  const {id: collection_id} = await ok('POST', '/collections', {name: 'Patched', workspace_id: home().id})
  const string = JSON.stringify([{role: 'user', content: 'Hi'}])
  const body = {collection_id, string, parameters: {temperature: 1}, model: 'echo', virtual_key: 'demo'}
  const {slug} = await ok('POST', '/prompts', {name: 'Patched', ...body})
  expect((await ask('PUT', `/prompts/${slug}`, {model: 'other'})).code).toBe('AB01')
  await ok('PUT', `/prompts/${slug}`, {model: 'other', patch: true})
  expect(await ok('GET', `/prompts/${slug}?version=latest`)).toMatchObject({
    string,
    model: 'other',
    parameters: {temperature: 1},
  })
})

fact('1.11.2', 'azure_entra_scope', async () => {
  const configurations = {
    ...{azure_auth_mode: 'entra', azure_foundry_url: 'https://res.services.ai.azure.com'},
    ...{azure_entra_tenant_id: 't', azure_entra_client_id: 'c', azure_entra_client_secret: 'secret-0123456789'},
    azure_entra_scope: 'api://ours/.default',
  }
  const config = {provider: 'azure-openai', azure_entra_scope: 'api://ours/.default'}
  const {data} = await ok('POST', '/configs', {name: 'Scoped', workspace_id: home().id, config})
  expect((await ok('GET', `/configs/${data.slug}`)).data.config).toEqual(config)
  const body = {name: 'Scoped', slug: 'scoped', ai_provider_id: 'azure-ai', configurations}
  const {slug} = await ok('POST', '/integrations', body)
  expect((await ok('GET', `/integrations/${slug}`)).configurations).toMatchObject({
    azure_entra_scope: 'api://ours/.default',
  })
})

fact('1.12.0', 'secret references + mappings', async () => {
  const auth_config = {vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: 'hvs.0123456789'}
  const reference = {
    name: 'Key',
    slug: 'openai-key',
    manager_type: 'hashicorp_vault',
    secret_path: 'kv/data/openai',
    auth_config,
  }
  const {id} = await ok('POST', '/secret-references', reference)
  const shown = await ok('GET', '/secret-references/openai-key')
  expect(shown.auth_config).toEqual({
    ...auth_config,
    vault_token: undefined,
    masked_vault_token: expect.not.stringContaining('0123456789'),
  })
  const secret_mappings = [{target_field: 'key', secret_reference_id: 'openai-key'}]
  const kept = [{target_field: 'key', secret_reference_id: id}]
  await ok('POST', '/integrations', {name: 'Mapped', slug: 'mapped', ai_provider_id: 'openai', secret_mappings})
  expect((await ok('GET', '/integrations/mapped')).secret_mappings).toEqual(kept)
  const virtual_key = {name: 'Mapped', slug: 'mapped-too', provider: 'openai', workspace_id: home().id, secret_mappings}
  await ok('POST', '/virtual-keys', virtual_key)
  expect((await ok('GET', '/virtual-keys/mapped-too')).secret_mappings).toEqual(kept)
  expect(await ask('DELETE', `/secret-references/${id}`)).toMatchObject({status: 400, code: 'AB01'})
})

fact('1.12.0', 'AI-guard guardrail', async () => {
  const save = (parameters: object) =>
    ask('POST', '/guardrails', {
      name: 'AI guard',
      workspace_id: home().id,
      checks: [{id: 'zscaler.guard', parameters}],
      actions: {deny: true},
    })
  const credentials = {apiKey: 'k-0123456789'}
  expect((await save({policyId: '7', timeout: 10_000, credentials})).status).toBe(200)
  expect(await save({credentials})).toMatchObject({
    status: 400,
    code: 'AB01',
    message: expect.stringContaining('policyId'),
  })
})

fact('1.12.0', 'archived workspaces in analytics for admins', async () => {
  const old = await workspace({name: 'Of before'})
  const {key: there} = await key({}, old.id)
  await chat('Hello', {key: there})
  await gateway().app.flushed()
  await ok('DELETE', `/admin/workspaces/${old.id}`, {name: 'Of before', force_delete: true})
  const admin = await person('sees-archived@example.com', 'admin')
  const member = await person('sees-none@example.com', 'member', 'admin')
  const graph = (token: string) =>
    ask('GET', `/analytics/graphs/requests?${time}&workspace_slug=${old.slug}`, undefined, token)
  expect((await graph(admin.token)).body.summary).toEqual({total: 1})
  expect((await graph(member.token)).status).not.toBe(200)
})

fact('1.12.0', 'saved filters take slugs', async () => {
  const filters = {status_code: '429'}
  const {id} = await ok('POST', '/saved-filters', {name: 'Refused', filters, workspace_id: home().slug})
  expect(await ok('GET', `/saved-filters/${id}`)).toMatchObject({workspace_id: home().id, workspace_slug: home().slug})
  expect((await ok('GET', `/saved-filters?workspace_id=${home().slug}`)).data).toMatchObject([{id}])
})

fact('1.12.0', 'log_format in get-log', async () => {
  await chat()
  await gateway().app.flushed()
  const [row] = (await ok('GET', '/logs?page_size=1')).data
  expect(await ok('GET', `/logs/${row.id}`)).toMatchObject({log_format: expect.stringMatching(/^v[12]$/)})
})
