import {policyEntityId} from '../../../src/schema/policy-entities.ts'
import type {Db} from '../../../src/store/database.ts'
import {insertLog} from '../../support/logs.ts'
import {type Inject, LOG, MAPPING, POLICY, SESSION, THING} from './names.ts'

const GUARDRAIL = {
  checks: [{id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}],
  actions: {deny: true},
}
const PRICE = {pricing_config: {pay_as_you_go: {request_token: {price: 0.0001}, response_token: {price: 0.0004}}}}
const TERMS = {conditions: [{key: 'metadata._user', value: '*'}], group_by: [{key: 'metadata._user'}]}
const CONNECTIONS = [
  {name: 'entra', type: 'oidc', oidc: {issuer: 'https://login.example.com/tenant/v2.0', client_id: 'gateway'}},
  {name: 'adfs', type: 'saml', saml: {metadata_url: 'https://adfs.example.com/metadata.xml'}},
  {name: 'house', type: 'ldap', ldap: {url: 'ldaps://ldap.example.com', user_base: 'dc=example,dc=com'}},
]
const CAPABILITY = JSON.stringify({
  ...{title: null, description: 'Deletes a page', icons: null, input_schema: null, output_schema: null},
  ...{execution: null, annotations: null, arguments: null, uri: null, uri_template: null, mime_type: null, size: null},
})
const NOW = new Date().toISOString()

/** Makes everything that examples name. */
export async function fill(inject: Inject) {
  const made = (path: string, body: object) => inject('POST', path, body)
  const {id: organisation_id} = await inject('GET', '/admin/organisation')
  const archived = await made('/admin/workspaces', {name: 'Old', slug: 'ws-research-1a2b3c'})
  await inject('DELETE', '/admin/workspaces/ws-research-1a2b3c', {name: 'Old'})
  void archived
  for (const email of ['ada@example.com', 'bob@example.com', 'owner@example.com'])
    await made('/operator/users', {email, role: email.startsWith('owner') ? 'owner' : 'member'})
  const {data} = (await inject('GET', '/admin/users')) as {data: {id: string; email: string}[]}
  const idOf = (email: string) => data.find(each => each.email === email)!.id
  await made('/admin/workspaces/research/users', {users: [{id: idOf('ada@example.com'), role: 'member'}]})
  await made('/operator/sessions', {email: 'ada@example.com', ttl_s: 3600})
  await made('/operator/domains', {domain: 'example.com'})
  await made('/admin/organisation/scim-tokens', {name: 'directory'})
  await made('/mcp-oauth-clients', {name: 'House assistant', redirect_uris: ['https://assistant.example.com/callback']})
  await inject('PUT', '/admin/organisation/auth', {sso: {connections: CONNECTIONS}})
  await made('/operator/identities', {email: 'ada@example.com', subject: 'ada', issuer: 'https://login.example.com'})
  await made('/admin/users/invites', {
    email: 'eve@example.com',
    role: 'member',
    workspaces: [{id: 'research', role: 'member'}],
  })
  await made('/scim/workspaces', {workspace_id: 'research', role: 'member', scim_group_name: 'Sales team'})
  await made('/api-keys/workspace/service', {name: 'blue', workspace_id: 'research', scopes: ['completions.write']})
  await made('/integrations', {
    name: 'Shared',
    slug: 'shared-openai',
    ai_provider_id: 'openai',
    key: 'sk-shared-0123456789',
    create_default_provider: false,
  })
  await inject('PUT', '/integrations/shared-openai/workspaces', {
    workspaces: [{id: 'research', enabled: true}],
    create_default_provider: false,
  })
  const tune = {slug: 'my-tune', enabled: true, is_custom: true, base_model_slug: 'gpt-4o'}
  await inject('PUT', '/integrations/shared-openai/models', {models: [tune], allow_all_models: true})
  await made('/providers', {name: 'Mine', slug: 'my-openai', integration_id: 'shared-openai', workspace_id: 'research'})
  await made('/virtual-keys', {
    name: 'Old',
    slug: 'old-openai',
    provider: 'openai',
    key: 'sk-old-0123456789',
    workspace_id: 'research',
  })
  await made('/configs', {
    name: 'Main',
    slug: 'pc-main-1a2b3c',
    workspace_id: 'research',
    config: {provider: '@my-openai'},
  })
  await made('/guardrails', {name: 'House', slug: 'pg-house-1a2b3c', organisation_id, ...GUARDRAIL})
  const of_tools = {name: 'Tools', slug: 'pg-tools-1a2b3c', target: 'mcp_tools', organisation_id}
  await made('/guardrails', {...of_tools, ...GUARDRAIL})
  await made('/secret-references', {
    name: 'Vault',
    slug: 'vault-mcp',
    manager_type: 'hashicorp_vault',
    auth_config: {vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: 'hvs.0123456789'},
    secret_path: 'secret/mcp',
  })
  const mcp = {url: 'https://mcp.example.com/mcp', auth_type: 'headers', transport: 'http'}
  await made('/mcp-integrations', {name: 'House', slug: 'house-docs', ...mcp})
  await inject('PUT', '/mcp-integrations/house-docs/workspaces', {workspaces: [{id: 'research', enabled: true}]})
  await made('/mcp-servers', {name: 'Docs', slug: 'docs', mcp_integration_id: 'house-docs', workspace_id: 'research'})
  const book = {name: 'Handbook', slug: 'handbook', mcp_integration_id: 'house-docs', workspace_id: 'research'}
  await made('/mcp-servers', book)
  const virtual = {tools: [{server: 'handbook', tool: 'search'}]}
  await made('/mcp-servers', {name: 'Desk', slug: 'desk', virtual, workspace_id: 'research'})
  await made('/deployments', {name: 'EU', slug: 'eu-1', type: 'production'})
  await made('/labels', {name: 'canary', workspace_id: 'research'})
  await made('/collections', {name: 'Support', slug: 'support-1a2b3c', workspace_id: 'research'})
  await made('/collections', {name: 'Rules', slug: 'rules-1a2b3c', workspace_id: 'research'})
  await made('/prompts/partials', {
    name: 'Rules',
    slug: 'pp-rules-1a2b3c',
    workspace_id: 'research',
    string: 'Be kind.',
  })
  await inject('PUT', '/prompts/partials/pp-rules-1a2b3c', {string: 'Be brief.'})
  const string = JSON.stringify([{role: 'user', content: 'Hi {{name}}'}])
  const prompt = {
    name: 'Greeting',
    slug: 'pp-greeting-1a2b3c',
    collection_id: 'rules-1a2b3c',
    string,
    parameters: {},
    virtual_key: 'my-openai',
    model: 'gpt-4o-mini',
  }
  await made('/prompts', prompt)
  for (const temperature of [0, 1])
    await inject('PUT', '/prompts/pp-greeting-1a2b3c', {patch: true, parameters: {temperature}})
  const home = {workspace_id: 'research'}
  await made('/policies/usage-limits', {...TERMS, ...home, type: 'cost', credit_limit: 5})
  await made('/policies/rate-limits', {...TERMS, ...home, type: 'requests', unit: 'rpm', value: 10})
  await made('/logs/exports', {...home, filters: {}, requested_data: ['id']})
  await made('/saved-filters', {...home, name: 'Limits', filters: {status_code: '429'}})
  await made('/feedback', {trace_id: 'checkout-4711', value: 5, ...home})
  for (const model of ['my-model', 'gpt-4o', 'gpt-4o-mini', 'gpt-5'])
    await inject('PUT', `/model-configs/pricing/openai/${model}`, PRICE)
}

