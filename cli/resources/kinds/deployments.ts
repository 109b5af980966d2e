import {ALLOWED, allowedBody, allowedIn, allowedOf, unknownWorkspaces} from '../access.ts'
import {TEXT} from '../fields.ts'
import {bodyOf, changesOf, everyRow, NO_SECRETS, plainWrites, type ResourceKind, specOf} from '../kind.ts'

const fields: ResourceKind['fields'] = {name: TEXT, type: TEXT, config: {none: {}}, allowed_workspaces: ALLOWED}

/** Deployments: the gateways an organisation runs. */
export const deployment: ResourceKind = {
  name: 'deployment',
  folder: 'deployments',
  lives_in: 'organisation',
  needs: ['workspace'],
  remark: '`allowed_workspaces`: without it, all workspaces.',
  create: 'deployments.create',
  fields,
  secrets: NO_SECRETS,
  async read(place) {
    const rows = await everyRow(place.gateway, 'deployments.list')
    return rows.map(row => ({
      kind: 'deployment',
      workspace: null,
      slug: row.slug,
      id: row.id,
      spec: specOf(fields, {...row, allowed_workspaces: allowedOf(row, place)}),
    }))
  },
  body: (resource, place) => ({...bodyOf(resource, place), ...allowedIn(resource.spec, place)}),
  ...plainWrites('deployments', 'deploymentId', () => deployment),
  async change(place, {spec}, {id}, changed) {
    const {allowed_workspaces: _, ...body} = changesOf(deployment, spec, changed)
    const access = changed.includes('allowed_workspaces') ? allowedBody(spec.allowed_workspaces, place) : {}
    await place.gateway.call('deployments.update', {params: {deploymentId: id}, body: {...body, ...access}})
  },
  faults: async ({spec}, known) =>
    unknownWorkspaces((spec.allowed_workspaces ?? []) as string[], at => `allowed_workspaces[${at}]`, known),
}
