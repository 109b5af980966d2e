import {CLEARED} from '../fields.ts'
import {everyRow, NO_SECRETS, plainWrites, type ResourceKind, specOf} from '../kind.ts'

const fields: ResourceKind['fields'] = {description: CLEARED, color_code: CLEARED}

/** Labels of versions of prompts; those that everyone has are in no file. */
export const label: ResourceKind = {
  name: 'label',
  folder: 'labels',
  lives_in: 'workspace',
  needs: ['workspace'],
  remark: 'Its slug is its name. The predefined labels are in no file.',
  create: 'labels.create',
  fields,
  secrets: NO_SECRETS,
  async read({gateway, handleOf, knows}) {
    const rows = await everyRow(gateway, 'labels.list')
    for (const {id, name, workspace_id} of rows)
      knows(id, {kind: 'label', workspace: workspace_id && handleOf(workspace_id), slug: name})
    return rows
      .filter(({is_universal}) => !is_universal)
      .map(row => ({
        kind: 'label',
        workspace: handleOf(row.workspace_id!),
        slug: row.name,
        id: row.id,
        spec: specOf(fields, row),
      }))
  },
  body: ({slug, workspace, spec}, {slugOf}) => ({name: slug, workspace_id: slugOf(workspace!), ...spec}),
  ...plainWrites('labels', 'labelId', () => label),
}
