import type {z} from 'zod'
import {
  type KeptOrganisationSettings,
  type KeptWorkspaceSettings,
  OrganisationDetails,
  OrganisationUpdate,
  readSettings,
  securityIn,
  WorkspaceSettingsUpdate,
  WorkspaceSettingsView,
} from '../schema/organisations.ts'
import {Empty} from '../schema/paging.ts'
import {changedSecurity, securityView} from '../schema/security.ts'
import {MembersParams} from '../schema/users.ts'
import {findOrganisation, updateOrganisation} from '../store/organisations.ts'
import type {OrganisationsTable} from '../store/tables/identity.ts'
import {updateWorkspace} from '../store/workspaces.ts'
import {type OperationCall, operation} from './operation.ts'
import {organisationDetails} from './organisation-views.ts'
import {type CallerScope, found, invalid, workspaceOf} from './tenancy.ts'

const tag = 'Organisation'

/** The organisation of the caller: what it is called, what its people may do, how long its keys live. */
export const organisation = [
  operation({
    id: 'organisation.get',
    tag,
    method: 'GET',
    path: '/admin/organisation',
    summary: 'Show the organisation and its settings',
    scopes: ['organisation_settings.read'],
    reply: OrganisationDetails,
    handle: async call => organisationDetails(await own(call), call.app.settings),
  }),
  operation({
    id: 'organisation.update',
    tag,
    method: 'PUT',
    path: '/admin/organisation',
    summary: 'Change the organisation and its settings: what is absent stays, null goes back to the default',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'organisation', action: 'update'},
    body: OrganisationUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'workspace_settings.get',
    tag,
    method: 'GET',
    path: '/admin/workspaces/:workspaceId/settings',
    summary: 'Show the security settings of a workspace, and what counts there',
    scopes: ['organisation_settings.read'],
    params: MembersParams,
    reply: WorkspaceSettingsView,
    handle: workspaceShown,
  }),
  operation({
    id: 'workspace_settings.update',
    tag,
    method: 'PUT',
    path: '/admin/workspaces/:workspaceId/settings',
    summary:
      'Change the security settings of a workspace; they count in the categories that the organisation lets workspaces set',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'workspace', action: 'update'},
    params: MembersParams,
    body: WorkspaceSettingsUpdate,
    reply: Empty,
    handle: workspaceUpdated,
  }),
] as const

async function updated(call: OperationCall<undefined, undefined, typeof OrganisationUpdate>) {
  const {db, body, now} = call
  const before = await own(call)
  const kept = readSettings<KeptOrganisationSettings>(before.settings)
  const {security, workspace_overrides, api_keys} = body.settings ?? {}
  const rules = api_keys === null ? {} : {...kept.api_keys, ...api_keys}
  const settings = {
    security: changedSecurity(kept.security ?? {}, security),
    workspace_overrides:
      workspace_overrides === undefined ? (kept.workspace_overrides ?? []) : [...new Set(workspace_overrides ?? [])],
    api_keys: Object.fromEntries(Object.entries(rules).filter(([, value]) => typeof value === 'number')) as Record<
      string,
      number
    >,
  }
  const {default_expiry_days: usual, max_expiry_days: most} = settings.api_keys
  if (usual !== undefined && most !== undefined && usual > most)
    throw invalid('settings.api_keys.default_expiry_days', 'must not be above max_expiry_days')
  await updateOrganisation(db, before.id, {
    ...(body.name !== undefined && {name: body.name}),
    settings: JSON.stringify(settings),
    last_updated_at: now,
  })
  call.auditTarget(before.id, null)
  return {}
}

async function workspaceShown(
  call: OperationCall<typeof MembersParams>,
): Promise<z.input<typeof WorkspaceSettingsView>> {
  const workspace = await workspaceOf(call, call.params.workspaceId)
  const {security = {}} = readSettings<KeptWorkspaceSettings>(workspace.settings)
  const effective = securityView(securityIn((await own(call)).settings, workspace.settings))
  return {
    workspace_id: workspace.id,
    security: security as Record<string, Record<string, boolean>>,
    effective,
    object: 'workspace-settings',
  }
}

async function workspaceUpdated(call: OperationCall<typeof MembersParams, undefined, typeof WorkspaceSettingsUpdate>) {
  const workspace = await workspaceOf(call, call.params.workspaceId)
  const {security = {}} = readSettings<KeptWorkspaceSettings>(workspace.settings)
  const settings = {security: changedSecurity(security, call.body.security)}
  await updateWorkspace(call.db, workspace.id, {settings: JSON.stringify(settings), last_updated_at: call.now})
  call.auditTarget(workspace.id, workspace.id)
  return {}
}

async function own({actor, db}: CallerScope): Promise<OrganisationsTable> {
  return found(await findOrganisation(db, actor.organisation_id), 'organisation')
}
