import type {WorkspaceRole} from '../store/tables/people.ts'
import type {ScimRules} from './services.ts'

/** The workspace and the role in the name of a group. */
export interface NamedMapping {
  readonly workspace: string
  readonly role: WorkspaceRole
}

const ROLES: readonly WorkspaceRole[] = ['admin', 'manager', 'member']

/**
 * Reads `ws-Search-role-manager`. The last separator splits, so that a workspace may have it in its name. Null for a
 * group that maps nothing by itself.
 */
export function mappingIn(
  name: string,
  {workspace_prefix, role_separator}: Pick<ScimRules, 'workspace_prefix' | 'role_separator'>,
): NamedMapping | null {
  if (!name.startsWith(workspace_prefix)) return null
  const at = name.lastIndexOf(role_separator)
  if (at < workspace_prefix.length) return null
  const workspace = name.slice(workspace_prefix.length, at).trim()
  const role = ROLES.find(each => each === name.slice(at + role_separator.length).toLowerCase())
  return workspace !== '' && role ? {workspace, role} : null
}
