/** What the reference names and this part leaves to others, and where that is said. */
export const EXCLUDED: Readonly<Record<string, string>> = {
  '* /scim/v2/{Users|Groups|ServiceProviderConfig|Schemas|ResourceTypes}':
    'issue Administration, done when 1: the SCIM protocol',
  'GET /scim/groups': 'issue Administration, done when 1: the SCIM protocol',
  'POST /oauth/{register|token|introspect|revoke}': 'issue Administration, done when 1: OAuth',
  'GET /oauth/{resourceId}/authorize': 'issue Administration, done when 1: OAuth',
  'GET /api-keys/self/details': 'issue Administration, done when 1: self/details',
  'POST /organisation/{orgId}/resync': 'issue Administration, done when 1: resync',
  'GET /organisation/{orgId}/sync/{timestamp}': 'issue Administration, done when 1: sync',
}

/** One way in which operations differ from the reference, and the section that grants it. */
export interface Deviation {
  readonly operations: readonly string[]
  /** `reply data[].id: absent`; `*` stands for any end of a field's name. */
  readonly differs: readonly string[]
  readonly granted: string
}

const LATER = 'admin-api.json, later_than_seed_release'
/** PUT is three-state: what has no value, or was cleared, reads null. */
const THREE_STATE = 'control-plane.md §2.6; issue Administration, conventions: three-state PUT'
const ACTIONS = ['deny', 'async', 'on_success', 'on_success.feedback', 'on_fail', 'on_fail.feedback']
const FEEDBACK = ['value', 'weight', 'metadata'].flatMap(name => [
  `on_success.feedback.${name}`,
  `on_fail.feedback.${name}`,
])

