/** What the administration is asked in an outage: all of it reads or writes the store. */

export const READS = [
  '/v1/api-keys',
  '/v1/configs',
  '/v1/guardrails',
  '/v1/integrations',
  '/v1/prompts',
  '/v1/admin/users',
  '/v1/admin/workspaces',
  '/v1/admin/organisation',
] as const

const DAYS = 'time_of_generation_min=2026-01-01T00:00:00Z&time_of_generation_max=2026-02-01T00:00:00Z'

/** They show calls, or what calls used. */
export const lists = (workspace_id: string): readonly string[] => [
  '/v1/logs',
  '/v1/traces',
  `/v1/analytics/graphs/requests?${DAYS}`,
  '/v1/admin/usage?by=model&since=2026-01-01T00:00:00Z',
  '/v1/model-configs/unpriced',
  `/v1/limits?workspace_id=${workspace_id}`,
]

let made = 0

/** Each makes something of its own. */
export function changes(workspace_id: string): readonly (readonly [path: string, body: object])[] {
  const name = `made ${++made}`
  return [
    ['/v1/configs', {name, workspace_id, config: {provider: 'openai'}}],
    ['/v1/api-keys/workspace/service', {name, workspace_id, scopes: ['completions.write']}],
    ['/v1/integrations', {name, slug: `made-${made}`, ai_provider_id: 'openai', key: 'sk-0123456789'}],
  ]
}
