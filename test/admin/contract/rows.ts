import {expect} from 'vitest'
import {newId, newTimeId} from '../../../src/base/ids.ts'
import {openSession} from '../../../src/identity/open-session.ts'
import type {CapabilityDetails, McpMetadata} from '../../../src/schema/mcp-integrations.ts'
import {insertIdentity} from '../../../src/store/identities.ts'
import {putMcpConnection} from '../../../src/store/mcp-connections.ts'
import {putMcpMetadata} from '../../../src/store/mcp-integrations.ts'
import type {Admin} from '../../support/admin.ts'
import {keepBodies} from '../../support/bodies.ts'
import {insertLog} from '../../support/logs.ts'
import {putMcpCapabilities} from '../../support/mcp/capabilities.ts'
import {type Person, seedUser} from '../../support/people.ts'
import {COVERS, EXPORT, type Place} from '../matrix-rows.ts'
import * as bodies from './bodies.ts'

const AT = '2026-03-04T05:06:07.000Z'
const FUTURE = bodies.EXPIRES

/** Ids of rows in which every documented field has a value, in one workspace. */
export interface Furnished extends Place {
  /** Kind of provider → the integration with its settings. */
  readonly integrations: readonly string[]
  readonly text_prompt: string
  readonly label_version: string
  /** A log export that is done, and one that can be started. */
  readonly done_export: string
  readonly accepted_invite: string
  readonly entity: string
  readonly user_key: string
  readonly workspace_name: string
  /** Rows that nothing names. */
  readonly spare_collection: string
  readonly spare_secret_reference: string
  readonly spare_guardrail: string
  readonly spare_config: string
  /** An export that is under way. */
  readonly running_export: string
  /** For all of the organisation. */
  readonly shared_mcp_integration: string
  /** A user who is in no workspace. */
  readonly newcomer: string
  /** Of a cloud where models are deployed under names of one's own. */
  readonly deployed_virtual_key: string
  readonly workspace_key: string
}

