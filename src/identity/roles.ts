import type {Security, SecuritySetting} from '../schema/security.ts'
import type {OrganisationRole, WorkspaceRole} from '../store/tables/people.ts'

export type Role = `organisation ${OrganisationRole}` | `workspace ${WorkspaceRole}`
/** May, may not, or may where the security setting is on. */
type Cell = typeof YES | typeof NO | SecuritySetting

const YES = true
const NO = false

/**
 * The permissions of roles (docs/access.md, Permissions): resource, actions, then owner and admin of the organisation,
 * admin, manager and member of a workspace. A member of the organisation may do in each workspace what he may as a
 * member of that, and nothing besides.
 */
// biome-ignore format: a table is read by its lines
const TABLE: readonly (readonly [resource: string, actions: string, owner: Cell, admin: Cell, ws_admin: Cell, ws_manager: Cell, ws_member: Cell])[] = [
  ['organisation_users', 'create read update delete list', YES, YES, NO, NO, NO],
  ['organisation_service_api_keys', 'create read update delete list rotate', YES, YES, NO, NO, NO],
  ['organisation_settings', 'read update', YES, YES, NO, NO, NO],
  ['organisation_guardrails', 'create read update delete list', YES, YES, NO, NO, NO],
  ['organisation_exclusions', 'update list', YES, YES, NO, NO, NO],
  ['audit_logs', 'list', YES, YES, NO, NO, NO],
  ['plugins', 'create update list', YES, YES, NO, NO, NO],
  ['deployments', 'create read update delete list', YES, YES, NO, NO, NO],
  ['secret_references', 'create read update delete list', YES, YES, NO, NO, NO],
  ['workspaces', 'create delete', YES, YES, NO, NO, NO],
  ['workspaces', 'read list', YES, YES, YES, YES, YES],
  ['workspaces', 'update', YES, YES, YES, 'managersEditWorkspace', NO],
  ['workspace_users', 'create update delete', YES, YES, YES, YES, NO],
  ['workspace_users', 'read list', YES, YES, YES, YES, YES],
  ['workspace_service_api_keys', 'create update delete rotate', YES, YES, YES, 'managersManageApiKeys', NO],
  ['workspace_service_api_keys', 'read list', YES, YES, YES, 'managersViewApiKeys', NO],
  ['workspace_user_api_keys', 'create update delete rotate', YES, YES, YES, 'managersManageApiKeys', 'membersManageApiKeys'],
  ['workspace_user_api_keys', 'read list', YES, YES, YES, 'managersViewApiKeys', 'membersViewApiKeys'],
  ['prompts', 'create update delete publish', YES, YES, YES, 'managersWritePrompts', 'membersWritePrompts'],
  ['prompts', 'read list', YES, YES, YES, 'managersViewPrompts', 'membersViewPrompts'],
  ['prompts', 'render', YES, YES, YES, YES, YES],
  ['configs', 'create update delete', YES, YES, YES, 'managersEditConfigs', 'membersEditConfigs'],
  ['configs', 'read list', YES, YES, YES, 'managersViewConfigs', 'membersViewConfigs'],
  ['guardrails', 'create update delete', YES, YES, YES, 'managersWriteGuardrails', NO],
  ['guardrails', 'read list', YES, YES, YES, 'managersViewGuardrails', 'membersViewGuardrails'],
  ['guardrails', 'invoke', YES, YES, YES, YES, YES],
  ['virtual_keys', 'create update delete duplicate copy', YES, YES, YES, 'managersManageProviders', NO],
  ['virtual_keys', 'read list', YES, YES, YES, 'managersViewProviders', 'membersViewProviders'],
  ['providers', 'create update delete', YES, YES, YES, 'managersManageProviders', NO],
  ['providers', 'read list', YES, YES, YES, 'managersViewProviders', 'membersViewProviders'],
  ['policies', 'create update delete', YES, YES, YES, YES, NO],
  ['policies', 'read list', YES, YES, YES, YES, YES],
  ['organisation_integrations', 'create read update delete', YES, YES, NO, NO, NO],
  ['organisation_integrations', 'list', YES, YES, YES, YES, YES],
  ['organisation_mcp_integrations', 'create read update delete', YES, YES, NO, NO, NO],
  ['organisation_mcp_integrations', 'list', YES, YES, YES, YES, YES],
  ['organisation_agent_integrations', 'create read update delete', YES, YES, NO, NO, NO],
  ['organisation_agent_integrations', 'list', YES, YES, YES, YES, YES],
  ['workspace_integrations', 'create update delete', YES, YES, YES, 'managersWriteWsIntegrations', NO],
  ['workspace_integrations', 'read list', YES, YES, YES, YES, YES],
  ['workspace_mcp_integrations', 'create update delete', YES, YES, YES, 'managersWriteWsMcpIntegrations', NO],
  ['workspace_mcp_integrations', 'read list', YES, YES, YES, YES, YES],
  ['workspace_agent_integrations', 'create update delete', YES, YES, YES, 'managersWriteWsMcpIntegrations', NO],
  ['workspace_agent_integrations', 'read list', YES, YES, YES, YES, YES],
  ['agent_servers', 'create update delete', YES, YES, YES, 'managersWriteMcpServers', NO],
  ['agent_servers', 'read list', YES, YES, YES, YES, YES],
  ['mcp_servers', 'create update delete', YES, YES, YES, 'managersWriteMcpServers', NO],
  ['mcp_servers', 'read list', YES, YES, YES, YES, YES],
  ['analytics', 'view', YES, YES, YES, 'managersViewAnalytics', 'membersViewAnalytics'],
  ['logs', 'list', YES, YES, YES, 'managersViewLogMetadata', 'membersViewLogMetadata'],
  ['logs', 'view export', YES, YES, YES, 'managersViewLogs', 'membersViewLogs'],
  ['logs', 'write', YES, YES, YES, YES, YES],
  ['completions', 'write', YES, YES, YES, YES, YES],
  ['mcp', 'invoke', YES, YES, YES, YES, YES],
  ['agents', 'invoke', YES, YES, YES, YES, YES],
]

