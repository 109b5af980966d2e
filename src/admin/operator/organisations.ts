import type {z} from 'zod'
import {newSlug} from '../../base/ids.ts'
import {makeKey} from '../../identity/keys.ts'
import {CreatedOrganisation, OrganisationCreate, OrganisationView} from '../../schema/organisations.ts'
import {listOf} from '../../schema/paging.ts'
import {organisations} from '../../store/organisations.ts'
import {makeOrganisation} from '../first-run.ts'
import {type OperationCall, operation} from '../operation.ts'
import {organisationView} from '../organisation-views.ts'

const tag = 'Operator'

/** Organisations: tenants of one gateway, which know nothing of each other. */
export const operatorOrganisations = [
  operation({
    id: 'organisations.create',
    tag,
    method: 'POST',
    path: '/operator/organisations',
    summary: 'Make an organisation with its shared workspace; the reply is the only one that says its keys',
    scopes: [],
    audit: {resource: 'organisation', action: 'create'},
    body: OrganisationCreate,
    reply: CreatedOrganisation,
    handle: created,
  }),
  operation({
    id: 'organisations.list',
    tag,
    method: 'GET',
    path: '/operator/organisations',
    summary: 'List organisations, the oldest first',
    scopes: [],
    reply: listOf(OrganisationView),
    async handle({db}) {
      const rows = await organisations(db)
      return {object: 'list' as const, total: rows.length, data: rows.map(organisationView)}
    },
  }),
] as const

async function created(
  call: OperationCall<undefined, undefined, typeof OrganisationCreate>,
): Promise<z.input<typeof CreatedOrganisation>> {
  const {db, body, now} = call
  const slug = body.slug ?? newSlug('', body.name, 12)
  const [admin, workspace] = [makeKey(), makeKey()]
  const {organisation_id, workspace_id, workspace_slug} = await makeOrganisation(db, {
    name: body.name,
    slug,
    admin,
    workspace,
    at: now,
  })
  call.auditActor({...call.actor, organisation_id})
  call.auditTarget(organisation_id, null)
  return {
    id: organisation_id,
    slug,
    workspace_id,
    workspace_slug,
    admin_key: admin.key,
    workspace_key: workspace.key,
    object: 'organisation',
  }
}