/** A row of every kind, made by `owner` as clients make them. */
export async function furnished(admin: Admin, owner: Person): Promise<Furnished> {
  const {organisation_id: organisation} = admin
  const {db} = admin.store
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await admin.send(owner.token, method, `/v1${path}`, body)
    expect(reply.status, `${method} ${path} ${reply.text}`).toBe(200)
    return (reply.body.data ?? reply.body) as {
      id: string
      slug: string
      version_id: string
      invite_link: string
      user_id: string
      key: string
    }
  }
  const made = (path: string, body: object) => ask('POST', path, body)

  const workspace_name = `Team ${newId().slice(0, 6)}`
  const limits = {usage_limits: [bodies.LIMITS.usage_limits], rate_limits: bodies.LIMITS.rate_limits}
  const workspace = (
    await made('/admin/workspaces', {
      name: workspace_name,
      description: 'A team',
      defaults: {metadata: {team: 'blue'}},
      ...limits,
    })
  ).id
  const workspace_id = workspace

  const invited = {
    role: 'member',
    workspaces: [{id: workspace, role: 'member'}],
    workspace_api_key_details: {scopes: ['completions.write']},
  }
  const accepted = await made('/admin/users/invites', {email: `${newId()}@example.com`, ...invited})
  const token = accepted.invite_link.split('#token=')[1]!
  const user = (await made('/invites/accept', {token, first_name: 'Ada', last_name: 'Lovelace'})).user_id
  const invite = (await made('/admin/users/invites', {email: `${newId()}@example.com`, ...invited})).id

  const config = await made('/configs', {
    name: 'Kept',
    config: {
      retry: {attempts: 2},
      cache: {mode: 'simple'},
      strategy: {mode: 'fallback'},
      targets: [{provider: 'openai'}],
    },
    workspace_id,
  })
  const guardrail = (
    await made('/guardrails', {name: 'Kept', checks: bodies.CHECKS, actions: bodies.ACTIONS, workspace_id})
  ).slug
  await ask('PUT', `/guardrails/${guardrail}`, {actions: bodies.ACTIONS})
  await ask('PUT', `/configs/${config.slug}`, {name: 'Kept'})
  await ask('PUT', `/admin/workspaces/${workspace}`, {
    defaults: {metadata: {team: 'blue'}, input_guardrails: [guardrail], output_guardrails: [guardrail]},
  })

  const spare_guardrail = (
    await made('/guardrails', {name: 'Spare', checks: bodies.CHECKS.slice(1, 2), actions: bodies.ACTIONS, workspace_id})
  ).slug
  const spare_config = (await made('/configs', {name: 'Spare', config: {provider: 'openai'}, workspace_id})).slug

  const reference = {
    name: 'Kept',
    description: 'Kept',
    secret_path: 'models',
    secret_key: 'key',
    tags: {team: 'blue'},
    ...bodies.SECRETS[0],
  }
  const secret_reference = (await made('/secret-references', reference)).id
  const spare_secret_reference = (await made('/secret-references', reference)).id
  const mapped = (target_field: string) => ({secret_mappings: [bodies.mapping(secret_reference, target_field)]})

  const integrations: string[] = []
  for (const [ai_provider_id, configurations] of Object.entries(bodies.CONFIGURATIONS)) {
    const {slug} = await made('/integrations', {
      name: 'Kept',
      description: 'Kept',
      ai_provider_id,
      key: 'sk-0123456789',
      configurations,
    })
    const access = {...limits, enabled: true}
    await ask('PUT', `/integrations/${slug}/workspaces`, {
      workspaces: [{id: workspace, ...access}],
      global_workspace_access: access,
    })
    integrations.push(slug)
  }
  const integration = integrations[0]!
  await ask('PUT', `/integrations/${integration}`, mapped('configurations.openai_project'))
  await ask('PUT', `/integrations/${integration}/models`, {models: [MODEL], allow_all_models: true})
  const held = {
    ...bodies.LIMITS,
    rate_limits: bodies.LIMITS.rate_limits[0],
    expires_at: FUTURE,
    note: 'Kept',
    workspace_id,
  }
  const provider = (await made('/providers', {name: 'Kept', integration_id: integration, ...held})).slug
  const virtual_key = (await made('/virtual-keys', {name: 'Kept', provider: 'openai', ...mapped('key'), ...held})).slug
  const deployment_of = {apiVersion: '2024-10-21', deploymentName: 'gpt', is_default: true}
  const azure = {
    provider: 'azure-openai',
    key: 'sk-0123456789',
    resourceName: 'resource',
    deploymentConfig: [deployment_of],
  }
  const deployed_virtual_key = (await made('/virtual-keys', {name: 'Deployed', ...azure, ...held})).slug

  const collection = (await made('/collections', {name: 'Kept', workspace_id})).id
  const spare_collection = (await made('/collections', {name: 'Below', workspace_id, parent_collection_id: collection}))
    .id
  const template = {
    virtual_key,
    model: 'gpt-4o',
    version_description: 'First',
    template_metadata: {team: 'blue'},
    collection_id: collection,
  }
  const called = {functions: [bodies.FUNCTION], tools: [bodies.TOOL], tool_choice: bodies.TOOL_CHOICE}
  const chat = {...template, ...called, string: JSON.stringify(bodies.MESSAGES), parameters: bodies.CHAT_PARAMETERS}
  const prompt = await made('/prompts', {...chat, name: 'Kept'})
  const text = await made('/prompts', {
    ...template,
    name: 'Text',
    string: 'Hi {{name}}',
    parameters: bodies.TEXT_PARAMETERS,
  })
  const label = (
    await made('/labels', {
      name: `kept-${newId().slice(0, 6)}`,
      description: 'Kept',
      color_code: '#00ff00',
      workspace_id,
    })
  ).id
  await ask('PUT', `/prompts/${prompt.slug}/versions/${prompt.version_id}`, {label_id: label})
  const partial = (
    await made('/prompts/partials', {name: 'Kept', string: 'Be kind.', version_description: 'First', workspace_id})
  ).slug

  const key_of = {
    name: 'Kept',
    description: 'Kept',
    workspace_id,
    ...bodies.LIMITS,
    alert_emails: ['ada@example.com'],
    expires_at: FUTURE,
  }
  const defaults = {metadata: {team: 'blue'}, config_id: config.slug}
  const key = (
    await made('/api-keys/workspace/user', {...key_of, user_id: user, scopes: ['completions.write'], defaults})
  ).id

  const covers = {...COVERS, name: 'Kept', workspace_id}
  const usage_policy = (
    await made('/policies/usage-limits', {
      ...covers,
      type: 'cost',
      credit_limit: 10,
      alert_threshold: 8,
      periodic_reset: 'monthly',
    })
  ).id
  const rate_policy = (await made('/policies/rate-limits', {...covers, type: 'requests', unit: 'rpm', value: 60})).id
  const spent = {
    entity_id: 'e1',
    since_at: admin.services.now().toISOString(),
    value_key: 'api_key:k',
    used: 5_000_000_000,
  }
  await db
    .insertInto('traffic.policy_usage')
    .values({...spent, policy_id: usage_policy})
    .execute()
  await db
    .insertInto('traffic.policy_windows')
    .values({...spent, policy_id: rate_policy, used: 5})
    .execute()

  const mcp = {
    name: 'Kept',
    description: 'Kept',
    url: 'https://mcp.example.com/mcp',
    auth_type: 'headers',
    transport: 'http',
    workspace_id,
  }
  const mcp_integration = (
    await made('/mcp-integrations', {
      ...mcp,
      configurations: {custom_headers: {'x-team': 'blue'}},
      ...mapped('configurations.custom_headers.authorization'),
    })
  ).id
  await putMcpCapabilities(db, mcp_integration, [{type: 'tool', name: 'search', details: CAPABILITY}], AT)
  await putMcpMetadata(db, mcp_integration, METADATA)
  const mcp_server = (
    await made('/mcp-servers', {name: 'Kept', description: 'Kept', mcp_integration_id: mcp_integration, workspace_id})
  ).id
  await putMcpConnection(db, {
    ...{mcp_integration_id: mcp_integration, mcp_server_id: mcp_server, user_id: user, organisation_id: organisation},
    ...{upstream: 'https://mcp.example.com', issuer: null, tokens: Buffer.of(1), scope: null, expires_at: null},
    ...{refresh_at: null, held_off_until: null, created_at: AT, last_updated_at: AT},
  })

  const log = newTimeId(Date.parse(AT))
  const trace = newId()
  const call = {
    ...{created_at: AT, trace_id: trace, organisation_id: organisation, workspace_id, user_id: user, api_key_id: key},
    ...{
      provider_slug: provider,
      provider: 'openai',
      model: 'gpt-4o',
      config_id: config.id,
      span_name: 'Ask',
      parent_span_id: 'span-0',
    },
    ...{
      url: 'https://gateway.example.com/v1/chat/completions',
      upstream_url: 'https://api.openai.com/v1/chat/completions',
    },
    ...{
      prompt: {id: prompt.id, slug: prompt.slug, version_id: prompt.version_id, version: 1},
      metadata: '{"_user":"ada","team":"blue"}',
    },
    ...{
      prompt_tokens: 3,
      completion_tokens: 5,
      cost_nanousd: 123_456_700,
      last_byte_ms: 250,
      cache_status: 'HIT',
      retry_count: 1,
    },
  }
  await insertLog(db, {...call, id: log})
  await insertLog(db, {...call, id: newTimeId(Date.parse(AT) + 1), status: 500, outcome: 'failed'})
  await db.updateTable('traffic.logs').set({is_rescued: 1, retry_count: 1}).where('id', '=', log).execute()
  await keepBodies(admin, {log_id: log, ...SAID}, Date.parse(AT) + 250)
  const feedback = (
    (await made('/feedback', {
      trace_id: trace,
      value: 5,
      weight: 0.5,
      metadata: {by: 'ada'},
      workspace_id,
    })) as unknown as {
      feedback_ids: string[]
    }
  ).feedback_ids[0]!

  const log_export = (
    await made('/logs/exports', {
      filters: {...bodies.FILTERS, workspace_slug: workspace},
      requested_data: ['id'],
      workspace_id,
    })
  ).id
  const done_export = (await made('/logs/exports', {...EXPORT, workspace_id})).id
  await made(`/logs/exports/${done_export}/start`, {})
  const running_export = (await made('/logs/exports', {...EXPORT, workspace_id})).id
  await db.updateTable('log_exports').set({status: 'in_progress'}).where('id', '=', running_export).execute()
  const shared_mcp_integration = (await made('/mcp-integrations', {...mcp, workspace_id: undefined})).id

  await ask('PUT', '/model-configs/pricing/openai/priced-in-full', {pricing_config: bodies.PRICES})

  const domain = newId()
  await db
    .insertInto('domains')
    .values({
      ...{id: domain, organisation_id: organisation, domain: `${domain}.example.com`, allow_subdomains: 0},
      ...{status: 'verified', code: '', created_at: admin.services.now().toISOString(), verified_at: null},
    })
    .execute()

  const at = admin.services.now().toISOString()
  const opened = {organisation_id: organisation, user_id: user, ttl_s: 3600, kind: 'browser', method: 'oidc'} as const
  const {id: session} = await openSession(db, opened, at)
  const identity = newId()
  const link = {organisation_id: organisation, issuer: 'https://other.example.com', subject: identity, user_id: user}
  await insertIdentity(db, {id: identity, ...link, email: 'a@example.com', created_at: at, last_seen_at: at})

  return {
    organisation,
    workspace,
    workspace_name,
    session,
    identity,
    domain,
    mcp_oauth_client: (await made('/mcp-oauth-clients', {name: 'Kept', redirect_uris: ['http://localhost/cb']})).id,
    scim_token: (await made('/admin/organisation/scim-tokens', {name: 'directory'})).id,
    user,
    invite,
    accepted_invite: accepted.id,
    key,
    user_key: key,
    config: config.slug,
    integration,
    integrations,
    provider,
    virtual_key,
    guardrail,
    usage_policy,
    rate_policy,
    entity: 'e1',
    collection,
    label,
    label_version: prompt.version_id,
    prompt: prompt.slug,
    text_prompt: text.slug,
    prompt_version: prompt.version_id,
    partial,
    log,
    trace,
    feedback,
    log_export,
    done_export,
    running_export,
    spare_collection,
    spare_secret_reference,
    spare_guardrail,
    spare_config,
    shared_mcp_integration,
    deployed_virtual_key,
    newcomer: (await named(admin, 'member')).id,
    workspace_key: (await admin.seedKey({organisation_id: organisation, workspace_id})).key,
    saved_filter: (await made('/saved-filters', {name: 'Kept', filters: {ai_model: 'gpt-4o'}, workspace_id})).id,
    secret_reference,
    mcp_integration,
    mcp_server,
    deployment: (
      await made('/deployments', {name: 'Kept', type: 'production', config: {}, allowed_workspaces: [workspace]})
    ).id,
    scim_mapping: (await made('/scim/workspaces', {workspace_id, role: 'member', scim_group_name: `Group ${newId()}`}))
      .id,
  }
}