/** Each is there, in every operation that it names; one that is gone fails as one does that is not listed. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    operations: ['POST /prompts/{promptId}/completions'],
    differs: ['reply status: absent', 'reply headers: absent'],
    granted: 'spec.md, what the service does 3: the answer is the body as the provider sent it',
  },
  {
    operations: ['POST /integrations', 'PUT /integrations/{slug}'],
    differs: ['body pricing_adjustments.*: not taken'],
    granted: `${LATER}: 1.15`,
  },
  {
    operations: ['POST /integrations', 'PUT /integrations/{slug}'],
    differs: ['body configurations.azure_auth_mode: not required'],
    granted: 'a key alone says how to log in: without a word of it the mode is default',
  },
  {
    operations: ['GET /integrations/{slug}'],
    differs: ['reply pricing_adjustments.*: absent'],
    granted: `${LATER}: 1.15`,
  },
  {
    operations: ['POST /api-keys/{type}/{sub-type}', 'PUT /api-keys/{id}'],
    differs: ['body rotation_policy*: not taken'],
    granted: `${LATER}: 1.13`,
  },
  {
    operations: ['GET /admin/workspaces/{workspaceId}'],
    differs: ['reply defaults.user_api_key_config: absent'],
    granted: `${LATER}: 1.16.2`,
  },
  {
    operations: ['PUT /admin/workspaces/{workspaceId}'],
    differs: ['body defaults.user_api_key_config: not taken'],
    granted: `${LATER}: 1.16.2`,
  },
  {
    operations: ['POST /guardrails', 'PUT /guardrails/{guardrailId}'],
    differs: [...ACTIONS, ...FEEDBACK].map(name => `body actions.${name}: not required`),
    granted: 'control-plane.md §2.3: actions have defaults; data-plane.md §6: deny false, async absent is sync',
  },
  {
    operations: ['POST /guardrails', 'PUT /guardrails/{guardrailId}'],
    differs: ['headerKey', 'operator', 'profile_name'].map(name => `body checks[].parameters.${name}: not required`),
    granted: 'data-plane.md §6.8: headerKey `Authorization`, operator has a default, profile_name or profile_id',
  },
  {
    operations: ['GET /virtual-keys'],
    differs: ['query current_page: not required', 'query page_size: not required'],
    granted: 'control-plane.md §2.5: make them optional',
  },
  {
    operations: [
      ...['requests', 'cost', 'latency', 'tokens', 'users', 'users/requests', 'errors', 'errors/rate', 'errors/stacks'],
      ...[
        'errors/status-codes',
        'requests/rescued',
        'cache/hit-rate',
        'cache/latency',
        'feedbacks',
        'feedbacks/scores',
      ],
      ...['feedbacks/weighted', 'feedbacks/ai-models'],
    ].map(graph => `GET /analytics/graphs/${graph}`),
    differs: ['query workspace_slug: not required'],
    granted:
      'control-plane.md §2.13: ignored for workspace keys; spec.md, administration keys: an admin key has all workspaces',
  },
  {
    operations: ['summary/cache', 'groups/users', 'groups/ai-models', 'groups/metadata/{metadataKey}'].map(
      path => `GET /analytics/${path}`,
    ),
    differs: ['query workspace_slug: not required'],
    granted:
      'control-plane.md §2.13: ignored for workspace keys; spec.md, administration keys: an admin key has all workspaces',
  },
  {
    operations: ['GET /analytics/graphs/cost'],
    differs: ['summary.total', 'summary.avg', 'data_points[].total', 'data_points[].avg'].map(
      field => `reply ${field}: fraction`,
    ),
    granted: 'control-plane.md §2.13: return decimals',
  },
  {
    operations: ['GET /analytics/groups/users'],
    differs: ['reply data[].requests: number', 'reply data[].cost: fraction'],
    granted: 'control-plane.md §2.13: numbers, where the reference has texts',
  },
  {
    operations: ['GET /analytics/groups/ai-models'],
    differs: ['reply data[].requests: number'],
    granted: 'control-plane.md §2.13: numbers, where the reference has texts',
  },
  {
    operations: ['GET /analytics/groups/metadata/{metadataKey}'],
    differs: ['reply data[].cost: fraction'],
    granted: 'control-plane.md §2.13: return decimals',
  },
  {
    operations: ['GET /policies/usage-limits'],
    differs: ['reply data[].value_key_usage_map: absent'],
    granted: 'control-plane.md §2.7: `GET ?include_usage=true` adds it',
  },
  {
    operations: ['GET /audit-logs'],
    differs: ['query organisation_id: not required'],
    granted:
      'spec.md, usage limits policy: organisation_id is required where no API key tells it; here a key or a session always does',
  },
  {
    operations: ['GET /audit-logs'],
    differs: ['request_body', 'query_params', 'workspace_id'].map(name => `reply records[].${name}: null`),
    granted:
      'issue Administration, audit: rows are shown as they are hashed; a write without a body, a query or a workspace has none',
  },
  {
    operations: ['GET /audit-logs'],
    differs: ['reply records[].country: null'],
    granted: 'spec.md, events 2: a row holds the address; no country',
  },
  {
    operations: ['GET /logs/{logId}'],
    differs: ['reply transformedRequest.body: absent', 'reply transformedRequest.headers: absent'],
    granted: 'data-plane.md §10.1: with debug logging alone',
  },
  {
    operations: ['GET /logs', 'GET /spans'],
    differs: ['runtime', 'runtime_version', 'sdk_version', 'config_version_id'].map(
      name => `reply data[].${name}: null`,
    ),
    granted:
      'admin-api.json, additional_operations: the shape of lists is proposed; what is read from bodies comes with one row alone',
  },
  {
    operations: ['GET /labels'],
    differs: ['reply data[].workspace_id: null', 'reply data[].description: null'],
    granted: 'control-plane.md §2.2: universal labels belong to no workspace',
  },
  {
    operations: ['GET /providers', 'GET /virtual-keys'],
    differs: ['reply data[].usage_limits: null', 'reply data[].expires_at: null'],
    granted: THREE_STATE,
  },
  {
    operations: ['GET /api-keys'],
    differs: ['description', 'usage_limits', 'defaults.config_id', 'expires_at'].map(
      name => `reply data[].${name}: null`,
    ),
    granted: THREE_STATE,
  },
  {
    operations: ['GET /api-keys'],
    differs: ['reply data[].user_id: null'],
    granted: 'control-plane.md §1.6: service keys are of no user',
  },
  {
    operations: ['GET /admin/users/invites'],
    differs: ['reply data[].accepted_at: null'],
    granted: 'control-plane.md §2.15: an invite is pending until it is accepted',
  },
]
