import type {Address} from '../document.ts'
import {changesOf, type ExistingResource, everyRow, NO_SECRETS, type ResourceKind, specOf} from '../kind.ts'

const fields: ResourceKind['fields'] = {input_guardrails: {none: null}, output_guardrails: {none: null}}

/**
 * The guardrails that run on every call, of a workspace or of the organisation: apart from the workspace, as they need
 * its guardrails.
 */
export const defaults: ResourceKind = {
  name: 'defaults',
  folder: 'defaults',
  lives_in: 'either',
  needs: ['workspace', 'guardrail'],
  remark:
    'The guardrails that run on every call of a workspace or, without `workspace`, of the organisation. Its slug is `guardrails`.',
  create: 'organisation_defaults.update',
  fields,
  secrets: NO_SECRETS,
  async read({gateway, handleOf, named}) {
    const rows = await everyRow(gateway, 'workspaces.list')
    const own = rows.map(row => foundOf(handleOf(row.id), row.defaults, named))
    const shared = foundOf(null, await gateway.call('organisation_defaults.get').catch(() => ({})), named)
    return [shared, ...own].filter(({spec}) => Object.keys(spec).length > 0)
  },
  body: ({spec}) => spec,
  async make(place, resource) {
    await write(place.gateway.call, resource.workspace === null ? null : place.slugOf(resource.workspace), {
      ...resource.spec,
    })
    return undefined
  },
  async change(place, {spec, workspace}, _, changed) {
    await write(
      place.gateway.call,
      workspace === null ? null : place.slugOf(workspace),
      changesOf(defaults, spec, changed),
    )
  },
  async remove(place, {workspace}) {
    const none = {input_guardrails: null, output_guardrails: null}
    await write(place.gateway.call, workspace === null ? null : place.slugOf(workspace), none)
  },
  async faults({spec, workspace}, known) {
    const wrong: string[] = []
    for (const side of Object.keys(fields))
      for (const [at, slug] of ((spec[side] ?? []) as string[]).entries()) {
        const places: Address[] = [...new Set([workspace, null])].map(place => ({
          kind: 'guardrail',
          workspace: place,
          slug,
        }))
        if (!places.some(known)) wrong.push(`${side}[${at}]: there is no guardrail ${slug.slice(0, 80)}`)
      }
    return wrong
  },
}

type Call = Parameters<ResourceKind['make']>[0]['gateway']['call']

async function write(call: Call, workspace: string | null, body: object) {
  if (workspace === null) await call('organisation_defaults.update', {body})
  else await call('workspaces.update', {params: {workspaceId: workspace}, body: {defaults: body}})
}

function foundOf(workspace: string | null, given: object, named: (text: string) => string): ExistingResource {
  const spec = specOf(fields, given as ExistingResource['spec'])
  const by_slug = Object.fromEntries(Object.entries(spec).map(([side, ids]) => [side, (ids as string[]).map(named)]))
  return {kind: 'defaults', workspace, slug: 'guardrails', id: 'guardrails', spec: by_slug}
}
