import {unchecked} from '../../client.ts'
import {CLEARED, LIMITS, MODELS, TEXT, withoutDefaults} from '../fields.ts'
import {bodyOf, changesOf, everyRow, NO_SECRETS, type ResourceKind, specOf} from '../kind.ts'

export interface WorkspaceRow {
  readonly [field: string]: unknown
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly is_default: boolean
}

const fields: ResourceKind['fields'] = {
  name: TEXT,
  description: CLEARED,
  defaults: {
    none: {metadata: null},
    normal: value => {
      const {
        input_guardrails: _,
        output_guardrails: __,
        unreadable_bodies: _____,
        is_default: ___,
        object: ____,
        ...rest
      } = (value ?? {}) as Record<string, unknown>
      return withoutDefaults(rest)
    },
  },
  ...LIMITS,
  models: MODELS,
}

/** Workspaces; the one that every organisation has goes by the word `default`. */
export const workspace: ResourceKind = {
  name: 'workspace',
  folder: 'workspaces',
  lives_in: 'organisation',
  needs: [],
  remark: 'Every organisation has the workspace `default`.',
  create: 'workspaces.create',
  fields,
  secrets: NO_SECRETS,
  async read({gateway, handleOf}) {
    const rows = await everyRow(gateway, 'workspaces.list')
    return rows.map(row => ({
      kind: 'workspace',
      workspace: null,
      slug: handleOf(row.id),
      id: row.slug,
      spec: specOf(fields, row),
      shown: row,
    }))
  },
  body: (resource, place) => ({...bodyOf(resource, place), ...(resource.slug === 'default' && {slug: undefined})}),
  async make(place, resource) {
    await place.gateway.call('workspaces.create', {body: bodyOf(resource, place)})
    return undefined
  },
  async change({gateway}, {spec}, {id}, changed) {
    await gateway.call('workspaces.update', {params: {workspaceId: id}, body: changesOf(workspace, spec, changed)})
  },
  async remove({gateway}, {id, shown}) {
    await gateway.call('workspaces.delete', {params: {workspaceId: id}, body: unchecked({name: shown?.name})})
  },
  stays: ({slug}) => slug === 'default',
}