const COLUMN: Record<Role, number | null> = {
  'organisation owner': 2,
  'organisation admin': 3,
  'organisation member': null,
  'workspace admin': 4,
  'workspace manager': 5,
  'workspace member': 6,
}
export const ROLES = Object.keys(COLUMN) as readonly Role[]

/** The scopes of a role under these security settings. */
export function scopesOfRole(role: Role, security: Security): ReadonlySet<string> {
  const column = COLUMN[role]
  if (column === null) return new Set()
  const rows = TABLE.filter(row => {
    const cell = row[column] as Cell
    return typeof cell === 'string' ? security[cell] : cell
  })
  return new Set(rows.flatMap(([resource, actions]) => actions.split(' ').map(action => `${resource}.${action}`)))
}

/** The settings that the table asks for, to tell people of. */
export function settingOf(role: Role, scope: string): boolean | SecuritySetting {
  const column = COLUMN[role]
  const [resource, action] = scope.split('.') as [string, string]
  const row = TABLE.find(([of, actions]) => of === resource && actions.split(' ').includes(action))
  return column === null || !row ? NO : (row[column] as Cell)
}

const LEVELS: readonly WorkspaceRole[] = ['member', 'manager', 'admin']

/** True when `role` is above `own`: who has the one may neither give nor take the other. */
export function isAbove(role: WorkspaceRole, own: WorkspaceRole): boolean {
  return LEVELS.indexOf(role) > LEVELS.indexOf(own)
}

/** True when a role sees others' calls in logs and analytics, false when only those of its own keys. */
export function seesAll(role: WorkspaceRole, security: Security): boolean {
  if (role === 'admin') return true
  return role === 'manager' ? security.managersViewAllData : security.membersViewAllData
}
