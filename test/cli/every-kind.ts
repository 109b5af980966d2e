import type {TestGateway} from '../support/gateway.ts'
import {signer} from '../support/tokens.ts'
import {run} from './support.ts'

const KEY = signer('EdDSA')

/**
 * What a gateway has of every kind that files hold, several of each; `people` are users of every gateway that takes
 * them.
 */
export const PEOPLE = ['ada@example.com', 'bob@example.com', 'eve@example.com']

/** Their ids by their addresses. */
export async function seedPeople({folder, admin}: TestGateway): Promise<Record<string, string>> {
  for (const email of PEOPLE) await run(['users', 'create', email, '--role', 'member', '--data-dir', folder])
  const {data} = await admin<{data: {id: string; email: string}[]}>('GET', '/admin/users')
  return Object.fromEntries(data.map(({id, email}) => [email, id]))
}

const PRODUCTION = {strategy: {mode: 'single'}, targets: [{provider: '@red-main'}]}
const template = (content: string) => ({
  string: JSON.stringify([{role: 'user', content}]),
  parameters: {temperature: 0.5},
})

export async function fillEveryKind(gateway: TestGateway, people: Readonly<Record<string, string>>) {
  const {admin} = gateway
  const made = <T = {id: string}>(path: string, body: object) => admin<T>('POST', path, body)
  const put = (path: string, body: object) => admin('PUT', path, body)
  const {id: organisation_id} = await admin<{id: string}>('GET', '/admin/organisation')
  await put('/admin/organisation', {
    settings: {
      security: {logs: {membersViewLogs: false, managersViewLogs: true}},
      workspace_overrides: ['logs', 'analytics'],
      api_keys: {max_expiry_days: 365},
    },
  })
  await put('/admin/organisation/auth', {
    jwt: {jwks: {keys: [KEY.jwk]}, algorithms: ['EdDSA', 'ES256'], issuer: 'https://idp.example.com', clock_skew_s: 30},
    scim: {workspace_prefix: 'team '},
  })
  for (const color of ['red', 'blue']) {
    const workspace_id = `ws-${color}`
    await made('/admin/workspaces', {
      name: color,
      slug: workspace_id,
      defaults: {metadata: {team: color}},
      models: {allow: ['gpt-*', '@red-main/*']},
    })
    await put(`/admin/workspaces/${workspace_id}/settings`, {security: {logs: {membersViewLogs: color === 'red'}}})
    await made(`/admin/workspaces/${workspace_id}/users`, {
      users: [
        {id: people['ada@example.com'], role: 'manager'},
        {id: people['bob@example.com'], role: 'member'},
      ],
    })
    await made('/scim/workspaces', {workspace_id, role: 'member', scim_group_name: 'Search team'})
    await made('/guardrails', guardrail(`pg-${color}`, {workspace_id}))
    await made('/virtual-keys', {
      name: color,
      slug: `${color}-old`,
      provider: 'openai',
      key: `sk-canary-${color}-0123456789`,
      workspace_id,
    })
    await made('/integrations', {
      name: color,
      slug: `${color}-cloud`,
      ai_provider_id: 'anthropic',
      key: `sk-canary-${color}-cloud-0123456789`,
      workspace_id,
      create_default_provider: false,
    })
    await made('/providers', {name: color, slug: `${color}-main`, integration_id: `${color}-cloud`, workspace_id})
    await made('/configs', {
      name: color,
      slug: `pc-${color}`,
      workspace_id,
      config: {...PRODUCTION, targets: [{provider: `@${color}-main`}]},
    })
    await fillPrompts(gateway, color)
    const key = await made('/api-keys/workspace/service', {
      name: `${color} app`,
      workspace_id,
      scopes: ['completions.write'],
      models: {deny: ['*-preview', 'o1*']},
      defaults: {config_id: `pc-${color}`},
    })
    await made('/api-keys/workspace/user', {
      name: `${color} ada`,
      workspace_id,
      user_id: people['ada@example.com'],
      scopes: ['completions.write'],
    })
    const {data} = await admin<{data: {id: string}}>('GET', `/configs/pc-${color}`)
    const {id} = await admin<{id: string}>('GET', `/admin/workspaces/${workspace_id}`)
    await made('/policies/usage-limits', {
      name: 'People',
      workspace_id,
      conditions: [
        {key: 'metadata._user', value: '*'},
        {key: 'api_key', value: ['*'], excludes: [key.id]},
      ],
      group_by: [{key: 'metadata._user'}],
      type: 'cost',
      credit_limit: 5,
      alert_threshold: 4,
      periodic_reset: 'weekly',
      enforcement: 'strict',
    })
    await made('/policies/usage-limits', {
      workspace_id,
      conditions: [{key: 'config', value: data.id}],
      group_by: [{key: 'api_key'}, {key: 'model'}],
      type: 'tokens',
      credit_limit: 1000,
    })
    await made('/policies/rate-limits', {
      name: 'Rate',
      workspace_id,
      conditions: [{key: 'workspace_id', value: id}],
      group_by: [{key: 'api_key'}],
      type: 'requests',
      unit: 'rpm',
      value: 60,
    })
    await made('/policies/rate-limits', {
      ...{workspace_id, target: 'mcp_tools', conditions: [{key: 'mcp_tool', value: 'search'}]},
      ...{type: 'requests', unit: 'rpw', value: 60},
    })
    await made('/policies/usage-limits', {
      ...{name: 'Tools', workspace_id, target: 'mcp_tools', conditions: [{key: 'api_key', value: key.id}]},
      ...{group_by: [{key: 'user'}], type: 'cost', credit_limit: 5},
    })
    await made('/saved-filters', {name: 'Limits reached', workspace_id, filters: {status_code: '429'}})
    await made('/saved-filters', {name: 'Slow/costly', workspace_id, filters: {cost_min: '1'}})
  }
  await made('/guardrails', guardrail('pg-house', {organisation_id}))
  await put('/admin/organisation/defaults', {input_guardrails: ['pg-house']})
  await fillRegistry(gateway, people)
  await put('/model-configs/pricing/openai/ours', {
    pricing_config: {pay_as_you_go: {request_token: {price: 0.0001}, response_token: {price: 0.0004}}},
  })
}

