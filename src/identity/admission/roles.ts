import {mappedByGroups} from '../../store/account-power.ts'
import {insertMember, removeMember, updateMember} from '../../store/members.ts'
import {heldMemberships} from '../../store/scim-groups.ts'
import type {OrganisationRole, WorkspaceRole} from '../../store/tables/people.ts'
import {countOwners, type OrganisationUser, updateOrganisationUser} from '../../store/users.ts'
import {isAbove} from '../roles.ts'
import type {AdmissionContext} from './context.ts'
import type {OpenInvite} from './invites.ts'

const RANKS: readonly OrganisationRole[] = ['member', 'admin', 'owner']
const SOURCE = 'sign_in'
const NO_OWNER = 'owner is admin: the mapping or the connection was written by an admin'

/** The role of someone who joins: of his groups, else of his invite, else the one of everybody. */
export function startingRole(
  context: AdmissionContext,
  invites: readonly OpenInvite[],
): {readonly role: OrganisationRole; readonly role_source: string | null} {
  const mapped = mappedRole(context)
  if (mapped) return {role: mapped, role_source: 'mapping'}
  const invited = invites.map(({role}) => role)
  if (invited.length > 0) return {role: invited.includes('admin') ? 'admin' : 'member', role_source: 'invite'}
  return {role: context.rules.default_role, role_source: null}
}

/**
 * Gives the role that the stated groups map to. It raises any role, and lowers one alone that a mapping gave. Where the
 * groups are not known nothing is concluded, and the last owner stays one.
 */
export async function syncRole(context: AdmissionContext, user: OrganisationUser): Promise<void> {
  const {db, organisation_id, statement, rules, connection, deeds, now} = context
  if (statement.groups.kind !== 'known') return
  const mapped = mappedRole(context)
  const is_of_mapping = user.role_source === 'mapping'
  const wanted = mapped ?? (is_of_mapping ? rules.default_role : undefined)
  if (wanted === undefined || wanted === user.role) return
  const is_higher = RANKS.indexOf(wanted) > RANKS.indexOf(user.role)
  if (!is_higher && !is_of_mapping) return
  const by = connection.type
  if (user.role === 'owner' && (await countOwners(db, organisation_id)) <= 1) {
    const body = {by, kept: 'last owner', to: wanted}
    deeds.push({resource: 'user', resource_id: user.id, action: 'update', body})
    return
  }
  const change = {role: wanted, role_source: 'mapping', last_updated_at: now}
  await updateOrganisationUser(db, organisation_id, user.id, change)
  deeds.push({resource: 'user', resource_id: user.id, action: 'update', body: {by, from: user.role, to: wanted}})
}

/** With `sync_groups` the groups of a statement give memberships, and take those that they gave before. */
export async function syncGroups(context: AdmissionContext, user: OrganisationUser): Promise<void> {
  const {db, organisation_id, statement, rules, now} = context
  if (!rules.sync_groups || statement.groups.kind !== 'known') return
  const given = new Map<string, WorkspaceRole>()
  for (const {workspace_id, role} of await mappedByGroups(db, organisation_id, statement.groups.names)) {
    const before = given.get(workspace_id)
    if (!before || isAbove(role, before)) given.set(workspace_id, role)
  }
  const held = new Map((await heldMemberships(db, organisation_id, [user.id])).map(each => [each.workspace_id, each]))
  for (const [workspace_id, role] of given) {
    const before = held.get(workspace_id)
    const times = {created_at: now, last_updated_at: now}
    if (!before)
      await insertMember(db, {workspace_id, user_id: user.id, organisation_id, role, source: SOURCE, ...times})
    else if (before.source === SOURCE && before.role !== role)
      await updateMember(db, workspace_id, user.id, {role, last_updated_at: now})
  }
  for (const {workspace_id, source} of held.values())
    if (source === SOURCE && !given.has(workspace_id)) await removeMember(db, workspace_id, user.id, now)
}

/** The highest role that a stated group maps to. An owner is made where an owner or the operator wrote the mapping. */
function mappedRole({statement, rules, connection, notes}: AdmissionContext): OrganisationRole | undefined {
  const {groups} = statement
  if (groups.kind !== 'known') return undefined
  const roles = rules.role_mapping.filter(({group}) => groups.names.includes(group)).map(({role}) => role)
  const highest = RANKS.findLast(role => roles.includes(role))
  if (highest !== 'owner' || (rules.maps_owners && connection.lets_owners_in)) return highest
  if (!notes.includes(NO_OWNER)) notes.push(NO_OWNER)
  return 'admin'
}
