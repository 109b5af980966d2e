import {listInvites, updateInvite} from '../../store/invites.ts'
import {findMember, insertMember} from '../../store/members.ts'
import type {InvitesTable, WorkspaceRole} from '../../store/tables/people.ts'
import {type OrganisationUser, updateOrganisationUser} from '../../store/users.ts'
import {findWorkspace} from '../../store/workspaces.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {AdmissionContext} from './context.ts'
import type {Proof} from './proof.ts'

export type OpenInvite = InvitesTable

const MOST = {current_page: 0, page_size: 20}

/** The invites of an address that wait; none where the directory alone makes users. */
export async function pendingInvites(
  {db, organisation_id, now, rules}: AdmissionContext,
  email: string,
): Promise<readonly OpenInvite[]> {
  if (rules.scim_only) return []
  return (await listInvites(db, {organisation_id, email, status: 'pending', now}, MOST)).rows
}

/**
 * Accepts the invites: he is a member of their workspaces. Keys that they promise are made on request later. One that
 * makes an admin needs more than an address, or its link; and a role that groups map to stays.
 */
export async function acceptInvites(
  context: AdmissionContext,
  user: OrganisationUser,
  invites: readonly OpenInvite[],
  proof: Proof,
): Promise<OrganisationUser> {
  const {db, organisation_id, deeds, now} = context
  for (const invite of invites) {
    if (invite.role === 'admin' && proof === 'address' && invite.id !== context.invite_id)
      throw new SignInFault(
        'invite_link_needed',
        'an invite as admin waits, and nothing but the address speaks for him',
      )
    for (const {id, role} of JSON.parse(invite.workspaces) as {readonly id: string; readonly role: WorkspaceRole}[]) {
      const workspace = await findWorkspace(db, organisation_id, id)
      if (workspace?.status !== 'active' || (await findMember(db, id, user.id))) continue
      const times = {created_at: now, last_updated_at: now}
      await insertMember(db, {workspace_id: id, user_id: user.id, organisation_id, role, ...times})
    }
    await updateInvite(db, invite.id, {status: 'accepted', accepted_at: now})
    const body = {by: context.connection.type, email: invite.email, role: invite.role}
    deeds.push({resource: 'invite', resource_id: invite.id, action: 'manage', body})
  }
  const is_settled = user.role !== 'member' || user.role_source === 'mapping'
  if (is_settled || !invites.some(({role}) => role === 'admin')) return user
  await updateOrganisationUser(db, organisation_id, user.id, {
    role: 'admin',
    role_source: 'invite',
    last_updated_at: now,
  })
  return {...user, role: 'admin', role_source: 'invite'}
}