function guardrail(slug: string, home: object) {
  const checks = [{id: 'default.contains', parameters: {words: [slug], operator: 'none'}}]
  return {name: slug, slug, checks, actions: {deny: true}, ...home}
}

async function fillPrompts({admin}: TestGateway, color: string) {
  const workspace_id = `ws-${color}`
  const made = <T = {id: string}>(path: string, body: object) => admin<T>('POST', path, body)
  const canary = await made('/labels', {name: 'canary', workspace_id, description: 'for a few', color_code: '#bf8700'})
  await made('/labels', {name: 'plain', workspace_id})
  // The child's slug stands before its parent's.
  await made('/collections', {name: 'Support', slug: `support-${color}`, workspace_id})
  await made('/collections', {
    name: 'Letters',
    slug: `letters-${color}`,
    workspace_id,
    parent_collection_id: `support-${color}`,
  })
  await made('/prompts/partials', {name: 'Rules', slug: `pp-rules-${color}`, workspace_id, string: 'Be kind.'})
  await admin('PUT', `/prompts/partials/pp-rules-${color}`, {string: 'Be very kind.', description: 'kinder'})
  await admin('PUT', `/prompts/partials/pp-rules-${color}/makeDefault`, {version: 2})
  const greeting = `/prompts/pp-greeting-${color}`
  const first = await made<{version_id: string}>('/prompts', {
    name: 'Greeting',
    slug: `pp-greeting-${color}`,
    collection_id: `letters-${color}`,
    virtual_key: `${color}-main`,
    model: 'claude',
    ...template('Hi {{name}}'),
  })
  const change = (content: string) =>
    admin<{prompt_version_id: string}>('PUT', greeting, {patch: true, ...template(content)})
  const second = await change('Hello {{name}}')
  await change('A draft that nobody names')
  await admin('PUT', `${greeting}/makeDefault`, {version: 2})
  const {data} = await admin<{data: {id: string; name: string}[]}>('GET', '/labels?search=production')
  await admin('PUT', `${greeting}/versions/${first.version_id}`, {label_id: canary.id})
  await admin('PUT', `${greeting}/versions/${first.version_id}`, {label_id: data[0]!.id})
  void second
  const usual = await admin<{data: {id: string; is_default: boolean}[]}>(
    'GET',
    `/collections?workspace_id=${workspace_id}`,
  )
  await made('/prompts', {
    name: 'Raw',
    slug: `pp-raw-${color}`,
    collection_id: usual.data.find(({is_default}) => is_default)!.id,
    virtual_key: `pc-${color}`,
    string: 'Say {{{what}}}',
    parameters: {},
    is_raw_template: 1,
    version_description: 'as it is',
  })
}

