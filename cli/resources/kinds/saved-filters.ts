import {everyRow, NO_SECRETS, plainWrites, type ResourceKind, specOf} from '../kind.ts'

const fields: ResourceKind['fields'] = {filters: {none: {}}}

/** Filters of the log under a name. */
export const savedFilter: ResourceKind = {
  name: 'saved-filter',
  folder: 'saved-filters',
  lives_in: 'workspace',
  needs: ['workspace'],
  remark: 'Its slug is its name.',
  create: 'saved_filters.create',
  fields,
  secrets: NO_SECRETS,
  async read({gateway, handleOf}) {
    const rows = await everyRow(gateway, 'saved_filters.list')
    return rows.map(row => ({
      kind: 'saved-filter',
      workspace: handleOf(row.workspace_id),
      slug: row.name,
      id: row.id,
      spec: specOf(fields, row),
    }))
  },
  body: ({slug, workspace, spec}, {slugOf}) => ({name: slug, workspace_id: slugOf(workspace!), filters: {}, ...spec}),
  ...plainWrites('saved_filters', 'id', () => savedFilter),
}
