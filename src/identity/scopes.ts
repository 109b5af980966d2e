import type {ApiKeyKind} from '../store/tables/identity.ts'

/** The letter of a kind in the table below. */
const LETTERS: Record<ApiKeyKind, string> = {
  'organisation-service': 'A',
  'workspace-service': 'S',
  'workspace-user': 'U',
}

/**
 * Resource, its actions, and who may hold them: A an admin key, S a workspace's service key, U a workspace's user key.
 * `+` marks the newer ones, which came after the release that the others are of.
 */
// biome-ignore format: a table is read by its lines
const TABLE: readonly (readonly [resource: string, actions: string, kinds: string, newer?: '+'])[] = [
  ['organisation_users', 'create read update delete list', 'A'],
  ['organisation_service_api_keys', 'create read update delete list', 'A'],
  ['organisation_service_api_keys', 'rotate', 'A', '+'],
  ['organisation_settings', 'read update', 'A', '+'],
  ['organisation_guardrails', 'create read update delete list', 'A', '+'],
  ['organisation_exclusions', 'update list', 'A', '+'],
  ['audit_logs', 'list', 'A'],
  ['plugins', 'create update list', 'A'],
  ['deployments', 'create read update delete list', 'A'],
  ['secret_references', 'create read update delete list', 'A'],
  ['workspaces', 'create delete', 'A'],
  ['workspaces', 'read update list', 'ASU'],
  ['workspace_service_api_keys', 'create read update delete list', 'AS'],
  ['workspace_service_api_keys', 'rotate', 'AS', '+'],
  ['workspace_user_api_keys', 'create read update delete list', 'AS'],
  ['workspace_user_api_keys', 'rotate', 'AS', '+'],
  ['workspace_users', 'create read update delete list', 'ASU'],
  ['prompts', 'create read update delete list publish', 'ASU'],
  ['prompts', 'render', 'SU'],
  ['configs', 'create read update delete list', 'ASU'],
  ['guardrails', 'create read update delete list', 'ASU'],
  ['guardrails', 'invoke', 'SU', '+'],
  ['virtual_keys', 'create read update delete list duplicate copy', 'ASU'],
  ['providers', 'create read update delete list', 'ASU'],
  ['policies', 'create read update delete list', 'ASU'],
  ['organisation_integrations', 'create read update delete', 'A'],
  ['organisation_integrations', 'list', 'ASU'],
  ['organisation_mcp_integrations', 'create read update delete', 'A'],
  ['organisation_mcp_integrations', 'list', 'ASU'],
  ['organisation_agent_integrations', 'create read update delete', 'A', '+'],
  ['organisation_agent_integrations', 'list', 'ASU', '+'],
  ['workspace_integrations', 'create read update delete list', 'ASU'],
  ['workspace_mcp_integrations', 'create read update delete list', 'ASU'],
  ['workspace_agent_integrations', 'create read update delete list', 'ASU', '+'],
  ['agent_servers', 'create read update delete list', 'ASU', '+'],
  ['mcp_servers', 'create read update delete list', 'ASU'],
  ['analytics', 'view', 'ASU'],
  ['logs', 'export list view', 'ASU'],
  ['logs', 'write', 'SU'],
  ['completions', 'write', 'SU'],
  ['mcp', 'invoke', 'SU'],
  ['agents', 'invoke', 'SU', '+'],
]

/** Every scope that a key can hold, as `resource.action`. */
export const SCOPES: ReadonlySet<string> = new Set(scopes('A', 'S', 'U'))

/** Those that are newer than the others. */
export const NEWER_SCOPES: ReadonlySet<string> = new Set(TABLE.filter(([, , , newer]) => newer).flatMap(scopesOfRow))

const BY_KIND: Record<ApiKeyKind, ReadonlySet<string>> = {
  'organisation-service': new Set(scopes('A')),
  'workspace-service': new Set(scopes('S')),
  'workspace-user': new Set(scopes('U')),
}

/** The scopes that a key of this kind can hold. */
export function scopesOf(kind: ApiKeyKind): ReadonlySet<string> {
  return BY_KIND[kind]
}

/** The holders of a scope, described for a person. */
export function holdersOf(scope: string): readonly ApiKeyKind[] {
  return (Object.keys(LETTERS) as ApiKeyKind[]).filter(kind => BY_KIND[kind].has(scope))
}

/** `resource:action` and `resource.action` are the same permission; kept with the dot. */
export function plainScope(scope: string): string {
  return scope.replace(':', '.')
}

function scopes(...letters: string[]): string[] {
  const rows = TABLE.filter(([, , kinds]) => letters.some(letter => kinds.includes(letter)))
  return rows.flatMap(scopesOfRow)
}

function scopesOfRow([resource, actions]: readonly [resource: string, actions: string, ...rest: unknown[]]): string[] {
  return actions.split(' ').map(action => `${resource}.${action}`)
}
