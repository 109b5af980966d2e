import {newId} from '../../../src/base/ids.ts'
import {COLUMNS} from '../../../src/schema/analytics.ts'
import {ASKED, type Asked, CAPABILITIES, COVERS, EXPORT, PROMPT} from '../matrix-rows.ts'
import * as bodies from './bodies.ts'
import {type Furnished, MODEL} from './rows.ts'

const GATEWAY_CALL = {
  request: {url: 'https://api.openai.com/v1/chat/completions', method: 'POST', headers: {}, body: {model: 'gpt-4o'}},
  response: {status: 200, headers: {}, body: {id: 'c-1'}, response_time: 5},
  metadata: {trace_id: 'trace-1', span_id: 'span-1', span_name: 'Ask'},
}
const slugged = (slug: string): Asked => ({params: {slug}})
const mapped = (p: Furnished, target_field: string) => ({
  secret_mappings: [bodies.mapping(p.secret_reference, target_field)],
})

/**
 * What is asked of operations whose every field the plain question of the matrix does not reach: several questions
 * where the reference knows several forms. Each body is good as it stands.
 */
export const ASKED_IN_FULL: Readonly<Record<string, (p: Furnished) => readonly Asked[]>> = {
  'invites.create': p => [
    {
      body: {
        email: `${newId()}@example.com`,
        role: 'member',
        workspaces: [{id: p.workspace, role: 'member'}],
        workspace_api_key_details: {scopes: ['completions.write']},
      },
    },
  ],
  'invites.get': p => [{params: {inviteId: p.accepted_invite}}],
  'users.update': p => [
    {params: {userId: p.user}, body: {role: 'admin'}},
    {params: {userId: p.user}, body: {role: 'member'}},
  ],
  'workspaces.create': p => [
    {
      body: {
        name: 'Made',
        description: 'Made',
        defaults: {metadata: {a: 'b'}},
        users: [p.user],
        ...bodies.LIMITS,
        usage_limits: [bodies.LIMITS.usage_limits],
      },
    },
  ],
  'members.add': p => [{params: {workspaceId: p.workspace}, body: {users: [{id: p.newcomer, role: 'member'}]}}],
  'collections.delete': p => [{params: {collectionId: p.spare_collection}}],
  'secret_references.delete': p => [{params: {secretReferenceId: p.spare_secret_reference}}],
  'guardrails.delete': p => [{params: {guardrailId: p.spare_guardrail}}],
  'configs.delete': p => [slugged(p.spare_config)],
  'integrations.update_models': p => [{...slugged(p.integration), body: {models: [MODEL], allow_all_models: true}}],
  'log_exports.cancel': p => [{params: {exportId: p.running_export}}],
  'pricing.get': () => ['gpt-4o', 'priced-in-full'].map(model => ({params: {provider: 'openai', model}})),
  'analytics.groups': p => [
    {...ASKED['analytics.groups']!(p), query: {...ASKED['analytics.groups']!(p).query, columns: COLUMNS.join(',')}},
  ],
  'logs.groups': p => [
    {...ASKED['logs.groups']!(p), query: {...ASKED['logs.groups']!(p).query, columns: COLUMNS.join(',')}},
  ],
  'workspaces.delete': p => [{params: {workspaceId: p.workspace}, body: {name: p.workspace_name, force_delete: true}}],
  'members.update': p => [{params: {workspaceId: p.workspace, userId: p.user}, body: {role: 'manager'}}],
  'api_keys.create': p => [
    {
      params: {type: 'workspace', subtype: 'user'},
      body: {
        name: 'Made',
        workspace_id: p.workspace,
        user_id: p.user,
        scopes: ['completions.write'],
        ...bodies.LIMITS,
        defaults: {metadata: {team: 'blue'}, config_id: p.config, allow_config_override: true},
      },
    },
  ],
  'api_keys.update': p => [{params: {id: p.key}, body: {name: 'Changed', rate_limits: bodies.LIMITS.rate_limits}}],
  'integrations.create': p => [
    ...Object.entries(bodies.CONFIGURATIONS).map(([ai_provider_id, configurations]) => ({
      body: {name: 'Made', ai_provider_id, key: 'sk-0123456789', configurations},
    })),
    {body: {name: 'Made', ai_provider_id: 'openai', workspace_id: p.workspace, ...mapped(p, 'key')}},
  ],
  'integrations.get': p => p.integrations.map(slugged),
  'integrations.update': p =>
    Object.values(bodies.CONFIGURATIONS).map((configurations, at) => ({
      ...slugged(p.integrations[at]!),
      body: {configurations, ...(at ? {key: 'sk-0123456789'} : mapped(p, 'key'))},
    })),
  'integrations.update_workspaces': p => [
    {
      ...slugged(p.integration),
      body: {
        workspaces: [
          {
            id: p.workspace,
            enabled: true,
            usage_limits: [bodies.LIMITS.usage_limits],
            rate_limits: bodies.LIMITS.rate_limits,
          },
        ],
        global_workspace_access: {
          enabled: true,
          usage_limits: [bodies.LIMITS.usage_limits],
          rate_limits: bodies.LIMITS.rate_limits,
        },
        create_default_provider: false,
      },
    },
  ],
  'virtual_keys.update': p => [
    {
      ...slugged(p.deployed_virtual_key),
      query: {workspace_id: p.workspace},
      body: {
        ...mapped(p, 'key'),
        deploymentConfig: [{apiVersion: '2024-10-21', deploymentName: 'gpt', is_default: true}],
      },
    },
  ],
  'virtual_keys.create': p => [
    {body: {name: 'Made', provider: 'openai', workspace_id: p.workspace, ...mapped(p, 'key')}},
    {
      body: {
        name: 'Made',
        provider: 'azure-openai',
        key: 'sk-0123456789',
        resourceName: 'resource',
        deploymentConfig: [{apiVersion: '2024-10-21', deploymentName: 'gpt', alias: 'main', is_default: true}],
        workspace_id: p.workspace,
      },
    },
  ],
  'guardrails.create': p => [
    {body: {name: 'Made', checks: bodies.CHECKS, actions: bodies.ACTIONS, workspace_id: p.workspace}},
  ],
  'guardrails.update': p => [
    {params: {guardrailId: p.guardrail}, body: {checks: bodies.CHECKS, actions: bodies.ACTIONS}},
  ],
  'prompts.update': p => [{params: {promptId: p.text_prompt}, body: {patch: true, string: 'Hello {{name}}'}}],
  'prompts.render': p =>
    [p.prompt, p.text_prompt].map(promptId => ({params: {promptId}, body: {variables: {name: 'Ada'}}})),
  'prompts.create': p => [{body: {...PROMPT, name: 'Made', collection_id: p.collection, virtual_key: p.virtual_key}}],
  'prompt_partials.update': p => [
    {params: {promptPartialId: p.partial}, body: {string: 'Be brief.', description: 'Second'}},
  ],
  'usage_policies.get': p => [{params: {policyUsageLimitsId: p.usage_policy}, query: {include_usage: 'true'}}],
  'usage_policies.reset_entity': p => [{params: {policyUsageLimitsId: p.usage_policy, entityId: p.entity}}],
  'usage_policies.create': p => [{body: {...COVERS, type: 'cost', credit_limit: 1, workspace_id: p.workspace}}],
  'secret_references.create': () =>
    bodies.SECRETS.map(each => ({body: {name: 'Made', secret_path: 'models', ...each}})),
  'mcp_integrations.create': p => [
    {
      body: {
        name: 'Made',
        url: 'https://mcp.example.com/mcp',
        auth_type: 'none',
        transport: 'http',
        workspace_id: p.workspace,
        ...mapped(p, 'url'),
      },
    },
  ],
  'mcp_integrations.update': p => [{params: {mcpIntegrationId: p.mcp_integration}, body: mapped(p, 'url')}],
  'mcp_integrations.list_workspaces': p => [
    {params: {mcpIntegrationId: p.mcp_integration}},
    {params: {mcpIntegrationId: p.mcp_integration}, query: {version: 'v2'}},
  ],
  'mcp_integrations.update_workspaces': p => [
    {
      params: {mcpIntegrationId: p.shared_mcp_integration},
      body: {workspaces: [{id: p.workspace, enabled: true}], global_workspace_access: {enabled: true}},
    },
  ],
  'mcp_integrations.update_capabilities': p => [
    {params: {mcpIntegrationId: p.mcp_integration}, body: CAPABILITIES('search')},
  ],
  'mcp_servers.update_capabilities': p => [{params: {mcpServerId: p.mcp_server}, body: CAPABILITIES('search')}],
  'mcp_servers.update_user_access': p => [
    {
      params: {mcpServerId: p.mcp_server},
      body: {user_access: [{user_id: p.user, enabled: true}], default_user_access: 'allow'},
    },
  ],
  'logs.insert': () => [{body: GATEWAY_CALL}, {body: [GATEWAY_CALL]}],
  'log_exports.create': p => [{body: {...EXPORT, filters: bodies.FILTERS, workspace_id: p.workspace}}],
  'log_exports.update': p => [
    {params: {exportId: p.log_export}, body: {filters: {...bodies.FILTERS, workspace_slug: p.workspace}}},
  ],
  'log_exports.download': p => [{params: {exportId: p.done_export}}],
  'scim_mappings.create': p => [
    {body: {workspace_id: p.workspace, role: 'member', scim_group_name: `Group ${newId()}`}},
  ],
}

export function askedInFull(id: string, place: Furnished): readonly Asked[] {
  const asked = ASKED_IN_FULL[id]?.(place) ?? [ASKED[id]!(place)]
  // the rows of one trace are read themselves; what is not filtered is read from sums, which only a data plane adds to
  const is_measured = /^analytics\.|\.groups$/.test(id)
  return is_measured ? asked.map(each => ({...each, query: {...each.query, trace_id: place.trace}})) : asked
}