async function fillRegistry({admin}: TestGateway, people: Readonly<Record<string, string>>) {
  const made = (path: string, body: object) => admin('POST', path, body)
  await made('/secret-references', {
    name: 'Vault',
    slug: 'vault-mcp',
    manager_type: 'hashicorp_vault',
    auth_config: {
      vault_auth_type: 'token',
      vault_addr: 'https://vault.example.com',
      vault_token: 'hvs.canary-0123456789',
    },
    secret_path: 'secret/mcp',
    allowed_workspaces: ['ws-red'],
    tags: {env: 'prod'},
  })
  await made('/secret-references', {
    name: 'AWS',
    slug: 'aws-docs',
    manager_type: 'aws_sm',
    auth_config: {aws_auth_type: 'serviceRole', aws_region: 'eu-central-1'},
    secret_path: 'prod/docs',
    secret_key: 'token',
  })
  await admin('PUT', '/integrations/red-cloud', {
    secret_mappings: [{target_field: 'key', secret_reference_id: 'aws-docs'}],
  })
  await admin('PUT', '/virtual-keys/blue-old?workspace_id=ws-blue', {
    secret_mappings: [{target_field: 'key', secret_reference_id: 'aws-docs', secret_key: 'blue'}],
  })
  const mcp = {auth_type: 'headers', transport: 'http', url: 'https://mcp.example.com/mcp'}
  await made('/mcp-integrations', {
    ...mcp,
    name: 'House',
    slug: 'house-docs',
    configurations: {custom_headers: {authorization: 'Bearer canary-0123456789'}},
    secret_mappings: [{target_field: 'configurations.custom_headers.authorization', secret_reference_id: 'aws-docs'}],
  })
  await admin('PUT', '/mcp-integrations/house-docs/workspaces', {
    workspaces: [{id: 'ws-blue', enabled: false}],
    global_workspace_access: {enabled: true},
  })
  await made('/mcp-integrations', {...mcp, auth_type: 'none', name: 'Red', slug: 'red-docs', workspace_id: 'ws-red'})
  await made('/mcp-servers', {
    name: 'Docs',
    slug: 'docs',
    mcp_integration_id: 'house-docs',
    workspace_id: 'ws-red',
    description: 'Pages',
  })
  await made('/mcp-servers', {name: 'Red', slug: 'red', mcp_integration_id: 'red-docs', workspace_id: 'ws-red'})
  await made('/mcp-servers', {
    name: 'Desk',
    slug: 'a-desk',
    workspace_id: 'ws-red',
    virtual: {
      tools: [
        {server: 'red', tool: 'read'},
        {server: 'docs', tool: 'find', name: 'search'},
      ],
      search_above: 9,
    },
  })
  await admin('PUT', '/mcp-servers/docs/user-access', {
    default_user_access: 'deny',
    user_access: [
      {user_id: people['ada@example.com'], enabled: true},
      {user_id: people['bob@example.com'], enabled: false},
    ],
  })
  await made('/deployments', {
    name: 'EU',
    slug: 'eu-1',
    type: 'production',
    config: {region: 'eu'},
    allowed_workspaces: ['ws-blue'],
  })
  await made('/deployments', {name: 'Test', slug: 'test', type: 'non-production'})
}
