import type {z} from 'zod'
import {OrganisationDefaultsUpdate, OrganisationDefaultsView} from '../schema/workspaces.ts'
import {organisationDefaults, updateOrganisation} from '../store/organisations.ts'
import {type DefaultGuardrailsInput, keepDefaults, requireGuardrails} from './default-guardrails.ts'
import {type OperationCall, operation} from './operation.ts'
import type {CallerScope} from './tenancy.ts'

const tag = 'Organisation'
const path = '/admin/organisation/defaults'

/** The guardrails of every call of an organisation, whatever its workspaces and configs have. For admin keys. */
export const organisationDefaultGuardrails = [
  operation({
    id: 'organisation_defaults.get',
    tag,
    method: 'GET',
    path,
    summary: 'Show the guardrails that run on every call of the organisation',
    scopes: ['organisation_settings.read'],
    reply: OrganisationDefaultsView,
    handle: async call => view(await read(call)),
  }),
  operation({
    id: 'organisation_defaults.update',
    tag,
    method: 'PUT',
    path,
    summary: 'Change the guardrails that run on every call of the organisation; they are its own, not a workspace’s',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'organisation', action: 'update'},
    body: OrganisationDefaultsUpdate,
    reply: OrganisationDefaultsView,
    handle: updated,
  }),
] as const

async function updated(call: OperationCall<undefined, undefined, typeof OrganisationDefaultsUpdate>) {
  const {actor, db, body, now} = call
  const {organisation_id} = actor
  await requireGuardrails(db, {organisation_id, workspace_id: null}, body)
  const defaults = {...(await read(call)), ...body}
  await updateOrganisation(db, organisation_id, {defaults: keepDefaults(defaults), last_updated_at: now})
  call.auditTarget(organisation_id, null)
  return view(defaults)
}

async function read({actor, db}: CallerScope): Promise<DefaultGuardrailsInput> {
  return JSON.parse((await organisationDefaults(db, actor.organisation_id)) ?? '{}')
}

function view({input_guardrails, output_guardrails}: DefaultGuardrailsInput): z.input<typeof OrganisationDefaultsView> {
  return {
    input_guardrails: [...(input_guardrails ?? [])],
    output_guardrails: [...(output_guardrails ?? [])],
    object: 'organisation-defaults',
  }
}