/** Gives what was made the ids that examples name, and writes what calls would have. */
export async function fixIds(db: Db) {
  const tables = {
    log_exports: THING,
    saved_filters: THING,
    'traffic.feedback': THING,
    sessions: SESSION,
    invites: SESSION,
    scim_mappings: MAPPING,
    scim_tokens: SESSION,
    identities: SESSION,
    mcp_oauth_clients: 'mcp_client_house-assistant',
  } as const
  for (const [table, id] of Object.entries(tables))
    await db
      .updateTable(table as 'sessions')
      .set({id})
      .execute()
  await db.updateTable('prompt_versions').set({id: THING}).where('version', '=', 2).execute()
  const integrations = db.selectFrom('mcp_integrations').where('slug', '=', 'house-docs').select('id')
  const integration = await integrations.executeTakeFirstOrThrow()
  await db
    .insertInto('mcp_capabilities')
    .values({
      mcp_integration_id: integration.id,
      type: 'tool',
      name: 'delete_page',
      enabled: 1,
      details: CAPABILITY,
      pin_state: 'changed',
      approved_hashes: JSON.stringify(['a'.repeat(64)]),
      approved_definition: '{"name":"delete_page","description":"Deletes a page"}',
      seen_hashes: JSON.stringify(['b'.repeat(64)]),
      seen_definitions: JSON.stringify([
        {hash: 'b'.repeat(64), at: NOW, definition: {name: 'delete_page', description: 'Deletes every page'}},
      ]),
      created_at: NOW,
      last_updated_at: NOW,
    })
    .execute()
  await logCall(db)
}

/** Of the two kinds of policies, the first of this one gets the id of the examples. */
export async function namePolicy(db: Db, kind: 'usage' | 'rate') {
  const {id} = await db.selectFrom('policies').select('id').where('kind', '=', kind).executeTakeFirstOrThrow()
  await db.updateTable('policies').set({id: POLICY}).where('id', '=', id).execute()
  const value_key = 'metadata._user:bob'
  const entity_id = policyEntityId(POLICY, value_key)
  await db
    .insertInto('traffic.policy_usage')
    .values({policy_id: POLICY, entity_id, since_at: NOW, value_key, used: 1})
    .execute()
}

/**
 * Writes the call that examples name. Its id tells of a day long gone, and so a gateway that serves takes it away
 * again.
 */
export async function logCall(db: Db) {
  await db.deleteFrom('traffic.logs').where('id', '=', LOG).execute()
  const home = await db.selectFrom('workspaces').selectAll().where('slug', '=', 'research').executeTakeFirstOrThrow()
  const {organisation_id, id: workspace_id} = home
  await insertLog(db, {
    id: LOG,
    trace_id: 'checkout-4711',
    created_at: NOW,
    organisation_id,
    workspace_id,
    model: 'gpt-5',
    status: 200,
  })
}