/** The owner who makes and asks everything. */
export function ownerOf(admin: Admin): Promise<Person> {
  return named(admin, 'owner')
}

/** A user whose every name is said. */
async function named(admin: Admin, role: 'owner' | 'member'): Promise<Person> {
  const person = await seedUser(admin, role)
  await admin.store.db.updateTable('users').set({last_name: 'Lovelace'}).where('id', '=', person.id).execute()
  return person
}

export const MODEL = {
  slug: 'ft-mine',
  enabled: true,
  is_custom: true,
  is_finetune: true,
  base_model_slug: 'gpt-4o',
  pricing_config: {type: 'static', pay_as_you_go: {request_token: {price: 0.001}, response_token: {price: 0.002}}},
}
const CAPABILITY: CapabilityDetails = {
  title: 'Search',
  description: 'Searches',
  icons: [],
  input_schema: {type: 'object'},
  output_schema: {type: 'object'},
  execution: {},
  annotations: {},
  arguments: [],
  uri: 'docs://a',
  uri_template: 'docs://{a}',
  mime_type: 'text/plain',
  size: 3,
}
const METADATA: McpMetadata = {
  title: 'Docs',
  description: 'Documents',
  icons: [],
  server_name: 'docs',
  server_version: '1.0.0',
  protocol_version: '2025-06-18',
  capability_flags: {tools: true},
  sync_status: 'synced',
  last_synced_at: AT,
  website_url: 'https://example.com',
  sync_warnings: ['Kept'],
  sync_error: 'none',
}
const SAID = {
  request_headers:
    '{"x-gateway-package-version":"library-1","x-gateway-runtime":"node","x-gateway-runtime-version":"v24","content-type":"application/json"}',
  request_body: Buffer.from('{"model":"gpt-4o","messages":[]}'),
  response_headers: '{"content-type":"application/json"}',
  response_body: Buffer.from('{"id":"c-1"}'),
}
